#!/bin/sh
# Measures how often `lnbench duet` finds a planted change, and how often it reports one where there is
# none. Trials are short; each is appended to a file as soon as it is finished, so that the command can be
# stopped and repeated: it continues where it was. At the end, and at once with 0 minutes, it prints
# the rates with exact (Clopper and Pearson, 1934) intervals of 95 %.
#
# usage: duet_sabotage.sh BUILD_DIRECTORY RESULTS.tsv [MINUTES]
#
# LNBENCH_DUET_KERNELS and LNBENCH_DUET_SHAPES are lists with spaces, used in rotation;
# LNBENCH_DUET_PLANT, if set, is the only planted change.
# LNBENCH_DUET_ONLY=accuracy runs only the trials of accuracy, which need no quiet machine;
# LNBENCH_DUET_ONLY=speed runs only the others.
set -u
if [ $# -lt 2 ]; then
    sed -n '2,12s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
build=$1
results=$2
minutes=${3:-100000}
lnbench=$build/bin/lnbench
shapes=${LNBENCH_DUET_SHAPES:-1024x64 85x768 16x4096}

# The planted change, the number of trials, and the options that differ from the defaults.
campaign='none 300 speed
slow:0.05 300 speed
slow:0.03 100 speed
slow:0.02 100 speed --threshold 1%
slow:0.01 100 speed --threshold 0.5% --time 60
slow:0.005 100 speed --threshold 0.25% --time 60
none 100 speed --threshold 0.5% --time 60
last-bit 100 accuracy --accuracy exact
dropped-tail 100 accuracy
eps 100 accuracy
relinked 60 speed'

summarise() {
    awk -F '\t' '
    function log_choose(n, k,  i, sum) {
        for (i = 1; i <= k; i++)
            sum += log(n - k + i) - log(i)
        return sum
    }
    # Returns P(X >= k) for X of Bin(n, p).
    function tail(n, k, p,  i, sum) {
        if (k <= 0) return 1
        if (p <= 0) return 0
        if (p >= 1) return 1
        for (i = k; i <= n; i++)
            sum += exp(log_choose(n, i) + i * log(p) + (n - i) * log(1 - p))
        return sum
    }
    # Returns the p at which P(X >= k) is `wanted`.
    function solve(n, k, wanted,  lo, hi, mid, i) {
        lo = 0
        hi = 1
        for (i = 0; i < 60; i++) {
            mid = (lo + hi) / 2
            if (tail(n, k, mid) < wanted) lo = mid
            else hi = mid
        }
        return lo
    }
    function interval(n, k) {
        return sprintf("%5.1f %% [%.1f, %.1f]", 100 * k / n, k ? 100 * solve(n, k, 0.025) : 0,
                       k < n ? 100 * solve(n, k + 1, 0.975) : 100)
    }
    /^#/ || $1 == "plant" { next }
    {
        key = $1 "\t" $2
        if (!(key in trials)) order[++keys] = key
        trials[key]++
        found[key] += $7 == 1 || $7 == 5 || $8 == "faster"
        open[key] += $7 == 3
        seconds[key] += $12
        if ($12 > longest[key]) longest[key] = $12
    }
    END {
        if (!keys) { print "no trials yet"; exit }
        printf "%-13s %-38s %7s %6s  %-24s %6s  %-24s %8s %8s\n", "planted", "options", "trials",
               "alarms", "rate", "open", "rate", "mean s", "most s"
        for (i = 1; i <= keys; i++) {
            key = order[i]
            split(key, part, "\t")
            n = trials[key]
            printf "%-13s %-38s %7d %6d  %-24s %6d  %-24s %8.1f %8.1f\n", part[1], part[2], n,
                   found[key], interval(n, found[key]), open[key], interval(n, open[key]),
                   seconds[key] / n, longest[key]
        }
    }' "$results"
}

# word NUMBER LIST...: prints a word of the list, in rotation.
word() {
    number=$1
    shift
    shift $((number % $#))
    echo "$1"
}

# Prints the value of a key of the one pair in a JSON file (an indent of 3 marks the pair's keys).
value() {
    sed -n "s/^   \"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" "$scratch/json" | head -n 1
}

# Links both sides again with their objects in a random order: equal code in another layout.
relink() {
    for side in base new; do
        # shellcheck disable=SC2046
        "${CC:-cc}" -shared -Wl,-Bsymbolic -o "$scratch/$side.so" $(find \
            "$build/kernels/CMakeFiles/layernorm_objects.dir" "$build/kernels/CMakeFiles/layernorm_pool.dir" \
            "$build/harness/show/tests/CMakeFiles/duet_sabotage.dir" \
            -name '*.o' ! -name 'registry*' | shuf) -lm -ldl -pthread || exit 7
    done
}

# trial PLANT ONLY OPTIONS NUMBER
trial() {
    cp "$build/lib/duet_sabotage.so" "$scratch/base.so" && cp "$scratch/base.so" "$scratch/new.so" || exit 7
    [ "$1" != relinked ] || relink
    echo "${1#relinked}" | tr ':' ' ' | sed 's/^$/none/' >"$scratch/new.so.plant"
    # shellcheck disable=SC2086
    kernel=$(word "$4" $kernels)
    # shellcheck disable=SC2086
    shape=$(word $(($4 / kernel_count)) $shapes)
    # shellcheck disable=SC2086
    "$lnbench" duet --base "$scratch/base.so" --new "$scratch/new.so" --only "$2" --json \
        --kernels "$kernel" --shapes "$shape" --conventions torch --seed $(($4 + 1)) $3 \
        >"$scratch/json" 2>"$scratch/error"
    code=$?
    case $code in
    0 | 1 | 3 | 5) ;;
    *)
        cat "$scratch/error" >&2
        exit "$code"
        ;;
    esac
    verdict=$(value speed_verdict)
    [ "$2" = accuracy ] && verdict=$(value accuracy_verdict)
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2${3:+ }$3" "$kernel" \
        "$shape" $(($4 + 1)) "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$code" "$verdict" "$(value ratio)" \
        "$(value ratio_lo)" "$(value ratio_hi)" "$(value seconds)" "$(value processes)" >>"$results"
}

begin_results() {
    [ -s "$results" ] && return
    {
        echo "# Trials of lnbench duet by harness/show/tests/duet_sabotage.sh: $("$lnbench" --version)"
        sed -n 's/^model name[^:]*: /# CPU: /p' /proc/cpuinfo | head -n 1
        printf 'plant\toptions\tkernel\tshape\tseed\tended\texit_code\tverdict\tratio\tratio_lo\t'
        printf 'ratio_hi\tseconds\tprocesses\n'
    } >"$results"
}

# done_trials PLANT OPTIONS
done_trials() {
    awk -F '\t' -v plant="$1" -v options="$2" '$1 == plant && $2 == options { n++ }
                                               END { print n + 0 }' "$results"
}

begin_results || exit 7
if [ "$minutes" != 0 ]; then
    scratch=$(mktemp -d "${TMPDIR:-/tmp}/lnbench-duet-XXXXXX") || exit 7
    trap 'rm -rf "$scratch"' EXIT
    trap 'exit 130' INT TERM
    # The library's f32 kernels of the best ISA, unless others are given.
    kernels=${LNBENCH_DUET_KERNELS:-$("$lnbench" list kernels --format tsv | awk -F '\t' '
        $5 == "f32" && $(NF - 2) == "builtin" && $(NF - 1) == "yes" && $NF == "layernorm" { isa[$7] = isa[$7] " " $1 }
        END {
            count = split("avx512 avx2 neon scalar", best, " ")
            for (i = 1; i <= count && !(best[i] in isa); i++)
                continue
            print isa[best[i]]
        }')}
    # shellcheck disable=SC2086
    kernel_count=$(set -- $kernels && echo $#)
    [ "$kernel_count" -gt 0 ] || exit 7
    end=$(($(date +%s) + minutes * 60))
    # One trial of each line in rotation, so that the results are balanced whenever it stops.
    left=1
    while [ $left -gt 0 ] && [ "$(date +%s)" -lt $end ]; do
        left=0
        while read -r plant trials only options; do
            [ "${LNBENCH_DUET_ONLY:-$only}" = "$only" ] || continue
            [ "${LNBENCH_DUET_PLANT:-$plant}" = "$plant" ] || continue
            number=$(done_trials "$plant" "$only${options:+ }$options")
            if [ "$number" -lt "$trials" ] && [ "$(date +%s)" -lt $end ]; then
                trial "$plant" "$only" "$options" "$number" </dev/null
                left=$((left + 1))
            fi
        done <<CAMPAIGN
$campaign
CAMPAIGN
    done
fi
summarise
