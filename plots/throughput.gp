# Throughput over hidden size or over bytes, with the roofs and the sizes of the caches; the lines are
# named at their ends; those that have no label are thin and grey.
# data/STEM.tsv: series kernel rows x gbps gbps_lo gbps_hi tip
# data/STEM_labels.tsv: series label x gbps label_y; data/STEM_ticks.tsv, STEM_marks.tsv: x label
stem = ARG1
format = ARG2
here = ARG0[1:strlen(ARG0) - strlen('throughput.gp')]
load here.'style.gp'

points = 'data/'.stem.'.tsv'

stats 'data/'.stem.'_ticks.tsv' skip 1 using (0) nooutput
tick_count = int(STATS_records)
array TICK[tick_count]
array TICK_LABEL[tick_count]
stats 'data/'.stem.'_ticks.tsv' skip 1 \
    using (n = int($0) + 1, TICK[n] = $1, TICK_LABEL[n] = shown(strcol(2)), 0) nooutput
label_count = int(number('labels'))
array OF[label_count]
array LABEL[label_count]
array END_X[label_count]
array END_Y[label_count]
array LABEL_Y[label_count]
stats 'data/'.stem.'_labels.tsv' skip 1 using (n = int($0) + 1, OF[n] = int($1), \
    DRAWN[OF[n]] = 1, LABEL[n] = strcol(2), END_X[n] = $3, END_Y[n] = $4, LABEL_Y[n] = $5, 0) nooutput
# Cache sizes: uprights named above the frame.
stats 'data/'.stem.'_marks.tsv' skip 1 using (n = int($0) + 1, 0) nooutput
mark_count = n
array CACHE[mark_count]
array CACHE_LABEL[mark_count]
stats 'data/'.stem.'_marks.tsv' skip 1 using (n = int($0) + 1, CACHE[n] = $1, \
    CACHE_LABEL[n] = shown(strcol(2)), 0) nooutput
set lmargin at screen across(number('left'))
set rmargin at screen across(number('right'))
set tmargin at screen up(number('top'))
set bmargin at screen up(number('bottom'))
set logscale x 2
set xrange [number('xmin'):number('xmax')]
set yrange [0:number('ymax')]
set xlabel wording('xlabel')
set ylabel 'GB/s (x read and y written)'

set xtics ()
do for [i = 1:tick_count] { set xtics add (TICK_LABEL[i] TICK[i]) }

do for [i = 1:mark_count] {
    if (strlen(CACHE_LABEL[i]) > 0) {
        set arrow 1000 + i from CACHE[i], graph 0 to CACHE[i], graph 1 nohead lw 1.4 dt 3 lc rgb SOFT
        set label 1100 + i CACHE_LABEL[i] at CACHE[i], graph 1 center offset 0, 0.6 font ',10' \
            tc rgb SOFT
    }
}

label_x = number('right') + 34
do for [i = 1:label_count] {
    set label i LABEL[i] at screen across(label_x), up(LABEL_Y[i]) left tc rgb TEXT_COLOUR[OF[i]]
    set arrow i from END_X[i], END_Y[i] to screen across(label_x - 4), up(LABEL_Y[i]) \
        nohead lw 0.7 lc rgb COLOUR[OF[i]]
}

array LEGEND_TEXT[7]
array LEGEND_LINE[7]
array LEGEND_DASH[7]
array LEGEND_MARK[7]
array LEGEND_COLOUR[7]
array LEGEND_INK[7]
do for [i = 1:5] {
    LEGEND_TEXT[i] = has_isa(ISAS[i]) ? ISAS[i] : ''
    LEGEND_LINE[i] = 1.6
    LEGEND_DASH[i] = dash_of(ISAS[i])
    LEGEND_MARK[i] = 0
}
LEGEND_TEXT[6] = has_series('copy') ? 'roof: copy' : ''
LEGEND_TEXT[7] = has_series('copy_nt') ? 'roof: non-temporal copy' : ''
LEGEND_DASH[6] = dash_of('copy')
LEGEND_DASH[7] = dash_of('copy_nt')
do for [i = 1:7] {
    if (i > 5) {
        LEGEND_LINE[i] = 2.5
        LEGEND_MARK[i] = 0
    }
    LEGEND_COLOUR[i] = i > 5 ? INK : SOFT
    LEGEND_INK[i] = SOFT
}
legend_left = 24
legend_right = width - 24
legend_top = 76
legend_number = 2001
load here.'legend.gp'

is_roof(i) = STATISTICS[i] eq 'roof'
is_named(i) = DRAWN[i] == 1
plot for [i = 1:series_count] points skip 1 \
        using 4:(int($1) == i && !is_named(i) ? $5 : NaN) with lines lw 0.9 lc rgb 0xBBBBBB notitle, \
    for [i = 1:series_count] points skip 1 \
        using 4:(int($1) == i && is_named(i) ? $5 : NaN) with lines \
        lw (is_roof(i) ? 2.5 : 1.6) dt DASH[i] lc rgb COLOUR[i] notitle, \
    for [i = 1:series_count] points skip 1 \
        using 4:(int($1) == i && is_named(i) && !is_roof(i) ? $5 : NaN):6:7 with yerrorbars \
        pt MARK[i] ps 0.7 lw 1 lc rgb COLOUR[i] notitle, \
    for [n = 1:tips] points skip 1 using 4:5:8 with labels hypertext point pt 7 ps 0.9 \
        lc rgb '#ff000000' notitle
