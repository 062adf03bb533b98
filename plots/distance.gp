# How far conventions lie from one, in ULP: over hidden at one std, and over std at one hidden.
# data/STEM.tsv: panel series x ulp; data/STEM_series.tsv as series.tsv; data/STEM_ticks.tsv: axis
# value
stem = ARG1
format = ARG2
here = ARG0[1:strlen(ARG0) - strlen('distance.gp')]
series_table = 'data/'.stem.'_series.tsv'
load here.'style.gp'

points = 'data/'.stem.'.tsv'

# Colour and dash together, so that lines that lie on each other can both be seen; after eight the
# colours come again.
array PALETTE[8] = [0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7, 0x000000, 0xE69F00, 0x56B4E9, 0x8A7A00]
array DASHES[5] = [1, 2, 4, 5, 3]
line_colour(i) = PALETTE[(i - 1) % 8 + 1]
line_dash(i) = DASHES[(i - 1) % 5 + 1]
line_width(i) = 1.6 + 0.01 * i

stats 'data/'.stem.'_ticks.tsv' skip 1 using (0) nooutput
tick_count = int(STATS_records)
array AXIS[tick_count]
array TICK[tick_count]
stats 'data/'.stem.'_ticks.tsv' skip 1 using (n = int($0) + 1, AXIS[n] = strcol(1), \
    TICK[n] = $2, 0) nooutput

array LEGEND_TEXT[series_count]
array LEGEND_LINE[series_count]
array LEGEND_DASH[series_count]
array LEGEND_MARK[series_count]
array LEGEND_COLOUR[series_count]
array LEGEND_INK[series_count]
do for [i = 1:series_count] {
    LEGEND_TEXT[i] = short(NAME[i])
    LEGEND_LINE[i] = line_width(i)
    LEGEND_DASH[i] = line_dash(i)
    LEGEND_MARK[i] = 0
    LEGEND_COLOUR[i] = line_colour(i)
    LEGEND_INK[i] = darker(line_colour(i))
}
legend_left = 24
legend_right = width - 24
legend_top = 76
legend_number = 3001
load here.'legend.gp'

set logscale xy
set yrange [number('ymin'):number('ymax')]
set ytics ()
do for [i = 1:tick_count] {
    if (AXIS[i] eq 'y') { set ytics add (tick_label(TICK[i]) TICK[i]) }
}
set tmargin at screen up(legend_y + 34)
set bmargin at screen up(height - 76)

set multiplot
set lmargin at screen across(72)
set rmargin at screen across(470)
set xrange [number('hidden_min'):number('hidden_max')]
set xtics (2, 8, 32, 128, 512, 2048, 8192, 32768, 131072)
set xlabel sprintf('hidden, at std %g', number('std')) offset 0, 0.3
set ylabel 'distance (ULP of f32)'
set arrow 1 from number('hidden_min'), 1 to number('hidden_max'), 1 nohead lw 1.2 lc rgb INK
set label 1 'below 1 ULP f32 does not show it' at graph 0.02, first 1 left offset 0, -0.6 tc rgb SOFT
set arrow 2 from number('hidden'), graph 0 to number('hidden'), graph 1 nohead lw 1 dt 3 lc rgb SOFT
plot for [i = 1:series_count] points skip 1 \
    using 3:(int($1) == 1 && int($2) == i ? $4 : NaN) with lines \
    lw line_width(i) dt line_dash(i) lc rgb line_colour(i) notitle

unset label
unset arrow
set lmargin at screen across(550)
set rmargin at screen across(948)
set xrange [number('std_min'):number('std_max')]
set xtics ()
do for [i = 1:tick_count] {
    if (AXIS[i] eq 'std') { set xtics add (tick_label(TICK[i]) TICK[i]) }
}
set xlabel sprintf('std, at hidden %d', number('hidden')) offset 0, 0.3
set ylabel ' '
set arrow 1 from number('std_min'), 1 to number('std_max'), 1 nohead lw 1.2 lc rgb INK
set arrow 2 from number('std'), graph 0 to number('std'), graph 1 nohead lw 1 dt 3 lc rgb SOFT
plot for [i = 1:series_count] points skip 1 \
    using 3:(int($1) == 2 && int($2) == i ? $4 : NaN) with lines \
    lw line_width(i) dt line_dash(i) lc rgb line_colour(i) notitle
unset multiplot
