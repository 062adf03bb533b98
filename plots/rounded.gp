# The share of elements correctly rounded, a line a kernel: on normal input (full marks) and on rows
# far from zero (open marks).
# data/STEM.tsv: series kernel place normal offset (-1: not judged) tip
stem = ARG1
format = ARG2
here = ARG0[1:strlen(ARG0) - strlen('rounded.gp')]
load here.'style.gp'

lines = 'data/'.stem.'.tsv'
stats lines skip 1 using (0) nooutput
line_count = int(STATS_records)
array OF[line_count]
array LINE_NAME[line_count]
array NORMAL[line_count]
array OFFSET[line_count]
stats lines skip 1 using (n = int($0) + 1, OF[n] = int($1), LINE_NAME[n] = strcol(2), \
    NORMAL[n] = $4, OFFSET[n] = $5, 0) nooutput

array LEGEND_TEXT[2] = ['normal input', 'offset input: means far from zero']
array LEGEND_LINE[2] = [0, 0]
array LEGEND_DASH[2] = [1, 1]
array LEGEND_MARK[2] = [7, 6]
array LEGEND_COLOUR[2] = [SOFT, SOFT]
array LEGEND_INK[2] = [SOFT, SOFT]
legend_left = 24
legend_right = width - 24
legend_top = 74
legend_number = 9001
load here.'legend.gp'

set lmargin at screen across(number('left'))
set rmargin at screen across(number('right'))
set tmargin at screen up(number('top'))
set bmargin at screen up(number('bottom'))
set xrange [0:100]
set yrange [number('ymin'):number('ymax')]
set xlabel 'elements correctly rounded (%)'
set border 1
set xtics 10
unset ytics
row(i) = number('top') + (number('bottom') - number('top')) * (i - number('ymax')) \
    / (number('ymin') - number('ymax'))
set label 6000 'normal' at screen across(number('right') + 48), up(number('top') - 8) right \
    font ',10' tc rgb SOFT
set label 6001 'offset' at screen across(number('right') + 104), up(number('top') - 8) right \
    font ',10' tc rgb SOFT
do for [i = 1:line_count] {
    set label 3000 + i LINE_NAME[i] at screen across(number('left') - 8), up(row(i)) right \
        tc rgb TEXT_COLOUR[OF[i]]
    set label 4000 + i sprintf('%.1f', NORMAL[i]) at screen across(number('right') + 48), \
        up(row(i)) right tc rgb INK
    if (OFFSET[i] >= 0) {
        set label 5000 + i sprintf('%.1f', OFFSET[i]) at screen across(number('right') + 104), \
            up(row(i)) right tc rgb SOFT
    }
}
plot for [i = 1:line_count] lines skip 1 \
        using 5:(int($3) == i && $5 >= 0 ? $3 : NaN):($4 - $5):(0) with vectors nohead lw 1.2 \
        lc rgb COLOUR[OF[i]] notitle, \
    for [i = 1:line_count] lines skip 1 using 5:(int($3) == i && $5 >= 0 ? $3 : NaN) with points \
        pt OPEN_MARK[OF[i]] ps 0.9 lc rgb COLOUR[OF[i]] notitle, \
    for [i = 1:line_count] lines skip 1 using 4:(int($3) == i ? $3 : NaN) with points \
        pt MARK[OF[i]] ps 0.9 lc rgb COLOUR[OF[i]] notitle, \
    for [n = 1:tips] lines skip 1 using 4:3:6 with labels hypertext point pt 7 ps 1.2 \
        lc rgb '#ff000000' notitle
