#!/bin/sh
# The call, ln_layernorm(), beside the peers, regime by regime: docs/lab/figures.md, "Regime by regime".
#     results/figures.sh DIRECTORY [REGIME...]     (default: all of them; 15 minutes on a machine that does nothing else)
# writes DIRECTORY/REGIME.txt: what was measured with, then for each shape the GB/s, the share of the
# fastest copy with its 95 % interval, and the fastest peer's median time over this one's.
set -u
root=$(cd "$(dirname "$0")/.." && pwd) || exit 7
lnbench=${LNBENCH_COMMAND:-$root/lnbench}
export LNBENCH_PEERS="${LNBENCH_PEERS-1}"
peers=PEERS # in the files; which ones there were stands behind the command

options_of() {
    f32="--dtypes f32 --kernels library_*_f32,$peers"
    case $1 in
    caches_and_dram) echo "$f32 --plan full" ;;
    off_centre) echo "$f32 --plan full --time-on offset:4.13" ;;
    two_threads) echo "$f32 --threads 2 --shapes 262144x64,65536x256,21845x768,16384x1024,4096x4096,1365x12288" ;;
    16_bit) echo "--dtypes bf16,f16 --kernels library_fast*,library_accurate*,$peers --plan full" ;;
    few_rows) echo "$f32 --shapes 1x64,2x64,4x64,1x256,1x768,2x768,4x768,1x1024" ;;
    awkward) echo "$f32 --shapes 1057x31,512x64,258x127,256x128,109x300,102x320,32x1023,32x1024,6x5000,6x5056" ;;
    *) return 1 ;;
    esac
}

# From `lnbench export --format tsv`; shapes in the order in which they come, fastest first.
write_blocks() {
    awk -F '\t' '
        NR == 1 { for (i = 1; i <= NF; i++) f[$i] = i; next }
        $f["time_ns"] == "nan" { next }
        {
            shape = sprintf("%s x %s %s, %s, %s thread%s", $f["rows"], $f["hidden"], $f["dtype"],
                $f["regime"], $f["threads"], $f["threads"] == 1 ? "" : "s")
            if (!(shape in count))
                shapes[++shape_count] = shape
            n = ++count[shape]
            kernel = $f["kernel"]
            for (; n > 1 && time[shape, n - 1] > $f["time_ns"] + 0; n--) {
                time[shape, n] = time[shape, n - 1]
                name[shape, n] = name[shape, n - 1]
                text[shape, n] = text[shape, n - 1]
            }
            time[shape, n] = $f["time_ns"] + 0
            name[shape, n] = kernel
            text[shape, n] = sprintf("%-36s %6.1f  %.3f [%.3f, %.3f]", kernel, $f["gbps"],
                $f["copy_ratio"], $f["copy_ratio_lo"], $f["copy_ratio_hi"])
            parameters = kernel ~ /param_f32/
            if (kernel !~ /^(library_|copy)/ && !((shape, parameters) in peer && peer[shape, parameters] <= $f["time_ns"] + 0))
                peer[shape, parameters] = $f["time_ns"] + 0
        }
        END {
            for (s = 1; s <= shape_count; s++) {
                shape = shapes[s]
                printf "\n%s\n%-36s %6s  share of copy         x peer\n", shape, "kernel", "GB/s"
                for (n = 1; n <= count[shape]; n++) {
                    best = peer[shape, name[shape, n] ~ /param_f32/]
                    of_us = name[shape, n] ~ /^library_/ && best > 0
                    print text[shape, n] (of_us ? sprintf("  %.2f", best / time[shape, n]) : "")
                }
            }
        }'
}

command_of() { echo "# LNBENCH_PEERS=1 lnbench run --only speed --conventions torch --processes 3 $(options_of "$1")"; }

regimes="caches_and_dram off_centre two_threads 16_bit few_rows awkward"
[ $# -ge 1 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
directory=$1
shift
# shellcheck disable=SC2086
[ $# -gt 0 ] || set -- $regimes
mkdir -p "$directory" || exit 7
work=$(mktemp -d) || exit 7
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
for regime; do
    options_of "$regime" >"$work/options" || { echo "figures.sh: no regime '$regime': one of $regimes" >&2; exit 2; }
done
"$lnbench" list kernels >"$work/kernels" || exit 7
peers=$(sed -nE 's/^((onednn|pytorch_out|libxsmm|zendnn)_[a-z0-9_]*) .*/\1/p' "$work/kernels" | grep -v _call_ | paste -sd ,)
[ "$peers" ] || { echo "figures.sh: no peers: docs/install.md says how to add some" >&2; exit 7; }
for regime; do
    header=$(command_of "$regime" | sed "s|$peers|PEERS|")
    options=$(options_of "$regime")
    set -f # the kernels' patterns are lnbench's
    # shellcheck disable=SC2086
    "$lnbench" run --only speed --conventions torch --processes 3 --no-charts --db "$work/$regime.db" $options \
        >"$work/answer" || { echo "figures.sh: $regime was not measured" >&2; exit 7; }
    set +f
    "$lnbench" export --db "$work/$regime.db" --format json >"$work/run.json" &&
        "$lnbench" export --db "$work/$regime.db" --format tsv >"$work/run.tsv" || exit 7
    {
        echo "$header"
        sed -nE 's/^    "(cpu_model|cpu_family|l3_bytes|compiler|git_commit)": "?([^",]*).*/# \1: \2/p' "$work/run.json"
        "$lnbench" list kernels --operation all --format tsv | awk -F'\t' -v peers="$peers" '
            NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
            $at["source"] ~ /^(oneDNN|PyTorch|libxsmm|ZenDNN) / && !seen[$at["source"]]++ { versions = versions ", " $at["source"] }
            END { gsub(/,/, " ", peers); print "# PEERS: " peers versions }'
        write_blocks <"$work/run.tsv"
    } >"$work/figures" && mv "$work/figures" "$directory/$regime.txt" || exit 7
    echo "figures.sh: $directory/$regime.txt"
done
