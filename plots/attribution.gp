# Where a kernel's error comes from: one bar a kernel, in it the share of each stage.
# data/STEM.tsv: place stage from to; data/STEM_names.tsv: place kernel total statistics
stem = ARG1
format = ARG2
here = ARG0[1:strlen(ARG0) - strlen('attribution.gp')]
series_table = 'data/'.stem.'_series.tsv'
load here.'style.gp'

bars = 'data/'.stem.'.tsv'
names = 'data/'.stem.'_names.tsv'
rows = int(number('rows'))
array ROW_NAME[rows]
array ROW_TOTAL[rows]
array ROW_KIND[rows]
stats names skip 1 using (n = int($0) + 1, ROW_NAME[n] = strcol(2), ROW_TOTAL[n] = strcol(3), \
    ROW_KIND[n] = strcol(4) eq 'fitted' ? 'fitted' : '', 0) nooutput

# mean, variance, rstd, apply, rounding: what statistics do in strong colours, what nobody avoids in
# grey.
array STAGE_COLOUR[5] = [0xD55E00, 0x0072B2, 0x56B4E9, 0x009E73, 0xBBBBBB]

left = 300
right = 850
set lmargin at screen across(left)
set rmargin at screen across(right)
set tmargin at screen up(number('top'))
set bmargin at screen up(number('bottom'))
set xrange [0:1]
set yrange [rows + 0.5:0.5]
set border 1
set xtics 0.2
set format x '%.1f'
unset ytics
set xlabel 'share of the mean square of the five stages'
centre(i) = number('top') + (number('bottom') - number('top')) * (i - 0.5) / rows
do for [i = 1:rows] {
    set label 2000 + i short(ROW_NAME[i]) at screen across(left - 8), up(centre(i)) right tc rgb INK
    set label 3000 + i ROW_TOTAL[i] at screen across(right + 62), up(centre(i)) right tc rgb INK
    set label 4000 + i ROW_KIND[i] \
        at screen across(right + 76), up(centre(i)) left tc rgb SOFT
}
set label 1004 'total' at screen across(right + 62), up(number('top') - 10) right tc rgb SOFT
do for [stage = 1:series_count] {
    key_left = left + (stage - 1) * 105
    set object 100 + stage rectangle from screen across(key_left), up(number('top') - 16) \
        to screen across(key_left + 12), up(number('top') - 4) \
        fc rgb STAGE_COLOUR[stage] fs solid noborder
    set label 5000 + stage NAME[stage] at screen across(key_left + 18), up(number('top') - 10) \
        left tc rgb INK
}

plot for [stage = 1:series_count] bars skip 1 \
    using ($3):(int($2) == stage && $4 > $3 ? $1 : NaN):3:4:($1 - 0.36):($1 + 0.36) \
    with boxxyerror fs solid noborder lc rgb STAGE_COLOUR[stage]
