#!/bin/sh
# lnbench calibrate from outside: what it stores, who shows it, what it leaves behind, errors. No
# figure is asserted but its kind. usage: calibrate_test.sh BUILD_DIRECTORY
set -u
build=$1
scratch=$(mktemp -d "${TMPDIR:-/tmp}/lnbench-calibrate-test-XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
mkdir tmp
export TMPDIR="$scratch/tmp"
failures=0

expect() {
    wanted=$1
    text=$2
    shift 2
    "$build/bin/lnbench" "$@" >output 2>&1
    code=$?
    if [ "$code" -ne "$wanted" ] || ! grep -q -e "$text" output; then
        echo "lnbench $*: exit code $code, expected $wanted with '$text':"
        cat output
        failures=$((failures + 1))
    fi
    [ -z "$(ls tmp)" ] || {
        echo "lnbench $*: left behind: $(ls tmp)"
        failures=$((failures + 1))
    }
}

echo "bad input"
expect 2 'L1, L2, L3 or DRAM was expected' calibrate --regimes L9
expect 2 'more than 0 seconds' calibrate --time 0
expect 2 'at most 64' calibrate --rebuilds 65
expect 2 'confidence' calibrate --confidence 1
expect 7 'nowhere.so: No such file' calibrate --library nowhere.so --db a.db
expect 7 'nowhere.so: No such file' calibrate --rebuilt nowhere.so --db a.db
echo words >text.so
expect 7 'text.so' calibrate --library text.so --db a.db
expect 2 'no kernel matches' calibrate --kernel nothing --rebuilds 0 --db a.db
echo words >text.db
expect 7 'not an SQLite database' calibrate --db text.db
expect 0 . list runs --db a.db --json
[ "$("$build/bin/run_sql" a.db 'SELECT count(*) FROM noise')" = 0 ] || failures=$((failures + 1))

echo "a calibration, and who shows it"
cp "$build/lib/liblayernorm.so" base.so
cp base.so new.so
pair="--base base.so --new new.so --shapes 4x768 --kernels two_pass_f32_scalar --conventions torch
    --only speed --time 1"
# shellcheck disable=SC2086
expect 3 'not calibrated' duet $pair --db none.db
expect 0 '"schema": "lnbench-calibrate-1"' calibrate --regimes L1 --time 1 --rebuilds 1 \
    --kernel two_pass_f32_scalar --db a.db --json
if grep -q 'cannot link' output; then
    echo "calibrate: the library's own objects do not link: $(cat output)"
    failures=$((failures + 1))
fi
grep -v '^lnbench: ' output >calibration
python3 - <<'PYTHON' || failures=$((failures + 1))
import json
whole = json.load(open("calibration"))
assert whole["kernel"] == "two_pass_f32_scalar" and whole["rebuilds"] in (0, 1), whole
noise = {n["method"]: n for n in whole["noise"]}
assert set(noise) == {"duet", "compare"}, noise
for n in noise.values():
    assert n["regime"] == "L1" and n["rows"] == 4 and n["hidden"] == 768, n
    assert 0 <= n["floor"] <= n["smallest"] and n["seconds"] > 0, n
assert noise["duet"]["trials"] == 1 + whole["rebuilds"] and noise["duet"]["processes"] >= 8
assert noise["compare"]["trials"] >= 6 and noise["compare"]["processes"] == 5
PYTHON
for format in tsv markdown; do
    expect 0 'duet' calibrate --regimes L1 --time 1 --rebuilds 0 --kernel two_pass_f32_scalar \
        --db formats.db --format $format
    grep -v '^lnbench: ' output >$format
done
[ "$(awk -F'\t' '{ print NF }' tsv | sort -u)" = 8 ] && [ "$(wc -l <tsv)" -eq 3 ] &&
    [ "$(grep -c '^| ' markdown)" -eq 4 ] || {
    echo "a calibration as TSV and Markdown:"
    cat tsv markdown
    failures=$((failures + 1))
}
expect 2 'text, markdown, tsv, csv or json was expected' calibrate --format xml --db formats.db
# shellcheck disable=SC2086
"$build/bin/lnbench" duet $pair --db a.db --json >output
grep -q '"calibration": {' output || {
    echo "duet does not show the calibration"
    failures=$((failures + 1))
}

"$build/bin/lnbench" calibrate --time 60 --rebuilds 0 --db a.db >output 2>&1 &
sleep 2
kill -TERM $!
wait $!
code=$?
[ $code -eq 130 ] || {
    echo "interrupted: exit code $code"
    cat output
    failures=$((failures + 1))
}
[ "$("$build/bin/run_sql" a.db 'SELECT count(*) FROM calibrations')" = 1 ] && [ -z "$(ls tmp)" ] || {
    echo "interrupted: something is left"
    failures=$((failures + 1))
}

[ "$failures" -eq 0 ] && echo "calibrate: as expected"
exit "$failures"
