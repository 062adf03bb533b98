# What threads gain: throughput over threads on the left, share of those threads' own roof on the
# right, a line of plots a regime; the names stand between them.
# data/STEM.tsv: panel series kernel threads gbps gbps_lo gbps_hi roof_ratio roof_lo roof_hi tip
# data/STEM_panels.tsv: panel title top bottom ymax share_max
# data/STEM_labels.tsv: panel series label gbps label_y; data/STEM_ticks.tsv: threads label
stem = ARG1
format = ARG2
here = ARG0[1:strlen(ARG0) - strlen('threads.gp')]
load here.'style.gp'

points = 'data/'.stem.'.tsv'
panel_count = int(number('panels'))
array TITLE[panel_count]
array TOP[panel_count]
array BOTTOM[panel_count]
array YMAX[panel_count]
array SHARE_MAX[panel_count]
stats 'data/'.stem.'_panels.tsv' skip 1 using (n = int($0) + 1, TITLE[n] = strcol(2), \
    TOP[n] = $3, BOTTOM[n] = $4, YMAX[n] = $5, SHARE_MAX[n] = $6, 0) nooutput

stats 'data/'.stem.'_labels.tsv' skip 1 using (0) nooutput
label_count = int(STATS_records)
array LABEL_PANEL[label_count]
array OF[label_count]
array LABEL[label_count]
array END_Y[label_count]
array LABEL_Y[label_count]
stats 'data/'.stem.'_labels.tsv' skip 1 using (n = int($0) + 1, LABEL_PANEL[n] = int($1), \
    OF[n] = int($2), DRAWN[OF[n]] = 1, LABEL[n] = short(strcol(3)), END_Y[n] = $4, \
    LABEL_Y[n] = $5, 0) nooutput

stats 'data/'.stem.'_ticks.tsv' skip 1 using (0) nooutput
tick_count = int(STATS_records)
array TICK[tick_count]
stats 'data/'.stem.'_ticks.tsv' skip 1 using (n = int($0) + 1, TICK[n] = $1, 0) nooutput
set xtics ()
do for [i = 1:tick_count] { set xtics add (sprintf('%d', TICK[i]) TICK[i]) }

array LEGEND_TEXT[7]
array LEGEND_LINE[7]
array LEGEND_DASH[7]
array LEGEND_MARK[7]
array LEGEND_COLOUR[7]
array LEGEND_INK[7]
do for [i = 1:7] {
    LEGEND_TEXT[i] = i < 6 ? (has_isa(ISAS[i]) ? ISAS[i] : '') : \
        i == 6 ? (has_series('copy') ? 'roof: copy' : '') : \
        has_series('copy_nt') ? 'roof: non-temporal copy' : ''
    LEGEND_LINE[i] = i > 5 ? 2.5 : 1.6
    LEGEND_DASH[i] = i < 6 ? dash_of(ISAS[i]) : i == 6 ? dash_of('copy') : dash_of('copy_nt')
    LEGEND_MARK[i] = 0
    LEGEND_COLOUR[i] = i > 5 ? INK : SOFT
    LEGEND_INK[i] = SOFT
}
legend_left = 24
legend_right = width - 24
legend_top = 76
legend_number = 2001
load here.'legend.gp'

is_roof(i) = STATISTICS[i] eq 'roof'
set logscale x 2
set xrange [number('xmin'):number('xmax')]
set multiplot
do for [p = 1:panel_count] {
    set tmargin at screen up(TOP[p])
    set bmargin at screen up(BOTTOM[p])
    set lmargin at screen across(72)
    set rmargin at screen across(390)
    set yrange [0:YMAX[p]]
    set ytics autofreq
    set xlabel 'threads' offset 0, 0.3
    set ylabel 'GB/s (x read and y written)'
    set label 1 TITLE[p] at screen across(72), up(TOP[p] - 10) left font ',13' tc rgb INK
    do for [n = 1:label_count] {
        if (LABEL_PANEL[n] == p) {
            set label 5000 + n LABEL[n] at screen across(414), up(LABEL_Y[n]) left \
                tc rgb TEXT_COLOUR[OF[n]]
            set arrow 5000 + n from TICK[tick_count], END_Y[n] to screen across(410), \
                up(LABEL_Y[n]) nohead lw 0.7 lc rgb COLOUR[OF[n]]
        }
    }
    plot for [i = 1:series_count] points skip 1 \
            using 4:(int($1) == p && int($2) == i ? $5 : NaN) with lines \
            lw (is_roof(i) ? 2.5 : 1.6) dt DASH[i] lc rgb COLOUR[i] notitle, \
        for [i = 1:series_count] points skip 1 \
            using 4:(int($1) == p && int($2) == i && !is_roof(i) ? $5 : NaN):6:7 with yerrorbars \
            pt MARK[i] ps 0.8 lw 1 lc rgb COLOUR[i] notitle, \
        for [n = 1:tips] points skip 1 using 4:(int($1) == p ? $5 : NaN):11 \
            with labels hypertext point pt 7 ps 0.9 lc rgb '#ff000000' notitle
    unset label
    unset arrow
    set lmargin at screen across(690)
    set rmargin at screen across(980)
    set yrange [0:SHARE_MAX[p]]
    set ytics 0.2
    set format y '%.1f'
    set ylabel 'share of their roof'
    set arrow 1 from number('xmin'), 1 to number('xmax'), 1 nohead lw 1.5 lc rgb INK
    plot for [i = 1:series_count] points skip 1 \
            using 4:(int($1) == p && int($2) == i ? $8 : NaN) with lines \
            lw 1.6 dt DASH[i] lc rgb COLOUR[i] notitle, \
        for [i = 1:series_count] points skip 1 \
            using 4:(int($1) == p && int($2) == i ? $8 : NaN):9:10 with yerrorbars \
            pt MARK[i] ps 0.8 lw 1 lc rgb COLOUR[i] notitle, \
        for [n = 1:tips] points skip 1 using 4:(int($1) == p ? $8 : NaN):11 \
            with labels hypertext point pt 7 ps 0.9 lc rgb '#ff000000' notitle
    unset arrow
    unset format
}
unset multiplot
