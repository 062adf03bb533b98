#!/bin/sh
# lnbench doctor --noise from the command line: what it stores, what it leaves, errors. Only the kind of the figures is
# checked. usage: noise_test.sh BUILD_DIRECTORY
# shellcheck disable=SC2034,SC2154 # expect.sh sets build, scratch and tests
. "$(dirname "$0")/../../tests/expect.sh"
mkdir tmp
export TMPDIR="$scratch/tmp"

echo "bad input"
expect 2 '--time needs --noise' doctor --time 5
echo words >text.db
expect 7 'not an SQLite database' doctor --noise --db text.db

echo "what it measures and stores"
expect 0 '"schema": "lnbench-noise-1"' doctor --noise --time 1 --db a.db --json
grep -v '^lnbench: \|^compare sees\|^timings here\|^stored in' output >noise
python3 - <<'PYTHON' || failures=$((failures + 1))
import json
noise = json.load(open("noise"))["noise"]
assert {"L1", "L2"} <= {n["regime"] for n in noise}, noise
for n in noise:
    assert n["smallest"] > 0 and n["processes"] >= 8 and n["kernel"] == "library_fast_f32", n
PYTHON
count=$("$build/bin/run_sql" a.db 'SELECT count(*) FROM noise WHERE smallest > 0')
[ "$count" -eq "$(grep -c '"regime"' noise)" ] || failed "not each regime is stored"
[ -z "$(ls tmp)" ] || failed "left behind: $(ls tmp)"

finish
