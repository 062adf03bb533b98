# shellcheck shell=bash disable=SC2034
# Sourced by the tests of the command line, which CTest starts as
#     bash cli_NAME_test.sh BINARIES LIBRARIES
# with the directories of lnbench and its test programs, and of its plugins. Every failed check prints its label and
# what was found; the exit status is the number of failed checks, at most 100.
set -u
binaries=$(readlink -f -- "${1:?usage: $0 BINARIES LIBRARIES}")
libraries=$(readlink -f -- "${2:?usage: $0 BINARIES LIBRARIES}")
lnbench=$binaries/lnbench
tests=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
scratch=$(mktemp -d) || exit 1
checks=0
failures=0
code=0
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
unset LN_DISABLE_ISA LNBENCH_WORKER LNBENCH_LIBRARY LNBENCH_PLOTS
export LNBENCH_PEERS=0 # libraries on this machine have a test of their own

failed() {
    failures=$((failures + 1))
    echo "FAILED: $*"
    echo "  exit code $code; standard output:"
    head -c 3000 out | sed 's/^/  | /'
    echo "  standard error:"
    head -c 3000 err | sed 's/^/  ! /'
}

# Long runs print their progress to err, a line every ten seconds.
without_progress() { sed -i '/^lnbench: [0-9]* %, [0-9]* s left: /d' err; }

# run_it ARGUMENT...: runs lnbench; sets $code, and writes the files out and err.
run_it() {
    timeout 300 "$lnbench" "$@" >out 2>err </dev/null
    code=$?
    without_progress
}

# check LABEL COMMAND...: the command must succeed.
check() {
    local label=$1
    shift
    checks=$((checks + 1))
    "$@" >check.out 2>&1 || {
        failed "$label"
        sed 's/^/  > /' check.out | head -20
    }
}

has() { grep -Eq -- "$2" "$1"; }
hasnt() { ! grep -Eq -- "$2" "$1"; }
lines() { [ "$(wc -l <"$1")" -eq "$2" ]; }
is() { [ "$1" = "$2" ] || { echo "'$1' is not '$2'"; false; }; }

# ends LABEL CODE ARGUMENT...: lnbench exits with that code.
ends() {
    run_it "${@:3}"
    check "$1: exit code $2" is "$code" "$2"
}

# accepted LABEL CODE ARGUMENT...: the same, and standard error has nothing but the progress.
accepted() {
    ends "$@"
    sed -i '/^lnbench: [0-9]* %[,:] /d' err
    check "$1: nothing on standard error" lines err 0
}

# refused LABEL CODE PATTERN ARGUMENT...: exits with that code and one line that matches the pattern.
refused() {
    ends "$1" "$2" "${@:4}"
    check "$1: one line on standard error" lines err 1
    check "$1: the line says /$3/" has err "^lnbench: .*($3)"
}

# json LABEL KIND: `out` is strict JSON with the keys of its kind.
json() { check "$1: strict JSON with its keys" "$binaries/test_files" json "$2" out; }

# value PATH FILE: prints the value at a path such as 0.verdict in a JSON file.
value() { "$binaries/test_files" get "$1" "$2"; }

# formats LABEL ARGUMENT...: writes the four formats of --format to files of their names.
formats() {
    local label=$1 format
    shift
    for format in text markdown tsv json; do
        accepted "$label --format $format" 0 "$@" --format $format
        cp out $format
    done
    check "$label: Markdown has a table" has markdown '^\| ---'
    check "$label: TSV is all one table" \
        is "$(awk -F'\t' 'NR == 1 { n = NF } NF != n' tsv | wc -l)" 0
    check "$label: TSV has lines" is "$(($(wc -l <tsv) > 1))" 1
    check "$label: JSON" value "" json
}

finish() {
    echo "$checks checks, $failures failed"
    exit $((failures < 100 ? failures : 100))
}
