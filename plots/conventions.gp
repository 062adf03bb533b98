# The effect of a change of convention on a row. data/STEM.tsv: place change convention row_ulp relative std
stem = ARG1
format = ARG2
drawing = ARG3
here = ARG0[1:strlen(ARG0) - strlen('conventions.gp')]
load here.'style.gp'
rows = int(number('rows'))
row_height = 22
top = 96
bottom = top + rows * row_height
height = bottom + 104
load here.'canvas.gp'

left = 300
right = width - 150
set lmargin at screen across(left)
set rmargin at screen across(right)
set tmargin at screen up(top)
set bmargin at screen up(bottom)
set border 1
unset ytics
set grid xtics noytics
set logscale x
set xtics ('1' 1, '10' 10, '100' 100, '1000' 1000, '1e4' 1e4, '1e5' 1e5, '1e6' 1e6, '1e7' 1e7)
set xlabel 'distance of the output, ULP of f32 (1: f32 just shows it)'
set label 2 'digits that stay' at screen across(right + 12), up(top - 12) left font small tc rgb SOFT
set label 3 wording('cost') at screen across(20), up(height - 32) left font small tc rgb INK
array CHANGE[rows]
array DIGITS_KEPT[rows]
# The heading of each std is one line above its first change.
do for [i = 1:rows] { CHANGE[i] = ''; DIGITS_KEPT[i] = 0 }
last = 0
stats table skip 1 using (n = int($1), CHANGE[n] = strcol(2), DIGITS_KEPT[n] = $5 > 0 ? -log10($5) : 99, \
    CHANGE[n - 1] = $6 == last ? CHANGE[n - 1] : sprintf('rows of std %g:', $6), last = $6, 0) nooutput
do for [i = 1:rows] {
    centre = top + row_height * (i - 0.5)
    if (DIGITS_KEPT[i] == 0) {
        set label 100 + i ''.CHANGE[i] at screen across(20), up(centre) left tc rgb SOFT
        continue
    }
    set label 100 + i ''.CHANGE[i] at screen across(left - 10), up(centre) right tc rgb INK
    set label 200 + i ''.(DIGITS_KEPT[i] > 20 ? 'all' : sprintf('%.1f', DIGITS_KEPT[i])) \
        at screen across(right + 12), up(centre) left tc rgb INK
}
set xrange [1:1e7]
set yrange [rows + 0.5:0.5]
longer(v) = v > 1 ? v : 1.0
plot table skip 1 using (sqrt(longer($4))):1:(1.0):(longer($4)):($1 - 0.36):($1 + 0.36) \
    with boxxyerror fs solid noborder lc rgb CLASS[5]
