# Every chart of a report on one sheet.
#     gnuplot -e "charts = 'field throughput'" contact_sheet.gp     in the folder of their PNGs
set terminal pngcairo size 1300,540 * ((words(charts) + 1) / 2) background 'white'
set output 'contact_sheet.png'
set multiplot layout (words(charts) + 1) / 2,2 margins 0.01,0.99,0.01,0.99 spacing 0.01
unset tics
unset key
unset border
set autoscale fix
set size ratio -1
do for [chart in charts] {
    plot chart.'.png' binary filetype=png with rgbimage
}
