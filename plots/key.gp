# The legend of the error classes, loaded after canvas.gp. NaN is hatched, so that it is visible without colours.
array KEY_WORDS[5] = ['up to 1', 'up to 4', sprintf('up to %g', number('rough')), sprintf('above %g', number('rough')), \
    'NaN, infinite or fault']
array KEY_AT[5] = [188, 274, 360, 472, 582]
set label 1010 'Worst error, row ULP:' at screen across(20), up(86) left font small tc rgb INK
do for [i = 1:5] {
    set object 10 + i rectangle from screen across(KEY_AT[i]), up(92) to screen across(KEY_AT[i] + 13), up(79) \
        fc rgb CLASS[i + 1] fs solid noborder
    set label 1010 + i ''.KEY_WORDS[i] at screen across(KEY_AT[i] + 19), up(86) left font small tc rgb INK
}
set object 16 rectangle from screen across(KEY_AT[5]), up(92) to screen across(KEY_AT[5] + 13), up(79) \
    fc rgb 0xffffff fs transparent pattern 5 noborder
