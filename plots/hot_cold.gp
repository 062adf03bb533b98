# Hot caches (full marks) against cold ones (open marks), a line a kernel, a block a regime.
# data/STEM.tsv: panel series kernel place hot hot_lo hot_hi cold cold_lo cold_hi tip
# data/STEM_panels.tsv: panel title top bottom lines xmax
stem = ARG1
format = ARG2
here = ARG0[1:strlen(ARG0) - strlen('hot_cold.gp')]
load here.'style.gp'

points = 'data/'.stem.'.tsv'
panel_count = int(number('panels'))
array TITLE[panel_count]
array TOP[panel_count]
array BOTTOM[panel_count]
array LINES[panel_count]
array XMAX[panel_count]
stats 'data/'.stem.'_panels.tsv' skip 1 using (n = int($0) + 1, TITLE[n] = strcol(2), \
    TOP[n] = $3, BOTTOM[n] = $4, LINES[n] = $5, XMAX[n] = $6, 0) nooutput

stats points skip 1 using (0) nooutput
line_count = int(STATS_records)
array PANEL[line_count]
array OF[line_count]
array LINE_NAME[line_count]
array PLACE[line_count]
array HOT[line_count]
array COLD[line_count]
stats points skip 1 using (n = int($0) + 1, PANEL[n] = int($1), OF[n] = int($2), \
    LINE_NAME[n] = strcol(3), PLACE[n] = $4, HOT[n] = $5, COLD[n] = $8, 0) nooutput

array LEGEND_TEXT[2] = ['hot: the same buffers again', 'cold: buffers larger than the last-level cache, in turn']
array LEGEND_LINE[2] = [0, 0]
array LEGEND_DASH[2] = [1, 1]
array LEGEND_MARK[2] = [7, 6]
array LEGEND_COLOUR[2] = [SOFT, SOFT]
array LEGEND_INK[2] = [SOFT, SOFT]
legend_left = 24
legend_right = width - 24
legend_top = 76
legend_number = 9001
load here.'legend.gp'

left = number('left')
right = 790
set border 1
unset ytics
set lmargin at screen across(left)
set rmargin at screen across(right)
set multiplot
do for [p = 1:panel_count] {
    set tmargin at screen up(TOP[p])
    set bmargin at screen up(BOTTOM[p])
    set xrange [0:XMAX[p]]
    set yrange [LINES[p]:0]
    unset xlabel
    if (p == panel_count) { set xlabel 'GB/s (x read and y written)' offset 0, 0.3 }
    row(place) = TOP[p] + (BOTTOM[p] - TOP[p]) * place / LINES[p]
    set label 1 TITLE[p] at screen across(left), up(TOP[p] - 10) left font ',13' tc rgb INK
    set label 2 'hot' at screen across(right + 60), up(TOP[p] - 10) right font ',10' tc rgb SOFT
    set label 3 'cold' at screen across(right + 112), up(TOP[p] - 10) right font ',10' tc rgb SOFT
    set label 4 'hot/cold' at screen across(right + 176), up(TOP[p] - 10) right font ',10' tc rgb SOFT
    do for [n = 1:line_count] {
        if (PANEL[n] == p) {
            y = up(row(PLACE[n]))
            set label 1000 + 4 * n + 10 LINE_NAME[n] at screen across(left - 8), y right \
                tc rgb TEXT_COLOUR[OF[n]]
            set label 1000 + 4 * n + 11 sprintf('%.3g', HOT[n]) at screen across(right + 60), y \
                right tc rgb INK
            set label 1000 + 4 * n + 12 sprintf('%.3g', COLD[n]) at screen across(right + 112), y \
                right tc rgb INK
            set label 1000 + 4 * n + 13 sprintf('%.2f', HOT[n] / COLD[n]) \
                at screen across(right + 176), y right tc rgb INK
        }
    }
    plot for [n = 1:line_count] points every ::n::n \
            using (PANEL[n] == p ? $8 : NaN):4:($5 - $8):(0) with vectors nohead lw 1.2 \
            lc rgb COLOUR[OF[n]] notitle, \
        for [n = 1:line_count] points every ::n::n \
            using (PANEL[n] == p ? $8 : NaN):4:9:10 with xerrorbars pt OPEN_MARK[OF[n]] ps 0.9 \
            lw 1 lc rgb COLOUR[OF[n]] notitle, \
        for [n = 1:line_count] points every ::n::n \
            using (PANEL[n] == p ? $5 : NaN):4:6:7 with xerrorbars pt MARK[OF[n]] ps 0.9 \
            lw 1 lc rgb COLOUR[OF[n]] notitle, \
        for [n = 1:tips] points skip 1 using (int($1) == p ? $5 : NaN):4:11 \
            with labels hypertext point pt 7 ps 1.2 lc rgb '#ff000000' notitle
    unset label
}
unset multiplot
