# Share of the roof at one shape: bars sorted, the fastest first, with 95 % intervals.
# data/STEM.tsv: series kernel place roof_ratio roof_lo roof_hi gbps verdict fault
stem = ARG1
format = ARG2
here = ARG0[1:strlen(ARG0) - strlen('roof_share.gp')]
load here.'style.gp'

bars = 'data/'.stem.'.tsv'

stats bars skip 1 using (0) nooutput
bar_count = int(STATS_records)
array BAR_NAME[bar_count]
array BAR_SHARE[bar_count]
array BAR_GBPS[bar_count]
array BAR_VERDICT[bar_count]
array BAR_FAULT[bar_count]
array BAR_OF[bar_count]
stats bars skip 1 using (n = int($0) + 1, BAR_OF[n] = int($1), BAR_NAME[n] = strcol(2), \
    BAR_SHARE[n] = $4, BAR_GBPS[n] = shown(strcol(7)), BAR_VERDICT[n] = shown(strcol(8)), BAR_FAULT[n] = $9, 0) nooutput
set lmargin at screen across(number('left'))
set rmargin at screen across(number('right'))
set tmargin at screen up(number('top'))
set bmargin at screen up(number('bottom'))
set xrange [0:number('xmax')]
set yrange [number('ymin'):number('ymax')]
set xlabel 'share of the roof: time of the faster copy / time of the kernel'
set border 1
step = number('xmax') > 2.4 ? 0.5 : number('xmax') > 1.3 ? 0.2 : 0.1
set xtics step
set format x '%.1f'
unset ytics
set arrow 1 from 1, graph 0 to 1, graph 1 nohead lw 2 lc rgb INK
set label 1 'the roof' at 1, graph 1 center offset 0, 0.6 tc rgb INK

row(i) = number('top') + (number('bottom') - number('top')) * (i - number('ymax')) \
    / (number('ymin') - number('ymax'))
do for [i = 1:bar_count] {
    set label 5000 + i BAR_NAME[i] at screen across(number('left') - 8), up(row(i)) right \
        tc rgb TEXT_COLOUR[BAR_OF[i]]
    if (strlen(BAR_GBPS[i]) > 0) {
        set label 2000 + i sprintf('%.3f', BAR_SHARE[i]) \
            at screen across(number('right') + 44), up(row(i)) right tc rgb INK
        set label 3000 + i BAR_GBPS[i].' GB/s' \
            at screen across(number('right') + 122), up(row(i)) right tc rgb INK
    }
    set label 4000 + i BAR_VERDICT[i] at screen across(number('right') + 136), up(row(i)) left \
        tc rgb (BAR_FAULT[i] == 1 ? ALARM : SOFT)
}

plot for [i = 1:bar_count] bars skip 1 \
        using (0):(int($1) == BAR_OF[i] && $4 > 0 ? $3 : NaN):(0):4:($3 - 0.32):($3 + 0.32) \
        with boxxyerror fs transparent solid 0.45 noborder lc rgb COLOUR[BAR_OF[i]], \
    for [i = 1:bar_count] bars skip 1 \
        using 4:(int($1) == BAR_OF[i] && $4 > 0 ? $3 : NaN):5:6 with xerrorbars \
        pt MARK[BAR_OF[i]] ps 0.8 lw 1.5 lc rgb COLOUR[BAR_OF[i]], \
    for [n = 1:tips] bars skip 1 using 4:($4 > 0 ? $3 : NaN):10 with labels hypertext \
        point pt 7 ps 1.2 lc rgb '#ff000000' notitle
