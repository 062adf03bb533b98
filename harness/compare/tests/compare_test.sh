#!/bin/sh
# lnbench compare, import and history from outside: made-up runs with known answers, bad files.
# usage: compare_test.sh BUILD_DIRECTORY
# shellcheck disable=SC2086 # options in variables are lists of words
# shellcheck disable=SC2034,SC2154 # expect.sh sets build, scratch and tests
. "$(dirname "$0")/../../tests/expect.sh"

# make NAME [KEY=VALUE...]: a made-up run as NAME.jsonl, see make_run.py. All of it follows from
# the arguments.
cat >make_run.py <<'PYTHON'
import json, random, sys
name, *given = sys.argv[1:]
o = dict(seed="1", slow="1", drift="1", processes="6", commit="a" * 40, cpu="made up", plan="quick",
         started="2024-01-01T00:00:00Z", bits="0", ulp="2", kernel="k", verdict="pass", reason="", noise="0.002",
         compiler="cc 1", load="0", draw="1", hash="yes", elements="100", rows="85", scale="1",
         dtype="f32", threads="1", declared="", kernels="", untimed="", refused="", lost="",
         command="lnbench run", **{"class": ""})
o.update(g.split("=", 1) for g in given)
draw = random.Random(int(o["draw"]))
facts = dict(cpu_model=o["cpu"], l1d_bytes="49152", l2_bytes="1048576", l3_bytes="33554432",
             cores="2", compiler=o["compiler"], compiler_flags="-O3", build_type="Release",
             git_commit=o["commit"], load_1m=o["load"])
kernels = o["kernels"].split() or [o["kernel"]]
lines = [dict(run=1, started=o["started"], plan=o["plan"], plan_hash="0", command_line=o["command"],
              seed=o["seed"], state="complete", machine=facts, kernels=len(kernels),
              cases=len(kernels) + 1, rows=0)]
if o["lost"]: # KERNEL: what a run of today says of what it was asked for
    lines[0].update(requested=len(kernels) + 1, unsupported=0, missing=1)
lines += [dict(type="kernel", name=kernel, isa="scalar", statistics="s",
               reproducibility=o["class"] or None, declared_reproducibility=o["declared"] or None)
          for kernel in kernels]
layout = [1 + float(o["noise"]) * draw.gauss(0, 1) for p in range(int(o["processes"]))]
for kernel, ns in [(kernel, 400 * float(o["slow"])) for kernel in kernels] + [("copy", 100)]:
    reps = [dict(process=p, repetition=r, order=0, iterations=10, cpu_ns=1.0,
                 real_ns=ns * float(o["drift"]) * (layout[p] if ns > 100 else 1)
                 * (1 + 0.0005 * draw.gauss(0, 1)))
            for p in range(int(o["processes"])) for r in range(3)]
    roof, refused = kernel == "copy", kernel in o["refused"].split()
    reps = [] if refused or kernel in o["untimed"].split() else reps
    lines.append(dict(type="case", kernel=kernel, convention="torch", rows=int(o["rows"]), hidden=768,
        dtype=o["dtype"], input="normal", cache="hot", threads=int(o["threads"]),
        verdict=None if roof else "unsupported" if refused else o["verdict"], reason=o["reason"], detail="", bound_row_ulp=None,
        output_hash="%016x" % int(o["bits"]) if o["hash"] == "yes" and not roof and not refused else None,
        metrics=None if roof or refused or o["elements"] == "0" else
            dict(row_ulp_max=float(o["ulp"]), elements=int(o["elements"]), mismatches=0),
        measurements=reps))
lines[0]["type"] = "run"
if o["lost"]:
    lines.append(dict(lines[-2], type="missing", kernel=o["lost"], requested=3, reason="not reached"))
with open(name + ".jsonl", "w") as out:
    for line in lines:
        out.write(json.dumps(dict(line, schema="lnbench-record-4")) + "\n")
PYTHON
make() {
    python3 make_run.py "$@" || exit 1
}

# refused TEXT ARGUMENTS...: exit code 7 and one line.
refused() {
    text=$1
    shift
    expect 7 "^lnbench: .*$text" "$@"
    [ "$(wc -l <output)" -eq 1 ] || failed "lnbench $*: more than one line"
}

# has_noise DATABASE SHARE: the noise of the made-up machine, for compare.
has_noise() {
    identity='unknown | made up | 49152 | 1048576 | 33554432 | 2 | unknown'
    "$build/bin/run_sql" "$1" "INSERT OR REPLACE INTO noise VALUES ('$identity', 'L2',
        '2024-01-01T00:00:00Z', $2)" || exit 1
}

echo "known answers"
make base
make same draw=2
make slow draw=3 slow=1.08 bits=1
make fast draw=4 slow=0.9
make slight draw=5 slow=1.03
make twice draw=6 drift=2
make one processes=1
make four processes=4
expect 0 'run 1' import base.jsonl --db a.db
has_noise a.db 0.01
compare="compare --db a.db"
expect 0 'same .*bit-identical' $compare base.jsonl same.jsonl
expect 1 'slower .*bits differ' $compare base.jsonl slow.jsonl
prints '1\.0[78][0-9]* \[' "the ratio is 1.08"
expect 0 'faster' $compare base.jsonl fast.jsonl
expect 1 'slower' $compare base.jsonl slight.jsonl
expect 0 'same' $compare base.jsonl slight.jsonl --threshold 5%
expect 0 'same' $compare base.jsonl twice.jsonl # the roof took as much longer
expect 3 '1 process in a run' $compare base.jsonl one.jsonl
expect 3 '4 processes in a run' $compare four.jsonl base.jsonl
expect 1 'slower .*bits differ' compare --db none.db base.jsonl slow.jsonl
prints 'decided by interval and rank test' "without a stored noise it says how it decides"
has_noise a.db 0.06
expect 0 'noise here exceeds' $compare base.jsonl slight.jsonl # never less than the floor
expect 1 'slower' $compare base.jsonl slow.jsonl
has_noise a.db 0.2
expect 0 'same' $compare base.jsonl slow.jsonl
has_noise a.db 0.01

echo "accuracy"
make worse ulp=3 bits=2
make better ulp=1 bits=2
make moved ulp=2.2 bits=2
make wrong verdict=fail reason=inaccurate bits=2 ulp=9
make crash verdict=fail reason=crashed elements=0 hash=no
make bare hash=no
only="--only accuracy"
expect 5 'less accurate' $compare base.jsonl worse.jsonl $only
expect 0 'more accurate' $compare base.jsonl better.jsonl $only
expect 0 'bits differ' $compare base.jsonl moved.jsonl $only
expect 5 'bits differ' $compare base.jsonl moved.jsonl $only --accuracy exact
expect 5 'inaccurate' $compare base.jsonl wrong.jsonl $only --accuracy bound
expect 0 'less accurate' $compare base.jsonl worse.jsonl $only --accuracy bound
expect 6 'crashed' $compare base.jsonl crash.jsonl
expect 4 'crashed' $compare crash.jsonl base.jsonl
expect 3 'no hash of the bits' $compare base.jsonl bare.jsonl $only --accuracy exact
expect 0 '' $compare base.jsonl bare.jsonl $only

echo "what was asked, compared and lost"
make all kernels='k b c'
expect 0 '^requested 3, compared 3, missing 0$' $compare all.jsonl all.jsonl
make gone kernels='k b c d'
expect 0 '^not compared: d (only in new)$' $compare all.jsonl gone.jsonl
expect 4 '^requested 4, compared 3, missing 1: d torch 85x768 hot (only in base)$' $compare gone.jsonl all.jsonl
expect 0 '3 pairs, .*1 of 4 missing (allowed)$' $compare gone.jsonl all.jsonl --allow-missing
expect 4 'missing 1: d torch 85x768 hot (only in base);' $compare gone.jsonl all.jsonl --format markdown
make gone kernels='k b c' untimed='b'
expect 4 'missing 1: b .*(new: no time)' $compare all.jsonl gone.jsonl
expect 0 '^requested 3, compared 3, missing 0$' $compare all.jsonl gone.jsonl --only accuracy
expect 0 '^requested 3, compared 3, missing 0$' $compare gone.jsonl all.jsonl
make gone kernels='k b c' refused='b'
expect 4 'missing 1: b .*(new: unsupported)' $compare all.jsonl gone.jsonl
expect 0 '^requested 3, compared 2, unsupported 1, missing 0$' $compare gone.jsonl gone.jsonl
expect 0 '^not compared: b (unsupported in base)$' $compare gone.jsonl all.jsonl
make other kernels='k c'
expect 4 'missing 1: b .*(only in base)' $compare gone.jsonl other.jsonl
make half kernels='k' lost=b
expect 4 'missing 2: b .*(new: not reached); c .*(only in base)' $compare all.jsonl half.jsonl
expect 4 'missing 1: b .*(base: not reached)' $compare half.jsonl all.jsonl
expect 4 '^requested 2, compared 1, missing 1: b .*(both: not reached)$' $compare half.jsonl half.jsonl
grep -q 'is not known' output && failed "what was asked for is known"
expect 0 'what either requested is not known' $compare all.jsonl all.jsonl
make never untimed=k
expect 4 '^not comparable: nothing was compared$' $compare never.jsonl never.jsonl --only speed --allow-missing

echo "reproducibility classes"
make row class=row
make run class=run declared=row draw=2
make promised declared=row draw=3
make strange class="$(printf 'row\033[31m')" draw=4
expect 0 'same, bit-identical in 1 pair.*, 1 kernel less reproducible' $compare row.jsonl run.jsonl
prints '^k 85x768: reproducible: run was row$' "the class is told of the pair"
prints '^note: k: reproducible: run was row$' "the class is told below"
expect 5 'accuracy violation' $compare row.jsonl run.jsonl --accuracy exact
expect 0 'reproducible: row was run' $compare run.jsonl row.jsonl --accuracy exact
grep -q 'less reproducible' output && failed "more is not less"
expect 0 'reproducible: (row) was row' $compare row.jsonl promised.jsonl --accuracy exact # not measured
expect 0 'reproducible: - was row' $compare row.jsonl strange.jsonl
expect 0 'bit-identical' $compare row.jsonl row.jsonl

grep -q ' was row' output && failed "nothing was lost"
make both slow=1.2 ulp=9 bits=3
expect 5 'slower .*less accurate' $compare base.jsonl both.jsonl

echo "types and threads"
for kind in dtype=bf16 dtype=f16 threads=2; do
    make typed $kind
    make typed_same $kind draw=2
    make typed_slow $kind draw=3 slow=1.08 bits=1
    expect 0 'same .*bit-identical' $compare typed.jsonl typed_same.jsonl
    expect 1 'slower .*bits differ' $compare typed.jsonl typed_slow.jsonl
    case $kind in
    dtype=*) grep -q "85x768 ${kind#*=} " output || failed "the type is told" ;;
    *) prints '85x768, 2 threads' "the number of threads is told" ;;
    esac
    expect 4 'nothing was compared' $compare base.jsonl typed.jsonl
done

echo "contexts"
make cpu cpu=other
make compiler compiler='cc 2'
make plan plan=full
make seed seed=2
make load load=9
make rows rows=84
for what in cpu compiler plan seed; do
    expect 4 "^differs: .*$what" $compare base.jsonl $what.jsonl
    grep -q 'slower\|same\|bit-identical' output && failed "a verdict of another $what"
done
expect 0 '^note: cpu_model: .* (base), other (new)$' $compare base.jsonl cpu.jsonl $only
expect 4 '^differs: .*seed' $compare base.jsonl seed.jsonl $only
expect 0 'same' $compare base.jsonl load.jsonl
expect 4 'nothing was compared' $compare base.jsonl rows.jsonl

echo "stored runs by name"
expect 0 'run 2' import slow.jsonl --db a.db
expect 1 'slower' $compare previous latest
head -n 2 output | tr '\n' ' ' | grep -q 'previous (run 1, commit a*, .*) against latest (run 2, commit a*, ' || failed "no runs are named"
expect 1 'slower' $compare 1 2
expect 1 'slower' $compare 1 slow.jsonl
make third commit=bbbbbbb1234 started=2024-01-03T00:00:00Z draw=9
expect 0 'run 3' import third.jsonl --db a.db
expect 0 'same' $compare 1 bbbb
refused 'no run of this number or commit' $compare 1 cccc
refused 'no run 99\|no run of this number' $compare 1 99
expect 2 'neither a run' $compare 1 yesterday
expect 2 'two runs were expected' $compare 1
refused 'No such file' $compare 1 ./nowhere.json

echo "one run only, none"
expect 0 'run 1' import base.jsonl --db one.db
expect 4 'no run before run 1 asked for the same' compare previous latest --db one.db
make chosen started=2024-01-05T00:00:00Z command='lnbench choose' draw=3 # choose is no run
make another started=2024-01-04T00:00:00Z kernels=d
make earlier started=2023-12-01T00:00:00Z draw=4
make elsewhere started=2024-01-02T00:00:00Z draw=5 cpu=other
make later started=2024-01-06T00:00:00Z draw=6
for file in chosen another earlier elsewhere later; do
    expect 0 . import $file.jsonl --db one.db
done
expect 0 '^against latest (run 6, ' compare previous latest --db one.db
expect 0 '8 runs are needed' history --db one.db
refused 'no such file' compare 1 2 --db none.db
refused 'no such file' history --db none.db
: >empty.db
refused 'empty' history --db empty.db
refused 'empty' compare previous latest --db empty.db
expect 0 . import base.jsonl --db vacant.db
"$build/bin/run_sql" vacant.db 'PRAGMA foreign_keys = ON; DELETE FROM runs'
refused 'holds no run' history --db vacant.db
expect 4 'holds no run' compare previous latest --db vacant.db
expect 2 'did you mean .copy_ratio' history --db one.db --measure copy_ratios
refused 'no stored case' history --db one.db --kernels nothing

echo "files that are no good"
bad() {
    why=$1
    refused "bad.jsonl.*$why" compare bad.jsonl base.jsonl --db a.db
    refused "bad.jsonl.*$why" import bad.jsonl --db a.db
}
head -c 700 base.jsonl >bad.jsonl
bad 'line 3: not JSON'
cat base.jsonl same.jsonl >bad.jsonl
bad 'a second run'
while IFS='|' read -r why change; do
    sed "$change" base.jsonl >bad.jsonl
    bad "$why"
done <<TABLE
1 of 2 cases|3q
line 3: not JSON: duplicate|3s/"rows"/"rows": 3, "rows"/
line 3: not JSON|3s/"real_ns": [0-9.]*/"real_ns": NaN/
line 3: not JSON: real number overflow|3s/"real_ns": [0-9.]*/"real_ns": 1e999/
line 3: "real_ns" is no number|3s/"real_ns": [0-9.]*/"real_ns": "fast"/
"process" is missing or no whole number|3s/"process": 1/"process": -1/
a repetition of k, 85x768, stands there twice|3s/"process": 1,/"process": 0,/g
a case of k, 85x768, stands there twice|4s/"copy"/"k"/
"cache" is missing or none of hot, cold, in-place, read|3s/"hot"/"warm"/
unknown verdict|3s/"verdict": "pass"/"verdict": "splendid"/
"kernel" is missing or no string of 1 to 63 bytes|3s/"kernel": "k"/"kernel": "$(printf 'k%.0s' $(seq 200))"/
before the run|1d
lnbench-record-4 was expected|s/lnbench-record-4/lnbench-record-9/
TABLE
: >bad.jsonl
bad 'an empty file'
echo '{"context": {}, "benchmarks": 3}' >bad.jsonl
bad 'not a run as'
echo '[1, 2' >bad.jsonl
bad 'not a run as'
python3 -c 'print("[" * 100000)' >bad.jsonl
bad 'not a run as'
python3 -c 'print("{\"a\":" * 100000)' >bad.jsonl
bad 'not a run as'
head -c 5000 /dev/zero >bad.jsonl
bad 'not a run as'
printf '{"schema": "lnbench-record-4", "type": "r\\u0000n"}\n' >bad.jsonl
bad 'not JSON'
rm bad.jsonl
truncate -s 300M bad.jsonl
bad 'larger than 256 MiB'
rm bad.jsonl
before=$("$build/bin/run_sql" a.db 'SELECT count(*) FROM runs')
sed '4s/"process": 1,/"process": 0,/g' same.jsonl >bad.jsonl
expect 7 '1 of 2 files were not imported' import bad.jsonl fast.jsonl --db a.db
after=$("$build/bin/run_sql" a.db 'SELECT count(*) FROM runs')
[ "$after" -eq $((before + 1)) ] || failed "a bad file among good ones: $before runs, then $after"

echo "import: once, and whole"
expect 0 'there already, as run 1' import base.jsonl --db a.db
"$build/bin/lnbench" export --db a.db --run 2 --format jsonl --out again.jsonl
expect 0 'run 1,' import again.jsonl --db b.db
expect 0 'there already' import again.jsonl --db b.db
"$build/bin/lnbench" export --db b.db --run 1 --format jsonl |
    sed 's/"run":1,/"run":2,/; $d' >back.jsonl # the last line is a hash, also of the run's number
sed '$d' again.jsonl | cmp - back.jsonl || failed "what was imported is exported as it was"
has_noise b.db 0.01
expect 0 'same' compare --db b.db again.jsonl 1

echo "history"
python3 - <<'PYTHON'
import subprocess, sys
for i in range(24):
    machine = "made up" if i % 4 else "other"
    slow = 1.05 if i >= 14 else 1
    subprocess.run([sys.executable, "make_run.py", f"h{i:02}", f"draw={100 + i}", f"cpu={machine}",
                    f"slow={slow}", f"commit={i:040x}", f"started=2024-02-{i + 1:02}T00:00:00Z",
                    "ulp=3" if i >= 8 else "ulp=2", "class=run" if i >= 12 else "class=row"],
                   check=True)
PYTHON
# The latest first: the order is that of time.
for file in $(printf '%s\n' h??.jsonl | sort -r); do
    expect 0 . import "$file" --db h.db
done
expect 0 'machine 2: ' history --db h.db
prints ' run was row ' "the class of the latest run, and what it was"
"$build/bin/lnbench" history --db h.db --json >history.json || failed "history --json"
"$build/bin/lnbench" history --db h.db --measure row_ulp_max --json >errors.json
python3 - <<'PYTHON' || failures=$((failures + 1))
import json
whole = json.load(open("history.json"))
assert whole["schema"] == "lnbench-history-2" and whole["measure"] == "copy_ratio"
series = {s["machine"].split(" | ")[1]: s for s in whole["series"]}
assert set(series) == {"made up", "other"}, series.keys()
mine, other = series["made up"], series["other"]
assert len(mine["points"]) == 18 and len(other["points"]) == 6
started = [p["started"] for p in mine["points"]]
assert started == sorted(started)
change, = mine["changes"]
assert change["commit"] == f"{14:040x}", change
assert abs(change["after"] / change["before"] - 1 / 1.05) < 0.002, change
assert other["changes"] == []
errors = {s["machine"].split(" | ")[1]: s for s in json.load(open("errors.json"))["series"]}
change, = errors["made up"]["changes"]
assert change["commit"] == f"{9:040x}" and (change["before"], change["after"]) == (2, 3), change
assert [p["reproducibility"] for p in mine["points"]] == ["row"] * 9 + ["run"] * 9
PYTHON
finish
