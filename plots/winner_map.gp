# The fastest kernel in each cell of hidden size and regime: coloured by its statistics, named by a
# letter that the key below explains.
# data/STEM.tsv: series column line letter speed ties tip; data/STEM_key.tsv: series letter name wins
# data/STEM_axes.tsv: axis place label
stem = ARG1
format = ARG2
here = ARG0[1:strlen(ARG0) - strlen('winner_map.gp')]
load here.'style.gp'

cells = 'data/'.stem.'.tsv'
left = number('left')
top = number('top')
cell_width = (number('right') - left) / number('columns')
cell_height = (number('bottom') - top) / number('lines')

set lmargin at screen across(left)
set rmargin at screen across(number('right'))
set tmargin at screen up(top)
set bmargin at screen up(number('bottom'))
set border 0
unset grid
unset xtics
unset ytics

stats 'data/'.stem.'_axes.tsv' skip 1 using (0) nooutput
axis_count = int(STATS_records)
array AXIS[axis_count]
array AXIS_PLACE[axis_count]
array AXIS_LABEL[axis_count]
stats 'data/'.stem.'_axes.tsv' skip 1 using (n = int($0) + 1, AXIS[n] = strcol(1), \
    AXIS_PLACE[n] = $2, AXIS_LABEL[n] = strcol(3), 0) nooutput
do for [i = 1:axis_count] {
    if (AXIS[i] eq 'x') {
        set label 100 + i AXIS_LABEL[i] at screen across(left + (AXIS_PLACE[i] + 0.5) * cell_width), \
            up(number('bottom') + 14) center tc rgb INK
    } else {
        set label 100 + i AXIS_LABEL[i] at screen across(left - 10), \
            up(top + (AXIS_PLACE[i] + 0.5) * cell_height) right tc rgb INK
    }
}
set label 99 'hidden size (elements a row)' \
    at screen across((left + number('right')) / 2), up(number('bottom') + 36) center tc rgb INK

stats cells skip 1 using (0) nooutput
cell_count = int(STATS_records)
array OF[cell_count]
array CELL_X[cell_count]
array CELL_Y[cell_count]
array LETTER[cell_count]
array SPEED[cell_count]
array TIES[cell_count]
stats cells skip 1 using (n = int($0) + 1, OF[n] = int($1), CELL_X[n] = $2, CELL_Y[n] = $3, \
    LETTER[n] = strcol(4), SPEED[n] = strcol(5), TIES[n] = shown(strcol(6)), 0) nooutput
middle(i) = left + (CELL_X[i] + 0.5) * cell_width
head(i) = top + CELL_Y[i] * cell_height
do for [i = 1:cell_count] {
    set label 20000 + 3 * i LETTER[i] at screen across(middle(i)), up(head(i) + 20) center \
        font ',16' tc rgb INK front
    set label 20001 + 3 * i SPEED[i] at screen across(middle(i)), up(head(i) + 40) center \
        font ',10' tc rgb INK front
    set label 20002 + 3 * i TIES[i] at screen across(middle(i)), up(head(i) + 56) center \
        font ',10' tc rgb SOFT front
}

stats 'data/'.stem.'_key.tsv' skip 1 using (0) nooutput
key_count = int(STATS_records)
array KEY_OF[key_count]
array KEY_LETTER[key_count]
array KEY_NAME[key_count]
array KEY_WINS[key_count]
stats 'data/'.stem.'_key.tsv' skip 1 using (n = int($0) + 1, KEY_OF[n] = int($1), \
    KEY_LETTER[n] = strcol(2), KEY_NAME[n] = short(strcol(3)), KEY_WINS[n] = int($4), 0) nooutput
key_half = (key_count + 1) / 2
do for [i = 1:key_count] {
    key_x = left + (i > key_half ? 460 : 0)
    key_y = number('bottom') + 66 + 20 * ((i - 1) % key_half)
    set label 8000 + 2 * i KEY_LETTER[i] at screen across(key_x), up(key_y) right font ',13' \
        tc rgb TEXT_COLOUR[KEY_OF[i]]
    set label 8001 + 2 * i KEY_NAME[i].(KEY_WINS[i] > 0 ? \
        sprintf('   (%d %s)', KEY_WINS[i], KEY_WINS[i] == 1 ? 'cell' : 'cells') : '   (ties only)') \
        at screen across(key_x + 12), up(key_y) left tc rgb TEXT_COLOUR[KEY_OF[i]]
}

set xrange [0:number('columns')]
set yrange [number('lines'):0]
gap_x = 2.0 / cell_width
gap_y = 2.0 / cell_height
plot for [i = 1:series_count] cells skip 1 \
        using (int($1) == i ? $2 + 0.5 : NaN):($3 + 0.5):($2 + gap_x):($2 + 1 - gap_x): \
        ($3 + gap_y):($3 + 1 - gap_y) with boxxyerror fs transparent solid 0.35 noborder \
        lc rgb COLOUR[i] notitle, \
    for [n = 1:tips] cells skip 1 using ($2 + 0.5):($3 + 0.5):7 with labels hypertext \
        point pt 5 ps 6 lc rgb '#ff000000' notitle
