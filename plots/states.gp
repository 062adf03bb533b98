# Speeds in several states, with a group of bars for each name. data/STEM.tsv: place label kernel state gbps lo hi
stem = ARG1
format = ARG2
drawing = ARG3
here = ARG0[1:strlen(ARG0) - strlen('states.gp')]
load here.'style.gp'
rows = int(number('rows'))
states = int(number('states'))
group_height = 14 * states + 14
top = 116
bottom = top + rows * group_height
height = bottom + 88
load here.'canvas.gp'
array SHADE[8] = [0x08519c, 0xe08214, 0x3a8fcf, 0xb35806, 0x93c6e6, 0xf1c27d, 0x5b5b5b, 0xb0b0b0]

left = 250
right = width - 70
stats table skip 1 using 5 nooutput
set lmargin at screen across(left)
set rmargin at screen across(right)
set tmargin at screen up(top)
set bmargin at screen up(bottom)
set border 1
unset ytics
set grid xtics noytics
set xrange [0:STATS_max * 1.05]
set yrange [rows + 0.5:0.5]
set xlabel 'GB/s'
do for [s = 1:states] {
    column_left = 20 + (s - 1) % 4 * 215
    line_top = 80 + (s - 1) / 4 * 18
    set object 10 + s rectangle from screen across(column_left), up(line_top + 6) \
        to screen across(column_left + 13), up(line_top - 7) fc rgb SHADE[s] fs solid noborder
    set label 10 + s wording(sprintf('state_%d', s)) at screen across(column_left + 19), up(line_top) \
        left font small tc rgb INK
}
step = 14.0 / group_height
y_of(place, state) = place + (state - (states + 1) / 2.0) * step
plot for [s = 1:states] table skip 1 using (int($4) == s ? $5 / 2 : NaN):(y_of($1, s)):($5 / 2): \
        (step * 0.44) with boxxyerror fs solid noborder lc rgb SHADE[s], \
    table skip 1 using 5:(y_of($1, $4)):6:7 with xerrorbars pt 0 lw 1 lc rgb INK, \
    table skip 1 using 7:(y_of($1, $4)):(' '.figure($5)) with labels left \
        font sprintf(',%d', font_size - 3) tc rgb INK, \
    table skip 1 using (0):(int($4) == 1 ? $1 : NaN):(two_lines(strcol(2))) with labels \
        right offset -0.6, 0 font small tc rgb INK
