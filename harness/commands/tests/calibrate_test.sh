#!/bin/sh
# lnbench doctor --calibrate from outside: what it stores, who shows it, what it leaves behind, errors. No
# figure is asserted but its kind. usage: calibrate_test.sh BUILD_DIRECTORY
# shellcheck disable=SC2034,SC2154 # expect.sh sets build, scratch and tests
. "$(dirname "$0")/../../tests/expect.sh"
mkdir tmp
export TMPDIR="$scratch/tmp"

# expect_tidy CODE TEXT ARGUMENTS...: as expect, and nothing is left behind.
expect_tidy() {
    expect "$@"
    [ -z "$(ls tmp)" ] || failed "lnbench $*: left behind: $(ls tmp)"
}

echo "bad input"
expect_tidy 2 'L1, L2, L3 or DRAM was expected' doctor --calibrate --regimes L9
expect_tidy 2 'more than 0 seconds' doctor --calibrate --time 0
expect_tidy 2 'at most 64' doctor --calibrate --rebuilds 65
expect_tidy 2 'confidence' doctor --calibrate --confidence 1
expect_tidy 7 'nowhere.so: No such file' doctor --calibrate --library nowhere.so --db a.db
expect_tidy 7 'nowhere.so: No such file' doctor --calibrate --rebuilt nowhere.so --db a.db
echo words >text.so
expect_tidy 7 'text.so' doctor --calibrate --library text.so --db a.db
expect_tidy 2 'no kernel matches' doctor --calibrate --kernel nothing --rebuilds 0 --db a.db
echo words >text.db
expect_tidy 7 'not an SQLite database' doctor --calibrate --db text.db
expect_tidy 0 . list runs --db a.db --json
[ "$("$build/bin/run_sql" a.db 'SELECT count(*) FROM noise')" = 0 ] || failures=$((failures + 1))

echo "a calibration, and who shows it"
cp "$build/lib/liblayernorm.so" base.so
cp base.so new.so
pair="--base base.so --new new.so --shapes 4x768 --kernels two_pass_f32_scalar --conventions torch
    --only speed --time 1"
# shellcheck disable=SC2086
expect_tidy 3 'not calibrated' duet $pair --db none.db
expect_tidy 0 '"schema": "lnbench-calibrate-1"' doctor --calibrate --regimes L1 --time 1 --rebuilds 1 \
    --kernel two_pass_f32_scalar --db a.db --json
grep -q 'cannot link' output && failed "the library's own objects do not link"
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
# shellcheck disable=SC2086
"$build/bin/lnbench" duet $pair --db a.db --json >output
prints '"calibration": {' "duet does not show the calibration"

"$build/bin/lnbench" doctor --calibrate --time 60 --rebuilds 0 --db a.db >output 2>&1 &
sleep 2
kill -TERM $!
wait $!
code=$?
[ $code -eq 130 ] || failed "interrupted"
[ "$("$build/bin/run_sql" a.db 'SELECT count(*) FROM calibrations')" = 1 ] && [ -z "$(ls tmp)" ] ||
    failed "interrupted: something is left"

finish
