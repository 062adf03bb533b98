# Speed against error, every kernel named, with the Pareto front; a panel for normal input and one
# for the worst of all input families.
# data/STEM.tsv: panel series label gbps row_ulp drawn_at failed label_left label_top label_width
#     label_height tip gbps_lo gbps_hi; data/STEM_front.tsv: panel gbps row_ulp; data/STEM_ticks.tsv: axis value
stem = ARG1
format = ARG2
here = ARG0[1:strlen(ARG0) - strlen('speed_error.gp')]
load here.'style.gp'

points = 'data/'.stem.'.tsv'
front = 'data/'.stem.'_front.tsv'
panel_count = int(number('panels'))

stats points skip 1 using (0) nooutput
point_count = int(STATS_records)
array PANEL[point_count]
array OF[point_count]
array X[point_count]
array Y[point_count]
array FAILED[point_count]
array BOX_LEFT[point_count]
array BOX_TOP[point_count]
array BOX_WIDTH[point_count]
array BOX_HEIGHT[point_count]
array LABEL[point_count]
stats points skip 1 using (n = int($0) + 1, PANEL[n] = int($1), OF[n] = int($2), \
    LABEL[n] = strcol(3), X[n] = $4, Y[n] = $6, FAILED[n] = $7, DRAWN[OF[n]] = 1, BOX_LEFT[n] = $8, \
    BOX_TOP[n] = $9, BOX_WIDTH[n] = $10, BOX_HEIGHT[n] = $11, 0) nooutput

stats 'data/'.stem.'_ticks.tsv' skip 1 using (0) nooutput
tick_count = int(STATS_records)
array AXIS[tick_count]
array TICK[tick_count]
stats 'data/'.stem.'_ticks.tsv' skip 1 using (n = int($0) + 1, AXIS[n] = strcol(1), \
    TICK[n] = $2, 0) nooutput

failures = sum [i = 1:point_count] FAILED[i]
array LEGEND_TEXT[2]
array LEGEND_LINE[2] = [1.5, 0]
array LEGEND_DASH[2] = [2, 1]
array LEGEND_MARK[2] = [0, WRONG_MARK]
array LEGEND_COLOUR[2] = [SOFT, ALARM]
array LEGEND_INK[2] = [SOFT, SOFT]
LEGEND_TEXT[1] = 'Pareto front: nothing is faster and more accurate'
LEGEND_TEXT[2] = failures > 0 ? 'wrong class, if nothing else is said (at the top edge)' : ''
legend_left = 24
legend_right = width - 24
legend_top = 76
legend_number = 2001
load here.'legend.gp'

set logscale xy
set multiplot
do for [p = 1:panel_count] {
    prefix = sprintf('panel%d_', p)
    left = number(prefix.'left')
    right = number(prefix.'right')
    top = number(prefix.'top')
    bottom = number(prefix.'bottom')
    xmin = number(prefix.'xmin')
    xmax = number(prefix.'xmax')
    ymin = number(prefix.'ymin')
    ymax = number(prefix.'ymax')
    set lmargin at screen across(left)
    set rmargin at screen across(right)
    set tmargin at screen up(top)
    set bmargin at screen up(bottom)
    set xrange [xmin:xmax]
    set yrange [ymin:ymax]
    set xtics ()
    set ytics ()
    do for [i = 1:tick_count] {
        if (AXIS[i] eq sprintf('x%d', p)) { set xtics add (tick_label(TICK[i]) TICK[i]) }
        if (AXIS[i] eq sprintf('y%d', p)) { set ytics add (tick_label(TICK[i]) TICK[i]) }
    }
    set xlabel 'speed (GB/s)'
    set ylabel 'largest error (row ULP)'
    set label 1 'Error on '.wording(prefix.'title') at screen across(left), up(top - 19) left \
        font ',13' tc rgb INK
    pixel_x(x) = left + (right - left) * log(x / xmin) / log(xmax / xmin)
    pixel_y(y) = bottom - (bottom - top) * log(y / ymin) / log(ymax / ymin)
    within(v, low, high) = v < low ? low : v > high ? high : v
    do for [i = 1:point_count] {
        unset label 100 + i
        unset arrow 100 + i
        if (PANEL[i] == p) {
            set label 100 + i LABEL[i] at screen across(BOX_LEFT[i] + 2), \
                up(BOX_TOP[i] + BOX_HEIGHT[i] / 2) left front tc rgb TEXT_COLOUR[OF[i]]
            x_end = within(pixel_x(X[i]), BOX_LEFT[i], BOX_LEFT[i] + BOX_WIDTH[i])
            y_end = within(pixel_y(Y[i]), BOX_TOP[i], BOX_TOP[i] + BOX_HEIGHT[i])
            if ((x_end - pixel_x(X[i])) ** 2 + (y_end - pixel_y(Y[i])) ** 2 > 144) {
                set arrow 100 + i from X[i], Y[i] to screen across(x_end), up(y_end) nohead \
                    lw 0.7 lc rgb COLOUR[OF[i]]
            }
        }
    }
    plot front skip 1 using 2:(int($1) == p ? $3 : NaN) with lines lw 1.5 dt 2 lc rgb 0x999999 \
            notitle, \
        for [i = 1:series_count] points skip 1 \
            using 4:(int($1) == p && int($2) == i ? $6 : NaN):13:14 with xerrorbars \
            pt MARK[i] ps 0 lw 1.2 lc rgb COLOUR[i] notitle, \
        for [i = 1:series_count] points skip 1 \
            using 4:(int($1) == p && int($2) == i && $7 == 0 ? $6 : NaN) with points \
            pt MARK[i] ps 1.2 lc rgb COLOUR[i] notitle, \
        points skip 1 using 4:(int($1) == p && $7 == 1 ? $6 : NaN) with points \
            pt WRONG_MARK ps 1.3 lw 2 lc rgb ALARM notitle, \
        for [n = 1:tips] points skip 1 using 4:(int($1) == p ? $6 : NaN):12 \
            with labels hypertext point pt 7 ps 1.4 lc rgb '#ff000000' notitle
    unset label
    unset arrow
}
unset multiplot
