# Row ULP over kappa, log-log, one panel a statistic: measured rows (full marks), the kernels' own
# proven bounds of the same rows (open marks, dashed) and the theoretical growth (grey).
# data/STEM.tsv: panel series kernel input kappa row_ulp bound_row_ulp wrong_class tip
# data/STEM_panels.tsv: panel title left right top bottom; data/STEM_ticks.tsv: axis value
stem = ARG1
format = ARG2
here = ARG0[1:strlen(ARG0) - strlen('error_kappa.gp')]
load here.'style.gp'

points = 'data/'.stem.'.tsv'
panel_count = int(number('panels'))
array TITLE[panel_count]
array LEFT[panel_count]
array RIGHT[panel_count]
array TOP[panel_count]
array BOTTOM[panel_count]
stats 'data/'.stem.'_panels.tsv' skip 1 using (n = int($0) + 1, TITLE[n] = strcol(2), \
    LEFT[n] = $3, RIGHT[n] = $4, TOP[n] = $5, BOTTOM[n] = $6, 0) nooutput

# Which series stand in which panel.
array PANEL[series_count]
do for [i = 1:series_count] { PANEL[i] = 0 }
stats points skip 1 using (PANEL[int($2)] = int($1), 0) nooutput

stats 'data/'.stem.'_ticks.tsv' skip 1 using (0) nooutput
tick_count = int(STATS_records)
array AXIS[tick_count]
array TICK[tick_count]
stats 'data/'.stem.'_ticks.tsv' skip 1 using (n = int($0) + 1, AXIS[n] = strcol(1), \
    TICK[n] = $2, 0) nooutput

low = number('ymin')
high = number('ymax')
hidden = number('hidden')
set logscale xy
set xrange [number('xmin'):number('xmax')]
set yrange [low:high]
set xtics ()
set ytics ()
do for [i = 1:tick_count] {
    if (AXIS[i] eq 'x') { set xtics add (tick_label(TICK[i]) TICK[i]) }
    if (AXIS[i] eq 'y') { set ytics add (tick_label(TICK[i]) TICK[i]) }
}
set samples 200

# What the marks and lines mean, once at the head of the chart.
array LEGEND_TEXT[5] = ['measured', 'proved bound of that row', 'wrong class (at the top edge)', \
    'u·κ', 'N·u·κ²']
array LEGEND_LINE[5] = [1.2, 1, 0, 1.2, 1.2]
array LEGEND_DASH[5] = [1, 2, 1, 1, 4]
array LEGEND_MARK[5] = [7, 6, WRONG_MARK, 0, 0]
array LEGEND_COLOUR[5] = [SOFT, SOFT, ALARM, 0xAAAAAA, 0xAAAAAA]
array LEGEND_INK[5] = [SOFT, SOFT, SOFT, SOFT, SOFT]
legend_left = 24
legend_right = width - 24
legend_top = 76
legend_number = 3001
load here.'legend.gp'

array LEGEND_TEXT[series_count]
array LEGEND_LINE[series_count]
array LEGEND_DASH[series_count]
array LEGEND_MARK[series_count]
array LEGEND_COLOUR[series_count]
array LEGEND_INK[series_count]

set multiplot
do for [p = 1:panel_count] {
    set lmargin at screen across(LEFT[p])
    set rmargin at screen across(RIGHT[p])
    set tmargin at screen up(TOP[p])
    set bmargin at screen up(BOTTOM[p])
    set label 1 TITLE[p] noenhanced at screen across(LEFT[p]), up(TOP[p] - 47 - 15 * (number('legend_lines') - 1)) left font ',13' tc rgb INK
    set label 2 'u·κ' at number('theory_x'), number('theory_y') center offset 0, 0.6 \
        tc rgb SOFT front
    if (number('square_shown') == 1) {
        set label 3 'N·u·κ²' at number('square_x'), number('square_y') center offset 0, 0.6 \
            tc rgb SOFT front
    }
    set xlabel 'κ, condition number of the row' offset 0, 0.3
    if (LEFT[p] < 100) { set ylabel 'error (row ULP)' } else { set ylabel ' ' }
    do for [i = 1:series_count] {
        LEGEND_TEXT[i] = PANEL[i] == p ? short(NAME[i]) : ''
        LEGEND_LINE[i] = 1.2
        LEGEND_DASH[i] = dash_of(ISA[i])
        LEGEND_MARK[i] = mark_of(ISA[i])
        LEGEND_COLOUR[i] = COLOUR[i]
        LEGEND_INK[i] = TEXT_COLOUR[i]
    }
    legend_left = LEFT[p]
    legend_right = RIGHT[p] + 36
    legend_top = TOP[p] - 26 - 15 * (number('legend_lines') - 1)
    legend_number = 5001
    load here.'legend.gp'
    plot for [i = 1:series_count] points skip 1 \
            using 5:(int($2) == i && PANEL[i] == p && $7 > 0 ? $7 : NaN) with linespoints \
            dt 2 lw 1 pt open_mark_of(ISA[i]) ps 0.7 lc rgb COLOUR[i] notitle, \
        x with lines lw 1.2 dt 1 lc rgb 0xAAAAAA notitle, \
        hidden * x ** 2 with lines lw 1.2 dt 4 lc rgb 0xAAAAAA notitle, \
        for [i = 1:series_count] points skip 1 \
            using 5:(int($2) == i && PANEL[i] == p && $8 == 0 ? ($6 > low ? $6 : low) : NaN) \
            with linespoints lw 1.2 dt dash_of(ISA[i]) pt mark_of(ISA[i]) ps 0.7 \
            lc rgb COLOUR[i] notitle, \
        for [i = 1:series_count] points skip 1 \
            using 5:(int($2) == i && PANEL[i] == p && $8 == 1 ? high : NaN) \
            with points pt WRONG_MARK ps 1.1 lw 2 lc rgb ALARM notitle, \
        for [n = 1:tips] points skip 1 \
            using 5:(int($1) == p ? ($8 == 1 ? high : $6 > low ? $6 : low) : NaN):9 \
            with labels hypertext point pt 7 ps 0.9 lc rgb '#ff000000' notitle
    unset label
    unset arrow
}
unset multiplot
