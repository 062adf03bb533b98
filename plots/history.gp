# A measure over the runs of one machine, in the order in which they were made; a line at the median
# of each segment, an upright where it changed.
# data/STEM.tsv: series x value lo hi; data/STEM_segments.tsv: series x0 x1 median;
# data/STEM_changes.tsv: series x from to; data/STEM_series.tsv as series.tsv;
# data/STEM_ticks.tsv: x label
stem = ARG1
format = ARG2
here = ARG0[1:strlen(ARG0) - strlen('history.gp')]
series_table = 'data/'.stem.'_series.tsv'
load here.'style.gp'

points = 'data/'.stem.'.tsv'
segments = 'data/'.stem.'_segments.tsv'
changes = 'data/'.stem.'_changes.tsv'

stats 'data/'.stem.'_ticks.tsv' skip 1 using (0) nooutput
tick_count = int(STATS_records)
array TICK[tick_count]
array TICK_LABEL[tick_count]
stats 'data/'.stem.'_ticks.tsv' skip 1 \
    using (n = int($0) + 1, TICK[n] = $1, TICK_LABEL[n] = shown(strcol(2)), 0) nooutput

array LEGEND_TEXT[series_count]
array LEGEND_LINE[series_count]
array LEGEND_DASH[series_count]
array LEGEND_MARK[series_count]
array LEGEND_COLOUR[series_count]
array LEGEND_INK[series_count]
do for [i = 1:series_count] {
    LEGEND_TEXT[i] = short(NAME[i])
    LEGEND_LINE[i] = 2
    LEGEND_DASH[i] = DASH[i]
    LEGEND_MARK[i] = MARK[i]
    LEGEND_COLOUR[i] = COLOUR[i]
    LEGEND_INK[i] = TEXT_COLOUR[i]
}
legend_left = 24
legend_right = width - 24
legend_top = 76
legend_number = 3001
load here.'legend.gp'

set lmargin at screen across(84)
set rmargin at screen across(width - 30)
set tmargin at screen up(legend_y + 34)
set bmargin at screen up(height - 76)
set xrange [0.5:number('runs') + 0.5]
set yrange [number('ymin'):number('ymax')]
set xtics ()
do for [i = 1:tick_count] { set xtics add (TICK_LABEL[i] TICK[i]) }
set xlabel 'commit of the run'
set ylabel wording('measure')

if (number('changes') > 0) {
    plot for [i = 1:series_count] segments skip 1 \
            using ($2 - 0.4):(int($1) == i ? $4 : NaN):($3 - $2 + 0.8):(0) with vectors nohead \
            lw 2.2 dt DASH[i] lc rgb COLOUR[i] notitle, \
        for [i = 1:series_count] changes skip 1 \
            using ($2 - 0.5):(int($1) == i ? $3 : NaN):(0):($4 - $3) with vectors nohead \
            lw 1.2 dt 3 lc rgb COLOUR[i] notitle, \
        for [i = 1:series_count] points skip 1 \
            using 2:(int($1) == i ? $3 : NaN):4:5 with yerrorbars \
            pt MARK[i] ps 0.6 lw 0.8 lc rgb COLOUR[i] notitle
} else {
    plot for [i = 1:series_count] segments skip 1 \
            using ($2 - 0.4):(int($1) == i ? $4 : NaN):($3 - $2 + 0.8):(0) with vectors nohead \
            lw 2.2 dt DASH[i] lc rgb COLOUR[i] notitle, \
        for [i = 1:series_count] points skip 1 \
            using 2:(int($1) == i ? $3 : NaN):4:5 with yerrorbars \
            pt MARK[i] ps 0.6 lw 0.8 lc rgb COLOUR[i] notitle
}
