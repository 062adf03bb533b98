#!/bin/bash
# shellcheck disable=SC2154 # cli_common.sh sets lnbench, binaries and libraries
# eval --dy: gradients made elsewhere against the exact ones. test_rows looks at those.
. "$(dirname "$0")/cli_common.sh" "$@"

npy() { "$binaries/npy_tool" make "$@"; }

# x = -1, 0, 1 has rstd sqrt(3/2): dx = rstd (dy - mean(dy) - xhat mean(dy xhat)) = rstd (1/6, -1/3, 1/6).
npy x.npy '<f4' '(1, 3)' -1 0 1
npy dy.npy '<f4' '(1, 3)' 1 0 0
npy gamma.npy '<f4' '(3,)' 1 1 1
npy beta.npy '<f4' '(3,)' 0 0 0
npy dx.npy '<f4' '(1, 3)' 0.20412414523193150 -0.40824829046386302 0.20412414523193150
npy wrong.npy '<f4' '(1, 3)' 0.20412414523193150 -0.40824829046386302 0.21
npy none.npy '<f4' '(1, 3)' 0.20412414523193150 nan 0.20412414523193150
npy dgamma.npy '<f4' '(3,)' -1.22474487139158905 0 0
npy dbeta.npy '<f4' '(3,)' 1 0 0
rows='--x x.npy --dy dy.npy --conventions eps=0,affine=vector' # no gradient needs beta, only dx needs gamma
given="$rows --gamma gamma.npy"
# shellcheck disable=SC2086 # options
{
    accepted "right" 0 eval $given --dx dx.npy --dgamma dgamma.npy --dbeta dbeta.npy --max-row-ulp 1 --json
    for gradient in dx dgamma dbeta; do
        check "right: $gradient" is "$(value $gradient.correctly_rounded out) $(value $gradient.verdict out)" "1.0 pass"
    done
    accepted "without gamma" 0 eval $rows --dgamma dgamma.npy --dbeta dbeta.npy --max-row-ulp 1
    accepted "with beta" 0 eval $given --beta beta.npy --dx dx.npy --max-row-ulp 1
    refused "dx without gamma" 2 'gamma is missing' eval $rows --dx dx.npy
    accepted "without a limit nothing is said" 3 eval $given --dx dx.npy
    check "without a limit: the table" has out '^dx .* not judged$'
    accepted "off" 5 eval $given --dx wrong.npy --max-row-ulp 8
    check "off: where" has out '^dx .* row 0, column 2 +fail \(inaccurate\)$'
    accepted "another class" 5 eval $given --dx none.npy
    check "another class: said" has out 'fail \(wrong-class\)$'
    refused "dy alone" 2 'go together' eval $given
    refused "a gradient without dy" 2 'go together' eval --x x.npy --dx dx.npy
    refused "two ways" 2 'judges gradients alone' eval $given --dx dx.npy --reference
    refused "a gradient that the form has not" 2 'this convention has no dgamma' eval --x x.npy \
        --dy dy.npy --dgamma dgamma.npy --conventions tinyllm
    npy short.npy '<f4' '(1, 2)' 0 0
    refused "another shape" 2 'short.npy \(--dy\): shape' eval --x x.npy --dy short.npy --dx dx.npy \
        --conventions tinyllm
}
finish
