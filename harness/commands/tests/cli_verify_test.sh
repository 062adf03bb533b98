#!/bin/bash
# shellcheck disable=SC2154 # cli_common.sh sets lnbench and binaries
# report --verify of a file that was sent: what was changed in it is found, whoever made its hashes again.
. "$(dirname "$0")/cli_common.sh" "$@"
tool=$(dirname "$(readlink -f -- "$0")")/../../../results/changed_bytes.py

accepted "a run to send" 0 run --plan quick --only accuracy --kernels two_pass_f32_scalar,naive_f32_scalar \
    --shapes 4x64 --conventions torch --inputs normal,offset --db r.db --out page
accepted "as a file" 0 export --format db --db r.db --out run.db
accepted "packed" 0 export --format db --db r.db --out run.db.xz
(cd page && eval "$(grep -o 'lnbench report --verify index.html' index.html | sed 's,^lnbench,"$lnbench",')") >out 2>err
code=$?
check "a page, by its command" is $code 0
check "a page: all it says" is "$(cat out)" "4 of 4 errors hold"
rm r.db # whoever has the file alone
accepted "a file" 0 report --verify run.db
accepted "a packed file" 0 report --verify run.db.xz
accepted "a page is read as a run" 0 import page/index.html --db again.db
accepted "a store with other errors" 0 import run.db --db forged.db
"$binaries/run_sql" forged.db 'UPDATE accuracies SET row_ulp_max = row_ulp_max + 1' >/dev/null
accepted "a kernel whose zeros have signs" 0 run --plan quick --only accuracy --shapes 32x768 --kernels welford_f32_scalar \
    --inputs overflow --conventions zscore --db z.db --no-charts
accepted "zeros" 0 report --verify --db z.db

# Another machine's: what was timed was judged on rows that only timing makes again.
accepted "a timed run" 0 run --plan quick --kernels two_pass_f32_scalar --shapes 64x256 --conventions torch \
    --inputs normal,offset --db t.db --no-charts --conformance no
"$binaries/run_sql" t.db "UPDATE facts SET value = 'Another' WHERE name = 'cpu_model'" >/dev/null
accepted "its page" 0 report --db t.db --out other --allow-missing
accepted "another CPU" 0 report --verify other/index.html
check "another CPU: the last line" has out '^([0-9]+) of \1 errors hold$'

# A sample is another each time, of different errors.
for _ in 1 2 3 4 5 6 7 8; do
    run_it report --verify --sample 1 --db forged.db
    grep -o '^case [0-9]*' out
done >drawn
check "a sample is drawn anew" test "$(sort -u drawn | wc -l)" -gt 1
run_it report --verify --sample 3 --db forged.db
check "a sample has no error twice" is "$(grep -o '^case [0-9]*' out | sort -u | wc -l)" 3

# One byte anywhere.
for file in page/index.html run.db run.db.xz; do
    check "one byte of $file" python3 "$tool" "$lnbench" $file "${LNBENCH_CHANGES:-40}" "$((RANDOM))"
done
# A figure, and every hash again.
for file in page/index.html run.db; do
    python3 "$tool" --forge $file forged.${file##*.} run 'UPDATE accuracies SET row_ulp_max = row_ulp_max + 1 WHERE case_id = 1'
    run_it report --verify forged.${file##*.}
    check "a forged error in $file: found" has out '^case 1: .* NO '
    check "a forged error in $file: the last line" is "$code, $(tail -n 1 out)" "5, 3 of 4 errors hold"
done
if command -v gnuplot >/dev/null; then
    python3 "$tool" --forge page/index.html forged.html page "$(grep -o 'data-value="[0-9.]*">[0-9][^<]*<' page/index.html | head -n 1)" 'data-value="1.1">1.1<'
    run_it report --verify forged.html
    check "a forged page: the file first" is "$(head -n 1 out)" "forged.html was changed: its run draws another page."
    check "a forged page: where" has out '^the page says .*1\.1<'
    check "a forged page: the last line" is "$code, $(tail -n 1 out)" "5, 4 of 4 errors hold"
else
    echo "not checked: a forged page (gnuplot is not installed)"
fi
refused "a page of before" 7 'does not hold its run' report --verify <(sed '/id="run"/,$d' page/index.html)
refused "a file without --verify" 2 'by --verify alone' report page/index.html
finish
