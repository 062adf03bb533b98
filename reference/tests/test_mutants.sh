#!/bin/sh
# Every mutant of mutants.txt must make its test fail. Tests every fourth one, or all with LNBENCH_FULL.
#
#   sources   the directories of the judge's sources and headers
#   objects   the tests' own object files, each in a directory NAME.dir
#   libraries the libraries for linking; a mutant's objects come first and replace those of the library
#   compile, link  the compiler with its options
#
# A mutant whose line no longer exists, or that does not compile, is an error of the list. The unchanged
# sources are built in the same way first, and the tests must pass with them.
set -u
list=$1
: "${sources:?}" "${objects:?}" "${libraries:?}" "${compile:?}" "${link:?}" # CTest sets them
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
failures=0 killed=0 met=0
seen=' '

complain() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

# Puts the judge's sources, unchanged, into the work directory.
lay_out() {
    rm -rf "$work/judge" && mkdir "$work/judge" || exit 1
    for source in $sources; do
        mkdir "$work/judge/${source##*/}" || exit 1
        cp "$source"/*.[ch] "$work/judge/${source##*/}" || exit 1
    done
}

# Prints the path of the source or header $1 there.
find_source() {
    find "$work/judge" -name "$1"
}

# Replaces the line $from of the file $1 by $to.
mutate() {
    from=$from to=$to awk '
        { line = $0; sub(/^ +/, "", line) }
        line == ENVIRON["from"] { found++; print ENVIRON["to"]; next }
        { print }
        END { exit found != 1 }
    ' "$(find_source "$1")" >"$work/mutated" && mv "$work/mutated" "$(find_source "$1")"
}

# Links the test $1 with the sources $2... of the work directory.
build() {
    name=$1
    shift
    own=
    for object in $objects; do
        case $object in */"$name.dir/"*) own="$own $object" ;; esac
    done
    [ -n "$own" ] || return 1
    for source in "$@"; do
        $compile -I "$work/judge" -I "$work/judge/tests" -c "$(find_source "$source")" -o "$work/$source.o" || return 1
        own="$work/$source.o $own"
    done
    # shellcheck disable=SC2086 # lists of words
    $link $own $libraries -o "$work/test"
}

run() (
    cd "$work" || exit 1
    shift
    # With a wrong enclosure the precision may rise forever.
    exec timeout 60 ./test "$@" >output 2>&1
)

# Checks that the test $1 with its arguments passes with unchanged sources.
passes_unchanged() {
    case $seen in *" $* "*) return 0 ;; esac
    seen="$seen$* "
    lay_out
    # shellcheck disable=SC2086 # a list of words
    if ! build "$1" $parts || ! run "$@"; then
        complain "$* does not pass without a mutant"
        cat "$work/output" 2>/dev/null
        return 1
    fi
}

try_mutant() {
    case $file in *.c) parts=$file ;; *) parts=$build ;; esac
    # shellcheck disable=SC2086 # the test with its arguments
    set -- $test
    passes_unchanged "$@" || return
    lay_out
    if ! mutate "$file"; then
        complain "$mutant: the line does not stand in $file once: $from"
        return
    fi
    # shellcheck disable=SC2086 # a list of words
    if ! build "$1" $parts; then
        complain "$mutant: does not compile"
        return
    fi
    run "$@"
    code=$?
    case $code in
    0) complain "$mutant: $test passes" ;;
    124 | 126 | 127) complain "$mutant: $test did not run to its end (exit code $code)" ;;
    *)
        killed=$((killed + 1))
        echo "caught: $mutant ($test, exit code $code)"
        ;;
    esac
}

while IFS= read -r line || [ -n "$line" ]; do
    case $line in
    'mutant '*) mutant=${line#mutant } build='' ;;
    'file '*) file=${line#file } ;;
    'build '*) build=${line#build } ;;
    'test '*) test=${line#test } ;;
    '- '*) from=${line#- } ;;
    '+ '*)
        to=${line#+ }
        met=$((met + 1))
        [ -z "${LNBENCH_FULL:-}" ] && [ $((met % 4)) -ne 1 ] || try_mutant
        ;;
    '' | '#'*) ;;
    *) complain "$list: not understood: $line" ;;
    esac
done <"$list"

echo "$killed mutants caught, $failures failures"
[ "$failures" -eq 0 ] && [ "$killed" -ge 12 ]
