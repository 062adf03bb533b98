#!/bin/bash
# Whole accuracy runs of the honest kernels over seeds: none may be alarmed (docs/conformance.md).
# usage: honest_runs.sh LNBENCH FAULTS_PLUGIN RUNS [FIRST_SEED [--by-turns] [OPTION...]]
#   --by-turns  one of the honest kernels a run, and not all of them
#   OPTION...  of lnbench run, such as --plan quick or --kernels honest.kahan,honest.fma
# Exit code: 0 where no run alarmed any kernel, else 1.
set -u
lnbench=$1 plugin=$2 runs=$3 first=${4-1}
shift $(($# < 4 ? 3 : 4))
folder=$(mktemp -d) || exit 7
trap 'rm -rf "$folder"' EXIT
turns='' one=()
case " $* " in
*" --by-turns "*)
    shift
    turns=$("$lnbench" list kernels --plugin "$plugin" --format tsv | awk -F'\t' '/^honest/ { print $1, $5 }')
    ;;
*" --kernels "*) ;;
*) set -- "$@" --kernels 'honest.*' ;;
esac
alarms=0
for ((seed = first; seed < first + runs; seed++)); do
    [ -z "$turns" ] || {
        read -r kernel type < <(tail -n "+$((seed % $(wc -l <<<"$turns") + 1))" <<<"$turns")
        one=(--kernels "$kernel" --dtypes "$type")
    }
    "$lnbench" run --plugin "$plugin" --only accuracy --seed "$seed" --db "$folder/$seed.db" --no-charts "${one[@]}" "$@" \
        >"$folder/out" 2>&1
    code=$?
    case $code in
    0 | 5 | 6) ;;
    *)
        cat "$folder/out"
        exit "$code"
        ;;
    esac
    "$lnbench" export --db "$folder/$seed.db" --format tsv >"$folder/cases.tsv" || exit 7
    awk -F'\t' -v seed="$seed" -v turns="$turns" '
        FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        { judged += $column["verdict"] ~ /^(pass|fail)$/ }
        $column["verdict"] == "fail" {
            print "seed " seed ": " $column["kernel"], $column["input"], $column["convention"], \
                $column["reason"] "(" $column["detail"] ")"
            alarms++
        }
        { last = $column["kernel"] }
        END { printf "seed %d: %s%d cases, %d alarms\n", seed, turns ? last ": " : "", judged, alarms; exit alarms > 0 }' \
        "$folder/cases.tsv" || alarms=$((alarms + 1))
    rm -f "$folder/$seed.db"
done
echo "$alarms of $runs runs alarmed an honest kernel"
exit $((alarms > 0))
