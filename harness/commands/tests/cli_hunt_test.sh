#!/bin/bash
# shellcheck disable=SC2154 # cli_common.sh sets lnbench, binaries and libraries
# hunt: finds are reproducible, can be replayed, and survive interruptions and failures.
corpus=$(readlink -f -- "$(dirname "$0")/../../../reference/worst") # before the directory changes
. "$(dirname "$0")/cli_common.sh" "$@"

kernel=two_pass_two_rstd_f32_acc_f64_scalar
hunt() { accepted "$1" 0 hunt --kernel $kernel --hidden 4 "${@:2}"; }
hunt "a hunt" --out whole.txt
check "a hunt: eight finds" is "$(grep -c '^find$' whole.txt)" 8
check "a hunt: where they are" has out '^finds +whole.txt$'
accepted "a hunt of RMSNorm" 0 hunt --kernel rms_f32_scalar --hidden 24 --time 0.1 --out rms.txt
check "a hunt of RMSNorm: its convention" has rms.txt '^convention torch-rms$'
hunt "another seed" --seed 2 --out two.txt
check "another seed: other finds" test "$(grep -c -x -F -f two.txt whole.txt)" -lt "$(wc -l <two.txt)"
accepted "replay" 0 replay whole.txt
check "replay: all of them" has out '8 replayed, 8 the same'
formats "a hunt" hunt --kernel $kernel --hidden 4 --time 0.1 --out formats.txt

# The search finds a worse row than the worst of every family at this size, where it starts.
accepted "families" 0 run --only accuracy --db f.db --no-charts --kernels $kernel --shapes 18x24 \
    --conventions torch
"$binaries/run_sql" f.db "SELECT max(row_ulp_max) FROM accuracies JOIN judgements USING (case_id) WHERE verdict <> 'type-limited'" >family
check "families: judged" has family '^[0-9]'
run_it hunt --kernel $kernel --hidden 24 --json --out far.txt
found=$(value finds.0.row_ulp_max out)
check "a hunt finds worse: $found, families $(cat family)" \
    awk "BEGIN { exit !($found > 1.2 * $(cat family)) }"

# Finds are an input of later runs that name them, and of no other run.
mkdir here
accepted "no --out" 0 hunt --kernel $kernel --hidden 4 --db here/w.db
check "no --out: beside the store, and the same bytes again" cmp whole.txt here/hunts/${kernel}_torch_4_s1.txt
for place in here/hunts here/hunts/*.txt; do
    accepted "worst as an input" 0 run --plan quick --only accuracy --db w.db --no-charts \
        --inputs "worst:$place" --conventions torch --kernels $kernel,naive_f32_scalar
    "$binaries/run_sql" w.db "SELECT rows || 'x' || hidden FROM judged WHERE input = 'worst:$place'" >shape
    check "worst as an input: every row" is "$(sort -u shape)" 8x4
    "$binaries/run_sql" w.db "SELECT value FROM facts WHERE name = 'adversarial_rows' ORDER BY run DESC" >fact
    check "worst as an input: stored" is "$(sed -n 's/, hash .*//p;q' fact)" "worst:$place: 8 rows"
done
refused "no such finds" 7 'none.txt: cannot read it' run --only accuracy --db w.db \
    --inputs worst:none.txt --kernels $kernel
accepted "worst as an input: replays" 0 replay --db w.db
export LNBENCH_WORST=results/worst
mkdir -p results/worst && cp whole.txt results/worst/
refused "no rows of that size" 2 'input worst: no f32 row of hidden 25 in results/worst' run \
    --only accuracy --db w.db --inputs worst --shapes 4x25 --kernels $kernel
rm -r results
unset LNBENCH_WORST

# Every type: finds replay, are in hex floats of the type, and are inputs only of runs of that type.
export LNBENCH_WORST=results/worst
mkdir -p results/worst && cp whole.txt results/worst/
typed() {
    local name=$1 type=$2 param=$3
    accepted "$name" 0 hunt --kernel "$name" --hidden 8 --time 1 --out "$name.txt"
    finds=$(grep -c '^find$' "$name.txt")
    check "$name: its type" is "$(sed -n 's/^dtype //p' "$name.txt" | sort | uniq -c | xargs)" "$finds $type"
    check "$name: its parameters" is "$(sed -n 's/^param //p' "$name.txt" | sort -u)" "$param"
    accepted "$name: replay" 0 replay "$name.txt"
    check "$name: replay: all of them" has out "$finds replayed, $finds the same"
    cp "$name.txt" results/worst/
    accepted "$name: worst as an input" 0 run --only accuracy --db t.db --no-charts --inputs worst \
        --conventions torch --kernels "$name" --dtypes "$type"
    accepted "$name: which replays" 0 replay --db t.db
    ulp=$(sed -n 's/^row_ulp //p' "$name.txt" | head -1)
    "$binaries/run_sql" t.db "SELECT count(*) FROM cells JOIN cases ON cell = cells.id JOIN accuracies ON case_id = cases.id WHERE
        kernel = '$name' AND rows = $finds AND row_ulp_max = $(printf '%.17g' "$ulp")" >same
    check "$name: the error of the find" is "$(cat same)" 1
}
typed two_pass_f64_scalar f64 ""
typed two_pass_bf16_scalar bf16 ""
typed shifted_two_mean_fused_f16_param_f32_scalar f16 f32
rm results/worst/two_pass_f64*
refused "no find of a type" 2 'results/worst has no adversarial rows of f64' run --only accuracy --db t.db \
    --inputs worst --kernels two_pass_f64_scalar --dtypes f64
rm -r results

# If it is interrupted after a find, the best one is kept and replays. (Killed: kill_soak_test.sh.)
env --default-signal=INT "$lnbench" hunt --kernel $kernel --out int.txt --hidden 1024 --time 1000 >out 2>err &
hunting=$!
until grep -qs '^end$' int.txt || ! kill -0 $hunting; do sleep 0.1; done
kill -s INT $hunting
wait $hunting 2>/dev/null
check "interrupted: exit code" is $? 130
check "interrupted: says so" has int.txt '^# interrupted: '
accepted "interrupted: replays" 0 replay int.txt

# A failure of the kernel is itself the find.
sabotage=$libraries/sabotage_plugin.so
ends "a crash" 6 hunt --kernel naive.crash --plugin "$sabotage" --hidden 16 --time 0.5 --out crash.txt
check "a crash: the find" has crash.txt '^verdict fail \(crashed\)$'
accepted "a crash: again" 0 replay crash.txt --plugin "$sabotage"
check "a crash: reproduces" has out '^([0-9]+) replayed, \1 the same'
ends "a NaN" 5 hunt --kernel naive.nan_output --plugin "$sabotage" --hidden 16 --time 0.1 --out nan.txt

refused "no kernel" 2 '--kernels NAME is missing' hunt
refused "hidden 0" 2 'choose 1 to 1048576' hunt --kernel $kernel --hidden 0
refused "not writable" 7 '' hunt --kernel $kernel --out /proc/no/such.txt

# ---- The adversarial rows of reference/worst: every file can be read and names a kernel of the table, and errors are
# within proven bounds. A find that differs now because its kernel was changed is reported and is no failure: the
# command above it searches again.
changed=0
absent=0
finds=0
for file in "$corpus"/*.txt; do
    name=${file##*/}
    run_it replay "$file" --json
    case $code in
    0) ;;
    1) changed=$((changed + 1)) && echo "changed: $name" ;;
    4) absent=$((absent + 1)) ;; # it needs a missing ISA
    *)
        failed "$name replays"
        continue # there is no result to check
        ;;
    esac
    count=$(value "" out)
    [[ $count =~ ^[0-9]+$ ]] || count=0 # not JSON
    check "$name: finds" test "$count" -ge 1
    for ((i = 0; i < count; i++)); do
        finds=$((finds + 1))
        now="$(value "$i.now.verdict" out) $(value "$i.now.reason" out)"
        check "$name: within what is proven: $now" grep -Eq '^(pass|type-limited inaccurate|unsupported|missing)' <<<"$now"
    done
done
check "there is a corpus" test "$finds" -gt 20
check "it is small" test "$(cat "$corpus"/*.txt | wc -c)" -lt 2000000
# Each of our kernels has a row, whether this CPU can run it or not, except correctly rounded kernels, whose rows are
# all equally good, calls, which dispatch to kernels with rows, and some kernels that have not been searched on NEON.
accepted "the kernels" 0 list kernels --format tsv
while read -r kernel; do
    check "a find of $kernel: reference/worst/every.sh makes one" grep -q "^kernel $kernel$" "$corpus"/*.txt
done < <(awk -F '\t' '$11 == "builtin" && $2 != "exact" && $1 !~ /^library_/ &&
    !($7 == "neon" && ($3 == "split" || $3 == "in_pairs")) { print $1 }' out)
for type in f32 f64 bf16 f16; do
    check "rows of $type" grep -q "^dtype $type$" "$corpus"/*.txt
done
echo "$finds finds; changed files: $changed; without their ISA here: $absent"

finish
