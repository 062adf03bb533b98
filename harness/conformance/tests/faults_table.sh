#!/bin/bash
# Runs planted faults, their correct twins and honest kernels with lnbench, and prints a Markdown table of the checks
# that find each fault (docs/conformance.md).
# usage: faults_table.sh LNBENCH PLUGIN FAULTS_DEF [OPTION...]
#          OPTION...  of lnbench run, such as --plan quick; --kernels narrows the faults
#          Exit code: 0 if at least 97 % of the faults and no correct kernel fail, else 1.
#        faults_table.sh --honest LNBENCH PLUGIN RUNS FIRST_SEED [--by-turns] [OPTION...]
#          Makes a whole accuracy run of the honest kernels for each seed: none of them may fail.
#          --by-turns  each run has one of the honest kernels, and not all of them
#          Exit code: 0 if no kernel failed in any run, else 1.
set -u
folder=$(mktemp -d) || exit 7
trap 'rm -rf "$folder"' EXIT
cases() { # OPTION...: judges, and leaves the cases in cases.tsv
    rm -f "$folder/db"
    "$lnbench" run --plugin "$plugin" --db "$folder/db" --no-charts "$@" >"$folder/out" 2>&1
    local code=$?
    case $code in 0 | 5 | 6) ;; *) cat "$folder/out" && exit "$code" ;; esac
    "$lnbench" export --db "$folder/db" --format tsv >"$folder/cases.tsv" || exit 7
}
if [ "$1" = --honest ]; then
    lnbench=$2 plugin=$3 runs=$4 first=$5 turns='' alarms=0
    shift 5
    if [ "${1-}" = --by-turns ]; then
        shift
        turns=$("$lnbench" list kernels --plugin "$plugin" --format tsv | awk -F'\t' '/^honest/ { print $1, $5 }')
    fi
    for ((seed = first; seed < first + runs; seed++)); do
        one=(--kernels 'honest.*')
        [ -z "$turns" ] || {
            read -r kernel type < <(tail -n "+$((seed % $(wc -l <<<"$turns") + 1))" <<<"$turns")
            one=(--kernels "$kernel" --dtypes "$type")
        }
        cases --only accuracy --seed "$seed" "${one[@]}" "$@"
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
    done
    echo "$alarms of $runs runs alarmed an honest kernel"
    exit $((alarms > 0))
fi
lnbench=$1 plugin=$2 definitions=$3
shift 3
# Without --kernels, run the kernels of all types.
case " $* " in
*" --kernels "*) ;;
*) set -- "$@" --kernels 'fault.*,twin.*,honest.*' ;;
esac
cases "$@"
awk -F'\t' '
    # FAULT(hook, group, name, "what", ...) or FAULT_OF(hook, type, group, name, "what", ...)
    FILENAME == ARGV[1] {
        if ($0 !~ /^FAULT/) next
        split($0, quoted, "\"")
        words = split(quoted[1], word, /[(), ]+/)
        name = word[words - 1]
        what[name] = quoted[2]
        group[name] = word[words - 2]
        order[++defined] = name
        next
    }
    FNR == 1 {
        for (i = 1; i <= NF; i++) column[$i] = i
        next
    }
    {
        kernel = $column["kernel"]
        kind = kernel
        sub(/\..*/, "", kind)
        if (kind !~ /^(fault|twin|honest)$/) next # copies
        name = substr(kernel, length(kind) + 2)
        ran[kind, name] = 1
        verdict = $column["verdict"]
        if (verdict != "fail") next
        input = $column["input"]
        check = input ~ /^(combinations|growth|large)$/ ? input \
              : input == "normal" && $column["rows"] > 18 ? "timed" : "inputs"
        if (kind != "fault") {
            if (!alarmed[kind, name]++)
                alarms = alarms kernel ": " check ": " $column["reason"] "(" $column["detail"] ")\n"
            next
        }
        found[name, check]++
        if (!(name in first)) first[name] = verdict "(" $column["detail"] ")"
    }
    END {
        count = split("combinations large growth inputs timed", checks, " ")
        print "| group | fault | " "combinations | large | growth | inputs | timed | first verdict |"
        print "|---|---|---|---|---|---|---|---|"
        for (i = 1; i <= defined; i++) {
            name = order[i]
            if (!(("fault", name) in ran)) continue
            total++
            row = "| " group[name] " | " what[name] " (`" name "`) |"
            for (c = 1; c <= count; c++) {
                row = row (found[name, checks[c]] ? " x |" : " |")
                by[c] += found[name, checks[c]] > 0
            }
            print row " " (name in first ? first[name] : "**missed**") " |"
            caught += name in first
            if (!(name in first)) missed = missed " " name
        }
        printf "| | found by |"
        for (c = 1; c <= count; c++) printf " %d |", by[c]
        print " |"
        for (pair in ran) {
            split(pair, part, SUBSEP)
            right += part[1] == "twin" || part[1] == "honest"
        }
        printf "\n%d of %d faults are found (%.1f %%)%s\n", caught, total,
            total ? 100 * caught / total : 0, missed == "" ? "" : "; missed:" missed
        printf "%d of %d correct kernels are alarmed\n%s", length(alarmed), right, alarms
        exit !(caught >= 0.97 * total && length(alarmed) == 0)
    }' "$definitions" "$folder/cases.tsv"
