# Speed against error: the Pareto front, textbook kernels and others by name, failures in a strip.
# data/STEM.tsv: kernel label gbps lo hi error class front
stem = ARG1
format = ARG2
here = ARG0[1:strlen(ARG0) - strlen('speed_error.gp')]
load here.'style.gp'
height = 620
load here.'canvas.gp'

left = 96
right = width - 30
strip_top = 106
strip_bottom = 130
top = 132
bottom = height - 92

stats table skip 1 using (0) nooutput
count = int(STATS_records)
array NAME[count]
array X[count]
array Y[count]
array GROUP[count]
array FRONT[count]
stats table skip 1 using (n = int($0) + 1, NAME[n] = shown(strcol(2)), X[n] = $3, \
    Y[n] = $6 > 0 ? $6 : 0.0, GROUP[n] = int($7), FRONT[n] = int($8), 0) nooutput
x_min = 0
x_max = 0
y_max = 10.0
do for [i = 1:count] {
    x_max = X[i] > x_max ? X[i] : x_max
    if (GROUP[i] < 5) { y_max = Y[i] > y_max ? Y[i] : y_max }
}
x_max = x_max * 1.22
y_min = 0.06
y_max = y_max * 8
no_digit = number('no_digit')
px(v) = left + (right - left) * v / x_max
py(v) = bottom - (bottom - top) * (log10(v) - log10(y_min)) / (log10(y_max) - log10(y_min))

# ---- names: each at the first place around its point that is free ----
array BOX_L[count]
array BOX_T[count]
array BOX_W[count]
array PLACED[count]
line_height = 15
do for [i = 1:count] {
    PLACED[i] = 0
    BOX_W[i] = text_width(NAME[i], 13)
}
array DX[22] = [9, 9, 9, -9, -9, -9, 0, 0, 16, 16, -16, -16, 22, 22, 0, 0, -9, -9, 0, 0, -9, -9]
array DY[22] = [0, -13, 13, 0, -13, 13, -17, 17, -26, 26, -26, 26, -40, 40, -34, 34, -40, 40, -52, 52, -60, 60]
# Where the front's line comes from, left of each of its points.
array FROM[count]
array PX[count]
array PY[count]
do for [i = 1:count] {
    FROM[i] = px(0)
    do for [j = 1:count] { if (FRONT[j] && X[j] < X[i] && px(X[j]) > FROM[i]) { FROM[i] = px(X[j]) } }
    PX[i] = px(X[i])
    PY[i] = Y[i] > 0 ? py(Y[i]) : 0
}
# What a box of width w at l, t covers: names, points, the front's line.
covered(i, l, t, w) = sum [j = 1:count] \
    ((PLACED[j] && l < BOX_L[j] + BOX_W[j] + 4 && l + w + 4 > BOX_L[j] && t < BOX_T[j] + line_height && \
        t + line_height > BOX_T[j] ? 100 : 0) + \
    (GROUP[j] < 5 && j != i && PX[j] > l - 3 && PX[j] < l + w + 3 && PY[j] > t - 2 && \
        PY[j] < t + line_height + 2 ? (NAME[j] ne '' ? 10 : 2) : 0) + \
    (FRONT[j] && PY[j] > t - 1 && PY[j] < t + line_height + 1 && FROM[j] < l + w && PX[j] > l ? 4 : 0))
do for [i = 1:count] {
    if (NAME[i] ne '' && GROUP[i] < 5) {
        best = 1
        best_cost = 1e9
        do for [k = 1:22] {
            l = PX[i] + DX[k] - (DX[k] < 0 ? BOX_W[i] : DX[k] == 0 ? BOX_W[i] / 2 : 0)
            t = PY[i] + DY[k] - line_height / 2.0
            cost = k * 0.1 + covered(i, l, t, BOX_W[i]) + \
                (l < left + 4 || l + BOX_W[i] > right || t < top || t + line_height > bottom ? 1000 : 0)
            if (cost < best_cost) {
                best_cost = cost
                best = k
            }
        }
        if (best_cost < 100) {
            BOX_L[i] = PX[i] + DX[best] - (DX[best] < 0 ? BOX_W[i] : DX[best] == 0 ? BOX_W[i] / 2 : 0)
            BOX_T[i] = PY[i] + DY[best] - line_height / 2.0
            PLACED[i] = 1
            anchor_y = up(BOX_T[i] + line_height / 2.0)
            if (DX[best] < 0) {
                set label 2000 + i ''.NAME[i] at screen across(BOX_L[i] + BOX_W[i]), anchor_y right \
                    font ',13' tc rgb INK front
            } else { if (DX[best] == 0) {
                set label 2000 + i ''.NAME[i] at screen across(BOX_L[i] + BOX_W[i] / 2), anchor_y center \
                    font ',13' tc rgb INK front
            } else {
                set label 2000 + i ''.NAME[i] at screen across(BOX_L[i]), anchor_y left \
                    font ',13' tc rgb INK front
            } }
        }
    }
}

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
    if (10.0 ** e < y_max && (y_max < 1e6 || e % 2 == 0)) { set ytics add (tick_label(10.0 ** e) 10.0 ** e) }
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
    set label 2 'no correct digit' at graph 0.99, first no_digit right offset 0, 0.6 font small tc rgb 0x8a4b00
}
set label 1 failed == 0 ? 'no kernel gave NaN or infinity' : \
    sprintf('NaN or infinite on some row: %d kernel%s', failed, failed == 1 ? '' : 's') \
    at screen across(left), up(strip_top - 12) left font small tc rgb CLASS[6]
plot table skip 1 using (int($8) ? $3 : NaN):6 smooth unique with fsteps lw 1.4 dt 2 lc rgb 0x8c8c8c, \
    table skip 1 using (int($7) == 5 ? $3 : NaN):(y_of((strip_top + strip_bottom) / 2.0)) \
        with points pt 2 ps 0.8 lw 1.6 lc rgb CLASS[6], \
    table skip 1 using (int($7) < 5 ? $3 : NaN):6:4:5 with xerrorbars pt 0 lw 1 lc rgb GHOST, \
    table skip 1 using (int($7) < 5 ? $3 : NaN):6:(class_colour($7)) with points pt 7 ps 1.0 \
        lc rgb variable, \
    for [n = 1:tips] table skip 1 using 3:($6 > 0 ? $6 : y_of((strip_top + strip_bottom) / 2.0)): \
        (sprintf('%s: %.1f GB/s, worst error %s', strcol(1), $3, $6 > 0 ? sprintf('%.3g row ULP', $6) : \
        'NaN or infinite')) with labels hypertext point pt 7 ps 1 lc rgb 0xff000000
