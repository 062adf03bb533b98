# A bar for each kernel: its length is the speed, its colour the worst error.
# data/STEM.tsv: place heading label kernel inside gbps lo hi share class error
stem = ARG1
format = ARG2
drawing = ARG3
here = ARG0[1:strlen(ARG0) - strlen('field.gp')]
load here.'style.gp'

stats table skip 1 using (0) nooutput
rows = int(STATS_records)
row_height = 24
top = 122
bottom = top + row_height * (rows + 0.2)
height = bottom + 92
load here.'canvas.gp'

array ROW_LABEL[rows]
array NAME[rows]
array HEADING[rows]
array ERROR[rows]
array SPEED[rows]
array SHARE[rows]
array CLASS_OF[rows]
array END[rows]
stats table skip 1 using (n = int($1), HEADING[n] = $2, ROW_LABEL[n] = strcol(3), NAME[n] = strcol(5), \
    SPEED[n] = $6, END[n] = $8 > $6 ? $8 : $6, SHARE[n] = $9, CLASS_OF[n] = int($10), \
    ERROR[n] = strcol(11), 0) nooutput

left = 265
right = 742
copy = number('copy')
fastest = number('fastest')
with_copy = copy > fastest && copy < 2.2 * fastest
pixels(gbps) = gbps / most * (right - left)
# The number follows the bar's interval, and the axis is long enough for it.
inside(i) = shown(NAME[i]) ne '' && CLASS_OF[i] < 5 && text_width(NAME[i], 12) < pixels(SPEED[i]) - 10
beside(i) = figure(SPEED[i]).(SHARE[i] > 0 ? sprintf('   %.0f %%', 100 * SHARE[i]) : '').\
    (inside(i) ? '' : '   '.shown(NAME[i]))
most = with_copy ? copy * 1.02 : fastest
do for [i = 1:rows] {
    needed = END[i] * (right - left) / (right - left - 10.0 - text_width(beside(i), font_size - 2))
    most = needed > most ? needed : most
}

set lmargin at screen across(left)
set rmargin at screen across(right)
set tmargin at screen up(top)
set bmargin at screen up(bottom)
set xrange [0:most]
set yrange [rows + 0.7:0.5]
set border 1
unset ytics
set grid xtics noytics
set xlabel 'GB/s: bytes of x read and y written, by the time of a call'

load here.'key.gp'
centre(i) = top + (bottom - top) * (i - 0.5) / (rows + 0.2)
set label 1020 'worst error' at screen across(right + 16), up(top - 6) left font small tc rgb SOFT
do for [i = 1:rows] {
    if (int(HEADING[i])) {
        set label 2000 + i ''.ROW_LABEL[i] at screen across(20), up(centre(i) + 2) left tc rgb SOFT
    } else {
        set label 2000 + i ''.ROW_LABEL[i] at screen across(left - 8), up(centre(i)) right tc rgb INK \
            font sprintf(',%d', text_width(ROW_LABEL[i], font_size) > left - 20 ? font_size - 3 : font_size)
        set label 3000 + i beside(i) at END[i], i left offset first 0.012 * most, 0 tc rgb INK front
        set label 4000 + i ''.ERROR[i] at screen across(right + 16), up(centre(i)) left tc rgb INK
        if (inside(i)) {
            set label 5000 + i ''.NAME[i] at 0, i left offset first 0.012 * most, 0 font small \
                tc rgb on_class(CLASS_OF[i]) front
        }
    }
}
# The copy's line is interrupted at rows whose numbers it would cross.
is_crossed(i) = int(HEADING[i]) ? 0 : pixels(END[i]) < pixels(copy) && \
    pixels(copy) < pixels(END[i]) + 14 + text_width(beside(i), font_size)
if (with_copy) {
    do for [i = 1:rows] {
        if (!is_crossed(i)) {
            set arrow 10 + i from copy, i - 0.5 to copy, (i < rows ? i + 0.5 : i + 0.7) nohead lw 1.5 dt 2 lc rgb SOFT
        }
    }
    set label 1030 sprintf('a copy of the same bytes: %.0f', copy) at copy, graph 1 right \
        offset first -0.006 * most, character 0.6 font sprintf(',%d', font_size - 1) tc rgb SOFT
}
plot table skip 1 using ($6 / 2):(int($2) ? NaN : $1):($6 / 2):(0.37):(class_colour($10)) \
        with boxxyerror fs solid noborder lc rgb variable, \
    table skip 1 using ($6 / 2):(int($10) == 5 ? $1 : NaN):($6 / 2):(0.37) \
        with boxxyerror fs transparent pattern 5 noborder lc rgb 0xffffff, \
    table skip 1 using 6:(int($2) ? NaN : $1):7:8 with xerrorbars pt 0 lw 1 lc rgb INK, \
    for [n = 1:tips] table skip 1 using ($6 / 2):(int($2) ? NaN : $1): \
        (sprintf('%s: %.1f GB/s [%.1f, %.1f], worst error %s', strcol(4), $6, $7, $8, strcol(11))) \
        with labels hypertext point pt 5 ps 2 lc rgb 0xff000000
