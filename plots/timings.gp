# Single timings, a strip a name. data/STEM.tsv: strip style label process relative
stem = ARG1
format = ARG2
here = ARG0[1:strlen(ARG0) - strlen('timings.gp')]
load here.'style.gp'
strips = int(number('strips'))
top = 84
bottom = top + 34 * strips
height = bottom + 84
load here.'canvas.gp'

set lmargin at screen across(250)
set rmargin at screen across(width - 30)
set tmargin at screen up(top)
set bmargin at screen up(bottom)
array NAME[12]
array STYLE[12]
stats table skip 1 using (n = int($1), NAME[n] = strcol(3), STYLE[n] = int($2), 0) nooutput
unset ytics
set grid noytics
set yrange [strips + 0.5:0.5]
set xrange [0.9:1.2]
set xtics 0.05
set xlabel 'time of a repetition over the median (beyond 1.2: at the edge)'
do for [i = 1:strips] {
    set label 100 + i two_lines(NAME[i]) at screen across(240), up(top + 34 * (i - 0.5) - rise(NAME[i])) right font small tc rgb LOOK[STYLE[i]]
}
set arrow 1 from 1, graph 0 to 1, graph 1 nohead lw 1 dt 3 lc rgb SOFT
within(v) = v < 0.9 ? 0.9 : v > 1.2 ? 1.2 : v
# Processes one below the other within a strip.
plot for [i = 1:strips] table skip 1 using (int($1) == i ? within($5) : NaN): \
    ($1 - 0.24 + 0.12 * (int($4) % 5)) with points pt 7 ps 0.35 lc rgb LOOK[STYLE[i]]
