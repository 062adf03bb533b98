# shellcheck shell=bash disable=SC2154
# Sourced: makes the files that the commands of commands.txt need, in a directory of its own.
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
unset LN_DISABLE_ISA LNBENCH_WORKER LNBENCH_LIBRARY LNBENCH_PLOTS
export LNBENCH_PEERS=0 TMPDIR=$scratch/tmp
mkdir tmp
lnbench=$binaries/lnbench
make_files() {
    "$binaries/test_files" make x.npy '<f4' '(2, 6)' -1:0.25 &&
        "$lnbench" eval --x x.npy --reference --conventions tinyllm --out y.npy >/dev/null &&
        "$lnbench" run --plan quick --db base.db --kernels two_pass_f32_scalar,library_exact_f32 --shapes 4x64 \
            --conventions torch --inputs normal,offset:10 --processes 5 --repetitions 2 --no-charts \
            >/dev/null &&
        "$lnbench" export --db base.db --format db --out run.db &&
        "$lnbench" export --db base.db --out run.json &&
        "$lnbench" hunt --kernels two_pass_f32_scalar --time 0.1 --hidden 4 --out h0.txt >/dev/null &&
        cp "$libraries/liblayernorm.so" lib.so &&
        cp lib.so lib2.so && "$binaries/run_sql" base.db 'PRAGMA journal_mode = DELETE' >/dev/null
}
make_files || exit 1
