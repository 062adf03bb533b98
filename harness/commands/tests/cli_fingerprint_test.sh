#!/bin/bash
# shellcheck disable=SC2154 # cli_common.sh sets lnbench, binaries and libraries
# lnbench fingerprint as a reader of two documents uses it, who has their printed tensors and nothing
# else. fingerprint_digits_test.c looks at the ranking itself.
. "$(dirname "$0")/cli_common.sh" "$@"
npy=$binaries/npy_tool

# 002, a notebook: the z-scores of three rows of six, to four decimals, x.std() being torch's.
"$npy" make x2.npy '<f4' '(3, 6)' 1.5778 1.6956 -1.9398 -0.6370 0.3499 0.9727 \
    -0.9691 -1.4902 0.8478 -1.4404 0.0469 -0.9731 1.0857 0.8106 -0.1296 0.9529 -0.5721 -1.0813
"$npy" make y2.npy '<f4' '(3, 6)' 0.8811 0.9648 -1.6159 -0.6911 0.0095 0.4516 \
    -0.3314 -0.8956 1.6359 -0.8417 0.7686 -0.3357 1.0067 0.7017 -0.3407 0.8594 -0.8313 -1.3959
accepted "002" 0 fingerprint --x x2.npy --y y2.npy --digits 4 --probe p2.npy
check "002: x was printed too" has out 'x printed to 4 decimals'
check "002: the author's formula" has out '^it may be zscore \(ddof=1,eps=0,affine=none\).* within the printed digits$'
check "002: what is settled and what is not" has out '^settled +divisor N-1; affine none; open: place of eps size of eps$'
check "002: what cannot be told apart" has out 'candidates cannot be told apart on this data: zscore$'
check "002: a row that would" has out '^probe  '

# The notebook's formula on the proposed rows: what is left open is what no such row can tell.
accepted "002: the probe through the formula" 0 eval --x p2.npy --reference --convention zscore --out q2.npy
accepted "002: again" 0 fingerprint --x p2.npy --y q2.npy
check "002: again, the author's formula" has out '^it may be zscore '
check "002: again, nothing that a row could tell" has out '^ +([0-9]+) of their \1 pairs are alike on every such row$'

# 003, step by step: (x - mean) / (std + 1e-5), alpha 1 and bias 0, four decimals.
"$npy" make one.npy '<f4' '(1,)' 1
"$npy" make zero.npy '<f4' '(1,)' 0
"$npy" make x3.npy '<f4' '(2, 3, 4)' 1:1
row='-1.1619 -0.3873 0.3873 1.1619'
# shellcheck disable=SC2086 # numbers
"$npy" make y3.npy '<f4' '(2, 3, 4)' $row $row $row $row $row $row
accepted "003" 0 fingerprint --x x3.npy --y y3.npy --gamma one.npy --beta zero.npy --digits 4 --probe p3.npy
check "003: the author's formula" has out '^it may be scalar-std \(ddof=1,eps=1e-05@std,affine=scalar\)'
check "003: the others" has out 'cannot be told apart on this data: scalar-std, numpy-quotient, zscore$'
check "003: the divisor is settled" has out '^settled +divisor N-1; open: '
accepted "003: the probe through the formula" 0 eval --x p3.npy --reference \
    --convention ddof=1,eps=1e-5@std,affine=none --out q3.npy
accepted "003: again" 0 fingerprint --x p3.npy --y q3.npy
check "003: the probe settles it" has out '^it is +ddof=1,eps=1e-05@std,affine=none'
check "003: nothing is open" has out 'nothing is open$'

# The same document's line of NumPy, where / binds before +: eight decimals.
"$npy" make xn.npy '<f8' '(1, 4)' 1 2 3 4
"$npy" make yn.npy '<f8' '(1, 4)' -1.161885 -0.38728833 0.38730833 1.161905
accepted "003, NumPy" 0 fingerprint --x xn.npy --y yn.npy --gamma one.npy --beta zero.npy --digits 8
check "003, NumPy: the author's formula" has out '^it may be numpy-quotient '
check "003, NumPy: only how affine stands there is open" has out \
    '^settled +divisor N-1; place of eps: quotient; eps 1e-05; open: affine$'
accepted "003, NumPy: without alpha and bias" 0 fingerprint --x xn.npy --y yn.npy --digits 8
check "003, NumPy: nothing else is possible" has out '^it is +ddof=1,eps=1e-05@quotient,affine=none'
finish
