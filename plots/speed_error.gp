# Speed against error: kernels of the Pareto front have names, others have numbers, and failures are in a strip.
stem = ARG1
format = ARG2
drawing = ARG3
here = ARG0[1:strlen(ARG0) - strlen('speed_error.gp')]
load here.'style.gp'
height = 620
load here.'canvas.gp'

left = 96
right = width - 262
strip_top = 116
strip_bottom = 140
top = 142
bottom = height - 92

no_digit = number('no_digit')
within(error) = error > 2 * no_digit ? 2 * no_digit : error < 0.25 ? 0.25 : error # the height of a point
stats table skip 1 using (0) nooutput
count = int(STATS_records)
array NAME[count]
array X[count]
array Y[count]
array GROUP[count]
array FRONT[count]
stats table skip 1 using (n = int($0) + 1, NAME[n] = shown(strcol(2)), X[n] = $3, \
    Y[n] = $6 >= 0 ? within($6) : 0.0, GROUP[n] = int($7), FRONT[n] = int($8), 0) nooutput
x_max = 0
y_max = 10.0
do for [i = 1:count] {
    x_max = X[i] > x_max ? X[i] : x_max
    if (GROUP[i] < 5) { y_max = Y[i] > y_max ? Y[i] : y_max }
}
x_max = x_max * 1.05
y_min = 0.2
y_max = y_max * 8

px(v) = left + (right - left) * v / x_max
py(v) = bottom - (bottom - top) * (log10(v) - log10(y_min)) / (log10(y_max) - log10(y_min))

# ---- the front, a staircase from the fastest down, with the names at the right, at the height of their points ----
array BY_RANK[count]
named = 0
do for [i = 1:count] {
    if (NAME[i] ne '') {
        named = named + 1
        BY_RANK[1 + sum [j = 1:count] (NAME[j] ne '' && (X[j] > X[i] || (X[j] == X[i] && j < i)) ? 1 : 0)] = i
    }
}
slots = sum [i = 1:count] FRONT[i]
array WANTED[slots + 1]
array STEP[slots + 1]
slot = 0
do for [n = 1:named] {
    i = BY_RANK[n]
    if (FRONT[i]) {
        x = px(X[i])
        above = slot ? WANTED[slot] : y_max > no_digit ? py(no_digit) : top
        slot = slot + 1
        STEP[slot] = i
        WANTED[slot] = py(Y[i])
        set arrow 900 + 2 * slot from screen across(x), up(WANTED[slot]) to screen across(x), up(above) \
            nohead lw 2 lc rgb INK
        if (slot > 1) {
            set arrow 901 + 2 * slot from screen across(x), up(above) to screen across(last_x), up(above) \
                nohead lw 2 lc rgb INK
        }
        last_x = x
    }
}
apart(i, j) = 17
load here.'spread.gp'
# The names are below the list of the other kernels and above the bottom of the chart.
over = slots && WANTED[slots] > bottom ? WANTED[slots] - bottom : 0
line = (bottom - strip_top - 17.0 * slots - 8) / (named > slots ? named - slots : 1)
line = line > 19 ? 19 : line
do for [n = 1:slots] {
    least = strip_top + line * (named - slots) + 17 * n
    y = WANTED[n] - over > least ? WANTED[n] - over : least
    set label 800 + n ''.NAME[STEP[n]] at screen across(right + 14), up(y) left font ',12' tc rgb INK
    set arrow 800 + n from first X[STEP[n]], first Y[STEP[n]] to screen across(right + 10), up(y) nohead lw 1 lc rgb SOFT
}

# ---- others: numbers from the fastest on, each at the first free place on or near its point, and a list ----
array AT_X[count]
array AT_Y[count]
array DX[9] = [0, 0, 0, 18, -18, 18, -18, 36, -36]
array DY[9] = [0, -18, 18, 0, 0, -18, -18, 0, 0]
free(n, x, y) = 0 == sum [j = 1:count] (j < n && abs(AT_X[j] - x) < 17 && abs(AT_Y[j] - y) < 17 ? 1 : 0)
n = 0
do for [rank = 1:named] {
    i = BY_RANK[rank]
    if (FRONT[i]) { continue }
    n = n + 1
    is_nan = GROUP[i] == 5
    x = px(X[i])
    y = is_nan ? (strip_top + strip_bottom) / 2.0 : py(Y[i])
    k = 9
    do for [try = 9:1:-1] {
        if (!(is_nan && DY[try] != 0) && free(n, x + DX[try], y + DY[try])) { k = try }
    }
    AT_X[n] = x + DX[k]
    AT_Y[n] = y + DY[k]
    list = strip_top + 2 + line * (n - 1)
    colour = on_class(GROUP[i])
    set arrow 100 + n from screen across(x), up(y) to screen across(AT_X[n]), up(AT_Y[n]) nohead lw 1 lc rgb INK
    set object 200 + n circle at screen across(AT_X[n]), up(AT_Y[n]) size screen 0.0095 fc rgb CLASS[GROUP[i] + 1] \
        fs solid noborder front
    set object 400 + n circle at screen across(right + 22), up(list) size screen 0.0095 fc rgb CLASS[GROUP[i] + 1] \
        fs solid noborder
    set label 300 + n sprintf('%d', n) at screen across(AT_X[n]), up(AT_Y[n]) center font ',11' tc rgb colour front
    set label 500 + n sprintf('%d', n) at screen across(right + 22), up(list) center font ',11' tc rgb colour front
    set label 700 + n ''.NAME[i] at screen across(right + 36), up(list) left font ',12' tc rgb INK
}
load here.'key.gp'

set lmargin at screen across(left)
set rmargin at screen across(right)
set tmargin at screen up(strip_top)
set bmargin at screen up(bottom)
set logscale y
set xrange [0:x_max]
y_of(pixel) = 10 ** (log10(y_min) + 1.0 * (bottom - pixel) / (bottom - top) * (log10(y_max) - log10(y_min)))
set yrange [y_min:y_of(strip_top)]
set ytics ()
do for [e = 0:20] {
    if (10.0 ** e < (y_max < no_digit ? y_max : no_digit) && (y_max < 1e6 || e % 2 == 0)) { set ytics add (tick_label(10.0 ** e) 10.0 ** e) }
}
set xlabel 'GB/s'
set ylabel 'worst error, row ULP'
set object 1 rectangle from graph 0, first y_of(strip_bottom) to graph 1, graph 1 fc rgb 0xfbe9e7 \
    fs solid noborder behind
set object 2 rectangle from graph 0, graph 0 to graph 1, first number('rough') fc rgb 0xeaf3fb \
    fs solid noborder behind
failed = int(number('failed'))
if (y_max > no_digit) {
    set object 3 rectangle from graph 0, first no_digit to graph 1, first y_max fc rgb 0xfdf1e3 fs solid noborder behind
    set label 2 'no correct digit, at any height' at graph 0.99, first no_digit right offset 0, 0.6 font small tc rgb 0x8a4b00
}
set label 1 failed == 0 ? 'no kernel gave NaN or infinity' : \
    sprintf('NaN, infinite or fault on some row: %d kernel%s', failed, failed == 1 ? '' : 's') \
    at screen across(left), up(strip_top - 12) left font small tc rgb CLASS[6]
set label 3 sprintf('can be used: up to %g', number('rough')) at graph 0.01, first number('rough') left offset 0, -0.7 \
    font small tc rgb LOOK[1]
plot table skip 1 using (int($7) == 5 ? $3 : NaN):(y_of((strip_top + strip_bottom) / 2.0)) \
        with points pt 2 ps 0.8 lw 1.6 lc rgb CLASS[6], \
    table skip 1 using (int($7) < 5 ? $3 : NaN):(within($6)):4:5 with xerrorbars pt 0 lw 1 lc rgb GHOST, \
    table skip 1 using (int($7) < 5 ? $3 : NaN):(within($6)):(class_colour($7)) with points pt 7 ps 1.0 \
        lc rgb variable, \
    table skip 1 using (int($8) ? $3 : NaN):(within($6)):(class_colour($7)) with points pt 7 ps 1.7 lc rgb variable, \
    for [n = 1:tips] table skip 1 using 3:($6 >= 0 ? within($6) : y_of((strip_top + strip_bottom) / 2.0)): \
        (sprintf('%s: %.1f GB/s, worst error %s', strcol(1), $3, $6 >= 0 ? sprintf('%.3g row ULP', $6) : \
        'NaN, infinite or fault')) with labels hypertext point pt 7 ps 1 lc rgb 0xff000000
