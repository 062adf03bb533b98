# The canvas of a chart of `width` x `height`, with title, subtitle and footer; loaded after style.gp.
across(x) = 1.0 * x / width
up(y) = 1 - 1.0 * y / height
small = sprintf(',%d', font_size - 3)
if (format eq 'svg') {
    set terminal svg size width,height fixed noenhanced name stem background 'white' \
        font sprintf('Liberation Sans, Arial, Helvetica, sans-serif,%d', font_size)
} else { if (format eq 'pdf') {
    set terminal pdfcairo size width / 100.0,height / 100.0 noenhanced background 'white' \
        font sprintf('Liberation Sans,%d', font_size) fontscale 0.72 linewidth 0.72 pointscale 0.72
} else {
    set terminal pngcairo size width,height noenhanced background 'white' \
        font sprintf('Liberation Sans,%d', font_size) fontscale 0.75
} }
# Only SVG has tooltips: the plots "for [n = 1:tips]" are omitted in other formats.
tips = format eq 'svg' ? 1 : 0
set output drawing

set border 3 lw 1 lc rgb SOFT
set grid lw 1 lt 1 lc rgb FAINT
set tics nomirror textcolor rgb SOFT
set xlabel textcolor rgb SOFT
set ylabel textcolor rgb SOFT
unset key
set bars 0.4
set label 1001 wording('title') at screen across(20), up(30) left font sprintf(',%d', font_size + 6) \
    tc rgb INK
set label 1002 wording('subtitle') at screen across(20), up(57) left font small tc rgb SOFT
set label 1003 wording('footer') at screen across(20), up(height - 14) left \
    font sprintf(',%d', font_size - 4) tc rgb SOFT
