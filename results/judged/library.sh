#!/bin/bash
# Judges the fault library, or the correct kernels of its plugin each with a seed of its own, by one build under
# the quick plan, for so long; another run goes on from a later one.
#     results/judged/library.sh faults|honest BUILD SECONDS [FIRST]
# FIRST: of faults a pack of twelve, in an order drawn once (1 to 33); of correct kernels a seed (4200).
# Exit code: 0; 1 where a correct kernel was alarmed.
set -u
what=$1 build=$2 end=$((SECONDS + $3)) code=0
tests=$(dirname "$0")/../../harness/conformance/tests
definitions=$tests/faults/faults.def plugin=$build/lib/faults_plugin.so
mapfile -t packs < <(awk -F'"' '/^FAULT/ { n = split($1, word, /[(), ]+/); print "fault." word[n - 1] }' \
    "$definitions" | shuf --random-source=<(yes 41) | paste -sd ',,,,,,,,,,,\n')
for ((next = ${4:-$([ "$what" = faults ] && echo 1 || echo 4200)}; SECONDS < end; next++)); do
    if [ "$what" = honest ]; then
        bash "$tests/faults_table.sh" --honest "$build/bin/lnbench" "$plugin" 1 "$next" --by-turns --plan quick || code=1
    elif [ "$next" -le ${#packs[@]} ]; then
        echo "pack $next"
        bash "$tests/faults_table.sh" "$build/bin/lnbench" "$plugin" "$definitions" --plan quick --only accuracy \
            --seed 41 --kernels "${packs[next - 1]}" | grep -v '^$\|^| group\|^|---\|^| | found\|correct kernels'
    else
        break
    fi
done
exit $code
