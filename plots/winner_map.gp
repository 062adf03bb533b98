# The recommended kernel, a table: a line a hidden size, a section a regime. data/STEM.tsv: regime hidden fastest gbps recommended
# gbps; gbps of 0: there is none
stem = ARG1
format = ARG2
drawing = ARG3
here = ARG0[1:strlen(ARG0) - strlen('winner_map.gp')]
load here.'style.gp'
stats table skip 1 using (0) nooutput
n = int(STATS_records)
array REGIME[n]
array HIDDEN[n]
array KERNEL[2 * n]
array SPEED[2 * n]
stats table skip 1 using (i = int($0) + 1, REGIME[i] = strcol(1), HIDDEN[i] = int($2), KERNEL[2 * i - 1] = strcol(3), \
    SPEED[2 * i - 1] = $4, KERNEL[2 * i] = strcol(5), SPEED[2 * i] = $6, 0) nooutput
sections = 0
do for [i = 1:n] { sections = sections + (i == 1 ? 1 : REGIME[i] ne REGIME[i - 1]) }
line = 22
height = 120 + n * line + sections * 34 + 40
load here.'canvas.gp'
unset border
unset tics
unset grid
set lmargin at screen 0
set rmargin at screen 1
set tmargin at screen 1
set bmargin at screen 0
set xrange [0:1]
set yrange [0:1]

array AT[2] = [200, 550]
set label 1 'hidden size' at screen across(150), up(98) right tc rgb SOFT
set label 2 'fastest, GB/s' at screen across(AT[1]), up(98) left tc rgb SOFT
set label 3 'recommended, GB/s' at screen across(AT[2]), up(98) left tc rgb SOFT
y = 106
do for [i = 1:n] {
    if (i == 1 ? 1 : REGIME[i] ne REGIME[i - 1]) {
        y = y + 34
        set label 100 + i 'Data in '.REGIME[i] at screen across(20), up(y - 10) left tc rgb INK
        set arrow 100 + i from screen across(20), up(y + 2) to screen across(width - 20), up(y + 2) nohead lw 1 lc rgb FAINT
    }
    y = y + line
    set label 200 + i sprintf('%d', HIDDEN[i]) at screen across(150), up(y - 6) right tc rgb INK
    do for [k = 1:2] {
        at = 2 * i - 2 + k
        set label 200 + n + at ''.shown(KERNEL[at]) at screen across(AT[k] + 46), up(y - 6) left \
            font sprintf(',%d', text_width(KERNEL[at], font_size) > 320 ? font_size - 3 : font_size) tc rgb INK
        if (SPEED[at] > 0) {
            set label 200 + 3 * n + at figure(SPEED[at]) at screen across(AT[k] + 34), up(y - 6) right tc rgb LOOK[k]
        }
    }
}
plot NaN
