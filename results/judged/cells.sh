#!/bin/bash
# Judges the library's calls in every cell of its dispatch table, on every input family and some seeds, and
# writes cells.tsv: the largest error of the cells of one size that take one kernel.
#     results/judged/cells.sh BUILD [SEEDS [EMULATED-WORKER]]
# BUILD has bin/judge_cells; the CPU AVX512-BF16. SEEDS are "1 6": of 1 to 8, 6 has the largest errors of f16.
# EMULATED-WORKER is lnbench-worker-emulated of a build for 64-bit ARM (docs/install.md): the lines of NEON,
# of the first seed alone, since the emulator is slow.
# Takes an hour of one core. BUILD/cells keeps what is done, and a run that was ended goes on from there.
set -euo pipefail
build=$1 seeds=${2:-1 6} emulated=${3:-}
here=$(dirname "$0")
parts=()

# judge ISA SEED ...: in the worker that has the ISA.
judge() {
    local worker=$build/bin/lnbench-worker
    [ "$1" != neon ] || worker=$emulated
    LNBENCH_WORKER=$worker LNBENCH_LIBRARY=${worker%/bin/*}/lib/liblayernorm.so "$build/bin/judge_cells" "$@"
}

# keep NAME COMMAND...: its output, unless it is there and newer than the library.
keep() {
    local part=$build/cells/$1.tsv
    if ! [ "$part" -nt "$build/lib/liblayernorm.so" ]; then
        "${@:2}" >"$part.begun"
        mv "$part.begun" "$part"
    fi
    parts+=("$part")
}

mkdir -p "$build/cells"
for seed in $seeds; do
    for isa in avx512bf16 avx512 avx2 scalar; do
        keep "$isa-$seed" judge "$isa" "$seed"
    done
done
[ -z "$emulated" ] || keep neon judge neon "${seeds%% *}"
{
    printf 'call\tisa\thidden\trows\tkernel\trow_ulp\tfamily\tseed\n'
    awk -F'\t' -v OFS='\t' '
        { key = $1 OFS $2 OFS $3 OFS $5 }
        !(key in row_ulp) { keys[++count] = key; row_ulp[key] = -1; places[key] = "" }
        index("," places[key] ",", "," $4 ",") == 0 { places[key] = places[key] (places[key] ? "," : "") $4 }
        $6 + 0 > row_ulp[key] + 0 { row_ulp[key] = $6; of[key] = $7 OFS $8 }
        END {
            for (i = 1; i <= count; i++) {
                split(keys[i], part, OFS)
                print part[1], part[2], part[3], places[keys[i]], part[4], row_ulp[keys[i]], of[keys[i]]
            }
        }' "${parts[@]}" | LC_ALL=C sort -t '	' -k2,2 -k1,1 -k3,3n -k5,5
} >"$build/cells/cells.tsv"
mv "$build/cells/cells.tsv" "$here/cells.tsv"
