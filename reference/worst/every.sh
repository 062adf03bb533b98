#!/bin/sh
# A short hunt for each kernel of an ISA: the row on which it is worst, all in one file.
#
#     reference/worst/every.sh avx2 >reference/worst/every_avx2.txt
#
# An ISA that this CPU has not runs under an emulator (docs/lab/aarch64.md).
# Rows of f32 and f64 count up to kappa 100: beyond it cancellation alone is found.
set -eu
isa=$1
lnbench=${2:-./lnbench}
finds=$(mktemp)
trap 'rm -f "$finds"' EXIT

echo "# The row on which each kernel of an ISA is worst, as a short hunt finds it (docs/accuracy.md)."
echo "# Again, bit for bit: lnbench replay --from THIS-FILE"
echo "# reference/worst/every.sh $isa"
"$lnbench" list kernels --format tsv |
    awk -F '\t' -v isa="$isa" '$7 == isa && $12 == "yes" { print $1, $5 }' |
    while read -r kernel type; do
        set -- --kernel "$kernel" --hidden 64 --seed 1 --keep 1 --restarts 27 --out "$finds"
        case $type in f32 | f64) set -- "$@" --max-kappa 100 ;; esac
        "$lnbench" hunt "$@" </dev/null >/dev/null
        echo
        sed -n '/^find$/,/^end$/p' "$finds"
    done
