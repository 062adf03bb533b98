# Speed relative to the copy over hidden size, with a panel for each cache level.
# data/STEM.tsv: panel series label kernel hidden share lo hi gbps place; series 100: the band of all
# kernels; place: the number of the fastest or recommended kernel
stem = ARG1
format = ARG2
drawing = ARG3
here = ARG0[1:strlen(ARG0) - strlen('throughput.gp')]
load here.'style.gp'
panels = int(number('panels'))
panel_height = panels > 2 ? 215 : 280
gap = 80
height = 84 + panels * (panel_height + gap) + 36
load here.'canvas.gp'

left = 70
right = width - 212
set logscale x 2
set xtics ()
set format y '%g'
set ytics 20
set tics font small
set border 11
set lmargin at screen across(left)
set rmargin at screen across(right)
set multiplot
do for [p = 1:panels] {
    top = 96 + (p - 1) * (panel_height + gap)
    bottom = top + panel_height
    copy = number(sprintf('copy_%d', p))
    lines = number(sprintf('sizes_%d', p)) >= 4
    set xrange [*:*] # because `stats` uses the range
    set yrange [*:*]
    stats table skip 1 using (int($1) == p ? $5 : NaN) nooutput
    x_min = STATS_min
    x_max = STATS_max
    stats table skip 1 using (int($1) == p ? 100 * $8 : NaN) nooutput
    y_max = STATS_max > 100 ? STATS_max * 1.05 : 105
    y_max = STATS_max < 60 ? STATS_max * 1.12 : y_max
    set tmargin at screen up(top)
    set bmargin at screen up(bottom)
    set y2tics nomirror textcolor rgb SOFT
    unset xtics
    set xtics () nomirror textcolor rgb SOFT
    last = 0.0
    do for [pass = 1:64] {
        if (last < x_max) {
            stats table skip 1 using (int($1) == p && $5 > last ? $5 : NaN) nooutput
            last = STATS_min
            set xtics add (sprintf('%d', last) last)
        }
    }
    if (p == panels) {
        set label 7 'hidden size (elements of a row)' at screen across((left + right) / 2), up(bottom + 66) center \
            tc rgb SOFT
    }
    set label 1 sprintf('Data in %s: %% of copy speed', wording(sprintf('regime_%d', p))) \
        at screen across(20), up(top - 14) left tc rgb INK
    do for [k = 1:2] {
        key = sprintf('fastest_%d_%d', p, k)
        set label 4 + k ''.(place(key) ? wording(key) : '') at screen across(left), up(bottom + 20 + 14 * k) left \
            font ',12' tc rgb LOOK[k]
    }
    set arrow 1 from graph 0, first 100 to graph 1, first 100 nohead lw 1.2 dt 2 lc rgb SOFT
    set label 4 y_max > 105 ? 'a copy; above: faster than the copy beside it' : 'a copy of the same bytes' \
        at graph 0.5, first 100 center offset 0, 0.6 font small tc rgb SOFT
    set label 2 'about GB/s' at screen across(right + 4), up(top - 14) left tc rgb SOFT

    # The names are at the height of their last points, moved apart.
    slots = 0
    array SLOT[12]
    array WANTED[12]
    array SERIES[12]
    do for [s = 1:|LOOK|] {
        stats table skip 1 using (int($1) == p && int($2) == s ? $5 : 0) nooutput
        if (STATS_max > 0) {
            at_x = STATS_max
            name = ''
            value = 0.0
            stats table skip 1 using (int($1) == p && int($2) == s && $5 == at_x ? \
                (name = strcol(3), value = 100 * $6) : NaN) nooutput
            slots = slots + 1
            SERIES[slots] = s
            WANTED[slots] = top + panel_height * (1 - value / y_max)
            SLOT[slots] = name
        }
    }
    apart(i, j) = 19
    load here.'spread.gp'
    do for [i = 1:slots] {
        set label 100 + i ''.SLOT[i] at screen across(right + 56), up(WANTED[i]) left \
            tc rgb LOOK[SERIES[i]] point pt LOOK_MARK[SERIES[i]] ps 0.8 lc rgb LOOK[SERIES[i]] offset 1, 0
    }
    room = lines ? 1.15 : 1.5
    set xrange [x_min / room:x_max * room]
    set yrange [0:y_max]
    set y2range [0:y_max * copy / 100]
    # Without lines, the points of a size are drawn side by side.
    beside(i) = 2 ** ((i - (slots + 1) / 2.0) * log(room * room * x_max / x_min) / log(2) * 13 / (right - left))
    if (lines) {
        plot table skip 1 using (int($1) == p && $2 == 100 ? $5 : NaN):(100 * $7):(100 * $8) \
                with filledcurves lc rgb FAINT, \
            for [i = 1:slots] table skip 1 \
                using (int($1) == p && int($2) == SERIES[i] ? $5 : NaN):(100 * $6):(100 * $7):(100 * $8) \
                with yerrorbars pt 0 lw 1 lc rgb LOOK[SERIES[i]], \
            for [i = 1:slots] table skip 1 \
                using (int($1) == p && int($2) == SERIES[i] ? $5 : NaN):(100 * $6) with linespoints \
                lw 2.6 pt LOOK_MARK[SERIES[i]] ps 0.7 lc rgb LOOK[SERIES[i]], \
            for [k = 1:2] table skip 1 using (int($1) == p && $2 == k ? $5 : NaN):(100 * $6) \
                with points pt LOOK_MARK[k] ps 2 lc rgb LOOK[k], \
            table skip 1 using (int($1) == p && $10 > 0 ? $5 : NaN):(100 * $6):(sprintf('%d', $10)) \
                with labels center font ',11' tc rgb 0xffffff
    } else {
        plot table skip 1 using (int($1) == p && $2 == 100 ? $5 : NaN):6:($5 * beside(0)):($5 * beside(slots + 1)): \
                (100 * $7):(100 * $8) with boxxyerror fs solid noborder lc rgb FAINT, \
            for [i = 1:slots] table skip 1 \
                using (int($1) == p && int($2) == SERIES[i] ? $5 * beside(i) : NaN):(100 * $6):(100 * $7):(100 * $8) \
                with yerrorbars pt LOOK_MARK[SERIES[i]] ps 1.1 lw 1.4 lc rgb LOOK[SERIES[i]], \
            for [k = 1:2] table skip 1 using (int($1) == p && $2 == k ? $5 * beside(k) : NaN):(100 * $6) \
                with points pt LOOK_MARK[k] ps 2 lc rgb LOOK[k], \
            table skip 1 using (int($1) == p && $10 > 0 ? $5 * beside($2) : NaN):(100 * $6):(sprintf('%d', $10)) \
                with labels center font ',11' tc rgb 0xffffff
    }
    unset label
}
unset multiplot
