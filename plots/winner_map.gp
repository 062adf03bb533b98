# The kernel to take, a row a regime and choice. data/STEM.tsv: row regime column hidden line1 line2
# line3 line4 gbps kind
stem = ARG1
format = ARG2
here = ARG0[1:strlen(ARG0) - strlen('winner_map.gp')]
load here.'style.gp'
rows = int(number('rows'))
cell = 92
top = 84
bottom = top + rows * (cell + 26)
height = bottom + 40
load here.'canvas.gp'

stats table skip 1 using 3 nooutput
columns = int(STATS_max)
left = 150
right = width - 20
room = (right - left) / (1.0 * columns)
size_of_text = columns > 6 ? 12 : 14
unset border
unset tics
unset grid
set lmargin at screen 0
set rmargin at screen 1
set tmargin at screen 1
set bmargin at screen 0
set xrange [0:1]
set yrange [0:1]
n = 0
stats table skip 1 using (n = n + 1, 0) nooutput
array ROW[n]
array KIND[n]
array REGIME[n]
stats table skip 1 using (i = int($0) + 1, ROW[i] = int($1), REGIME[i] = strcol(2), KIND[i] = int($10), 0) \
    nooutput
row_top(r) = top + 20 + (r - 1) * (cell + 26)
do for [i = 1:n] {
    set label 100 + ROW[i] ''.(KIND[i] == 1 ? 'fastest' : 'take') \
        at screen across(20), up(row_top(ROW[i]) + cell / 2.0 + 9) left tc rgb SOFT
    set label 200 + ROW[i] 'Data in '.REGIME[i] \
        at screen across(20), up(row_top(ROW[i]) + cell / 2.0 - 9) left tc rgb INK
}
cell_left(c) = left + (c - 1) * room
middle(c) = across(cell_left(c) + room / 2 - 2)
ink(k) = k == 1 ? 0xffffff : INK
plot table skip 1 using (middle($3)):(up(row_top($1) + cell / 2.0)):(room / 2 / width - 0.002): \
        (cell / 2.0 / height):($10 == 1 ? LOOK[1] : 0xcfe5f5) with boxxyerror fs solid noborder \
        lc rgb variable, \
    table skip 1 using (middle($3)):(up(row_top($1) - 9)):(sprintf('%d', $4)) with labels center \
        font small tc rgb SOFT, \
    for [k = 5:8] table skip 1 using (middle($3)):(up(row_top($1) + 13 + (k - 5) * 16)): \
        (shown(strcol(k))):(ink($10)) with labels center font sprintf(',%d', size_of_text) \
        tc rgb variable, \
    table skip 1 using (middle($3)):(up(row_top($1) + 79)):(sprintf('%.0f', $9)):(ink($10)) \
        with labels center font sprintf(',%d', size_of_text) tc rgb variable
