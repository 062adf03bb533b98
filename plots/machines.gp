# The winners of several machines. data/STEM.tsv: row column shape kernel gbps same, where same is 1 for
# the first machine's winner, 2 for another, 3 for none; settings: rows, columns, name_1, name_2, ...
stem = ARG1
format = ARG2
here = ARG0[1:strlen(ARG0) - strlen('machines.gp')]
load here.'style.gp'
rows = int(number('rows'))
columns = int(number('columns'))
cell = 58
top = 120
height = top + rows * (cell + 6) + 46
load here.'canvas.gp'

left = 110
right = width - 20
room = (right - left) / (1.0 * columns)
unset border
unset tics
unset grid
set lmargin at screen 0
set rmargin at screen 1
set tmargin at screen 1
set bmargin at screen 0
set xrange [0:1]
set yrange [0:1]
row_top(r) = top + (r - 1) * (cell + 6)
middle(c) = across(left + (c - 1) * room + room / 2 - 3)
do for [c = 1:columns] {
    set label 100 + c wording('name_'.c) at screen middle(c), up(top - 18) center tc rgb INK
}
# A name in two lines, broken at the underscore nearest to its middle.
at_half(s) = strstrt(s[strlen(s) / 2 + 1:], '_')
first(s) = strlen(s) < 26 || at_half(s) == 0 ? s : s[1:strlen(s) / 2 + at_half(s)]
second(s) = strlen(first(s)) == strlen(s) ? '' : s[strlen(first(s)) + 1:]
colour(k) = k == 1 ? LOOK[1] : k == 2 ? 0xcfe5f5 : 0xf2f2f2
ink(k) = k == 1 ? 0xffffff : k == 2 ? INK : SOFT
speed(v) = v == v ? sprintf('%.0f GB/s', v) : ''
plot table skip 1 using (middle($2)):(up(row_top($1) + cell / 2.0)):(room / 2 / width - 0.003): \
        (cell / 2.0 / height):(colour($6)) with boxxyerror fs solid noborder lc rgb variable, \
    table skip 1 using ($2 == 1 ? across(20) : NaN):(up(row_top($1) + cell / 2.0)):(strcol(3)) \
        with labels left tc rgb INK, \
    table skip 1 using (middle($2)):(up(row_top($1) + 13)):(first(strcol(4))):(ink($6)) \
        with labels center font small tc rgb variable, \
    table skip 1 using (middle($2)):(up(row_top($1) + 28)):(second(strcol(4))):(ink($6)) \
        with labels center font small tc rgb variable, \
    table skip 1 using (middle($2)):(up(row_top($1) + 45)):(speed($5)):(ink($6)) \
        with labels center font small tc rgb variable
