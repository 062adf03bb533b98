#!/bin/bash
# Faults are found, and their correct twins pass (docs/conformance.md): one or two faults for each check, and a twin.
# All of faults.def takes half an hour: results/judged/library.sh.
# usage: faults_test.sh LNBENCH FAULTS_PLUGIN FAULTS_DEF
#        faults_test.sh --texts LNBENCH FOLDER_OF_PLUGINS SOURCES (the folder harness): tests that every check works.
#        Each text that the judge, the conformance tests and the worker can print must be in the verdict of a planted
#        fault, or of a type-limited kernel.
set -u
if [ "$1" = --texts ]; then
    lnbench=$2 plugins=$3 sources=$4
    folder=$(mktemp -d) || exit 7
    trap 'rm -rf "$folder"' EXIT
    ask() { # PLUGIN KERNELS OPTION...
        local plugin=$1 kernels=$2
        shift 2
        "$lnbench" run --plan quick --only accuracy --no-charts --db "$folder/alive.db" --plugin "$plugins/$plugin.so" \
            --kernels "$kernels" "$@" >"$folder/out" 2>&1
        case $? in 0 | 5 | 6) ;; *) cat "$folder/out" && exit 1 ;; esac
        "$lnbench" export --db "$folder/alive.db" --format tsv >>"$folder/cases.tsv" || exit 7
    }
    faults() { sed 's/[^,]*/fault.&/g' <<<"$1"; }
    ask faults_plugin "$(faults rstd_of_nan,bf16_truncated_alone,lane_off_by_2,mean_left_over,reads_behind,writes_gap)" \
        --conventions torch --inputs normal,nan,offset
    ask faults_plugin "$(faults sum_is_x,no_sum,keeps_files,keeps_memory,from_60000th_call,done_where_0,no_rows_write)" \
        --conventions torch --inputs normal
    ask faults_plugin twin.mean_alone --conventions torch --inputs normal --conformance no --max-row-ulp 0.1
    ask sabotage_plugin naive.writes_one_behind,special.clobbers_register,special.leaves_upper_halves,special.nan_bound,special.crashing_bound \
        --conventions torch --inputs normal --conformance no
    ask sabotage_plugin naive.writes_to_former_y --inputs normal
    ask rmsnorm_faults_plugin "$(faults order,eps_left_out)" --operation rmsnorm \
        --conventions 'operation=rmsnorm,eps=.1@square,weight=w' --inputs normal
    # The texts are the string literals in calls of these functions. No planted fault has the texts for something that
    # the system lacks, for the library's own calls, or for a correct kernel that supports little; rmsnorm_test tests
    # the eps "of at most", and sabotage_test the claim to be correctly rounded.
    awk '
        BEGIN { RS = ";" }
        /(judge_find|verdict_say|message_fails|number_print|snprintf)\(/ {
            sub(/.*(judge_find|verdict_say|message_fails|number_print|snprintf)\(/, "")
            for (text = ""; match($0, /"([^"\\]|\\.)*"/); $0 = substr($0, RSTART + RLENGTH)) {
                text = text substr($0, RSTART + 1, RLENGTH - 2)
                if (substr($0, RSTART + RLENGTH) !~ /^[ \n]*"/) {
                    print text
                    text = ""
                }
            }
        }' "$sources"/judge/judge.c "$sources"/judge/fingerprint/mistakes.c "$sources"/conformance/{covering_run,call,checks}.c \
        "$sources"/worker/child/{stress,judged_call,buffers}.c |
        sed -E 's/%[-.*0-9]*[lz]*[a-z]/\n/g' | awk 'gsub(/[a-zA-Z]/, "&") >= 12' | sort -u |
        grep -vE 'system refuses|caches cannot be set|layernorm.h promises|claims correct rounding|aimed at midpoints|calls were made|_kernel_name|probable_bound|or has one of at most|without gamma|another divisor|sorted sums or a pivot|textbook kernels have up to|and mean and rstd are|problems are unsupported' >"$folder/texts"
    dead=0
    while read -r text; do
        grep -qF -- "$text" "$folder/cases.tsv" && continue
        echo "no planted fault prints: $text"
        dead=$((dead + 1))
    done <"$folder/texts"
    awk -F'\t' '$2 ~ /^fault/ { ran[$2] = 1 } $2 ~ /^fault/ && /\tfail\t/ { found[$2] = 1 }
        END { for (kernel in ran) if (!(kernel in found)) { print kernel " is not found"; missed++ } exit missed > 0 }' \
        "$folder/cases.tsv" || dead=$((dead + 1))
    echo "$(wc -l <"$folder/texts") texts, $dead without a fault"
    exit $((dead > 0))
fi
# The faults of --texts are not repeated here.
kernels=honest.one_pass_strided_16_bf16,fault.third_thread,fault.last_of_32_mib,fault.flushes_and_40_ulp
bash "$(dirname "$0")/faults_table.sh" "$@" --plan quick --only accuracy \
    --kernels fault.ddof_1_var,fault.ddof_1_of_1 || exit 1
check() { # KERNELS CONVENTIONS ARGUMENT...
    local kernels=$1 conventions=$2
    shift 2
    bash "$(dirname "$0")/faults_table.sh" "$@" --plan quick --only accuracy \
        --conventions "$conventions" --kernels "$kernels"
}
check "$kernels" torch "$@" &&
    check fault.gamma1_as_gamma,twin.flushes_and_40_ulp ddof=0,eps=1e-5@var,affine=gamma1 "$@"
