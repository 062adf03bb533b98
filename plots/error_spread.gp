# The share of elements up to an error, a line a name. data/STEM.tsv: line style label ulp share
stem = ARG1
format = ARG2
here = ARG0[1:strlen(ARG0) - strlen('error_spread.gp')]
load here.'style.gp'
height = 460
load here.'canvas.gp'

left = 80
right = width - 250
top = 84
bottom = height - 92
lines = int(number('lines'))
set lmargin at screen across(left)
set rmargin at screen across(right)
set tmargin at screen up(top)
set bmargin at screen up(bottom)
set logscale x 2
set xtics ('1/16' 0.0625, '1/8' 0.125, '1/4' 0.25, '1/2' 0.5, '1' 1, '2' 2, '4' 4, '8' 8, '16' 16, \
    '32' 32, '64' 64)
set ytics 20
set format y '%g %%'
set xlabel 'error of an element, ULP'
set ylabel 'elements up to that error'
set arrow 1 from 0.5, graph 0 to 0.5, graph 1 nohead lw 1 dt 3 lc rgb SOFT
set label 1 'correctly rounded' at 0.48, 103 right offset 0, -0.4 font small tc rgb SOFT

# Names stand at the height of the share at 1/4 ULP, where lines are furthest apart.
array WANTED[12]
array NAME[12]
array STYLE[12]
slots = lines
do for [i = 1:lines] {
    stats table skip 1 using (int($1) == i && $4 == 0.25 ? \
        (NAME[i] = strcol(3), STYLE[i] = int($2), value = 100 * $5) : NaN) nooutput
    WANTED[i] = bottom - (bottom - top) * value / 104
}
tall(i) = rise(NAME[i])
apart(i, j) = 17 + tall(i) + tall(j)
load here.'spread.gp'
do for [i = 1:lines] {
    set label 100 + i two_lines(NAME[i]) at screen across(right + 10), up(WANTED[i] - tall(i)) left font small tc rgb LOOK[STYLE[i]]
}
set xrange [0.0625:64]
set yrange [0:104]
plot for [i = 1:lines] table skip 1 using (int($1) == i ? $4 : NaN):(100 * $5) with linespoints \
    lw 2.4 pt LOOK_MARK[STYLE[i]] ps 0.6 lc rgb LOOK[STYLE[i]]
