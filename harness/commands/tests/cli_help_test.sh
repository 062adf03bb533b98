#!/bin/bash
# shellcheck disable=SC2154 # cli_common.sh sets lnbench, binaries and libraries
# Man pages and completions: made from the option tables, every subcommand and option in them.
# Formats: the same words of --format everywhere. Terminals: tables fit, colour only where it may be.
. "$(dirname "$0")/cli_common.sh" "$@"

commands=$("$lnbench" --help | sed -n 's/^  \([a-z]*\)  *.*/\1/p')
check "subcommands are found" has <(echo "$commands") '^choose$'

accepted "help --out" 0 help --out tree
completions=(tree/bash-completion/completions/lnbench tree/zsh/site-functions/_lnbench
    tree/fish/vendor_completions.d/lnbench.fish)

# part FILE COMMAND: what a completion has for one subcommand.
part() {
    case $1 in
    *.fish) grep -F -- "from $2'" "$1" ;;
    */_lnbench) sed -n "/^        $2)\$/,/^            ;;\$/p" "$1" ;;
    *) sed -n "/^    $2)\$/,/^        ;;\$/p" "$1" ;;
    esac
}

# names: the long options of a part of a completion, one a line; and those of a man page.
names() { grep -oE -- '(--| -l )[a-z][a-z0-9-]*' | sed 's/^ -l //; s/^--//' | sort -u; }
man_names() { sed -n 's/\\-/-/g; s/^\\fB--\([a-z0-9-]*\).*/\1/p' "$1" | sort -u; }

for command in $commands; do
    page=tree/man/man1/lnbench-$command.1
    "$lnbench" "$command" --help >help.txt
    sed -n 's/^  --\([a-z0-9-]*\).*/\1/p' help.txt | sort -u >wanted
    man_names "$page" >there
    check "man page of $command has its options" diff wanted there
    check "lnbench(1) names $command" grep -qF ".BR lnbench\\-$command (1)" tree/man/man1/lnbench.1
    for file in "${completions[@]}"; do
        part "$file" "$command" | names | grep -vx help >there
        grep -vx help wanted >needed
        comm -23 needed there >lost
        check "$file: $command has its options" lines lost 0
        check "$file: $command is proposed" has "$file" "(^| |'|\")$command( |:)"
    done
    run_it help "$command"
    check "help $command is $command --help" diff out help.txt
    run_it help "$command" --format man
    check "help $command --format man is the page" diff out "$page"
done

# What checks the checks: a page and a completion without an option are found out.
grep -v 'max\\-row\\-ulp' tree/man/man1/lnbench-choose.1 >poorer.1
man_names poorer.1 >there
check "a lost option would be seen" hasnt there '^max-row-ulp$'

refused "help as text of nothing" 2 'help with what' help --format text
refused "help of what is not there" 2 "did you mean 'choose'" help chose
refused "help in no format" 2 'text, man, bash, zsh or fish' help run --format html
refused "help into a file" 7 'tree/man/man1/lnbench.1' help --out tree/man/man1/lnbench.1

if command -v mandoc >/dev/null; then
    for page in tree/man/man1/*.1; do
        check "mandoc -Tlint $page" mandoc -Tlint -Wwarning "$page"
    done
else
    echo "not checked: mandoc is not installed"
fi
for shell in bash zsh; do
    if command -v $shell >/dev/null; then
        for file in "${completions[@]}"; do
            case $shell:$file in
            bash:*bash-completion* | zsh:*/_lnbench) check "$shell reads it" $shell -n "$file" ;;
            esac
        done
    else
        echo "not checked: $shell is not installed"
    fi
done
if command -v fish >/dev/null; then
    check "fish reads it" fish --no-execute "${completions[2]}"
    PATH=$binaries:$PATH fish -c "source ${completions[2]}; complete -C 'lnbench choose --cach'" >out
    check "fish completes an option" has out '^--cache'
    PATH=$binaries:$PATH fish -c "source ${completions[2]}; complete -C 'lnbench run --plan q'" >out
    check "fish completes a value" has out '^quick'
else
    echo "not checked: fish is not installed"
fi

# A zsh in a terminal of its own, asked as a user does: TAB behind a word. It ends when the answer is there.
zsh_completes() { # LINE ANSWER
    PATH=$binaries:$PATH timeout 120 zsh -f -c '
        zmodload zsh/zpty && zpty z zsh -f -i && zpty -w z "
            PS1=; autoload -Uz compinit; fpath=(${PWD}/tree/zsh/site-functions \$fpath); compinit -u -D; echo rea\"\"dy" &&
            zpty -r z line "*ready*" && zpty -w -n z "$1"$'"'\\t'"' && zpty -r z line "*$2*"' - "$1" "$2" >out 2>err
}
if zsh -f -c 'zmodload zsh/zpty' 2>/dev/null; then
    check "zsh completes a kernel" zsh_completes 'lnbench run --kernels compensated_f32_s' scalar
    check "zsh completes the second of a list" zsh_completes 'lnbench run --kernel naive_f32_avx2,compensated_f32_s' scalar
    check "zsh completes a convention" zsh_completes 'lnbench run --conventions torch-n' nobias
    check "zsh completes a model" zsh_completes 'lnbench choose --model whisper-b' base
    check "zsh completes a plan" zsh_completes 'lnbench run --plan qu' quick
fi

# complete WORD...: what bash proposes for the last of these words, one a line.
complete_it() {
    PATH=$binaries:$PATH bash --norc -c '
        file=$1; shift; . "$file"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _lnbench
        printf "%s\n" "${COMPREPLY[@]}"' - "${completions[0]}" "$@" >out 2>err
}
proposes() {
    local label=$1 wanted=$2
    shift 2
    complete_it "$@"
    check "$label: bash is silent" lines err 0
    check "$label: bash proposes $wanted" is "$(sort out | tr '\n' ' ')" "$wanted "
}
proposes "a subcommand" "doctor duet" lnbench d
proposes "an option" "--threads --time --time-on --tokens" lnbench choose --t
proposes "a word" "quick" lnbench run --plan q
proposes "a word behind =" "quick" lnbench run --plan = q
proposes "the second of a list" "hot,cold" lnbench run --cache hot,c
proposes "an operand" "models" lnbench list m
proposes "a model" "whisper-base" lnbench choose --model whisper-b
proposes "a kernel" "compensated_f32_scalar" lnbench eval --kernel compensated_f32_s
touch own.npy
proposes "a file" "own.npy" lnbench eval --x ow
proposes "nothing for a number" "" lnbench run --seed 1

# The four formats of every table that needs no run.
for command in "list models" "list kernels" "list inputs" "list shapes" "list conventions" \
    "list plugins"; do
    # shellcheck disable=SC2086 # two words
    formats "$command" $command
    # shellcheck disable=SC2086
    run_it $command --json
    check "$command: --json is --format json" diff out json
done
refused "an unknown format" 2 'choose text\|markdown\|tsv\|csv\|json' list models --format xml
refused "two formats" 2 'exclude each other' list models --format tsv --json

# Whatever the width of a terminal is.
accepted "a run to show" 0 run --plan quick --shapes 4x64 \
    --kernels two_pass_f32_scalar,exact_certified_grouped_f32_scalar --conventions torch --processes 2 --repetitions 3 --no-charts --db widths.db
check "every table at every width" timeout 200 "$binaries/each_width" widths.db

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
    check "no table of a terminal is cut" has out '^rounding'
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
