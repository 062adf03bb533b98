#!/bin/sh
# lnbench compare, import and history from the command line: made-up runs with known answers, invalid files.
# usage: compare_test.sh BUILD_DIRECTORY
# shellcheck disable=SC2086 # options in variables are lists of words
# shellcheck disable=SC2034,SC2154 # expect.sh sets build, scratch and tests
. "$(dirname "$0")/../../tests/expect.sh"

# make NAME [KEY=VALUE...]: makes a run as NAME.db (make_run.py).
tab=$(printf '\t')
mkfifo asked made
python3 "$tests/make_run.py" "$build/bin" <asked >made &
exec 3>asked 4<made
make() {
    (IFS=$tab && echo "$*") >&3
    read -r answer <&4 || exit 1
}

# refused TEXT ARGUMENTS...: expects exit code 7 and one line.
refused() {
    text=$1
    shift
    expect 7 "^lnbench: .*$text" "$@"
    [ "$(wc -l <output)" -eq 1 ] || failed "lnbench $*: more than one line"
}

# has_noise DATABASE SHARE: stores the noise of the made-up machine, for compare.
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
expect 0 'run 1' import base.db --db a.db
has_noise a.db 0.01
compare="compare --db a.db"
expect 0 'same .*bit-identical' $compare base.db same.db
expect 1 'slower .*bits differ' $compare base.db slow.db
prints '1\.0[78][0-9]* \[' "the ratio is 1.08"
expect 0 'faster' $compare base.db fast.db
expect 1 'slower' $compare base.db slight.db
expect 0 'same' $compare base.db slight.db --threshold 5%
expect 0 'same' $compare base.db twice.db # the copy became slower by the same factor
expect 3 '1 process in a run' $compare base.db one.db
expect 3 '4 processes in a run' $compare four.db base.db
expect 1 'slower .*bits differ' compare --db none.db base.db slow.db
has_noise a.db 0.06
expect 3 'noise here (6 %) may explain' $compare base.db slight.db # a change below the noise proves nothing
expect 1 'slower' $compare base.db slow.db
expect 0 'same' $compare base.db same.db # its interval is within the threshold
has_noise a.db 0.2
expect 3 'noise here (20 %)' $compare base.db slow.db
has_noise a.db 0.01

echo "accuracy"
make worse ulp=3 bits=2
make better ulp=1 bits=2
make moved ulp=2.2 bits=2
make wrong verdict=fail reason=inaccurate bits=2 ulp=9
make crash verdict=fail reason=crashed elements=0 hash=no
make bare hash=no
only="--only accuracy"
expect 5 'less accurate' $compare base.db worse.db $only
expect 0 'more accurate' $compare base.db better.db $only
expect 0 'bits differ' $compare base.db moved.db $only
expect 5 'bits differ' $compare base.db moved.db $only --accuracy exact
expect 5 'inaccurate' $compare base.db wrong.db $only --accuracy bound
expect 0 'less accurate' $compare base.db worse.db $only --accuracy bound
expect 6 'crashed' $compare base.db crash.db
expect 4 'crashed' $compare crash.db base.db
expect 5 'bits differ' $compare base.db bare.db $only --accuracy exact
expect 0 '' $compare base.db bare.db $only

echo "what was asked, compared and lost"
make all kernels='k b c'
expect 0 '^requested 3, compared 3, missing 0$' $compare all.db all.db
make one_slow kernels='k b c'
"$build/bin/run_sql" one_slow.db "UPDATE repetitions SET real_ns = 1.2 * real_ns WHERE case_id = 2"
expect 1 'new/base .* speed' $compare all.db one_slow.db # also where only one pair is slower
make gone kernels='k b c d'
expect 0 '^not compared: d (only in new)$' $compare all.db gone.db
expect 4 '^requested 4, compared 3, missing 1: d torch 85x768 hot (only in base)$' $compare gone.db all.db
expect 0 ': 1 of 4 pairs missing (allowed); .*3 pairs' $compare gone.db all.db --allow-missing
expect 4 'missing 1: d torch 85x768 hot (only in base);' $compare gone.db all.db --format markdown
make gone kernels='k b c' untimed='b'
expect 4 'missing 1: b .*(new: no time)' $compare all.db gone.db
expect 0 '^requested 3, compared 3, missing 0$' $compare all.db gone.db --only accuracy
expect 0 '^requested 3, compared 3, missing 0$' $compare gone.db all.db
make gone kernels='k b c' refused='b'
expect 4 'missing 1: b .*(new: unsupported)' $compare all.db gone.db
expect 0 '^requested 3, compared 2, unsupported 1, missing 0$' $compare gone.db gone.db
expect 0 '^not compared: b (unsupported in base)$' $compare gone.db all.db
make other kernels='k c'
expect 4 'missing 1: b .*(only in base)' $compare gone.db other.db
for named in rmsnorm layernorm; do # each has its own covering array
    cp base.db $named.db
    "$build/bin/run_sql" $named.db "UPDATE inputs SET name = 'combinations'; UPDATE runs SET origin = '$named';
        INSERT INTO facts VALUES (1, 999, 'conventions_named_of', '$named')"
done
expect 4 'different problems' $compare rmsnorm.db layernorm.db --only accuracy
expect 0 'bit-identical' $compare rmsnorm.db rmsnorm.db --only accuracy
make half kernels='k' lost=b
expect 4 'missing 2: b .*(new: not reached); c ' $compare all.db half.db
expect 4 'missing 1: b .*(base: not reached)' $compare half.db all.db
expect 4 '^requested 2, compared 1, missing 1: b .*(both: not reached)$' $compare half.db half.db
make never untimed=k
expect 4 '^not comparable: nothing was compared$' $compare never.db never.db --only speed --allow-missing

make row class=row
make run class=run declared=row draw=2
make promised declared=row draw=3
make strange class="$(printf 'row\033[31m')" draw=4
expect 0 'same, bit-identical in 1 pair.*, 1 kernel less reproducible' $compare row.db run.db
prints '^k 85x768: reproducible: run was row$' "the class is told of the pair"
prints '^note: k: reproducible: run was row$' "the class is told below"
expect 5 'accuracy violation' $compare row.db run.db --accuracy exact
expect 0 'reproducible: row was run' $compare run.db row.db --accuracy exact
grep -q 'less reproducible' output && failed "more is not less"
expect 0 'reproducible: (row) was row' $compare row.db promised.db --accuracy exact # not measured
expect 0 'reproducible: - was row' $compare row.db strange.db
expect 0 'bit-identical' $compare row.db row.db

make both slow=1.2 ulp=9 bits=3
expect 5 'slower .*less accurate' $compare base.db both.db

for kind in dtype=bf16 dtype=f16 threads=2; do
    make typed $kind
    make typed_same $kind draw=2
    make typed_slow $kind draw=3 slow=1.08 bits=1
    expect 0 'same .*bit-identical' $compare typed.db typed_same.db
    expect 1 'slower .*bits differ' $compare typed.db typed_slow.db
    case $kind in
    dtype=*) grep -q "85x768 ${kind#*=} " output || failed "the type is told" ;;
    *) prints '85x768, 2 threads' "the number of threads is told" ;;
    esac
    expect 4 'nothing was compared' $compare base.db typed.db
done

echo "contexts"
make cpu cpu=other
make compiler compiler='cc 2'
make plan plan=full
make seed seed=2
make load load=9
make rows rows=84
for what in cpu compiler plan seed; do
    expect 4 "^differs: .*$what" $compare base.db $what.db
    grep -q 'slower\|same\|bit-identical' output && failed "a verdict of another $what"
done
expect 0 '^note: cpu_model: .* (base), other (new)$' $compare base.db cpu.db $only
expect 4 '^differs: .*seed' $compare base.db seed.db $only
expect 0 'same' $compare base.db load.db
expect 4 'nothing was compared' $compare base.db rows.db
cp base.db lacking.db
"$build/bin/run_sql" lacking.db "UPDATE runs SET origin = 'o'; DELETE FROM facts WHERE name IN ('time', 'build_type')" >/dev/null
expect 4 '^differs: build_type: Release (base), unknown (new)$' $compare base.db lacking.db
grep -q 'time: ' output && failed "a fact that one run does not have"

echo "stored runs by name"
expect 0 'run 2' import slow.db --db a.db
expect 1 'slower' $compare previous latest
head -n 2 output | tr '\n' ' ' | grep -q 'previous (run 1, commit a*, .*) against new latest (run 2, commit a*, ' || failed "no runs are named"
expect 1 'slower' $compare 1 2
expect 1 'slower' $compare 1 slow.db
make third commit=bbbbbbb1234 started=2024-01-03T00:00:00Z draw=9
expect 0 'run 3' import third.db --db a.db
expect 0 'same' $compare 1 bbbb
refused 'no run of this number or commit' $compare 1 cccc
refused 'no run 99\|no run of this number' $compare 1 99
expect 2 'neither a run' $compare 1 yesterday
expect 2 'name two runs' $compare 1
refused 'No such file' $compare 1 ./nowhere.json

expect 0 'run 1' import base.db --db single.db
expect 4 'no earlier run has the cases and machine of run 1' compare previous latest --db single.db
make chosen started=2024-01-05T00:00:00Z command='lnbench choose' draw=3 # choose makes no run for compare
make another started=2024-01-04T00:00:00Z kernels=d
make earlier started=2023-12-01T00:00:00Z draw=4
make elsewhere started=2024-01-02T00:00:00Z draw=5 cpu=other
make later started=2024-01-06T00:00:00Z draw=6
for file in chosen another earlier elsewhere later; do
    expect 0 . import $file.db --db single.db
done
expect 0 '^against new latest (run 6, ' compare previous latest --db single.db
expect 0 'fewer than 8 runs' history --db single.db
refused 'no such file' compare 1 2 --db nsingle.db
: >empty.db
refused 'empty' compare previous latest --db empty.db
expect 0 . import base.db --db vacant.db
"$build/bin/run_sql" vacant.db 'PRAGMA foreign_keys = ON; DELETE FROM runs'
refused 'holds no run' history --db vacant.db
expect 4 'holds no run' compare previous latest --db vacant.db
expect 2 'did you mean .copy_ratio' history --db single.db --measure copy_ratios
refused 'no stored case' history --db single.db --kernels nothing

echo "files that are no good"
bad() {
    refused "bad.db.*$1" compare bad.db base.db --db a.db
    refused "bad.db.*$1" import bad.db --db a.db
}
# alter SQL: copies base.db to bad.db and changes it.
alter() {
    cp base.db bad.db
    "$build/bin/run_sql" bad.db "UPDATE runs SET origin = 'o'; $1" >/dev/null || exit 1
}
: >bad.db
bad 'not a run as'
echo '{"context": {}, "benchmarks": 3}' >bad.db
bad 'not a run as'
rm bad.db
truncate -s 300M bad.db
bad 'larger than 256 MiB'
head -c 20000 base.db >bad.db
bad 'damaged'
alter "DROP TABLE judgements"
bad 'no such table'
alter "UPDATE cases SET cell = 99 WHERE id = 1"
refused "bad.db.*"'has records without a run' import bad.db --db a.db
"$build/bin/run_sql" a.db 'SELECT count(*) FROM runs' >before
cp base.db bad.db
"$build/bin/run_sql" bad.db 'PRAGMA foreign_keys = ON; DELETE FROM runs'
refused "bad.db.*"'holds no run' import bad.db --db a.db
expect 7 'holds no run' import fast.db bad.db --db a.db
after=$("$build/bin/run_sql" a.db 'SELECT count(*) FROM runs')
[ "$after" -eq $(($(cat before) + 1)) ] || failed "a bad file behind a good one: $(cat before) runs, then $after"

echo "exported files"
expect 0 'there already, as run 1' import base.db --db a.db
for file in again.db again.db.xz; do
    "$build/bin/lnbench" export --db a.db --run 2 --format db --out $file || failed "export to $file"
    rm -f b.db b.db-wal b.db-shm
    expect 0 'run 1,' import $file --db b.db
    expect 0 'there already' import $file --db b.db
    expect 0 'same' compare --db b.db $file 1
done
# A program that writes to the file makes its hash invalid.
expect 0 'run 2,' import base.db --db again.db
expect 0 'runs 1 to 2' import again.db --db c.db

echo "history"
for i in $(seq -w 0 23); do
    n=${i#0} machine=other slow=1 ulp=2 class=row
    [ $((n % 4)) -eq 0 ] || machine='made up'
    [ "$n" -lt 8 ] || ulp=3
    [ "$n" -lt 12 ] || class=run
    [ "$n" -lt 14 ] || slow=1.05
    make "h$i" draw=$((100 + n)) cpu="$machine" slow=$slow commit="$(printf %040x "$n")" \
        started="2024-02-$(printf %02d $((n + 1)))T00:00:00Z" ulp=$ulp class=$class
done
# The latest is imported first, but the order is by time.
for file in $(printf '%s\n' h??.db | sort -r); do
    expect 0 . import "$file" --db h.db
done
expect 0 'machine 2: ' history --db h.db
prints ' run was row ' "the class of the latest run, and what it was"
"$build/bin/lnbench" history --db h.db --json >history.json || failed "history --json"
"$build/bin/lnbench" history --db h.db --measure row_ulp_max --json >errors.json
python3 - <<'PYTHON' || failures=$((failures + 1))
import json
whole = json.load(open("history.json"))
assert whole["schema"] == "lnbench-history-3" and whole["measure"] == "copy_ratio"

def points_of(whole, machine):
    return [p for p in whole["points"] if p["machine"].split(" | ")[1] == machine]

def change_of(points):
    """The commit, and the medians before and after it."""
    first = next(p for p in points if p["segment"] == 1)
    return first["commit"], points[0]["segment_median"], first["segment_median"]

mine, other = points_of(whole, "made up"), points_of(whole, "other")
assert len(mine) == 18 and len(other) == 6 and len(whole["points"]) == 24
started = [p["started"] for p in mine]
assert started == sorted(started)
commit, before, after = change_of(mine)
assert commit == f"{14:040x}" and abs(after / before - 1 / 1.05) < 0.002, (commit, before, after)
assert mine[-1]["segment"] == 1 and {p["segment"] for p in other} == {0}
assert change_of(points_of(json.load(open("errors.json")), "made up")) == (f"{9:040x}", 2, 3)
assert [p["reproducibility"] for p in mine] == ["row"] * 9 + ["run"] * 9
PYTHON
finish
