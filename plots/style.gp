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

# ---- series: kernel, statistics, isa, and how it looks on every chart (report_palette.c); the
# roofs come last ----
if (!exists('series_table')) { series_table = 'data/series.tsv' }
stats series_table skip 1 using (0) nooutput
series_count = int(STATS_records)
array NAME[series_count]
array STATISTICS[series_count]
array ISA[series_count]
array COLOUR[series_count]
array TEXT_COLOUR[series_count]
array MARK[series_count]
array OPEN_MARK[series_count]
array DASH[series_count]
stats series_table skip 1 using (n = int($0) + 1, NAME[n] = strcol(1), \
    STATISTICS[n] = strcol(2), ISA[n] = strcol(3), COLOUR[n] = int($4), \
    TEXT_COLOUR[n] = int($5), MARK[n] = int($6), OPEN_MARK[n] = int($7), DASH[n] = int($8), 0) \
    nooutput

# Text is darker than lines and marks, so that it can be read on white.
darker(c) = 65536 * int(0.7 * (c / 65536)) + 256 * int(0.7 * (c / 256 % 256)) + int(0.7 * (c % 256))

array ISAS[5] = ['scalar', 'avx2', 'avx512', 'neon', 'other']
dash_of(isa) = isa eq 'scalar' ? 3 : isa eq 'avx2' ? 2 : isa eq 'copy_nt' ? 4 : 1
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
