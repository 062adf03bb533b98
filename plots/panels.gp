# Errors, log-log, one panel a kind of statistics: what was found (full marks), what is proved of the
# same rows (open marks, thin), and what theory says (grey).
# data/STEM.tsv: panel series kernel input x value bound wrong tip
# data/STEM_panels.tsv: panel title left right top bottom; data/STEM_names.tsv: series name left top
# data/STEM_lines.tsv: panel kind line x y; data/STEM_ticks.tsv: value; data/STEM_xticks.tsv: value
# label ("=": the value itself). Settings: xlabel, ylabel, found, proved, line1 to line3, wrong.
stem = ARG1
format = ARG2
here = ARG0[1:strlen(ARG0) - strlen('panels.gp')]
load here.'style.gp'

points = 'data/'.stem.'.tsv'
lines = 'data/'.stem.'_lines.tsv'
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

stats 'data/'.stem.'_names.tsv' skip 1 using (0) nooutput
name_count = int(STATS_records)
array OF[name_count]
array SHOWN_NAME[name_count]
array NAME_LEFT[name_count]
array NAME_TOP[name_count]
stats 'data/'.stem.'_names.tsv' skip 1 using (n = int($0) + 1, OF[n] = int($1), \
    SHOWN_NAME[n] = strcol(2), NAME_LEFT[n] = $3, NAME_TOP[n] = $4, 0) nooutput

dash_of_series(i) = number('solid') == 1 ? 1 : DASH[i]
low = number('ymin')
high = number('ymax')
set ytics ()
set xtics ()
stats 'data/'.stem.'_ticks.tsv' skip 1 using (0) nooutput
tick_count = int(STATS_records)
array TICK[tick_count]
stats 'data/'.stem.'_ticks.tsv' skip 1 using (n = int($0) + 1, TICK[n] = $2, 0) nooutput
ytick_count = tick_count
stats 'data/'.stem.'_xticks.tsv' skip 1 using (0) nooutput
tick_count = int(STATS_records)
array XTICK[tick_count]
array XTICK_LABEL[tick_count]
stats 'data/'.stem.'_xticks.tsv' skip 1 using (n = int($0) + 1, XTICK[n] = $1, \
    XTICK_LABEL[n] = strcol(2) eq '=' ? tick_label($1) : shown(strcol(2)), 0) nooutput
do for [i = 1:tick_count] { set xtics add (XTICK_LABEL[i] XTICK[i]) }

# What the marks and lines mean, once at the head of the chart; then the ISAs' dashes, where there
# are several.
array LINE_DASH[3] = [1, 4, 3]
array LINE_COLOUR[3] = [0x888888, 0xAAAAAA, 0xAAAAAA]
array ALL_ISAS[4] = ['scalar', 'avx2', 'avx512', 'neon']
array LEGEND_TEXT[10]
array LEGEND_LINE[10]
array LEGEND_DASH[10]
array LEGEND_MARK[10]
array LEGEND_COLOUR[10]
array LEGEND_INK[10]
do for [i = 1:10] {
    LEGEND_TEXT[i] = i == 1 ? wording('found') : i == 2 ? shown(wording('proved')) : \
        i < 6 ? shown(wording(sprintf('line%d', i - 2))) : i == 6 ? shown(wording('wrong')) : \
        number(ALL_ISAS[i - 6]) == 1 ? ALL_ISAS[i - 6] : ''
    LEGEND_LINE[i] = i == 6 ? 0 : i == 2 ? 0.7 : 1.5
    LEGEND_DASH[i] = i > 6 ? (i == 7 ? 3 : i == 8 ? 2 : 1) : i > 2 && i < 6 ? LINE_DASH[i - 2] : 1
    LEGEND_MARK[i] = i == 1 ? 7 : i == 2 ? 6 : i == 6 ? WRONG_MARK : 0
    LEGEND_COLOUR[i] = i == 6 ? ALARM : i > 2 && i < 6 ? LINE_COLOUR[i - 2] : SOFT
    LEGEND_INK[i] = SOFT
}
legend_left = 24
legend_right = width - 24
legend_top = 76
legend_number = 3001
load here.'legend.gp'

set logscale xy
set xrange [number('xmin'):number('xmax')]
set yrange [low:high]
set multiplot
do for [p = 1:panel_count] {
    set lmargin at screen across(LEFT[p])
    set rmargin at screen across(RIGHT[p])
    set tmargin at screen up(TOP[p])
    set bmargin at screen up(BOTTOM[p])
    first_name = name_count + 1
    last_name = 0
    do for [n = 1:name_count] {
        if (PANEL[OF[n]] == p) {
            i = OF[n]
            first_name = n < first_name ? n : first_name
            last_name = n
            set arrow 5000 + n from screen across(NAME_LEFT[n]), up(NAME_TOP[n]) \
                to screen across(NAME_LEFT[n] + 26), up(NAME_TOP[n]) nohead \
                lw 1.5 + 0.01 * n dt dash_of_series(i) lc rgb COLOUR[i]
            set label 5000 + n SHOWN_NAME[n] at screen across(NAME_LEFT[n] + 32), up(NAME_TOP[n]) \
                left tc rgb TEXT_COLOUR[i]
            set label 7000 + n '' at screen across(NAME_LEFT[n] + 13), up(NAME_TOP[n]) \
                point pt MARK[i] ps 0.8 lc rgb COLOUR[i]
        }
    }
    set label 1 TITLE[p] noenhanced at screen across(LEFT[p]), \
        up(first_name > name_count ? TOP[p] - 30 : NAME_TOP[first_name] - 17) left font ',13' \
        tc rgb INK
    unset xlabel
    if (p > panel_count - number('columns')) { set xlabel wording('xlabel') offset 0, 0.3 }
    set ytics ()
    do for [i = 1:ytick_count] { set ytics add ((LEFT[p] < 100 ? tick_label(TICK[i]) : '') TICK[i]) }
    unset ylabel
    if (LEFT[p] < 100) { set ylabel wording('ylabel') }
    plot for [k = 1:3] for [l = 1:int(number('lines'))] lines skip 1 \
            using 4:(int($1) == p && int($2) == k && int($3) == l ? $5 : NaN) with lines \
            lw 1.5 dt LINE_DASH[k] lc rgb LINE_COLOUR[k] notitle, \
        for [n = first_name:last_name] points skip 1 \
            using 5:(int($2) == OF[n] && $7 > 0 ? $7 : NaN) with linespoints \
            dt dash_of_series(OF[n]) lw 0.7 pt OPEN_MARK[OF[n]] ps 0.7 lc rgb COLOUR[OF[n]] notitle, \
        for [n = first_name:last_name] points skip 1 \
            using 5:(int($2) == OF[n] && $8 == 0 ? ($6 > low ? $6 : low) : NaN) \
            with linespoints lw 1.5 dt dash_of_series(OF[n]) pt MARK[OF[n]] ps 0.7 lc rgb COLOUR[OF[n]] \
            notitle, \
        points skip 1 using 5:(int($1) == p && $8 == 1 ? high : NaN) \
            with points pt WRONG_MARK ps 1.1 lw 2 lc rgb ALARM notitle, \
        for [n = 1:tips] points skip 1 \
            using 5:(int($1) == p ? ($8 == 1 ? high : $6 > low ? $6 : low) : NaN):9 \
            with labels hypertext point pt 7 ps 0.9 lc rgb '#ff000000' notitle
    unset label
    unset arrow
}
unset multiplot
