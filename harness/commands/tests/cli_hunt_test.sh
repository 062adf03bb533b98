#!/bin/bash
# shellcheck disable=SC2154 # cli_common.sh sets lnbench, binaries and libraries
# hunt: finds are the same each time, replay, and survive what may happen.
. "$(dirname "$0")/cli_common.sh" "$@"

kernel=two_pass_two_mean_f32_acc_f64_scalar
hunt() { accepted "$1" 0 hunt --kernel $kernel --hidden 24 --restarts 6 --keep 4 "${@:2}"; }
hunt "a hunt" --out whole.txt
check "a hunt: four finds" is "$(grep -c '^find$' whole.txt)" 4
check "a hunt: where they are" has out '^finds +whole.txt$'
accepted "a hunt of RMSNorm" 0 hunt --kernel rms_f32_scalar --hidden 24 --restarts 1 --out rms.txt
check "a hunt of RMSNorm: its convention" has rms.txt '^convention torch-rms$'
hunt "the same again" --out again.txt
check "the same again: the same bytes" cmp whole.txt again.txt
hunt "another seed" --seed 2 --out two.txt
check "another seed: other finds" test "$(grep -c -x -F -f two.txt whole.txt)" -lt "$(wc -l <two.txt)"
accepted "replay" 0 replay --from whole.txt
check "replay: all of them" has out '4 replayed, 4 the same'
formats "a hunt" hunt --kernel $kernel --hidden 24 --restarts 2 --out formats.txt
check "JSON: rows tried" test "$(value rows_tried json)" -gt 1000
check "JSON: the file" is "$(value file json)" formats.txt
check "TSV: a line a find" is "$(wc -l <tsv)" 3

# Worth the while: worse than the worst row of every family at this size, which has its seeds there.
accepted "families" 0 run --only accuracy --db f.db --no-charts --kernels $kernel --shapes 18x24 \
    --conventions torch
"$binaries/run_sql" f.db "SELECT max(row_ulp_max) FROM accuracies JOIN judgements USING (case_id) WHERE verdict <> 'limit'" >family
check "families: judged" has family '^[0-9]'
run_it hunt --kernel $kernel --hidden 24 --restarts 27 --json --out far.txt
found=$(value finds.0.row_ulp_max out)
check "a hunt finds worse: $found, families $(cat family)" \
    awk "BEGIN { exit !($found > 1.2 * $(cat family)) }"
hunt "low kappa only" --max-kappa 2 --out kappa.txt
check "low kappa only: other finds" test "$(grep -c '^max_kappa 2$' kappa.txt)" -eq 1

# What was found is an input of later runs that name it, and of no other.
mkdir here
accepted "no --out" 0 hunt --kernel $kernel --hidden 24 --restarts 6 --keep 4 --db here/w.db
check "no --out: beside the store" cmp whole.txt here/hunts/${kernel}_torch_24_s1.txt
check "no --out: nowhere else" test ! -e results
for place in here/hunts here/hunts/*.txt; do
    accepted "worst as an input" 0 run --plan quick --only accuracy --db w.db --no-charts \
        --inputs "worst:$place" --conventions torch --kernels $kernel,naive_f32_scalar
    "$binaries/run_sql" w.db "SELECT rows || 'x' || hidden FROM judged WHERE input = 'worst:$place'" >shape
    check "worst as an input: every row" is "$(sort -u shape)" 4x24
    "$binaries/run_sql" w.db "SELECT value FROM facts WHERE name = 'hunted_rows' ORDER BY run DESC" >fact
    check "worst as an input: stored" is "$(sed -n 's/, hash .*//p;q' fact)" "worst:$place: 4 rows"
done
refused "no such finds" 7 'none.txt: cannot read it' run --only accuracy --db w.db \
    --inputs worst:none.txt --kernels $kernel
accepted "worst as an input: replays" 0 replay --db w.db
export LNBENCH_WORST=results/worst
mkdir -p results/worst && cp whole.txt results/worst/
refused "no rows of that size" 2 'input worst: no f32 row of hidden 25 in results/worst' run \
    --only accuracy --db w.db --inputs worst --shapes 4x25 --kernels $kernel
line=$(grep -n -m 1 '^x ' whole.txt | cut -d: -f1)
sed "${line}s/^x [^ ]*/x hello/" whole.txt >results/worst/bad.txt
refused "a bad corpus" 2 "results/worst/bad.txt:$line: 'hello': a hex float" run --only accuracy \
    --db w.db --inputs worst --kernels $kernel
rm -r results
mkdir elsewhere
export LNBENCH_WORST=elsewhere
refused "no find elsewhere" 2 'elsewhere holds no find' run --only accuracy \
    --db w.db --inputs worst --kernels $kernel
unset LNBENCH_WORST

# Every type: finds that replay, in hex floats of the type, and are inputs of runs of that type alone.
export LNBENCH_WORST=results/worst
mkdir -p results/worst && cp whole.txt results/worst/
typed() {
    local name=$1 type=$2 param=$3
    accepted "$name" 0 hunt --kernel "$name" --hidden 24 --restarts 4 --keep 3 --out "$name.txt"
    check "$name: its type" is "$(sed -n 's/^dtype //p' "$name.txt" | sort | uniq -c | xargs)" "4 $type"
    check "$name: its parameters" is "$(sed -n 's/^param //p' "$name.txt" | sort -u)" "$param"
    accepted "$name: replay" 0 replay --from "$name.txt"
    check "$name: replay: all of them" has out '3 replayed, 3 the same'
    cp "$name.txt" results/worst/
    accepted "$name: worst as an input" 0 run --only accuracy --db t.db --no-charts --inputs worst \
        --conventions torch --kernels "$name" --dtypes "$type"
    accepted "$name: which replays" 0 replay --db t.db
    ulp=$(sed -n 's/^row_ulp //p' "$name.txt" | head -1)
    "$binaries/run_sql" t.db "SELECT count(*) FROM cells JOIN cases ON cell = cells.id JOIN accuracies ON case_id = cases.id WHERE
        kernel = '$name' AND rows = 3 AND row_ulp_max = $(printf '%.17g' "$ulp")" >same
    check "$name: the error of the find" is "$(cat same)" 1
}
typed two_pass_f64_scalar f64 ""
typed two_pass_bf16_scalar bf16 ""
typed shifted_two_mean_fused_f16_param_f32_scalar f16 f32
rm results/worst/two_pass_f64*
refused "no find of a type" 2 'results/worst holds no find of f64' run --only accuracy --db t.db \
    --inputs worst --kernels two_pass_f64_scalar --dtypes f64
rm -r results

# Interrupted once there is a find: the best so far is kept, and replays. (Killed: kill_soak_test.sh.)
env --default-signal=INT "$lnbench" hunt --kernel $kernel --out int.txt --hidden 4096 --restarts 1000 >out 2>err &
hunting=$!
until grep -qs '^end$' int.txt || ! kill -0 $hunting; do sleep 0.1; done
kill -s INT $hunting
wait $hunting 2>/dev/null
check "interrupted: exit code" is $? 130
check "interrupted: says so" has int.txt '^state interrupted$'
accepted "interrupted: replays" 0 replay --from int.txt

# A kernel that fails is itself the find.
sabotage=$libraries/sabotage_plugin.so
ends "a crash" 6 hunt --kernel naive.crash --plugin "$sabotage" --hidden 16 --restarts 2 --out crash.txt
check "a crash: the find" has crash.txt '^verdict wrong \(crashed\)$'
accepted "a crash: again" 0 replay --from crash.txt --plugin "$sabotage"
check "a crash: reproduces" has out '2 replayed, 2 the same'
sed 's/^verdict wrong (crashed)$/verdict right/' crash.txt >fine.txt
ends "a crash where there was none" 6 replay --from fine.txt --plugin "$sabotage"
ends "a NaN" 5 hunt --kernel naive.nan_output --plugin "$sabotage" --hidden 16 --restarts 1 --out nan.txt

check_usage() { refused "$1" 2 "$2" hunt --kernel $kernel "${@:3}"; }
refused "no kernel" 2 '--kernels NAME is missing' hunt
check_usage "no restarts" 'restarts 0: at least 1 was expected' --restarts 0
check_usage "restarts and time" 'one of them was expected, not both' --restarts 3 --time 2
check_usage "hidden 0" '1 to 1048576 was expected' --hidden 0
check_usage "keep 0" '1 to 10000 was expected' --keep 0
check_usage "kappa" 'no row has less than 1' --max-kappa 0.5
refused "not writable" 7 '' hunt --kernel $kernel --restarts 1 --out /proc/no/such.txt
finish
