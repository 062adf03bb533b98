#!/bin/bash
# shellcheck disable=SC2154 # cli_common.sh sets lnbench, binaries and libraries
# report: which run, what it writes, and --verify, which must see figures that do not hold.
. "$(dirname "$0")/cli_common.sh" "$@"

sql() { "$binaries/run_sql" "$1" "$2" >sql.out 2>&1 || echo "run_sql: $(cat sql.out)"; }
kernels=two_pass_f32_scalar,naive_f32_scalar

accepted "a run to report" 0 run --plan quick --only accuracy --kernels $kernels --shapes 4x64 \
    --conventions torch --inputs normal,offset --db r.db --no-charts
accepted "and another" 0 run --plan quick --only accuracy --kernels $kernels --shapes 4x96 \
    --conventions torch --inputs normal --db r.db --no-charts

# Errors hold to the bit; one that was changed in its last place, or whose kernel is gone, does not.
accepted "verify" 0 report --verify --sample 4 --db r.db --run 1
check "verify: two figures hold" is "$(grep -c ' holds$' out)" 2
run_it report --verify --sample 2 --db r.db --json
check "verify: the latest run by default" is "$(value run out)" 2
sql r.db "UPDATE runs SET plan = 'choose' WHERE id = 2"
run_it report --verify --sample 2 --db r.db --json
check "verify: a run of choose is no survey" is "$(value run out)" 1
check "verify --json: its exit code" is "$(value exit_code out)" 0
cp r.db wrong.db
sql wrong.db "UPDATE accuracies SET row_ulp_mean = row_ulp_mean * (1 + 1e-15)"
run_it report --verify --sample 4 --db wrong.db --run 1
check "verify: a changed error: exit code 5" is "$code" 5
check "verify: a changed error does not hold" has out 'does not hold$'
cp r.db gone.db
sql gone.db "UPDATE cases SET kernel = 'gone_' || kernel"
run_it report --verify --sample 1 --db gone.db --run 1
check "verify: a kernel that is gone: exit code 4" is "$code" 4
check "verify: gone" has out ' gone$'
check "verify: why it is gone" has out "^gone: gone_[a-z_0-9]*: no kernel matches 'gone_"
run_it report --verify --sample 1 --db gone.db --run 1 --json
check "verify --json: gone" is "$(value figures.0.verdict out)" gone
check "verify --json: the case" is "$(value figures.0.hidden out)" 64

# A plugin's figures are measured with it; those of hunted rows on all of them.
accepted "a plugin's run" 0 run --plan quick --only accuracy --plugin "$libraries/example_plugin.so" \
    --kernels example --shapes 4x64 --conventions torch --inputs normal --db p.db --no-charts
run_it report --verify --db p.db
check "verify without the plugin: exit code 4" is "$code" 4
check "verify without the plugin: said" has out "^gone: example: no kernel matches 'example'"
accepted "verify with the plugin" 0 report --verify --db p.db --plugin "$libraries/example_plugin.so"
check "verify with the plugin: holds" has out '^row ULP +example .* holds$'
mkdir worst
for seed in 1 2 3; do
    accepted "hunt $seed" 0 hunt --kernel naive_f32_scalar --hidden 64 --max-kappa 100 --time 0.05 \
        --seed $seed --out worst/$seed.txt
done
export LNBENCH_WORST=$PWD/worst
accepted "a run of hunted rows" 0 run --only accuracy --kernels two_pass_f32_scalar \
    --conventions torch --shapes 2x64 --inputs worst --db h.db --no-charts
accepted "verify hunted rows" 0 report --verify --sample 1 --db h.db
check "verify hunted rows: hold" has out ' holds$'
check "hunted rows: all, not as many as the shape has" hasnt out ' 2x64 '
unset LNBENCH_WORST
refused "verify of nothing" 2 '1 to 10000' report --verify --sample 0 --db r.db

# Speeds hold where intervals meet: ten times the time does not, on the noisiest machine.
accepted "a run with speed" 0 run --plan quick --only speed --kernels two_pass_f32_scalar \
    --shapes 64x256 --conventions torch --db s.db --no-charts
sql s.db "UPDATE repetitions SET real_ns = real_ns * 10 WHERE case_id IN
    (SELECT id FROM cases WHERE kernel NOT LIKE 'roof%')"
run_it report --verify --sample 1 --db s.db
check "verify: a changed speed: exit code 1" is "$code" 1
check "verify: a changed speed does not hold" has out 'share of roof.*does not hold$'

# What is written, and what is said where something is not there.
run_it report --db r.db --out page --no-pdf
check "report: exit code" is "$code" 0
for file in index.html report.md cases.tsv rows.tsv machine.tsv error_kappa.svg error_kappa.png \
    error_kappa.pdf; do
    check "report: $file" test -s page/$file
done
check "report --no-pdf: no PDF" test ! -e page/report.pdf
check "report: Markdown shows the PNG" has page/report.md '!\[.*\]\(error_kappa.png\)'
check "report: no empty item, no heading in a list" hasnt page/report.md '^- *$'
check "report: the figure's command" has page/report.md 'lnbench run --plan quick --only accuracy'
check "report: the worst row's command" has page/report.md 'lnbench replay --case [0-9]+'

formats history history --db r.db --measure row_ulp_max
if command -v gnuplot >/dev/null; then
    accepted "a history" 0 history --db r.db --measure row_ulp_max --out past
    for kernel in two_pass_f32_scalar naive_f32_scalar; do
        check "history: $kernel is named" has past/history_1.svg "$kernel 4x64"
    done
else
    echo "not checked: the chart of a history (gnuplot is not installed)"
fi
mkdir poor
ln -s "$(command -v gnuplot)" poor/gnuplot 2>/dev/null
PATH=$scratch/poor "$lnbench" report --db r.db --out poor_page >out 2>err </dev/null
code=$?
check "without weasyprint: exit code" is "$code" 0
check "without weasyprint: said" has err 'no report.pdf: weasyprint was not found'
check "without weasyprint: the page" test -s poor_page/index.html
PATH=$scratch/nowhere "$lnbench" report --db r.db --out bare_page --no-pdf >out 2>err </dev/null
code=$?
check "without gnuplot: exit code" is "$code" 0
check "without gnuplot: said" has err 'gnuplot was not found'
run_it report --db r.db --out r.db/page
check "into a file: nothing is shown first" lines out 0
refused "into a file" 7 'cannot be made a directory|Not a directory' report --db r.db --out r.db/page
refused "no such database" 7 'nowhere.db' report --db nowhere.db
refused "no such run" 7 'run 99' report --db r.db --run 99
finish
