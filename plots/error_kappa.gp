# Error over kappa, with a line for each name. data/STEM.tsv: line style label kernel kappa error failed
stem = ARG1
format = ARG2
drawing = ARG3
here = ARG0[1:strlen(ARG0) - strlen('error_kappa.gp')]
load here.'style.gp'
height = 574
load here.'canvas.gp'

left = 96
right = width - 250
top = 84
bottom = height - 92
lines = int(number('lines'))
no_digit = number('no_digit')
y_min = 0.1
y_max = no_digit * 6
within(error) = error > 4 * no_digit ? 4 * no_digit : error # the height of a point
set lmargin at screen across(left)
set rmargin at screen across(right)
set tmargin at screen up(top)
set bmargin at screen up(bottom)
set logscale xy
stats table skip 1 using (log10($5)) nooutput
x_max = STATS_max > 2 ? 10 ** (STATS_max + 0.1) : 100
set xtics ()
set ytics ()
do for [e = -1:24] {
    if (10.0 ** e <= x_max && e >= 0) { set xtics add (tick_label(10.0 ** e) 10.0 ** e) }
    if (10.0 ** e <= no_digit && (no_digit < 1e5 || e % 2 == 0 || e == 0)) {
        set ytics add (tick_label(10.0 ** e) 10.0 ** e)
    }
}
set xlabel 'kappa of the row: 1 where it is centred, else about |mean| / std'
set ylabel 'largest error, row ULP'
set object 1 rectangle from graph 0, first no_digit to graph 1, graph 1 fc rgb 0xfbe9e7 fs solid \
    noborder behind
set object 2 rectangle from graph 0, graph 0 to graph 1, first 4 fc rgb 0xeaf3fb fs solid noborder behind
set label 1 'no correct digit, at any height' at graph 0.01, first no_digit left offset 0, 0.6 font small tc rgb CLASS[6]
set label 2 'all digits' at graph 0.01, graph 0 left offset 0, 0.7 font small tc rgb LOOK[1]

array WANTED[12]
array NAME[12]
array STYLE[12]
slots = lines
do for [i = 1:lines] {
    stats table skip 1 using (int($1) == i ? $5 : NaN) nooutput
    at_x = STATS_max
    stats table skip 1 using (int($1) == i && $5 == at_x ? \
        (NAME[i] = strcol(3), STYLE[i] = int($2), value = within($6)) : NaN) nooutput
    WANTED[i] = bottom - (bottom - top) * (log10(value) - log10(y_min)) / (log10(y_max) - log10(y_min))
}
tall(i) = rise(NAME[i])
apart(i, j) = NAME[i] eq '-' || NAME[j] eq '-' ? 0 : 17 + tall(i) + tall(j)
load here.'spread.gp'
do for [i = 1:lines] {
    if (NAME[i] eq '-') { continue }
    set label 100 + i two_lines(NAME[i]) at screen across(right + 10), up(WANTED[i] - tall(i)) left font small tc rgb LOOK[STYLE[i]] \
        point pt LOOK_MARK[STYLE[i]] ps 0.7 lc rgb LOOK[STYLE[i]] offset 1, 0
}
set xrange [1:x_max]
set yrange [y_min:y_max]
if (no_digit < x_max ** 2 / 99) {
    set label 3 '~ kappa²' at first (2 * no_digit) ** 0.5, first no_digit left offset 0.6, -0.8 font small tc rgb SOFT
}
edge = x_max < 2 * no_digit ? x_max : 2 * no_digit
set label 4 '~ kappa' at first edge / 4, first edge / 8 left offset 0.6, -1 font small tc rgb SOFT
guide(x, power) = 0.5 * x ** power < no_digit ? 0.5 * x ** power : NaN
plot guide(x, 1) with lines lw 1 dt 3 lc rgb SOFT, guide(x, 2) with lines lw 1 dt 3 lc rgb SOFT, \
    for [i = 1:lines] table skip 1 using (int($1) == i ? $5 : NaN):(within($6)) with linespoints lw (strstrt(NAME[i], '≈') ? 5.5 : 2.4) \
        pt LOOK_MARK[STYLE[i]] ps 0.6 lc rgb LOOK[STYLE[i]], \
    table skip 1 using (int($7) ? $5 : NaN):(within($6)) with points pt 2 ps 1.1 lw 2 lc rgb CLASS[6], \
    for [n = 1:tips] table skip 1 using 5:(within($6)):(sprintf('%s, kappa %.0e: %s', strcol(4), $5, \
        int($7) ? 'NaN, infinite or fault' : sprintf('%.3g row ULP', $6))) with labels hypertext point pt 7 \
        ps 1 lc rgb 0xff000000
