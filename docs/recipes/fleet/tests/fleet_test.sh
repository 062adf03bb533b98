#!/bin/bash
# shellcheck disable=SC2154 # cli_common.sh sets lnbench, binaries and code
# A hunt in shards and a survey of emulated kinds, without Slurm: what is done twice, killed, cut off,
# mixed up or renamed, and the recipes' own words. All of it with a real Slurm: docs/recipes/fleet/tests/whole.
recipes=$(readlink -f -- "$(dirname "$0")/..")
. "$recipes/../../../harness/commands/tests/cli_common.sh" "$@"
export LNBENCH=$lnbench

recipe() { # LABEL CODE PATTERN COMMAND...: ends with that code and one line
    local label=$1 wanted=$2 pattern=$3
    shift 3
    "$@" >out 2>err
    code=$?
    check "$label: exit code" is $code "$wanted"
    check "$label: one line" lines err 1
    check "$label: which says /$pattern/" has err "$pattern"
}
recipe_prints() { # LABEL CODE RECIPE ARGUMENT...: standard output in `out`, nothing on standard error
    "$recipes/$3" "${@:4}" >out 2>err
    check "$1: exit code $2" is $? "$2"
    check "$1: nothing on standard error" lines err 0
}

# ---- shards ----
hunt=(--kernels two_pass_two_mean_f32_acc_f64_scalar --hidden 8 --restarts 10 --keep 4)
shard() { accepted "shard $1 of $2 into $3" 0 hunt "${hunt[@]}" --shard "$1/$2" --out "$3"; }
accepted "one process" 0 hunt "${hunt[@]}" --out one.txt
for i in 2 0 3 1; do shard $i 4 four; done
accepted "merge four" 0 hunt --merge four --out four.txt
check "four shards give the bytes of one process" cmp one.txt four.txt
for i in 2 0 1; do shard $i 3 three; done
accepted "merge three" 0 hunt --merge three/*.jsonl --out three.txt
check "so do three" cmp one.txt three.txt
check "a shard tells its restarts" is "$(value first <(head -1 three/shard-1-of-3.jsonl)) $(value end <(head -1 three/shard-1-of-3.jsonl))" "4 7"
cp -p four/shard-1-of-4.jsonl before
shard 1 4 four
check "run twice: it says so" has out 'shard-1-of-4.jsonl: complete already'
check "run twice: it does nothing" test before -ef before -a ! four/shard-1-of-4.jsonl -nt before
cp four/shard-1-of-4.jsonl four/shard-1-of-4-again.jsonl
touch -d 2001-01-01 four/shard-0-of-4.jsonl # another machine's clock
touch -d 2040-01-01 four/shard-2-of-4.jsonl
accepted "a shard twice" 0 hunt --merge four --out twice.txt
check "a shard twice counts once" cmp one.txt twice.txt
check "a shard twice: it says so" has out '^1 files hold a shard once more'
rm four/shard-1-of-4-again.jsonl

# Another shard's bytes under this name; another result for the same shard.
cp four/shard-0-of-4.jsonl renamed.jsonl
mkdir other && cp four/shard-0-of-4.jsonl other/shard-1-of-4.jsonl
refused "a renamed shard" 2 'holds shard 0: it was renamed' hunt "${hunt[@]}" --shard 1/4 --out other
reseal() { # files whose last line fits the others, as a machine that computes wrongly writes it
    python3 - "$@" <<'END'
import sys
for name in sys.argv[1:]:
    lines = open(name, "rb").read().splitlines(keepends=True)[:-1]
    hash = 0xcbf29ce484222325
    for byte in b"".join(lines):
        hash = (hash ^ byte) * 0x100000001b3 % 2**64
    lines.append(b'{"lines": %d, "hash": "%016x"}\n' % (len(lines), hash))
    open(name, "wb").write(b"".join(lines))
END
}
sed -i '0,/"rows": [0-9]*/s//"rows": 100000/' renamed.jsonl && reseal renamed.jsonl
refused "two results of a shard" 2 'shard 0 is there already, with other finds' hunt --merge four renamed.jsonl \
    --out no.txt

# Numbers that no hunt writes, under a hash that fits them: file, what is said of it, how it was made.
impossible='rows or seconds that its restarts cannot have taken'
forgeries=(
    rows_below_0 "$impossible" '2s/"rows": [0-9]*/"rows": -1/'
    rows_beyond_all_steps "$impossible" '2s/"rows": [0-9]*/"rows": 9223372036854775807/'
    seconds_below_0 "$impossible" '2s/"seconds": [0-9.e-]*/"seconds": -1.0/'
    seconds_without_end "$impossible" '2s/"seconds": [0-9.e-]*/"seconds": 1e308/'
    nan 'a line is no JSON' '2s/"rows": [0-9]*/"rows": NaN/'
    more_restarts 'more restarts than it has' '2s/"done": 3/"done": 4/'
    record_of_another_shard 'a record that its' '3s/"restart": [0-9]*/"restart": 25/'
    record_below_0 'a record that its' '3s/"score": [0-9.]*/"score": -1.0/'
    record_in_words 'a record that its' '3s/"score": [0-9.]*/"score": "x"/'
    goal 'a setting of it is impossible' '1s/row-ulp/row-ulps/'
    find_of_another_shard 'a find is of another' '5s/restart [0-9]*/restart 25/'
    find_of_another_kernel 'a find is of another' '5s/kernel two/kernel three/'
    score 'a find is of another' '5s/score 0x[^n]*n/score nan\\n/'
    find_twice 'a find is there twice' '5p'
)
mkdir forged
for ((i = 0; i < ${#forgeries[@]}; i += 3)); do
    sed "${forgeries[i + 2]}" four/shard-1-of-4.jsonl >"forged/${forgeries[i]}"
done
reseal forged/*
for ((i = 0; i < ${#forgeries[@]}; i += 3)); do
    refused "forged: ${forgeries[i]}" 2 "${forgeries[i]}: .*${forgeries[i + 1]}" hunt --merge "forged/${forgeries[i]}" \
        --out no.txt
done
check "nothing was written by these" test ! -e no.txt

# What is missing, mixed or cut off.
mkdir part && cp four/shard-{0,3}-of-4.jsonl part
refused "missing shards are named" 2 '2 of 4 shards are missing: 1-2$' hunt --merge part --out no.txt
cp four/shard-1-of-4.jsonl part && rm part/shard-0*
refused "apart as well" 2 '2 of 4 shards are missing: 0,2$' hunt --merge part --out no.txt
cp three/shard-2-of-3.jsonl part
refused "shards of two divisions" 2 'the number of shards differs' hunt --merge part --out no.txt
refused "another seed into the folder" 2 'of another hunt: seed differs; each hunt needs a folder' \
    hunt "${hunt[@]}" --seed 2 --shard 2/4 --out four
cp -r four library
sed -i 's/"library": "[0-9a-f]*"/"library": "0123456789abcdef"/' library/shard-2-of-4.jsonl
refused "a changed byte" 2 'shard-2-of-4.jsonl: cut off, or changed since' hunt --merge library --out no.txt
reseal library/shard-2-of-4.jsonl
refused "two versions of the library" 2 'the library differs' hunt --merge library --out no.txt
rm library/shard-[013]*
refused "hunting on with another library" 2 'of another hunt: the library differs' hunt "${hunt[@]}" \
    --shard 0/4 --out library
head -c 900 four/shard-3-of-4.jsonl >begin && cp begin four/shard-3-of-4.jsonl
refused "a truncated shard" 2 'shard-3-of-4.jsonl: cut off, or changed' hunt --merge four --out no.txt
recipe_prints "progress, with a truncated shard" 0 progress four
check "progress names it" has out 'shard-3-of-4.jsonl: cut off or changed; it does not count'
check "progress: what is left" has out '3 of 4 shards complete, 0 begun, 1 to begin'
shard 3 4 four
check "a truncated shard is hunted again" has out 'cut off or changed: hunted again'
accepted "and is whole" 0 hunt --merge four --out again.txt
check "with the same bytes" cmp one.txt again.txt
check "nothing was written" test ! -e no.txt
printf '' >four/shard-3-of-4.jsonl
refused "an empty shard" 2 'cut off' hunt --merge four --out no.txt
refused "no folder" 7 'nowhere: cannot read it' hunt --merge nowhere --out no.txt
mkdir empty
refused "an empty folder" 2 'no complete shard of a hunt is there' hunt --merge empty --out no.txt
recipe "progress, an empty folder" 2 'no shard of a hunt is there' "$recipes/progress" empty
recipe "progress, no folder" 7 'nowhere: No such file' "$recipes/progress" nowhere
refused "a shard without a folder" 2 '--out DIR is missing' hunt "${hunt[@]}" --shard 0/4
refused "a shard by time" 2 'shard goes with --restarts' hunt --kernels two_pass_f32_scalar --time 2 \
    --shard 0/4 --out x

# Folders: a blank in the name, a path too long, more shards than restarts.
few=(--kernels two_pass_two_mean_f32_acc_f64_scalar --hidden 2 --restarts 1 --keep 2)
for i in 1 0; do accepted "few $i" 0 hunt "${few[@]}" --shard $i/2 --out "a few"; done
accepted "one process of few" 0 hunt "${few[@]}" --out few.txt
accepted "merge few" 0 hunt --merge "a few" --out "merged few.txt"
recipe "progress of two hunts" 2 'not of the hunt of .*: hidden differs' "$recipes/progress" three "a few"
check "more shards than restarts, a blank in the name: the bytes of one process" cmp few.txt "merged few.txt"
far=$(printf '/%0200d' 1 2 3 4)
refused "a path too long: hunt" 2 'has 700 bytes at most' hunt "${few[@]}" --shard 0/3 --out "$PWD$far"
check "nothing was made there" test ! -e "$(printf '%0200d' 1)"
mkdir -p "$PWD$far"
refused "a path too long: merge" 2 'has 700 bytes at most' hunt --merge "$PWD$far" --out no.txt
refused "a file for a folder" 7 'one.txt: is not a directory' hunt "${few[@]}" --shard 0/3 --out one.txt
refused "a folder that cannot be written" 7 'cannot ' hunt "${few[@]}" --shard 0/3 --out /proc/none

# Killed with SIGKILL, ended by SIGTERM: it goes on, and the bytes are the same. Longer restarts, so
# that there is time to be killed in.
long=(--kernels two_pass_two_mean_f32_acc_f64_scalar --hidden 64 --restarts 8 --keep 4 --max-kappa 100)
for signal in KILL TERM WORKER; do
    "$lnbench" hunt "${long[@]}" --shard 0/1 --out ended >/dev/null 2>&1 &
    hunting=$!
    sleep 0.15
    # The worker alone, as the kernel does it to who takes too much memory: not the kernel's fault.
    if [ $signal = WORKER ]; then pkill -KILL -P $hunting; else kill -s $signal $hunting 2>/dev/null; fi
    wait $hunting 2>/dev/null
    code=$?
    [ $signal != TERM ] || check "SIGTERM: exit code" test $code -eq 130 -o $code -eq 0
    check "$signal: no shard that is not whole" test ! -e ended/shard-0-of-1.jsonl -o $code -eq 0
done
accepted "it goes on" 0 hunt "${long[@]}" --shard 0/1 --out ended
accepted "in one process" 0 hunt "${long[@]}" --out long.txt
accepted "merge" 0 hunt --merge ended --out ended.txt
check "killed and ended: the bytes of one process" cmp long.txt ended.txt
check "nothing is left under way" test ! -e ended/shard-0-of-1.begun.jsonl

# A full disk: one line, and what was finished stands. /dev/full stands for one where mount is not to
# be had.
if [ "$(id -u)" = 0 ] && mkdir full && mount -t tmpfs -o size=16k none full 2>/dev/null; then
    cp three/shard-0-of-3.jsonl full/
    head -c 100000 /dev/zero >full/ballast 2>/dev/null
    refused "a full disk" 7 'cannot write it: No space left' hunt "${hunt[@]}" --shard 1/3 --out full
    check "a full disk: what was there is there" cmp three/shard-0-of-3.jsonl full/shard-0-of-3.jsonl
    rm full/ballast
    shard 1 3 full
    check "with room again: the shard" test "$(sed -n '/find/p' full/shard-1-of-3.jsonl | cksum)" = \
        "$(sed -n '/find/p' three/shard-1-of-3.jsonl | cksum)"
    umount full
fi

# A node without the kernel's instructions.
if "$lnbench" list kernels --format tsv | grep -q '^two_pass_f32_avx512	.*	yes$'; then
    export LN_DISABLE_ISA=avx512
    refused "a node without AVX-512" 7 'two_pass_f32_avx512: cannot run here: ' hunt \
        --kernels two_pass_f32_avx512 --restarts 4 --shard 1/2 --out none
    unset LN_DISABLE_ISA
fi

# ---- progress ----
recipe_prints "progress, JSON" 0 progress three --json
cp out json
check "progress: rows" is "$(value rows json)" "$(sed -n 's/^rows //p' one.txt | head -1)"
check "progress: shards" is "$(value complete json) $(value shards json) $(value begun json)" "3 3 0"
check "progress: nothing is left" awk "BEGIN { exit !($(value process_hours_left json) == 0) }"
check "progress: the worst find" is "$(value worst_row_ulp json | cut -c1-8)" \
    "$(printf '%.17g' "$(sed -n 's/^row_ulp //p' one.txt | head -1)" | cut -c1-8)"
rm three/shard-2-of-3.jsonl
recipe_prints "progress, a shard missing" 0 progress three
check "progress: one to begin" has out '2 of 3 shards complete, 0 begun, 1 to begin'
recipe "a curve of few shards" 2 '2 shards are complete; it takes 20' "$recipes/progress" three --curve
if [ -n "${LNBENCH_FULL:-}" ]; then
    # 26 restarts in 28 shards: two are empty, and do not count.
    many=(--kernels two_pass_two_mean_f32_acc_f64_scalar --hidden 8 --restarts 26 --keep 4)
    for i in {0..27}; do "$lnbench" hunt "${many[@]}" --shard "$i/28" --out curve >/dev/null 2>&1; done
    accepted "merge 28" 0 hunt --merge curve --out many.txt
    recipe_prints "the curve" 0 progress curve --curve
    cp out tsv
    check "the curve: measured and extrapolated" is "$(cut -f5 tsv | sort -u | xargs)" "extrapolated measured source"
    check "the curve has no row without a find" awk 'NR > 1 && ($2 < 0 || $3 < 0) { exit 1 }' tsv
    check "the curve never falls" awk 'NR > 2 && $2 < last { exit 1 } { last = $2 }' tsv
    check "the curve ends its measured part at the worst find" is \
        "$(awk -F'\t' '$5 == "measured" { w = $2 } END { print w }' tsv)" \
        "$(printf '%.4g' "$(sed -n 's/^row_ulp //p' many.txt | head -1)")"
fi

# ---- recipes ----
mkdir bare && ln -s "$(command -v bash)" "$(command -v dirname)" "$(command -v readlink)" bare
recipe "no Slurm: hunt" 7 'no Slurm here' env PATH="$PWD/bare" "$(command -v bash)" "$recipes/hunt.slurm" d 4 --kernels x
recipe "no Slurm: survey" 7 'no Slurm here' env PATH="$PWD/bare" "$(command -v bash)" "$recipes/survey.slurm" d plain
recipe "no number of shards" 2 'SHARDS many: a number' "$recipes/hunt.slurm" d many --kernels x
recipe "no number of shards, ssh" 2 'SHARDS many: a number' "$recipes/hunt-ssh" d many --kernels x
recipe "no lnbench" 7 'LNBENCH: no such program' env LNBENCH=/nowhere "$recipes/survey-ssh" d :
if [ -z "${LNBENCH_FULL:-}" ]; then
    echo "not tested without LNBENCH_FULL=1: hunt-ssh, the curve, times"
elif parallel --version 2>/dev/null | grep -q '^GNU parallel'; then
    "$recipes/hunt-ssh" by-parallel 5 "${hunt[@]}" >out 2>err
    check "hunt-ssh: exit code" is $? 0
    check "hunt-ssh: the bytes of one process" cmp one.txt by-parallel/hunt.txt
    check "hunt-ssh: a log of jobs" is "$(grep -c 'hunt' by-parallel/joblog)" 5
    rm by-parallel/shard-3* by-parallel/hunt.txt
    "$recipes/hunt-ssh" by-parallel 5 "${hunt[@]}" >out 2>err
    check "hunt-ssh again: what was missing" is "$(grep -c 'hunt' by-parallel/joblog)" 6
    check "hunt-ssh again: the bytes of one process" cmp one.txt by-parallel/hunt.txt
else
    echo "not tested: hunt-ssh (no GNU parallel)"
fi

# ---- machines ----
recipe "no store" 7 'none.db' "$recipes/machines" none.db
survey=(--plan quick --kernels 'two_pass_f32_*' --kernels 'two_pass_wide_f32_acc_f64_*'
    --kernels library_exact_f32 --conventions torch --shapes 16x64 --inputs normal,kappa --only accuracy --referee no)
"$recipes/survey-ssh" survey : -- "${survey[@]}" >out 2>err
check "one machine: fine" is $? 0
check "one machine: its export" test -s survey/here.jsonl
recipe "one machine side by side" 4 'side by side it takes two' "$recipes/machines" survey/survey.db
case $(uname -m) in x86_64) without=avx512 ;; *) without=neon ;; esac
"$recipes/survey-ssh" survey : ":=$without" -- "${survey[@]}" >out 2>err
check "two kinds: exit code" is $? 0
check "two kinds: both are named" has out "^B .* without $without"
recipe_prints "two kinds, JSON" 0 machines survey/survey.db --json
check "errors were compared" test "$(value errors.0.judged_on_both out)" -ge 10
check "errors that must be equal are" is "$(value errors.0.of_them_not out)" 0
check "there are such" test "$(value errors.0.must_be_same out)" -gt 0
# A stranger derives the errors again; planted faults are found.
if [ -n "${LNBENCH_FULL:-}" ]; then
    accepted "verify, another kind" 0 report --verify --run 2 --db survey/survey.db
    check "verify: every error holds" has out '^holds: [1-9]'
fi
cp survey/survey.db wrong.db
"$binaries/run_sql" wrong.db "UPDATE accuracies SET row_ulp_mean = row_ulp_mean * 1.0000001 WHERE case_id IN
    (SELECT cases.id FROM cells JOIN cases ON cell = cells.id WHERE kernel = 'library_exact_f32' AND run = 2)"
recipe_prints "an error that must be equal and is not" 5 machines wrong.db
check "it is named" has out 'library_exact_f32, 16x64'
run_it report --verify --run 2 --db wrong.db
check "verify finds it: exit code 5" is $code 5
check "verify lists it" has out 'library_exact_f32 .* does not hold$'
check "verify: only those" is "$(grep -c 'does not hold$' out)" "$(grep -c '^row ULP .*library_exact_f32' out)"
check "verify: the last line" has out '^does not hold: [1-9]'
"$binaries/run_sql" wrong.db "UPDATE runs SET seed = 7 WHERE id = 2" >/dev/null
recipe_prints "other seeds" 0 machines wrong.db --json
check "other seeds are not compared" has out '"errors": \[\]'
[ -n "${LNBENCH_FULL:-}" ] || finish

# Times: a third machine, which is the first under another name, with other times.
accepted "times" 0 run --plan quick --no-charts --db here.db --kernels 'two_pass_f32_*' --kernels 'two_pass_wide_f32_*' --conventions torch \
    --shapes 16x64 --inputs normal,offset
accepted "an export" 0 export --format jsonl --db here.db --out here.jsonl
sed '1s/"started":"20../"started":"19../; s/"cpu_model":"[^"]*"/"cpu_model":"Another CPU"/
    s/"cpu_vendor":"[^"]*"/"cpu_vendor":"GenuineIntel"/; s/"cpu_family":"[^"]*"/"cpu_family":"6"/
    s/"cpu_model_number":"[^"]*"/"cpu_model_number":"143"/' here.jsonl >there.jsonl
accepted "its import" 0 import there.jsonl --db here.db
recipe_prints "winners" 0 machines here.db charts
check "winners: one kernel on both" has out '^16x64 +f32 +torch +hot +1 +never wrong +B +two_pass_'
if command -v gnuplot >/dev/null; then check "the chart" test -s charts/machines.png; fi
for run in $("$binaries/run_sql" here.db "SELECT max(id) FROM runs WHERE repetitions > 0 GROUP BY machine"); do
    accepted "a choice of run $run" 0 choose --shapes 16x64 --run "$run" --json --db here.db
    cp out "choice$run.json"
done
"$(dirname "$0")/../../../../tools/dispatch" choices choice*.json >choice.c
check "a table by CPU family" is $? 0
check "it names the other machine" has choice.c '\{"GenuineIntel", 6, 143, layernorm_machine_'
check "it names two" is "$(grep -c '^static const layernorm_row layernorm_machine_' choice.c)" 2
cat >main.c <<'END'
#include <stddef.h>
#include <stdio.h>
const char *layernorm_kernel_on(const char *, unsigned, unsigned, size_t, size_t);
const char *layernorm_kernel_for(size_t, size_t);
int main(void)
{
    const char *here = layernorm_kernel_for(16, 64), *there = layernorm_kernel_on("GenuineIntel", 6, 143, 16, 64);
    const char *near = layernorm_kernel_on("GenuineIntel", 6, 7, 1, 4096), *none = layernorm_kernel_on("x", 1, 1, 1, 1);
    printf("%s %s %s %s\n", here ? here : "-", there ? there : "-", near ? near : "-", none ? none : "-");
    return 0;
}
END
check "it compiles without a warning" cc -std=c17 -Wall -Wextra -Werror choice.c main.c -o choice
case $(uname -m) in
x86_64) check "and finds each CPU's kernel" has <(./choice) '^two_pass_[a-z0-9_]+ two_pass_[a-z0-9_]+ two_pass_[a-z0-9_]+ -$' ;;
esac
finish
