#!/bin/bash
# shellcheck disable=SC2154 # cli_common.sh sets lnbench, binaries and libraries
# run: invalid words, sizes, files of the user, and reproducibility.
. "$(dirname "$0")/cli_common.sh" "$@"

bad() { # LABEL PATTERN ARGUMENT...
    local label=$1 pattern=$2
    shift 2
    refused "$label" 2 "$pattern" run --db bad.db --out bad "$@"
    check "$label: no database" test ! -e bad.db
    check "$label: no directory" test ! -e bad
}
bad "a kernel with a slip" "'two_pas_f32_scalar' \(did you mean 'two_pass_f32_scalar'\?\)" \
    --kernels two_pas_f32_scalar
bad "a pattern that matches nothing" "no kernel matches 'zzz\*'" --kernels 'zzz*'
bad "a convention with a slip" "'trch' .did you mean 'torch'" --conventions trch
bad "a place of eps" "'vr': must be var, std or quotient" --conventions ddof=1,eps=1e-5@vr
bad "no convention" '.' --conventions ''
bad "an input with a slip" "'nrmal' .did you mean 'normal'" --inputs nrmal
bad "a kappa" 'kappa' --inputs offset:0
bad "no input" '--inputs' --inputs ''
bad "a plan" "'qick' .did you mean 'quick'.*: choose quick, default or full" --plan qick
bad "a half" "'sped' .did you mean 'speed'.*: choose speed or accuracy" --only sped
bad "a cache state" "'warm': choose hot, cold, in-place or read" --cache warm
bad "a dtype" "'f31' .did you mean 'f32'.*: choose f32" --dtypes f31
bad "a dtype without kernels" 'bf16: no kernel of --kernels takes that type' --dtypes bf16 --kernels 'naive_f32_*'
bad "a dtype that no chosen kernel has" 'not f32' --kernels '*_bf16_*'
bad "an input that a type cannot have" 'bf16 can have kappa from 1 to 1000' --dtypes bf16 \
    --inputs offset:1e4
bad "threads 0" "threads '0': choose a whole number from 1" --threads 0
bad "threads that are no number" "threads 'x': choose a whole number from 1" --threads x
bad "processes" '--processes 99999999999' --processes 99999999999
bad "repetitions" '--repetitions 1001' --repetitions 1001
bad "hidden 0" "'4x0': rows and hidden must be at least 1" --shapes 4x0
bad "rows 0" "'0x4': rows and hidden must be at least 1" --shapes 0x4
bad "a shape without x" "'4': write ROWSxHIDDEN" --shapes 4
bad "a shape of three" "'4x4x4': write ROWSxHIDDEN" --shapes 4x4x4
bad "a shape below 0" 'ROWSxHIDDEN' --shapes 4x-4
bad "a product that overflows" 'too large' --shapes 4294967296x4294967296
bad "a size that overflows" 'too large' --shapes 99999999999999999999x1
bad "no database name" '--db' --db ''
refused "more than the memory" 7 'MiB; this machine has' run --db bad.db --shapes 1048576x524288
check "more than the memory: no database" test ! -e bad.db

npy() { "$binaries/test_files" make "$@"; }
npy x.npy '<f4' '(3, 2, 6)' -1:0.25
npy whole.npy '<i4' '(2, 6)' 0:1
npy none.npy '<f4' '(0, 6)' 0:1
head -c 150 x.npy >short.npy
refused "a file that is not there" 7 'nowhere.npy: No such file' run --db bad.db --inputs nowhere.npy
bad "a file of integers" "dtype '<i4'" --inputs whole.npy
bad "a file that is cut off" 'short.npy.*truncated' --inputs short.npy
bad "a file without elements" 'none.npy.*no elements' --inputs none.npy
bad "a file of another length" 'last axis is 6 long: --shapes 4x8' --inputs x.npy --shapes 4x8

small=(--kernels 'two_pass_f32_scalar' --conventions torch --no-charts)
accepted "a user's file" 0 run --db own.db "${small[@]}" --only accuracy --inputs x.npy
check "a user's file: table" has out '^textbook +two_pass '
accepted "a user's file: export" 0 export --db own.db --format tsv
check "a user's file: at its own size" has out $'\ttorch\tx.npy\t6\t6\tf32\t'
accepted "a user's file and its shape" 0 run --db own.db "${small[@]}" --only accuracy \
    --inputs x.npy,ramp --shapes 4x6

mkdir dry
# No kernel that runs here, in any placement, leaves the upper halves of vector registers in use, which slows down
# later code.
accepted "all kernels" 0 run --db all.db --kernels '*' --dtypes f32,f64,bf16,f16 --only accuracy --conformance no --inputs normal \
    --shapes 18x768 --conventions torch --no-charts --all
check "no kernel is a speed trap" test "$(grep -c "speed trap" out)" = 0
accepted "--dry-run" 0 run --dry-run --db dry/dry.db --out dry-charts --plan quick
check "--dry-run: no database" test ! -e dry/dry.db
check "--dry-run: no charts" test ! -e dry-charts
check "--dry-run says how much there is" has out '^[0-9]+ judgements, [0-9]+ repetitions, about'
check "--dry-run says what the conformance tests cover" has out '^conformance tests of LayerNorm: [0-9]+ problems with ([0-9.]+ % of all combinations|every combination) of three settings'
check "--dry-run fits a screen" test "$(wc -l <out)" -le 40
accepted "--time-on" 0 run --dry-run --plan quick --only speed --time-on normal+offset:4
check "--time-on: what is timed" has out '^speed .* normal\+offset:4 '
refused "--time-on: no such family" 2 "unknown input 'ofset:4'" run --db bad.db --time-on normal+ofset:4
accepted "the library's calls" 0 run --dry-run --kernels 'library_*' --plan quick
check "one of each class" has out '^4 kernels: library_fast_f32 library_accurate_f32 library_reproducible_f32 library_exact_f32$'

accepted "shapes of one" 0 run --db one.db "${small[@]}" --shapes 1x1 --processes 1 --repetitions 1
check "shapes of one: table" has out '^LayerNorm f32, torch, hot cache, 1 thread'
check "shapes of one: its column" has out ' L1 1 '
accepted "cold cache" 0 run --db one.db "${small[@]}" --only speed --cache cold,hot --shapes 4x16 \
    --processes 1 --repetitions 1
check "cold cache: table" has out ' L1 16 cold '
check "hot cache: table" has out ' L1 16 '
# Another operation, from the plan to the recommended kernel, and both in one run: never in one ranking.
both=(run --operation all --kernels "rms_f32_scalar,two_pass_f32_scalar" --shapes 4x64 --inputs normal --processes 2 --repetitions 1)
accepted "both" 0 "${both[@]}" --db both.db --out both --plan quick
check "both: two tables" is "$(sed -En 's/^≈ |recommended /fastest /; s/^(fastest|(Layer|RMS)Norm) .*/\1/p' out | xargs)" \
    'LayerNorm fastest RMSNorm fastest'
check "both: two pages" has both/rmsnorm/index.html '<title>RMSNorm: which kernel'
check "both: the first names the other" has both/index.html 'href="rmsnorm/index.html"'
check "both: no LayerNorm in the other's table" hasnt both/rmsnorm/report.md '`two_pass'
check "both: chart" has both/rmsnorm/field.svg 'RMSNorm of 4 rows'
accepted "both: again" 0 "${both[@]}" --db both.db --no-charts --plan quick
accepted "both: compare" 3 compare --db both.db 1 2
check "both: compare says whose" has out '^rms_f32_scalar +rmsnorm '
accepted "both: export" 0 export --db both.db --run 1 --format db --out both.run.db
accepted "both: import" 0 import --db again.db both.run.db
accepted "both: choose" 0 choose --db again.db --stored --shapes 4x64 --conventions torch-rms --max-row-ulp 16
check "both: its kernel" has out '^Recommended: rms_f32_scalar: '
refused "both: not by another's times" 7 'no run timed 4x64 f32, torch-rms, .*, of these kernels' \
    choose --db again.db --stored --shapes 4x64 --conventions torch-rms --kernels two_pass_f32_scalar
accepted "torch-rms of f64" 0 run --only accuracy --conformance no --conventions torch-rms --dtypes f32,f64 \
    --shapes 4x64 --inputs normal --kernels 'library_fast_rms*' --db eps.db --no-charts
"$binaries/run_sql" eps.db "SELECT DISTINCT types || ' ' || convention FROM judged ORDER BY 1" >eps
check "torch-rms of f64: its eps" is "$(paste -sd, eps)" 'f32 torch-rms,f64 operation=rmsnorm,eps=2.220446049250313e-16@square,weight=w'
refused "a convention of another operation" 2 'torch is for layernorm, not for rmsnorm: choose one' \
    run --operation rmsnorm --conventions torch
refused "a convention that no kernel is asked for" 2 'torch is for layernorm, which none of the chosen kernels computes' \
    run --conventions llama,torch --kernels 'rms_f32*'
refused "a kernel of another operation" 2 'two_pass_f32_scalar computes layernorm, not rmsnorm: use --operation layernorm$' \
    run --operation rmsnorm --kernels two_pass_f32_scalar
accepted "conventions of RMSNorm" 0 list conventions --operation rmsnorm
check "conventions of RMSNorm: no other" is "$(grep -c '^llama ' out) $(grep -c '^torch ' out)" '1 0'
LN_DISABLE_ISA=avx512,avx2,neon accepted "kernels that cannot run" 0 list kernels --operation rmsnorm
check "kernels that cannot run: why" has out '^rms_f32_avx2 .* no AVX2 on this CPU '
refused "a field that it has not" 2 'expected eps, weight, cast, root or sum' run --conventions operation=rmsnorm,beta=1
refused "a field that it has not, by --operation" 2 'expected eps, weight, cast, root or sum' run --operation rmsnorm --conventions ddof=1
refused "a key twice" 2 "w,weight=none': repeated key 'weight'" run --conventions operation=rmsnorm,weight=w,weight=none
refused "a list by --operation" 2 'no kernel matches' run --operation rmsnorm --conventions weight=w,cast=yes --kernels nosuch
check "both: no chart of means" hasnt both/rmsnorm/report.md 'mean is far from zero'
# Counts of a CPU that always counts 3000 cycles and 5000 instructions (fake_counters.c).
export FAKE_COUNTERS=yes LD_PRELOAD=$libraries/libfake_counters.so
accepted "counted" 0 run --db counted.db "${small[@]}" --only speed --shapes 4x16 --processes 1 --repetitions 2
FAKE_COUNTERS=refuse run_it doctor --facts
check "counters refused: doctor says why" has out 'performance counters: not allowed .sysctl kernel.perf_event_paranoid'
unset FAKE_COUNTERS LD_PRELOAD
counted='SELECT count(*) = sum(abs(cycles * iterations - 3000) < 1 AND abs(instructions * iterations - 5000) < 1) FROM repetitions'
"$binaries/run_sql" counted.db "$counted" >out 2>err
check "counted: stored, a call" has out '^1$'
accepted "counted: over time" 0 history --db counted.db --measure instructions
accepted "read back" 0 run --db read.db "${small[@]}" --only speed --cache hot,read --shapes 4x16
check "read back: table" has out ' L1 16 read '
accepted "in place" 0 run --db place.db "${small[@]}" --only speed --cache hot,in-place \
    --shapes 4x16 --processes 1 --repetitions 2
check "in place: table" has out ' L1 16 in-place '
accepted "in place: export" 0 export --db place.db --format tsv --out place.tsv
check "in place: every kernel, and copies of its own" is "$(cut -f1-9 place.tsv |
    grep -c "$(printf '\t')in-place")" "$(cut -f1-9 place.tsv | grep -c "$(printf '\t')hot")"

ends "--max-row-ulp 0" 5 run --db limit.db "${small[@]}" --only accuracy --inputs normal --shapes 4x64 --max-row-ulp 0
check "--max-row-ulp 0: verdict" has out '✗ two_pass_f32_scalar: inaccurate on normal, torch; fails on 1 of 1 case$'

# Each requested case is done, unsupported or missing: one line and an exit code say so.
sql() { "$binaries/run_sql" lost.db "$1" >sql.out 2>&1; }
lost=(--db lost.db --no-charts --kernels 'two_pass_f32_scalar,two_pass_f32_avx2' --conventions torch --shapes 4x16
    --inputs 'normal,ramp,nan' --only accuracy)
LN_DISABLE_ISA=avx512,avx2 run_it run "${lost[@]}"
check "declined: exit code" is "$code" 0
check "declined is not lost" has out '^requested 6, judged 3, unsupported 3, missing 0$'
check "declined: nothing is said of digits" is "$("$lnbench" export --db lost.db --format tsv | grep -c $'unsupported\t\tnan\t')" 3
sql "UPDATE judgements SET verdict = 'missing', detail = 'out of memory' WHERE case_id = 1"
for way in '' --json '--format tsv'; do
    # shellcheck disable=SC2086
    ends "lost $way" 3 report --db lost.db --no-charts $way
    check "lost $way: said" has err \
        '^lnbench: run 1: requested 6, judged 2, unsupported 3, missing 1: two_pass_f32_scalar torch normal 4x16 \(out of memory\) '
done
run_it report --db lost.db --out lost
check "lost: on the page, before all else" has lost/report.md '^requested 6, judged 2, unsupported 3, missing 1: '
accepted "lost: --allow-missing" 0 report --db lost.db --no-charts --allow-missing
check "lost: the table's first line" has out '^requested 6, judged 2, unsupported 3, missing 1: '
"$lnbench" export --db lost.db --format db --out lost.run.db
accepted "lost: import" 0 import lost.run.db --db taken.db
run_it report --db taken.db --no-charts
check "lost: in an imported run" has out '^requested 6, judged 2, unsupported 3, missing 1: '
run_it choose --shapes 4x16 --kernels 'naive*' --db taken.db
run_it report --db taken.db --no-charts
check "the imported run of lnbench run is still the latest" has out '^requested 6, judged 2, unsupported 3, missing 1: '
sql "DELETE FROM cases WHERE input_id <> (SELECT id FROM inputs WHERE name = 'normal') AND cell IN (SELECT id FROM cells WHERE kernel = 'two_pass_f32_scalar')"
run_it report --db lost.db --no-charts
check "half is gone" has out '^requested 6, judged 0, unsupported 3, missing 3: '
LN_DISABLE_ISA=avx512,avx2 run_it run "${lost[@]}" --resume
check "tried again: exit code" is "$code" 0
check "tried again: nothing is lost" has out '^requested 6, judged 3, unsupported 3, missing 0$'
check "tried again: the same run" is "$(sql 'SELECT count(*) FROM runs'; cat sql.out)" 1
# On a system without threads, cases that need them are missing, and no kernel is at fault.
threads=(--db threads.db --no-charts --plugin "$libraries/example_plugin.so" --kernels example --only accuracy
    --plan quick --conventions torch --shapes 4x16 --inputs normal)
LD_PRELOAD=$libraries/libfake_counters.so FAKE_THREADS=none run_it run "${threads[@]}"
check "no threads: exit code" is "$code" 7
check "no threads: what is lost" has out '^requested [0-9]+, judged [0-9]+, missing [1-9]'
check "no threads: said" has err '^lnbench: [0-9]+ cases? without a result: .*--resume.*--allow-missing'
LD_PRELOAD=$libraries/libfake_counters.so FAKE_THREADS=none run_it run "${threads[@]}" --allow-missing --resume
check "no threads, allowed: exit code" is "$code" 0
accepted "threads again" 0 run "${threads[@]}" --resume
check "threads again: nothing is lost" has out '^requested [0-9]+, judged [0-9]+, missing 0$'

# A seed always gives the same bits; another one does not.
accurate=(--plan quick --only accuracy --kernels 'naive_f32_scalar,two_pass_*' --no-charts)
accepted "determinism: run" 0 run --db same.db "${accurate[@]}" --seed 7
accepted "determinism: export" 0 export --db same.db --format tsv --out same.tsv
# Cases are judged on all processors, and stored as on one: run again, on one.
alone=(timeout 120)
if command -v taskset >/dev/null && [ "$(nproc)" -gt 1 ]; then
    alone+=(taskset -c "$(taskset -cp $$ | sed 's/.*[:,-] *//')")
else
    echo "not checked: judging in lanes beside judging in one wants taskset and two processors"
fi
"${alone[@]}" "$lnbench" run --db alone.db "${accurate[@]}" --seed 7 >out 2>err
code=$?
check "one processor: exit code" is "$code" 0
accepted "one processor: export" 0 export --db alone.db --format tsv --out alone.tsv
check "the same seed, one processor: the same cases in the same order" cmp same.tsv alone.tsv
accepted "another seed: run" 0 run --db other.db "${accurate[@]}" --seed 8
accepted "another seed: export" 0 export --db other.db --format tsv --out other.tsv
check "another seed: other figures" test "$(cmp -s same.tsv other.tsv; echo $?)" -eq 1

# Charts and page; without gnuplot the table, the run and the page are still made.
accepted "charts" 0 run --db chart.db --out chart/deep --kernels 'two_pass_f32_scalar' \
    --conventions torch --shapes 4x64 --inputs normal --processes 1 --repetitions 2
check "charts: stored" has out '^stored  run 1 in chart.db$'
check "charts: the page is named" has out '^report  chart/deep/index.html \([1-9][0-9]* charts; '
check "charts: the page is there" test -s chart/deep/index.html
check "charts: one is there" test -s "$(printf '%s\n' chart/deep/*.svg | head -1)"
accepted "report" 0 report --db chart.db --out again
check "report: the page is there" test -s again/index.html
check "report: the table again" has out '^(≈ )?(fastest|recommended|textbook) +two_pass '
PATH=/nowhere "$lnbench" run --db plain.db --out plain --kernels two_pass_f32_scalar --conventions torch \
    --shapes 4x64 --inputs normal --processes 1 --repetitions 2 >out 2>err
code=$?
check "no gnuplot: exit code" is "$code" 0
check "no gnuplot: said so" has err 'gnuplot'
check "no gnuplot: one line" lines err 1
check "no gnuplot: the table" has out '^(≈ )?(fastest|recommended|textbook) +two_pass '
check "no gnuplot: stored" has out '^stored  run 1 in plain.db$'
check "no gnuplot: the page" test -s plain/index.html

# The system resources for judging a kernel: tensors are not moved by system calls, a case is one transaction, and the
# 30 MiB that both processes use are allocated once, in pages of 4 KiB.
moved() { awk '/^sysc[rw]:/ {sum += $2} END {print sum}' "/proc/$$/io"; } # by children that ended
faults() { cut -d ' ' -f 11 "/proc/$$/stat"; }
moved_before=$(moved) faults_before=$(faults)
accepted "cheap" 0 run --plan quick --only accuracy --conformance no --kernels two_pass_f32_scalar \
    --no-charts --db cheap.db
moved=$(($(moved) - moved_before)) faults=$(($(faults) - faults_before))
check "cheap: $moved reads and writes" test "$moved" -le $((26 * 60))
check "cheap: $faults page faults" test "$faults" -le $((30 * 256))

# How the reference values were certified: all rows of ties are decided by exact comparison.
accepted "certified" 0 run --all --only accuracy --kernels two_pass_f32_scalar --inputs ties --shapes 2x64 \
    --conventions eps=0,affine=vector --no-charts --db certified.db
check "certified: by what" has out '^certified  [0-9]+ elements: .*[0-9]+ by exact comparison'

# ---- Long rows about a pivot keep the promise of `fast` without peers, a row ULP of 16 (tools/class.sql), on the
# families whose roundings go one way: one large element among the first or anywhere, many zeros, few different values.
accepted "shifted on long rows" 0 run --only accuracy --conventions torch --kernels 'shifted_two_mean_fused_f32_*' \
    --inputs bad-pivot,sparse,quantised,massive-activations --shapes 18x2048,18x4096,18x12288 \
    --max-row-ulp 16 --db long.db --no-charts

# ---- run --threads: one call over several threads, kernels whose bits depend on the thread, plugins with
# threads of their own, and invalid requests.
cpus=$(nproc)
refused "more threads than CPUs" 7 "threads 5000: too many: this process may use $cpus CPU" \
    run --db bad.db --threads 5000
check "more threads than CPUs: no database" test ! -e bad.db
if [ "$cpus" -lt 2 ]; then
    echo "not checked: two threads on one CPU, which measure nothing"
    finish
fi

# verdict_of KERNEL THREADS: prints the verdict of the stored case.
verdict_of() {
    python3 -c "
import json, sys
cases = json.load(open('cases.json'))['cases']
print(*[(c['verdict'] + ' ' + c['reason']).strip() for c in cases if c['kernel'] == '$1' and c['threads'] == $2])"
}
timed() { # KERNEL THREADS: has a time
    python3 -c "
import json, sys
cases = json.load(open('cases.json'))['cases']
found = [c for c in cases if c['kernel'] == '$1' and c['threads'] == $2]
sys.exit(not (found and found[0]['speed']['time_ns'] > 0))"
}

run_it run --db threads.db --out out.d --only speed --json \
    --plugin "$libraries/threads_plugin_0.so" --plugin "$libraries/threads_plugin_1.so" \
    --plugin "$libraries/threads_plugin_2.so" \
    --kernels 'two_pass_f32_scalar,reproducible_two_mean_f32_scalar,*first_thread_only' \
    --shapes 40x64,1x8 --threads 1,2 --processes 2 --repetitions 2
check "one and two threads: a kernel's fault" is "$code" 5
python3 -c "
import json
data = json.load(open('out'))
cases = data['cases'] if isinstance(data, dict) else data
json.dump({'cases': [c for c in cases if c['rows'] == 40]}, open('cases.json', 'w'))"
for threads in 1 2; do
    for kernel in two_pass_f32_scalar reproducible_two_mean_f32_scalar copy copy_nt; do
        check "$kernel is timed with $threads" timed "$kernel" $threads
    done
    check "bits as on one thread with $threads" \
        is "$(verdict_of reproducible_two_mean_f32_scalar $threads)" "pass"
done
# Split over the pool: the second thread computes half of the rows, and they are compared.
check "a wrong second thread, alone" is "$(verdict_of old.first_thread_only 1)" "pass no bound"
check "a wrong second thread is seen" is "$(verdict_of old.first_thread_only 2)" "fail inaccurate"
# A kernel with its own threads is called once for all rows, on the first thread.
check "threads of its own" is "$(verdict_of own.first_thread_only 2)" "pass no bound"
check "threads of its own are timed" timed own.first_thread_only 2
check "one thread at most, alone" is "$(verdict_of one.first_thread_only 1)" "pass no bound"
check "one thread at most" is "$(verdict_of one.first_thread_only 2)" "unsupported"

run_it choose --stored --db threads.db --shape 40x64 --threads 2
check "choose finds what was timed with two threads" has out '2 threads'

finish
