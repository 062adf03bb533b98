# Draws a legend in a line from LEGEND_TEXT, LEGEND_LINE (width, 0: none), LEGEND_DASH, LEGEND_MARK
# (0: none), LEGEND_COLOUR and LEGEND_INK (of the text), beginning at pixel legend_left, legend_top
# and going on in a new line at legend_right; an entry without text is left out. Labels and arrows
# are numbered from legend_number. (No two lines are of quite the same width: of neighbours that
# differ in their dashes alone the SVG terminal of gnuplot 5.4 draws both with the first one's.)
legend_x = legend_left
legend_y = legend_top
legend_next = legend_number
do for [k = 1:|LEGEND_TEXT|] {
    if (strlen(LEGEND_TEXT[k]) > 0) {
        legend_line = LEGEND_LINE[k] > 2 ? 46 : LEGEND_LINE[k] > 0 ? 28 : 12
        legend_width = legend_line + 6 + 5.8 * strlen(LEGEND_TEXT[k]) + 14
        if (legend_x > legend_left && legend_x + legend_width - 12 > legend_right) {
            legend_x = legend_left
            legend_y = legend_y + 15
        }
        if (LEGEND_LINE[k] > 0) {
            set arrow legend_next from screen across(legend_x), up(legend_y) \
                to screen across(legend_x + legend_line), up(legend_y) nohead \
                lw LEGEND_LINE[k] + 0.01 * k dt LEGEND_DASH[k] lc rgb LEGEND_COLOUR[k]
        }
        if (LEGEND_MARK[k] > 0) {
            set label legend_next '' at screen across(legend_x + legend_line / 2), up(legend_y) \
                point pt LEGEND_MARK[k] ps (LEGEND_MARK[k] == WRONG_MARK ? 1.1 : 0.8) \
                lw (LEGEND_MARK[k] == WRONG_MARK ? 2 : 1) lc rgb LEGEND_COLOUR[k]
        }
        set label legend_next + 1 LEGEND_TEXT[k] \
            at screen across(legend_x + legend_line + 6), up(legend_y) left tc rgb LEGEND_INK[k]
        legend_x = legend_x + legend_width
        legend_next = legend_next + 2
    }
}
