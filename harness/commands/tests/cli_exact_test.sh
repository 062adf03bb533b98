#!/bin/bash
# shellcheck disable=SC2154 # cli_common.sh sets lnbench, binaries and libraries
# run checks kernels that claim to be correctly rounded, in every plan but the quick one.
. "$(dirname "$0")/cli_common.sh" "$@"

exact=exact_certified_grouped_f32_scalar
accepted "a run" 0 run --only accuracy --db e.db --no-charts --kernels $exact,naive_f32_scalar --shapes 4x64 \
    --inputs normal --conventions torch
"$binaries/run_sql" e.db "SELECT kernel || ' ' || verdict FROM judged WHERE input = 'exact'" >verdicts
check "a run: the kernel that claims it is right" is "$(cat verdicts)" "$exact pass"
accepted "replay" 0 replay --db e.db --case \
    "$("$binaries/run_sql" e.db "SELECT min(case_id) FROM judged WHERE input = 'exact'" | tail -n 1)"
check "replay: the check too" has out '^case [0-9]+: exact .* yes '
accepted "the quick plan" 0 run --dry-run --json --plan quick --kernels $exact
check "the quick plan: no such check" hasnt out '"exact"'
finish
