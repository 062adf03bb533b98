# Single timings, with a strip for each name. data/STEM.tsv: strip style label process relative n lower upper
stem = ARG1
format = ARG2
drawing = ARG3
here = ARG0[1:strlen(ARG0) - strlen('timings.gp')]
load here.'style.gp'
strips = int(number('strips'))
top = 84
tall = 32
bottom = top + tall * strips
height = bottom + 84
load here.'canvas.gp'

set lmargin at screen across(250)
right = width - 130
set rmargin at screen across(right)
set tmargin at screen up(top)
set bmargin at screen up(bottom)
array NAME[12]
array STYLE[12]
array LOWER[12]
array UPPER[12]
array COUNT[12]
stats table skip 1 using (n = int($1), NAME[n] = strcol(3), STYLE[n] = int($2), COUNT[n] = $6, LOWER[n] = $7, \
    UPPER[n] = $8, 0) nooutput
unset ytics
set grid noytics
set yrange [strips + 0.5:0.5]
set xrange [0.9:1.2]
set xtics 0.05
within(v) = v < 0.9 ? 0.9 : v > 1.2 ? 1.2 : v
set xlabel 'time of a repetition over the kernel time (beyond 0.9 or 1.2: at the edge)'
do for [i = 1:strips] {
    set label 200 + i sprintf('%+.1f to %+.1f %%, %d', 100 * LOWER[i] - 100, 100 * UPPER[i] - 100, COUNT[i]) \
        at screen across(right + 10), up(top + tall * (i - 0.5)) left font small tc rgb INK
    set object i rectangle from within(LOWER[i]), i - 0.36 to within(UPPER[i]), i + 0.36 fc rgb 0xe8eef4 fs solid noborder behind
    set label 100 + i two_lines(NAME[i]) at screen across(240), up(top + tall * (i - 0.5) - rise(NAME[i])) right font small tc rgb LOOK[STYLE[i]]
}
set label 1 'quartiles, n' at screen across(right + 10), up(top - 8) left font small tc rgb SOFT
set arrow 1 from 1, graph 0 to 1, graph 1 nohead lw 1 dt 3 lc rgb SOFT
plot for [i = 1:strips] table skip 1 using (int($1) == i ? within($5) : NaN):1 \
    with points pt 6 ps 0.7 lc rgb LOOK[STYLE[i]]
