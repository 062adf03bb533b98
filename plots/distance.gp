# How far conventions lie from one, in ULP and relative: over hidden at one std, and over std at one
# hidden. data/STEM.tsv: panel series x distance
stem = ARG1
format = ARG2
here = ARG0[1:strlen(ARG0) - strlen('distance.gp')]
load here.'style.gp'
series_count = int(number('series'))
legend_rows = (series_count + 3) / 4
legend_bottom = 80 + 20 * legend_rows
width = 1000
font_size = 13
height = 860 + 20 * legend_rows
load here.'canvas.gp'

# Colour and dash together, so that lines that lie on each other can both be seen; after eight the
# colours come again.
array PALETTE[8] = [0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7, 0x000000, 0xE69F00, 0x56B4E9, 0x8A7A00]
array DASHES[5] = [1, 2, 4, 5, 3]
line_colour(i) = PALETTE[(i - 1) % 8 + 1]
line_dash(i) = DASHES[(i - 1) % 5 + 1]
line_width(i) = 1.6 + 0.01 * i

# Dashed lines over the solid ones, which would hide them.
array ORDER[series_count]
drawn = 0
do for [pass = 1:2] {
    do for [i = 1:series_count] {
        if ((line_dash(i) == 1) == (pass == 1)) { drawn = drawn + 1; ORDER[drawn] = i }
    }
}
do for [i = 1:series_count] {
    column = 20 + (i - 1) % 4 * 240
    line = 80 + (i - 1) / 4 * 20
    set arrow 100 + i from screen across(column), up(line) to screen across(column + 30), up(line) nohead \
        lw line_width(i) dt line_dash(i) lc rgb line_colour(i)
    set label 3000 + i wording(sprintf('name_%d', i)) at screen across(column + 36), up(line) left \
        font small tc rgb INK
}

# Four panels: over hidden on the left and over std on the right, in ULP above and relative below.
# Relative there are no steps; in ULP the distance jumps where the answer passes a power of two.
set logscale xy
middle = (height - 76 + legend_bottom + 24) / 2
array TOP[2] = [legend_bottom + 24, middle + 32]
array BOTTOM[2] = [middle - 32, height - 76]
array LEFT[2] = [84, 560]
array RIGHT[2] = [480, 956]
array LEAST[2] = [number('ymin'), number('relative_min')]
array MOST[2] = [number('ymax'), number('relative_max')]
array MEASURE[2] = ['distance (ULP of f32)', 'distance / largest element']
array FIRST[2] = [number('hidden_min'), number('std_min')]
array LAST[2] = [number('hidden_max'), number('std_max')]
array MARKED[2] = [number('hidden'), number('std')]
array LIMIT[2] = [1, 2.0 ** -24]
array REMARK[2] = ['below 1 ULP f32 does not show it', \
    'below 2^-24 it is less than 1 ULP of f32']

set multiplot
do for [panel = 1:4] {
    over = (panel - 1) % 2 + 1
    measure = (panel - 1) / 2 + 1
    set lmargin at screen across(LEFT[over])
    set rmargin at screen across(RIGHT[over])
    set tmargin at screen up(TOP[measure])
    set bmargin at screen up(BOTTOM[measure])
    set yrange [LEAST[measure]:MOST[measure]]
    set ytics ()
    do for [e = -9:24] {
        if ((e + 9) % (measure == 1 ? 1 : 2) == 0) { set ytics add (tick_label(10.0 ** e) 10.0 ** e) }
    }
    set xrange [FIRST[over]:LAST[over]]
    if (over == 1) { set xtics (2, 8, 32, 128, 512, 2048, 8192, 32768, 131072) } else {
        set xtics ()
        do for [e = -6:2:2] { set xtics add (tick_label(10.0 ** e) 10.0 ** e) }
    }
    set xlabel (over == 1 ? sprintf('hidden (elements), at std %g', MARKED[2]) : \
        sprintf('std of the row, at hidden %d', MARKED[1])) offset 0, 0.3
    set ylabel (over == 1 ? MEASURE[measure] : ' ')
    set arrow 1 from FIRST[over], LIMIT[measure] to LAST[over], LIMIT[measure] nohead lw 1.2 \
        lc rgb INK
    set arrow 2 from MARKED[over], graph 0 to MARKED[over], graph 1 nohead lw 1 dt 3 lc rgb SOFT
    if (over == 1) {
        set label 1 REMARK[measure] at graph 0.02, first LIMIT[measure] left offset 0, -0.6 \
            tc rgb SOFT
    }
    plot for [k = 1:series_count] table skip 1 \
        using 3:(int($1) == panel && int($2) == ORDER[k] ? $4 : NaN) with lines \
        lw line_width(ORDER[k]) dt line_dash(ORDER[k]) lc rgb line_colour(ORDER[k]) notitle
    unset label 1
    unset arrow 1
    unset arrow 2
    if (panel == 1) {
        unset label 1001
        unset label 1002
        unset label 1003
        do for [i = 1:series_count] { unset label 3000 + i; unset arrow 100 + i }
    }
}
unset multiplot
