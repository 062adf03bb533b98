#!/bin/bash
# shellcheck disable=SC2154 # cli_common.sh sets lnbench, binaries and libraries
# report: which run it shows, what it writes, and --verify, which must detect errors that do not hold.
. "$(dirname "$0")/cli_common.sh" "$@"

sql() { "$binaries/run_sql" "$1" "$2" >sql.out 2>&1 || echo "run_sql: $(cat sql.out)"; }
kernels=two_pass_f32_scalar,naive_f32_scalar

accepted "a run to report" 0 run --plan quick --only accuracy --kernels $kernels --shapes 4x64 \
    --conventions torch --inputs normal,offset --db r.db --no-charts
accepted "and another" 0 run --plan quick --only accuracy --kernels $kernels --shapes 4x96 \
    --conventions torch --inputs normal --db r.db --no-charts

# Errors hold to the bit; an error with a changed last digit, or of a missing kernel, does not.
accepted "verify" 0 report --verify --db r.db --run 1
check "verify: all four hold" is "$(cat out)" "4 of 4 cases are reproduced"
run_it report --verify --db r.db --json
check "verify: the latest run by default" is "$(value run out)" 2
sql r.db "UPDATE runs SET plan = 'choose' WHERE id = 2"
run_it report --verify --sample 2 --db r.db --json
check "verify: a run of choose is no survey" is "$(value run out)" 1
check "verify --json: a sample of two" is "$(value errors out) $(value hold out) $(value exit_code out)" "2 2 0"
cp r.db wrong.db
sql wrong.db "UPDATE accuracies SET row_ulp_mean = row_ulp_mean * (1 + 1e-15) WHERE case_id = 1"
run_it report --verify --db wrong.db --run 1
check "verify: a changed error: which" has out '^case 1: normal .* NO .* row_ulp_mean: then 0\.[0-9]+, now 0\.[0-9]+$'
check "verify: a changed error: the last line" is "$code, $(tail -n 1 out)" "5, 3 of 4 cases are reproduced"
cp r.db gone.db
sql gone.db "UPDATE cells SET kernel = 'gone_' || kernel WHERE kernel LIKE 'naive%'"
accepted "verify: a kernel that is gone" 0 report --verify --db gone.db --run 1
check "verify: why it is gone" has out "^not recomputed: 2 cases: kernel gone_naive_f32_scalar is not here: if it came from a plugin"
check "verify: a kernel that is gone: the last line" is "$(tail -n 1 out)" "2 of 4 cases are reproduced; the others could not be recomputed here"

# A plugin's errors need the plugin; those of adversarial rows need all rows.
accepted "a plugin's run" 0 run --plan quick --only accuracy --plugin "$libraries/example_plugin.so" \
    --kernels example --shapes 4x64 --conventions torch --inputs normal --db p.db --no-charts
run_it report --verify --db p.db
check "verify without the plugin: exit code 4" is "$code" 4
check "verify without the plugin: said" has out "^not recomputed: 11 cases: kernel example is not here"
run_it report --verify --db p.db --plugin "$libraries/example_plugin.so"
check "verify with the plugin: holds" is "$(cat out)" "11 of 11 cases are reproduced"
mkdir worst
for seed in 1 2 3; do
    accepted "hunt $seed" 0 hunt --kernel naive_f32_scalar --hidden 64 --time 0.05 \
        --seed $seed --out worst/$seed.txt
done
export LNBENCH_WORST=$PWD/worst
accepted "a run of adversarial rows" 0 run --only accuracy --kernels two_pass_f32_scalar \
    --conventions torch --shapes 2x64 --inputs worst --db h.db --no-charts
accepted "verify adversarial rows" 0 report --verify --db h.db
check "verify adversarial rows: hold" is "$(tail -n 1 out)" "1 of 1 cases are reproduced"
unset LNBENCH_WORST
refused "verify of nothing" 2 '--sample 0' report --verify --sample 0 --db r.db

# If speeds are uncertain, the page says so above its first chart, in the terminal's words.
accepted "a run with speed" 0 run --plan quick --only speed --kernels two_pass_f32_scalar \
    --shapes 64x256 --conventions torch --db s.db --no-charts
sql s.db "UPDATE repetitions SET real_ns = real_ns * (1 + (process + repetition) % 3) WHERE case_id IN
    (SELECT cases.id FROM cells JOIN cases ON cell = cells.id WHERE kernel NOT LIKE 'copy%')"
run_it report --db s.db --out noisy
line=$(sed -n 's/^! \(Noisy: 1 of 1 times.*\)/\1/p' out)
check "noisy: on the page, and in Markdown" grep -lF "${line:-no line}" noisy/index.html noisy/report.md
check "noisy: above the first chart" has <(tr -d '\n' <noisy/index.html) 'Noisy: 1 of 1 .*<svg'
check "noisy: above the first chart, in Markdown" has <(tr -d '\n' <noisy/report.md) 'Noisy: 1 of 1 .*field.png'
check "noisy: not below it" hasnt <(tr -d '\n' <noisy/report.md) 'field.png.*Noisy'

# The written files, and the messages about missing ones.
ends "report" 0 report --db r.db --out page
for file in index.html report.md error_kappa.svg error_kappa.png \
    error_kappa.pdf; do
    check "report: $file" test -s page/$file
done
check "report: no PDF of the page" test ! -e page/report.pdf
check "report: no empty item, no heading in a list" hasnt page/report.md '^- *$'
check "report: the figure's command" has page/report.md 'lnbench run --plan quick --only accuracy'
check "report: the worst row's command" has page/report.md 'lnbench replay --case [0-9]+'

# Other programs: they do not get the environment, a missing one is reported, and a failure is an error that names the
# charts.
real=$(command -v gnuplot) || real=/bin/false
# faked PROGRAM BODY: makes a script the only program of this name on PATH.
faked() { mkdir -p fake && printf '%s\n' "${3-#!/bin/sh}" "$2" >"fake/$1" && chmod +x "fake/$1"; }
nap="sleep 9876.$$" # different from other tests
# drawn LABEL CODE PATTERN: makes a report with the faked programs; checks the line on standard error, "" for none.
drawn() {
    rm -rf drawn
    timeout 100 env PATH="$PWD/fake:$PATH" LNBENCH_CHILD_SECONDS=${seconds-60} "$lnbench" report --db r.db \
        --out drawn >out 2>err </dev/null
    code=$?
    check "$1: exit code $2" is "$code" "$2"
    check "$1: standard error" is "$(grep -Evc -- "${3:-^$}" err)$(wc -l <err)" "0$((${#3} > 0))"
    check "$1: no control character" hasnt err $'[\001-\010\013-\037]'
    check "$1: the page" test -s drawn/index.html
    check "$1: no half drawing" is "$(find drawn -name '*.part' -o -name '.?*')" ""
    check "$1: no process" is "$(pgrep -f "$nap")" ""
}
missing='^lnbench: charts are missing: ([a-z_]*, )*error_kappa(, [a-z_]*)*: gnuplot failed on [a-z_]*.svg: '
mkdir home
echo 'set terminal dumb; exit' | tee home/.gnuplot home/.gnuplotrc home/error_kappa.gp >gnuplotrc
faked gnuplot "env | sed 's/=.*//' | sort >'$PWD/variables'; exec $real \"\$@\""
(
    export HOME=$PWD/home XDG_CONFIG_HOME=$PWD/home GNUPLOT_LIB=$PWD/home GNUPLOT_DEFAULT=dumb \
        GNUPLOT_DRIVER_DIR=/ GNUPLOT_FONTPATH=/ LC_ALL=de_DE.UTF-8 LANG=de_DE.UTF-8 DISPLAY=:7 \
        TERM=xterm PYTHONWARNINGS=error GNUTERM=qt
    drawn "another environment" 0 ''
    exit $failures
) || failures=$((failures + $?))
check "another environment: the same drawing" cmp page/error_kappa.svg drawn/error_kappa.svg
check "the environment is ours" is "$(grep -vE '^(_|PWD|SHLVL|OLDPWD|LD_LIBRARY_PATH|PYTHONPATH|TMPDIR)$' variables |
    tr '\n' ' ')" 'HOME LC_ALL PATH '
faked gnuplot "$nap"
seconds=1 drawn "gnuplot hangs" 7 "$missing"'it took longer than 1 s$'
faked gnuplot "[ \"\$4 \$5\" != 'error_kappa png' ] || exit 3; exec $real \"\$@\""
drawn "gnuplot fails on one" 7 '^lnbench: charts are missing: error_kappa: .*exit status 3'
check "gnuplot fails on one: the others" test -s drawn/conventions.svg
check "gnuplot fails on one: not its SVG" test ! -e drawn/error_kappa.svg
check "gnuplot fails on one: the page" has drawn/index.html 'Charts are missing: error_kappa: gnuplot failed'
faked gnuplot "head -c 3000000 /dev/zero | tr '\\0' x >&2; exec $real \"\$@\""
drawn "gnuplot chatters" 0 ''
check "gnuplot chatters: drawn" cmp page/error_kappa.svg drawn/error_kappa.svg
faked gnuplot 'yes noise | head -n 300000 >&2; printf "\033[31mthe end\n" >&2; exit 1'
drawn "gnuplot chatters and fails" 7 "$missing.*the end\$"
faked gnuplot 'yes >&2'
drawn "gnuplot chatters for ever" 7 "$missing"'it was ended by SIGXFSZ$'
faked gnuplot "$nap & exec $real \"\$@\""
drawn "gnuplot leaves children" 0 ''
check "gnuplot leaves children: drawn" cmp page/error_kappa.svg drawn/error_kappa.svg
faked gnuplot "exec >&- 2>&-; $nap"
seconds=1 drawn "gnuplot closes all" 7 "$missing"
faked gnuplot 'echo "<?xml" >$6'
drawn "half a drawing" 7 "$missing"'it wrote an incomplete drawing'
faked gnuplot 'kill -SEGV $$'
drawn "gnuplot crashes" 7 "$missing"'it was ended by SIGSEGV'
faked gnuplot '' '#!/nowhere/sh'
drawn "gnuplot cannot be started" 7 "$missing"'it cannot be started: No such file'
for command in "history --db r.db --measure row_ulp_max --out" \
    "run --db r.db --kernels two_pass_f32_scalar --only accuracy \
        --conventions torch --shapes 2x8 --inputs offset --out"; do
    PATH=$PWD/fake:$PATH refused "${command%% *}: gnuplot fails" 7 'gnuplot failed on ' $command other
    PATH=$PWD/nowhere "$lnbench" $command other >out 2>err </dev/null
    check "${command%% *}: without gnuplot: exit code" is $? 0
    check "${command%% *}: without gnuplot: said" has err 'gnuplot was not found'
done
rm fake/gnuplot
cp -r page bare_page
PATH=$scratch/nowhere "$lnbench" report --db r.db --out bare_page >out 2>err </dev/null
code=$?
check "without gnuplot: exit code" is "$code" 0
check "without gnuplot: said" has err 'gnuplot was not found'
check "without gnuplot: said on the page" has bare_page/index.html 'gnuplot was not found'
check "without gnuplot: no chart of before" is "$(find bare_page -name '*.svg' -o -name '*.png')" ""
check "no speed: said on the page" has page/index.html 'Not drawn: no speed was measured\.'
check "no speed: no chart of it" test ! -e page/field.svg
check "speed alone: no chart of errors" test ! -e noisy/error_kappa.svg
for blocks in 1 18; do # a full disk, simulated by a limit on the file size: a write fails half way
    (trap '' XFSZ && ulimit -f $blocks && PATH=$scratch/nowhere exec "$lnbench" report --db r.db --out full) >out 2>err
    code=$?
    check "full disk: exit code" is "$code" 7
    check "full disk: no page" test ! -e full/index.html
done

run_it report --db r.db --out r.db/page
check "into a file: nothing is shown first" lines out 0
refused "into a file" 7 'cannot be made a directory|Not a directory' report --db r.db --out r.db/page
refused "no such database" 7 'nowhere.db' report --db nowhere.db
refused "no such run" 7 'run 99' report --db r.db --run 99
# Characters that the charts' font lacks would be drawn in any other font, or as broken text.
if fc-list 2>fonts.err | grep -q 'Liberation Sans'; then
    lacking() {
        cat "$(dirname "$0")"/../../../plots/*.gp "$(dirname "$0")"/../../../plots/*.sql | grep -oP '[^\x00-\x7f]' | sort -u |
            while read -r letter; do
                code=$(printf %s "$letter" | iconv -t UTF-32BE | od -An -tx1 | tr -d ' ')
                [ -n "$(fc-list ":family=Liberation Sans:charset=$code")" ] || printf %s "$letter"
            done
    }
    check "charts: no letter that their font lacks" is "$(LC_ALL=C.UTF-8 lacking)" ""
else
    echo "not checked: letters of the charts (Liberation Sans is not installed)"
fi

# ---- report --verify of a received file: changes are detected.
mkdir verify && cd verify || exit 7
accepted "a run to send" 0 run --plan quick --only accuracy --kernels two_pass_f32_scalar,naive_f32_scalar \
    --shapes 4x64 --conventions torch --inputs normal,offset --db r.db --out page
accepted "as a file" 0 export --format db --db r.db --out run.db
accepted "packed" 0 export --format db --db r.db --out run.db.xz
(cd page && eval "$(grep -o 'lnbench report --verify index.html' index.html | sed 's,^lnbench,"$lnbench",')") >out 2>err
code=$?
check "a page, by its command" is $code 0
check "a page: all it says" is "$(cat out)" "4 of 4 cases are reproduced"
rm r.db # as for a user who has only the file
accepted "a file" 0 report --verify run.db
accepted "a packed file" 0 report --verify run.db.xz
accepted "a page is read as a run" 0 import page/index.html --db again.db
accepted "a store with other errors" 0 import run.db --db forged.db
"$binaries/run_sql" forged.db 'UPDATE accuracies SET row_ulp_max = row_ulp_max + 1' >/dev/null
accepted "a kernel whose zeros have signs" 0 run --plan quick --only accuracy --shapes 32x768 --kernels welford_f32_scalar \
    --inputs overflow --conventions zscore --db z.db --no-charts
accepted "zeros" 0 report --verify --db z.db

# A run of another machine: its timed cases were judged on rows that only timing generates again.
accepted "a timed run" 0 run --plan quick --kernels two_pass_f32_scalar --shapes 64x256 --conventions torch \
    --inputs normal,offset --db t.db --no-charts --conformance no
"$binaries/run_sql" t.db "UPDATE facts SET value = 'Another' WHERE name = 'cpu_model'" >/dev/null
accepted "its page" 0 report --db t.db --out other --allow-missing
accepted "another CPU" 0 report --verify other/index.html
check "another CPU: the last line" has out '^([0-9]+) of \1 cases are reproduced$'

# Samples differ from call to call.
for _ in 1 2 3 4 5 6 7 8; do
    run_it report --verify --sample 1 --db forged.db
    grep -o '^case [0-9]*' out
done >drawn
check "a sample is drawn anew" test "$(sort -u drawn | wc -l)" -gt 1
run_it report --verify --sample 3 --db forged.db
check "a sample has no error twice" is "$(grep -o '^case [0-9]*' out | sort -u | wc -l)" 3

# A byte is changed, cut off or appended.
for file in page/index.html run.db run.db.xz; do
    middle=$(($(stat -c %s $file) / 2))
    cp $file changed
    # shellcheck disable=SC2059 # the format is the byte
    printf "\\x$(printf %x $(($(od -An -tu1 -j $middle -N 1 $file) ^ 1)))" | dd of=changed bs=1 seek=$middle conv=notrunc status=none
    head -c -1 $file >shorter
    cat $file <(printf x) >longer
    for spoiled in changed shorter longer; do
        refused "$file, $spoiled" 7 "$spoiled: (was changed after it was made|its xz data is damaged)" report --verify $spoiled
    done
done
# A changed figure of a page, with its hash (FNV-1a) computed again.
if command -v gnuplot >/dev/null; then
    python3 - <<'END'
import re
page = re.sub(rb'data-value="[0-9.]*">[0-9][^<]*<', b'data-value="1.1">1.1<', open("page/index.html", "rb").read(), count=1)
page, value = page[:page.rindex(b"<!-- all before")], 0xCBF29CE484222325
for byte in page:
    value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
open("forged.html", "wb").write(page + b"<!-- all before this line: %016x -->\n" % value)
END
    run_it report --verify forged.html
    check "a forged page: the file first" is "$(head -n 1 out)" "forged.html: differs from the page drawn from its run."
    check "a forged page: where" has out '^the page says .*1\.1<'
    check "a forged page: the last line" is "$code, $(tail -n 1 out)" "5, 4 of 4 cases are reproduced"
else
    echo "not checked: a forged page (gnuplot is not installed)"
fi
refused "a page of before" 7 'lacks its run' report --verify <(sed '/id="run"/,$d' page/index.html)
refused "a file without --verify" 2 'only report --verify takes a file' report page/index.html

finish
