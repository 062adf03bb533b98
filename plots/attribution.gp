# Where a kernel's error comes from: one bar a kernel, in it the share of each stage.
# data/STEM.tsv: place stage from to; data/STEM_more.tsv: place kernel total statistics
stem = ARG1
format = ARG2
here = ARG0[1:strlen(ARG0) - strlen('attribution.gp')]
load here.'style.gp'
rows = int(number('rows'))
row_height = 26
top = 112
bottom = top + row_height * rows
height = bottom + 86
load here.'canvas.gp'

array ROW_NAME[rows]
array ROW_TOTAL[rows]
array ROW_KIND[rows]
stats more skip 1 using (n = int($0) + 1, ROW_NAME[n] = strcol(2), ROW_TOTAL[n] = strcol(3), \
    ROW_KIND[n] = strcol(4) eq 'fitted' ? 'fitted' : '', 0) nooutput

# mean, variance, rstd, apply, rounding: what statistics do in strong colours, what nobody avoids in
# grey.
array STAGE_COLOUR[5] = [0xc04a00, 0x08519c, 0x93c6e6, 0x00796b, 0xbbbbbb]

left = 350
right = 740
set lmargin at screen across(left)
set rmargin at screen across(right)
set tmargin at screen up(top)
set bmargin at screen up(bottom)
set border 1
set grid xtics noytics
set xtics 0.2
set format x '%.1f'
unset ytics
set xlabel 'share of the mean square of the five stages'
do for [i = 1:rows] {
    centre = top + row_height * (i - 0.5)
    # Longer names are cut; the table has them in full.
    cut = strlen(ROW_NAME[i]) > 46 ? ROW_NAME[i][1:43].'...' : ROW_NAME[i]
    set label 2000 + i ''.cut at screen across(left - 8), up(centre) right font small tc rgb INK
    set label 3000 + i ''.ROW_TOTAL[i] at screen across(right + 62), up(centre) right tc rgb INK
    set label 4000 + i ''.ROW_KIND[i] at screen across(right + 76), up(centre) left font small tc rgb SOFT
}
set label 1004 'total' at screen across(right + 62), up(top - 12) right font small tc rgb SOFT
do for [stage = 1:5] {
    key_left = 20 + (stage - 1) * 110
    set object 100 + stage rectangle from screen across(key_left), up(90) \
        to screen across(key_left + 13), up(77) fc rgb STAGE_COLOUR[stage] fs solid noborder
    set label 5000 + stage wording(sprintf('stage_%d', stage)) at screen across(key_left + 19), up(84) \
        left font small tc rgb INK
}
set xrange [0:1]
set yrange [rows + 0.5:0.5]
plot for [stage = 1:5] table skip 1 \
    using ($3):(int($2) == stage && $4 > $3 ? $1 : NaN):3:4:($1 - 0.36):($1 + 0.36) \
    with boxxyerror fs solid noborder lc rgb STAGE_COLOUR[stage]
