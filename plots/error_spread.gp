# Errors of single elements: a bar for each name, divided by size. data/STEM.tsv: place label part from to beyond
stem = ARG1
format = ARG2
drawing = ARG3
here = ARG0[1:strlen(ARG0) - strlen('error_spread.gp')]
load here.'style.gp'
rows = int(number('rows'))
row_height = 32
top = 116
bottom = top + row_height * rows
height = bottom + 84
load here.'canvas.gp'

array PART[5] = ['up to 1/2: correctly rounded', 'up to 1', 'up to 2', 'up to 4', 'beyond 4']
array KEY_AT[5] = [20, 250, 345, 440, 535]
do for [i = 1:5] {
    set object 10 + i rectangle from screen across(KEY_AT[i]), up(88) to screen across(KEY_AT[i] + 13), up(75) \
        fc rgb CLASS[i + 1] fs solid noborder
    set label 10 + i ''.PART[i] at screen across(KEY_AT[i] + 19), up(82) left font small tc rgb INK
}
set object 16 rectangle from screen across(KEY_AT[5]), up(88) to screen across(KEY_AT[5] + 13), up(75) \
    fc rgb 0xffffff fs transparent pattern 5 noborder
left = 250
right = width - 130
array NAME[rows]
array BEYOND[rows]
stats table skip 1 using (n = int($1), NAME[n] = strcol(2), BEYOND[n] = $6, 0) nooutput
set label 1 'beyond 1 ULP' at screen across(right + 12), up(top - 8) left font small tc rgb SOFT
do for [i = 1:rows] {
    centre = top + row_height * (i - 0.5)
    set label 100 + i two_lines(NAME[i]) at screen across(left - 10), up(centre - rise(NAME[i])) right font small tc rgb INK
    set label 200 + i sprintf('%.0f %%', 100 * BEYOND[i]) at screen across(right + 12), up(centre) left tc rgb INK
}
set lmargin at screen across(left)
set rmargin at screen across(right)
set tmargin at screen up(top)
set bmargin at screen up(bottom)
set border 1
set grid xtics noytics front
set xtics 20
set format x '%g %%'
unset ytics
set xlabel 'elements'
set xrange [0:100]
set yrange [rows + 0.5:0.5]
plot for [part = 1:5] table skip 1 using (100 * $4):(int($3) == part ? $1 : NaN):(100 * $4):(100 * $5):($1 - 0.36):($1 + 0.36) \
    with boxxyerror fs solid noborder lc rgb CLASS[part + 1], \
    table skip 1 using (100 * $4):(int($3) == 5 ? $1 : NaN):(100 * $4):(100 * $5):($1 - 0.36):($1 + 0.36) \
    with boxxyerror fs transparent pattern 5 noborder lc rgb 0xffffff
