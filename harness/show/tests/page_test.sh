#!/bin/sh
# The page in a browser: all charts are there, nothing is fetched, tables can be sorted, nothing overflows on a phone,
# a wide screen or paper, and every text is readable in light and dark mode.
#     page_test.sh BINARIES SOURCE
set -u
binaries=$1
probe=$2/page_probe.js
if ! command -v chromium >/dev/null; then
    echo "skipped: chromium is not installed"
    exit 77
fi
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failures=0
fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

count_lost='window.lost=0;addEventListener("error",function(e){if(e.target!==window)lost++},true)'

# browse FILE WIDTH: sets $said to the output of the probe. The browser cannot reach any host.
browse() {
    {
        sed -e "s@<head>@<head><script>$count_lost</script>@" -e 's,</body>.*,,' "$1"
        echo '<script>'
        cat "$probe"
        echo '</script></body></html>'
    } | sed 's,&,\&amp;,g; s,",\&quot;,g' >quoted
    {
        printf '<!DOCTYPE html><html><body style="margin:0"><iframe width="%s" height="900" ' "$2"
        printf 'style="border:0" srcdoc="'
        cat quoted
        echo '"></iframe></body></html>'
    } >probed.html
    said=$(timeout 100 chromium --headless --no-sandbox --disable-gpu --disable-extensions \
        --user-data-dir="$scratch/profile" --host-resolver-rules='MAP * ~NOTFOUND' \
        --window-size=1700,1000 --dump-dom "file://$scratch/probed.html" 2>browser.log |
        grep -o 'data-probe="[^"]*"')
    [ -n "$said" ] || fail "$1 at $2: the browser said nothing: $(tail -n 3 browser.log)"
    echo "$1 at $2: $said"
}
expect() {
    case $said in
    *[\"\ ]"$1"[\"\ ]*) ;;
    *) fail "$1 was expected: $said" ;;
    esac
}

# A made-up run: five kernels of the golden test's run.
"$binaries/lnbench" import "$2/../../commands/tests/golden/peers.db.xz" --db sample.db >/dev/null || exit 1
"$binaries/run_sql" sample.db "PRAGMA foreign_keys = ON; DELETE FROM kernels WHERE name NOT IN ('naive_f32_scalar',
    'naive_f32_avx512', 'two_pass_f32_avx2', 'two_pass_f32_avx512', 'welford_f32_avx512');
    DELETE FROM cells WHERE kernel NOT LIKE 'copy%' AND kernel NOT IN (SELECT name FROM kernels);
    UPDATE runs SET requested = (SELECT count(requested) FROM cases)" >/dev/null || exit 1
draw() {
    "$binaries/lnbench" report --db sample.db --out "$1" >drawn || exit 1
}
draw page
[ "$(wc -c <page/index.html)" -lt 1500000 ] || fail "the page has $(wc -c <page/index.html) bytes"
charts=$(find page -name '*.svg' | wc -l)
[ "$charts" -eq 8 ] || fail "$charts charts were drawn"
for width in 400 1280 1600; do
    browse page/index.html $width
    for fact in "charts=$charts" "width=$width" empty=0 fetched=0 overflow=no unsorted=0 harmed=no \
        faint=0 wide=0 first=yes; do
        expect "$fact"
    done
    case $said in
    *tables=0* | *tips=0*) fail "no table, or no tooltip, was tried: $said" ;;
    esac
done
case $said in
*screens=[1-6]\ *) ;;
*) fail "more than six screens before the folded details: $said" ;;
esac

# In dark mode, and on paper: A4 without margins is 680 x 1000 pixels.
sed 's/@media screen and (prefers-color-scheme:dark)/@media all/' page/index.html >dark.html
browse dark.html 1600
expect faint=0
# With as many input families as a run of the default plan, which do not fit side by side on a sheet.
for number in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28; do
    "$binaries/run_sql" sample.db "
        CREATE TEMP TABLE ramp AS SELECT cases.* FROM cases JOIN inputs ON inputs.id = input_id WHERE name = 'ramp';
        INSERT INTO inputs (name) VALUES ('outlier-channels-$number');
        INSERT INTO cases (cell, input_id) SELECT cell, (SELECT max(id) FROM inputs) FROM ramp;
        CREATE TEMP TABLE errors AS SELECT * FROM accuracies WHERE case_id IN (SELECT id FROM ramp);
        CREATE TEMP TABLE verdicts AS SELECT * FROM judgements WHERE case_id IN (SELECT id FROM ramp);
        UPDATE errors SET case_id = (SELECT new.id FROM cases new JOIN cases old USING (cell)
            WHERE old.id = case_id AND new.input_id = (SELECT max(id) FROM inputs));
        UPDATE verdicts SET case_id = (SELECT new.id FROM cases new JOIN cases old USING (cell)
            WHERE old.id = case_id AND new.input_id = (SELECT max(id) FROM inputs));
        INSERT INTO accuracies SELECT * FROM errors;
        INSERT INTO judgements SELECT * FROM verdicts" || exit 1
done
draw sheets
sed 's/@media print/@media all/; s/@media screen and (max-width/@media not all and (max-width/' sheets/index.html >paper.html
browse paper.html 680
for fact in "charts=$charts" overflow=no tall=0 faint=0 hollow=0 folded=0; do
    expect "$fact"
done
for kind in dark paper; do
    cmp -s $kind.html page/index.html && fail "no style for $kind"
done

# Check the checks: a page that fetches, overflows and does not sort is detected.
sed -e 's,<main>,<main><img src="missing.png"><div style="width:3000px;color:#ccc">wide</div>,' \
    -e 's,<main>,<main><figure style="height:2000px"></figure>,' \
    -e 's,<table>,<table style="width:3000px;max-width:none">,' \
    -e "s,sort(function,slice().sort(function," page/index.html >broken.html
browse broken.html 400
for fact in fetched=0 overflow=no unsorted=0 tall=0 faint=0 wide=0 first=yes; do
    case $said in
    *"$fact"*) fail "the probe did not see what was planted: $fact" ;;
    esac
done
exit $failures
