#!/bin/bash
# shellcheck disable=SC2154 # cli_common.sh sets lnbench, binaries and libraries
# Help of every subcommand, equal to --help, from which man pages and completion are made. Formats: the same values of
# --format everywhere. Terminals: tables fit, and colour only appears where it is allowed.
. "$(dirname "$0")/cli_common.sh" "$@"

source=$(dirname "$(readlink -f -- "$0")")/../../..

commands=$("$lnbench" --help | sed -n 's/^  \([a-z][a-z]*\)  *.*/\1/p')
check "subcommands are found" has <(echo "$commands") '^choose$'
for command in $commands; do
    "$lnbench" "$command" --help >help.txt
    run_it help "$command"
    check "help $command is $command --help" diff out help.txt
done
refused "help with nothing" 2 'help with what' help --
refused "help of what is not there" 2 "did you mean 'choose'" help chose

# The packages' man pages.
if command -v help2man >/dev/null; then
    check "man pages are made" "$source/cmake/debian/manuals.sh" "$binaries" pages
    for command in $commands; do
        "$lnbench" "$command" --help | sed -n 's/^  \(--[a-z0-9-]*\) .*/\1/p' | sort -u >wanted
        sed -n '/^\.SH OPTIONS/,$s/\\fR.*//; s/\\-/-/g; s/^\\fB\(--.*\)/\1/p' "pages/lnbench-$command.1" | sort -u >there
        check "the man page of $command has its options" diff wanted there
        check "lnbench(1) names $command" grep -qx "$command" pages/lnbench.1
    done
    for page in pages/*; do
        ! command -v mandoc >/dev/null || # help2man's date, "November 2026", is invalid in mandoc
            check "mandoc -Tlint $page" is "$(mandoc -Tlint -Wwarning "$page" | grep -v 'cannot parse date')" ""
    done
else
    echo "not checked: help2man is not installed"
fi

# proposes LABEL WANTED WORD...: checks the completions of the last of these words, called as bash calls them.
proposes() {
    local label=$1 wanted=$2
    shift 2
    PATH=$binaries:$PATH bash --norc -c '
        file=$1; shift; . "$file"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _lnbench "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf "%s\n" "${COMPREPLY[@]}"' - "$source/cmake/lnbench.bash" "$@" >out 2>err
    check "$label: bash is silent" lines err 0
    check "$label: bash proposes $wanted" is "$(sort out | tr '\n' ' ')" "$wanted "
}
proposes "a subcommand" "doctor duet" lnbench d
proposes "an option" "--threads --time-on --tokens" lnbench choose --t
proposes "a word" "quick" lnbench run --plan q
proposes "no word of a flag's help" "" lnbench run --json t
proposes "nothing for a number, so bash takes files" "" lnbench run --seed 1

# The four formats of every table that needs no run.
for command in "list models" "list kernels" "list inputs" "list conventions"; do
    # shellcheck disable=SC2086 # two words
    formats "$command" $command
    # shellcheck disable=SC2086
    run_it $command --json
    check "$command: --json is --format json" diff out json
done
refused "an unknown format" 2 'choose text, markdown, tsv, csv or json' list models --format xml
refused "two formats" 2 'exclude each other' list models --format tsv --json

# Terminals. `script` gives the program one.
on_terminal() {
    script -qec "$(printf '%q ' "$lnbench" "$@")" /dev/null </dev/null 2>&1 | tr -d '\r' >out
}
widest() { awk '{ if (length > w) w = length } END { print w + 0 }' out; }
if command -v script >/dev/null; then
    for columns in 40 80 120; do
        COLUMNS=$columns LC_ALL=C.UTF-8 on_terminal list models
        check "a table fits $columns columns" is "$(($(widest) <= columns))" 1
        check "and has all models" has out 'gpt-neox-20b'
    done
    COLUMNS=80 TERM=xterm NO_COLOR='' on_terminal doctor --facts
    check "no table of a terminal is cut" has out '^load_1m'
    escape=$(printf '\033')
    run_it doctor
    check "a pipe gets no colour" hasnt out "$escape"
    COLUMNS=40 run_it list models
    check "a pipe gets whole lines" is "$(($(widest) > 40))" 1
    TERM=xterm NO_COLOR=1 on_terminal doctor
    check "NO_COLOR: no colour" hasnt out "$escape"
    TERM=dumb on_terminal doctor
    check "a dumb terminal: no colour" hasnt out "$escape"
    if "$lnbench" doctor | grep -q '^warning'; then
        TERM=xterm on_terminal doctor
        check "a terminal: colour" has out "$escape"
    fi
else
    echo "not checked: script (util-linux) is not installed"
fi
finish
