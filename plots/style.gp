# The look of every chart, and how the scripts read their TSV. Loaded first by every script:
#
#     gnuplot -d -c throughput.gp STEM FORMAT       (in the report's directory)
#
# reads data/STEM*.tsv and data/series.tsv, writes STEM.FORMAT.part. Text comes from TSV into
# variables and is drawn "noenhanced": nothing in it is ever read as gnuplot's language.

set encoding utf8
set datafile separator "\t"
set datafile commentschars ""
set datafile missing "NaN"

# ---- settings: key, number, text ----
settings = 'data/'.stem.'_settings.tsv'
stats settings skip 1 using (0) nooutput
array KEY[STATS_records]
array NUMBER[STATS_records]
array WORDING[STATS_records]
stats settings skip 1 using (n = int($0) + 1, KEY[n] = strcol(1), NUMBER[n] = $2, \
    WORDING[n] = strcol(3), 0) nooutput
place(key) = sum [i = 1:|KEY|] (KEY[i] eq key ? i : 0)
number(key) = NUMBER[place(key)]
wording(key) = WORDING[place(key)]

# ---- series: kernel, statistics, isa; the roofs come last ----
if (!exists('series_table')) { series_table = 'data/series.tsv' }
stats series_table skip 1 using (0) nooutput
series_count = int(STATS_records)
array NAME[series_count]
array STATISTICS[series_count]
array ISA[series_count]
stats series_table skip 1 using (n = int($0) + 1, NAME[n] = strcol(1), \
    STATISTICS[n] = strcol(2), ISA[n] = strcol(3), 0) nooutput

# ---- a colour for each statistic, the same on every chart of every run: Okabe and Ito's palette,
# then Tol's muted one, both told apart by colour-blind readers ----
known_colour(s) = s eq 'shifted' ? 0xD55E00 : s eq 'two_pass' ? 0x0072B2 : \
    s eq 'welford' ? 0x009E73 : s eq 'naive' ? 0xCC79A7 : \
    s eq 'corrected' ? 0xE69F00 : s eq 'scaled' ? 0x56B4E9 : \
    s eq 'clamped' ? 0x8A7A00 : s eq 'pairwise' ? 0x332288 : \
    s eq 'compensated' ? 0x882255 : s eq 'chunked' ? 0x44AA99 : \
    s eq 'reproducible' ? 0x777777 : s eq 'roof' ? 0x000000 : \
    s eq 'onednn' ? 0x661100 : s eq 'pytorch' ? 0xEE3377 : -1
# The others get what is left, in the order in which they come; the last for all that follow.
array SPARE[4] = [0x117733, 0xAA4499, 0xB89A2E, 0x555555]
others = '|'
array COLOUR[series_count]
do for [i = 1:series_count] {
    COLOUR[i] = known_colour(STATISTICS[i])
    if (COLOUR[i] < 0) {
        if (strstrt(others, '|'.STATISTICS[i].'|') == 0) { others = others.STATISTICS[i].'|' }
        before = others[1:strstrt(others, '|'.STATISTICS[i].'|')]
        ordinal = 0
        do for [j = 1:strlen(before)] { if (before[j:j] eq '|') { ordinal = ordinal + 1 } }
        COLOUR[i] = SPARE[ordinal > |SPARE| ? |SPARE| : ordinal]
    }
}

# Text is darker than lines and marks, so that it can be read on white.
darker(c) = 65536 * int(0.7 * (c / 65536)) + 256 * int(0.7 * (c / 256 % 256)) + int(0.7 * (c % 256))
array TEXT_COLOUR[series_count]
do for [i = 1:series_count] { TEXT_COLOUR[i] = darker(COLOUR[i]) }

# ---- a mark and a dash for each ISA ----
mark_of(isa) = isa eq 'scalar' ? 7 : isa eq 'avx2' ? 5 : isa eq 'avx512' ? 9 : \
    isa eq 'neon' ? 13 : 11
open_mark_of(isa) = isa eq 'scalar' ? 6 : isa eq 'avx2' ? 4 : isa eq 'avx512' ? 8 : \
    isa eq 'neon' ? 12 : 10
dash_of(isa) = isa eq 'scalar' ? 3 : isa eq 'avx2' ? 2 : isa eq 'copy_nt' ? 4 : 1
array ISAS[5] = ['scalar', 'avx2', 'avx512', 'neon', 'other']
isa_of(i) = (ISA[i] eq 'scalar' || ISA[i] eq 'avx2' || ISA[i] eq 'avx512' || ISA[i] eq 'neon') ? \
    ISA[i] : 'other'
# Scripts set DRAWN to 1 for the series that they draw: legends have only what is there.
array DRAWN[series_count]
do for [i = 1:series_count] { DRAWN[i] = 0 }
has_isa(isa) = (sum [i = 1:series_count] \
    (DRAWN[i] && STATISTICS[i] ne 'roof' && isa_of(i) eq isa)) > 0
has_series(isa) = (sum [i = 1:series_count] (DRAWN[i] && ISA[i] eq isa)) > 0

INK = 0x000000
SOFT = 0x666666
FAINT = 0xDDDDDD
ALARM = 0xD00000
WRONG_MARK = 2

# "-" stands for nothing to show, since gnuplot takes an empty cell for a missing one.
shown(cell) = cell eq '-' ? '' : cell

# Names beyond this length are cut where there is no room for them; the page has them in full.
short(name) = strlen(name) > 44 ? name[1:41].'...' : name

# Ticks of logarithmic axes: 500, 0.05, 10^7, 2x10^5.
DIGITS = '⁰¹²³⁴⁵⁶⁷⁸⁹'
superscript(n) = n < 0 ? '⁻'.superscript(-n) : n > 9 ? superscript(n / 10).superscript(n % 10) : \
    DIGITS[n + 1:n + 1]
exponent(v) = int(floor(log10(v) + 1e-9))
leading(v) = int(v / 10.0 ** exponent(v) + 0.5)
tick_label(v) = v >= 0.000999 && v < 9999 ? sprintf('%g', v) : \
    (leading(v) == 1 ? '' : sprintf('%d·', leading(v))).'10'.superscript(exponent(v))

# ---- canvas and text ----
width = number('width')
height = number('height')
across(x) = x / width
up(y) = 1 - y / height
if (format eq 'svg') {
    set terminal svg size width,height fixed noenhanced name stem background 'white' \
        font 'Liberation Sans, Arial, Helvetica, sans-serif,12'
} else { if (format eq 'pdf') {
    set terminal pdfcairo size width / 100.0,height / 100.0 noenhanced background 'white' \
        font 'Liberation Sans,12' fontscale 0.72 linewidth 0.72 pointscale 0.72
} else {
    set terminal pngcairo size 2 * width,2 * height noenhanced background 'white' \
        font 'Liberation Sans,12' fontscale 1.5 linewidth 2 pointscale 2
} }
# Only SVG has tooltips: plots "for [n = 1:tips]" are left out elsewhere. gnuplot gives each a mark,
# which is drawn over the one that it explains, or is transparent.
tips = format eq 'svg' ? 1 : 0
set output stem.'.'.format.'.part'

set border 3 lw 1 lc rgb SOFT
set grid lw 1 lt 1 lc rgb FAINT
set tics nomirror textcolor rgb INK
unset key
set bars 0.4
unset title
set label 1001 wording('title') at screen across(24), up(28) left font ',17' tc rgb INK
set label 1002 wording('subtitle') at screen across(24), up(50) left font ',12' tc rgb SOFT
set label 1003 wording('footer') at screen across(24), up(height - 14) left font ',10' tc rgb SOFT
