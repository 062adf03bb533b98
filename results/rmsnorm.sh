#!/bin/sh
# Measurements of RMSNorm, on a machine that does nothing else:
#     results/rmsnorm.sh FOLDER          ln_rmsnorm() beside the peers and the loops of three programs (docs/choosing.md)
# It leaves a store and loops.txt in FOLDER.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd)
lnbench=${LNBENCH:-$root/build/release/bin/lnbench}
${CC:-cc} -O3 -march=native -shared -fPIC -I "$root/kernels/include" -o "$out/loops.so" "$root/docs/recipes/rmsnorm_loops.c" -lm
shapes=
for hidden in 64 768 2048 4096 5120 8192 16384; do # f32: x and y of 512 KiB and of 256 MiB
    shapes="$shapes${shapes:+,}1x$hidden,$((65536 / hidden))x$hidden,$((33554432 / hidden))x$hidden"
done
peers=$("$lnbench" list kernels --operation rmsnorm --format tsv | sed -nE 's/^((onednn|zendnn)_rms[a-z0-9_]*)\t.*/\1/p' | paste -sd ,)
"$lnbench" run --operation rmsnorm --only speed --no-charts --conventions torch-rms --dtypes f32,bf16 --plugin "$out/loops.so" \
    --kernels "library_fast_*,library_accurate_*,*_loop_*${peers:+,$peers}" --shapes "$shapes" --processes 5 --db "$out/loops.db" --all >"$out/loops.txt"
