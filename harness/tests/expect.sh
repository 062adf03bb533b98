# shellcheck shell=sh disable=SC2034,SC2154
# Sourced by tests that run lnbench from the command line, sh TEST.sh BUILD_DIRECTORY: they work in a directory
# of their own, and count failures.
set -u
build=$1
tests=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/lnbench-test-XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failures=0
code=0

failed() {
    echo "$*, exit code $code:"
    head -c 2000 output
    failures=$((failures + 1))
}

# expect CODE TEXT ARGUMENTS...: checks the exit code of lnbench (of its ${subcommand}, if that is set), and that its
# output matches TEXT (basic regular expression).
expect() {
    wanted=$1
    text=$2
    shift 2
    "$build/bin/lnbench" ${subcommand-} "$@" >output 2>&1
    code=$?
    [ "$code" -eq "$wanted" ] && grep -q -e "$text" output && return
    failed "lnbench ${subcommand-} $*: expected $wanted with '$text'"
}

# prints TEXT WHAT: the output of the last command also matches TEXT.
prints() {
    grep -q -e "$1" output || failed "$2"
}

finish() {
    [ "$failures" -eq 0 ] && echo "as expected"
    exit "$failures"
}
