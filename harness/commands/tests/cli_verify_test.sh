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
check "a page: the last line" is "$(tail -n 1 out)" "holds: 4 of 4 errors; speeds: none in this run"
rm r.db # whoever has the file alone
accepted "a file" 0 report --verify --errors run.db
accepted "a packed file" 0 report --verify --errors run.db.xz
accepted "a page is read as a run" 0 import page/index.html --db again.db
accepted "a kernel whose zeros have signs" 0 run --plan quick --only accuracy --shapes 32x768 --kernels welford_f32_scalar \
    --inputs overflow --conventions zscore --db z.db --no-charts
accepted "zeros" 0 report --verify --errors --db z.db

# Another machine's: every error, no speed; those are its word where no timings came along.
accepted "a timed run" 0 run --plan quick --kernels two_pass_f32_scalar --shapes 64x256 --conventions torch \
    --inputs normal,offset --db t.db --no-charts --conformance no
"$binaries/run_sql" t.db "UPDATE facts SET value = 'Another' WHERE name = 'cpu_model'" >/dev/null
accepted "its page" 0 report --db t.db --out other --allow-missing
accepted "another CPU" 0 report --verify other/index.html
check "another CPU: the last line" has out '^holds: ([0-9]+) of \1 errors; speeds: other CPU$'
"$binaries/run_sql" t.db 'DELETE FROM repetitions' >/dev/null
run_it export --format db --db t.db --out untimed.db
run_it report --verify --allow-missing untimed.db
check "without timings: the last line" has out "speeds: the sender's word\$"

# A sample is another each time, and the same with its seed.
for seed in 5 5 6; do
    run_it report --verify --sample 1 --seed $seed --json page/index.html
    value figures.0.input out >>drawn
    value figures.0.kernel out >>drawn
done
check "a seed repeats the sample" is "$(sed -n 1,2p drawn)" "$(sed -n 3,4p drawn)"
for _ in 1 2 3 4 5 6 7 8; do
    run_it report --verify --sample 1 --json page/index.html
    value seed out
done >seeds
check "without one it is drawn anew" is "$(sort -u seeds | wc -l)" 8

# One byte anywhere.
for file in page/index.html run.db run.db.xz; do
    check "one byte of $file" python3 "$tool" "$lnbench" $file "${LNBENCH_CHANGES:-40}" "$((RANDOM))"
done
# A figure, and every hash again.
for file in page/index.html run.db; do
    python3 "$tool" --forge $file forged.${file##*.} run 'UPDATE accuracies SET row_ulp_max = row_ulp_max + 1 WHERE case_id = 1'
    run_it report --verify --errors forged.${file##*.}
    check "a forged error in $file: exit code" is "$code" 5
    check "a forged error in $file: found" has out 'does not hold: '
done
if command -v gnuplot >/dev/null; then
    python3 "$tool" --forge page/index.html forged.html page "$(grep -o 'data-value="[0-9.]*">[0-9][^<]*<' page/index.html | head -n 1)" 'data-value="1.1">1.1<'
    run_it report --verify --errors forged.html
    check "a forged page: exit code" is "$code" 5
    check "a forged page: where" has out '^the page says .*1\.1<'
    check "a forged page: the last line" has out '^does not hold: 4 of 4 errors; .*; page: not what its run draws$'
else
    echo "not checked: a forged page (gnuplot is not installed)"
fi
refused "a page of before" 7 'does not hold its run' report --verify <(sed '/id="run"/,$d' page/index.html)
refused "a file without --verify" 2 'by --verify alone' report page/index.html
finish
