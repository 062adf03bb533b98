#!/bin/sh
# Hunts shortly for each kernel of an ISA, and prints the row with its largest error.
#
#     reference/worst/every.sh avx2 >reference/worst/every_avx2.txt
#
# An ISA that this CPU does not have runs under an emulator (docs/install.md).
# The files here are older: for f32 and f64 they only have rows with kappa up to 100.
set -eu
isa=$1
lnbench=${2:-./lnbench}
finds=$(mktemp)
trap 'rm -f "$finds"' EXIT

echo "# The row on which each kernel of an ISA is worst, as a short hunt finds it (docs/accuracy.md)."
echo "# Again, bit for bit: lnbench replay THIS-FILE"
echo "# reference/worst/every.sh $isa"
"$lnbench" list kernels --format tsv |
    awk -F '\t' -v isa="$isa" '$7 == isa && $12 == "yes" { print $1 }' |
    while read -r kernel; do
        "$lnbench" hunt --kernels "$kernel" --hidden 64 --seed 1 --out "$finds" </dev/null >/dev/null
        echo
        sed -n '/^find$/,/^end$/{p;/^end$/q}' "$finds" # the worst of them
    done
