# A measure over the runs of one machine, in the order of the runs, with a line at the median of each
# segment and a vertical line at each change.
# data/STEM.tsv: series x value lo hi; data/STEM_segments.tsv: series x0 x1 median;
# data/STEM_changes.tsv: series x from to; data/STEM_ticks.tsv: x label
stem = ARG1
format = ARG2
drawing = ARG3
here = ARG0[1:strlen(ARG0) - strlen('history.gp')]
load here.'style.gp'
series_count = int(number('series'))
width = 1000
top = 96 + 20 * ((series_count + 1) / 2)
height = top + 420
load here.'canvas.gp'

segments = 'data/'.stem.'_segments.tsv'
changes = 'data/'.stem.'_changes.tsv'
ticks = 'data/'.stem.'_ticks.tsv'

# At most eight series.
array COLOUR[8] = [0x08519c, 0xc04a00, 0x00796b, 0x7b3294, 0x1a1a1a, 0x857000, 0x2b83ba, 0x707070]
array MARK[8] = [7, 5, 9, 11, 13, 6, 4, 8]
do for [i = 1:series_count] {
    column = 20 + (i - 1) % 2 * 480
    line = 84 + (i - 1) / 2 * 20
    set arrow 100 + i from screen across(column), up(line) to screen across(column + 26), up(line) nohead \
        lw 2 lc rgb COLOUR[i]
    name = wording(sprintf('name_%d', i))
    set label 3000 + i ''.(strlen(name) > 62 ? name[1:59].'...' : name) at screen across(column + 32), up(line) \
        left font small tc rgb COLOUR[i]
}
set lmargin at screen across(84)
set rmargin at screen across(width - 30)
set tmargin at screen up(top)
set bmargin at screen up(height - 82)
stats ticks skip 1 using (0) nooutput
tick_count = int(STATS_records)
array TICK[tick_count]
array TICK_NAME[tick_count]
stats ticks skip 1 using (n = int($0) + 1, TICK[n] = $1, TICK_NAME[n] = shown(strcol(2)), 0) nooutput
set xtics ()
do for [i = 1:tick_count] { set xtics add (TICK_NAME[i] TICK[i]) }
set xtics font small
set xlabel 'commit of the run'
set ylabel wording('measure')
set xrange [0.5:number('runs') + 0.5]
set yrange [number('ymin'):number('ymax')]

if (number('changes') > 0) {
    plot for [i = 1:series_count] segments skip 1 \
            using ($2 - 0.4):(int($1) == i ? $4 : NaN):($3 - $2 + 0.8):(0) with vectors nohead \
            lw 2.2 lc rgb COLOUR[i] notitle, \
        for [i = 1:series_count] changes skip 1 \
            using ($2 - 0.5):(int($1) == i ? $3 : NaN):(0):($4 - $3) with vectors nohead \
            lw 1.2 dt 3 lc rgb COLOUR[i] notitle, \
        for [i = 1:series_count] table skip 1 \
            using 2:(int($1) == i ? $3 : NaN):4:5 with yerrorbars \
            pt MARK[i] ps 0.6 lw 0.8 lc rgb COLOUR[i] notitle
} else {
    plot for [i = 1:series_count] segments skip 1 \
            using ($2 - 0.4):(int($1) == i ? $4 : NaN):($3 - $2 + 0.8):(0) with vectors nohead \
            lw 2.2 lc rgb COLOUR[i] notitle, \
        for [i = 1:series_count] table skip 1 \
            using 2:(int($1) == i ? $3 : NaN):4:5 with yerrorbars \
            pt MARK[i] ps 0.6 lw 0.8 lc rgb COLOUR[i] notitle
}
