#!/bin/sh
# A report's page as it looks at four widths, in the light, in the dark, on paper and to somebody who sees no green:
# one PNG, by Chromium.
#     results/page_sheet.sh DIRECTORY/index.html page_sheet.png
set -u
stop() {
    echo "page_sheet.sh: $*" >&2
    exit 7
}
[ $# = 2 ] || stop "usage: page_sheet.sh PAGE.html SHEET.png"
command -v chromium >/dev/null || stop "Chromium is needed (Debian: apt-get install chromium)"
[ -f "$1" ] || stop "$1: no such file"
work=$(mktemp -d) || exit 7
trap 'rm -rf "$work"' EXIT
cp "$1" "$work/page.html" || exit 7
# A4 less its margins, with the rules for print in force.
sed 's/@media print/@media all/; s/@media screen/@media speech/' "$1" >"$work/paper.html" || exit 7
: >"$work/tiles"

# shoot FILE WIDTH HEIGHT PNG [OPTION...]
shoot() {
    page=$1 size=$2,$3 png=$4
    shift 4
    timeout 100 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --allow-file-access-from-files \
        --user-data-dir="$work/profile" --host-resolver-rules='MAP * ~NOTFOUND' --window-size="$size" \
        "$@" --screenshot="$work/$png" "file://$work/$page" >"$work/log" 2>&1
    [ -s "$work/$png" ] || stop "Chromium drew nothing: $(tail -n 1 "$work/log")"
}
# tile NAME FILE WIDTH HEIGHT SHOWN WORDS [OPTION...]: a screenshot, SHOWN pixels wide on the sheet.
tile() {
    name=$1 page=$2 width=$3 height=$4 shown=$5 words=$6
    shift 6
    shoot "$page" "$width" "$height" "$name.png" "$@"
    echo "<figure><figcaption>$words</figcaption><img src=$name.png width=$shown></figure>" >>"$work/tiles"
}

dark=--blink-settings=preferredColorScheme=0
tile light400 page.html 400 1250 320 "400, light"
tile dark400 page.html 400 1250 320 "400, dark" $dark
tile light800 page.html 800 1250 480 "800, light"
tile paper paper.html 680 1000 400 "print (A4)"
tile light1280 page.html 1280 830 750 "1280, light"
tile dark1280 page.html 1280 830 750 "1280, dark" $dark
tile light1600 page.html 1600 1040 750 "1600, light"
echo "<figure><figcaption>1280, deuteranopia</figcaption><img class=blind src=light1280.png width=750></figure>" \
    >>"$work/tiles"
{
    # Deuteranopia after Machado, Oliveira and Fernandes, IEEE TVCG 15, 2009, severity 1.0, in linear RGB.
    # The last filter leaves few enough levels that the PNG stays small.
    cat <<'END'
<!DOCTYPE html><meta charset="utf-8"><style>
body{margin:0;background:#ccc;font:13px 'Liberation Sans',Arial,sans-serif;display:flex;flex-wrap:wrap;filter:url(#few)}
figure{margin:0 0 6px 6px}figcaption{padding:4px 0}img{display:block}.blind{filter:url(#blind)}
</style><svg width="0" height="0" style="position:absolute"><filter id="blind" color-interpolation-filters="linearRGB">
<feColorMatrix values="0.367322 0.860646 -0.227968 0 0  0.280085 0.672501 0.047413 0 0  -0.011820 0.042940 0.968881 0 0  0 0 0 1 0"/>
</filter><filter id="few" color-interpolation-filters="sRGB"><feComponentTransfer>
END
    for channel in R G B; do
        echo "<feFunc$channel type='discrete' tableValues='0 .125 .25 .375 .5 .625 .75 .875 1'/>"
    done
    echo '</feComponentTransfer></filter></svg>'
    cat "$work/tiles"
} >"$work/sheet.html"
shoot sheet.html 1550 2080 sheet.png
cp "$work/sheet.png" "$2" || exit 7
