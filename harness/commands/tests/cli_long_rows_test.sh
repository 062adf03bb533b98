#!/bin/bash
# Long rows about a pivot keep what `fast` promises where no peer was judged, a row ULP of 16
# (tools/class.sql), on the families whose roundings go one way: one large element among the first or
# anywhere, many zeros, few different values.
. "$(dirname "$0")/cli_common.sh" "$@"

accepted "shifted on long rows" 0 run --only accuracy --conventions torch --kernels 'shifted_two_mean_fused_f32_*' \
    --inputs bad-pivot,sparse,quantised,massive-activations --shapes 18x2048,18x4096,18x12288 \
    --max-row-ulp 16 --db long.db --no-charts
finish
