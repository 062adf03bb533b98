#!/bin/bash
# shellcheck disable=SC2154 # cli_common.sh sets lnbench, binaries and libraries
# Other libraries' kernels in comparisons with ours. If none were built, only tests that they are not needed.
. "$(dirname "$0")/cli_common.sh" "$@"
unset LNBENCH_PEERS LNBENCH_PEERS_DIRECTORY

# A peer that cannot be loaded is left out, and later ones are not.
mkdir broken
echo text >broken/apart.so
cp "$libraries/example_plugin.so" broken/example.so
export LNBENCH_PEERS_DIRECTORY=$PWD/broken
ends "a broken peer" 0 list kernels
check "a broken peer: is named" has err '^lnbench: a peer is left out: .*/broken/apart\.so: '
check "a broken peer: in one line" lines err 1
check "a broken peer: the others are there" has out '^example '
check "a broken peer: ours are there" has out '^two_pass_f32_scalar '
run_it run --only accuracy --kernels example --shapes 4x64 --conventions torch --inputs normal --conformance no \
    --db b.db --no-charts
check "a broken peer: a run goes on" is "$code" 0
check "a broken peer: the run says so" has err 'a peer is left out'
rm broken/apart.so
accepted "a peer named as a plugin is loaded once" 0 list kernels --plugin broken/example.so
LNBENCH_PEERS=0 accepted "peers left out" 0 list kernels
check "peers left out: not there" hasnt out '^example '
unset LNBENCH_PEERS_DIRECTORY

if ! compgen -G "$libraries/peers/*.so" >/dev/null; then
    [ "$failures" -eq 0 ] || finish
    echo "Skipped: no peers were built (LNBENCH_PEERS; libdnnl-dev, libtorch-dev); $checks checks"
    exit 77
fi

accepted "list kernels" 0 list kernels
peers=()
patterns=() # patterns and types of the available peers: types without a kernel are refused
types=f32
if [ -e "$libraries/peers/onednn.so" ]; then
    peers+=(onednn_f32 onednn_call_f32 onednn_bf16_param_f32)
    patterns+=('onednn*')
    types=f32,bf16
    check "oneDNN's version" has out '^onednn_f32 .* oneDNN (2\.[0-9.]+ \(20[0-9]+\)|3\.[0-9.]+) '
fi
if [ -e "$libraries/peers/pytorch.so" ]; then
    peers+=(pytorch_f32 pytorch_f64 pytorch_bf16)
    patterns+=('pytorch*')
    types=f32,f64,bf16
    check "PyTorch's version" has out '^pytorch_f32 .* PyTorch (1\.[0-9.]+ \(20[0-9]+\)|2\.[0-9.]+) '
fi
if [ -e "$libraries/peers/xsmm.so" ]; then
    peers+=(libxsmm_f32)
    patterns+=('libxsmm*')
    check "libxsmm's version" has out '^libxsmm_f32 .* libxsmm 2\.[0-9.]+ '
fi
if [ -e "$libraries/peers/zendnn.so" ]; then
    peers+=(zendnn_f32 zendnn_bf16_param_f32)
    patterns+=('zendnn*')
    [ $types != f32 ] || types=f32,bf16
    check "ZenDNN's version" has out '^zendnn_f32 .* ZenDNN 6\.[0-9.]+ '
fi
check "a peer is there" test "${#peers[@]}" -gt 0
all=$(IFS=, && echo "${patterns[*]}")
timed=$(IFS=, && echo "${patterns[*]/%/f32}")
accepted "list kernels" 0 list kernels --json
for peer in "${peers[@]}"; do
    check "$peer is listed" has out "\"name\": \"$peer\""
done

# The error of a sum of 64 terms is at most 64 roundings of its size; unsupported conventions are refused.
accepted "accuracy" 0 run --only accuracy --kernels "$all" --dtypes $types \
    --shapes 6x64 --inputs normal,alternating --max-row-ulp 64 --db p.db --no-charts --conformance no \
    --conventions torch,torch-nobias,tinyllm,bert,keras,formula-std,zscore,scalar-std,numpy-quotient
accepted "accuracy: export" 0 export --db p.db --format tsv
for peer in "${peers[@]}"; do
    for convention in torch torch-nobias tinyllm bert keras; do
        # PyTorch 1.13 gives the mean of bf16 rows as summed in bf16: docs/choosing.md.
        right=$'pass\tno bound\t'
        [[ $peer != pytorch*_bf16 ]] || right=$'(pass\tno bound\t|fail\tinaccurate\t.*mean is )'
        # oneDNN may support 16-bit types only with AVX-512.
        [[ $peer != onednn_bf16* ]] || grep -qw avx512bw /proc/cpuinfo ||
            right=$'(pass\tno bound\t|unsupported\t.*oneDNN has no implementation of it for this CPU)'
        check "$peer, $convention: right" has out $'^layernorm\t'"$peer"$'\t'"$convention"$'\t.*\t'"$right"
    done
    for pair in 'formula-std:eps only to the variance' 'zscore:divides only by N' \
        'scalar-std:divides only by N' 'numpy-quotient:divides only by N'; do
        check "$peer, ${pair%%:*}: refused" has out \
            $'^layernorm\t'"$peer"$'\t'"${pair%%:*}"$'\t.*\tunsupported\t.*'"${pair#*:}"
    done
done
sed -i "/^layernorm\tpytorch\(_out\)*_bf16/{/mean is /d}" out
check "nothing else" hasnt out $'\twrong\t'

# A peer's fault is reported, and does not change the exit code.
accepted "limit" 0 run --only accuracy --kernels "${peers[0]}" --shapes 6x64 --inputs normal \
    --conventions torch --max-row-ulp 0.01 --db q.db --no-charts --conformance no
check "limit: the fault is named" has out '^✗ .*: inaccurate on .*; fails on 1 of 1 case$'

# A residual is refused, since the peer would leave it out.
"$binaries/test_files" make x.npy '<f4' '(2, 4)' 1:1
for peer in "${peers[@]}"; do
    case $peer in
    *_f32)
        [ "${peer#*bf16}" = "$peer" ] || continue
        refused "$peer: no residual" 7 'it takes no residual' eval --x x.npy --residual x.npy \
            --convention tinyllm --kernel "$peer"
        ;;
    esac
done

# Peers are timed like our kernels: the bits are the judged ones, on one thread and on two.
accepted "speed" 0 run --only speed --kernels "$timed,two_pass_f32_scalar" \
    --shapes 16x64 --conventions torch --threads 1,2 --processes 1 --repetitions 2 --db p.db \
    --no-charts
accepted "speed: export" 0 export --db p.db --format tsv
for peer in onednn_f32 onednn_call_f32 pytorch_f32 libxsmm_f32 zendnn_f32; do
    case " ${peers[*]} " in
    *" $peer "*) check "$peer is timed twice" is 2 "$(grep -c "^layernorm$(printf '\t')$peer$(printf '\t').*$(printf '\tpass\tno bound\t')" out)" ;;
    esac
done
finish
