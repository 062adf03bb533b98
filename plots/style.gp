# The common style of all charts, and functions that read the tables of the scripts. Each script begins with
#
#     stem = ARG1; format = ARG2; drawing = ARG3    (gnuplot -d -c field.gp STEM FORMAT FILE, in the report's directory)
#     here = ARG0[1:strlen(ARG0) - strlen('field.gp')]
#     load here.'style.gp'
#     height = ...
#     load here.'canvas.gp'
#
# reads data/STEM*.tsv and writes FILE. Texts of the tables go into variables and are drawn "noenhanced", so that
# gnuplot never reads them as commands.

set encoding utf8
set datafile separator "\t"
set datafile commentschars ""
set datafile missing "NaN"

table = 'data/'.stem.'.tsv'
more = 'data/'.stem.'_more.tsv'

# ---- settings: key, number, text ----
settings = 'data/'.stem.'_settings.tsv'
stats settings skip 1 using (0) nooutput
array KEY[STATS_records]
array NUMBER[STATS_records]
array WORDING[STATS_records]
stats settings skip 1 using (n = int($0) + 1, KEY[n] = strcol(1), NUMBER[n] = $2, \
    WORDING[n] = strcol(3), 0) nooutput
place(key) = sum [i = 1:|KEY|] (KEY[i] eq key ? i : 0)
number(key) = NUMBER[place(key)]
wording(key) = WORDING[place(key)]

# ---- colours ----
INK = 0x1a1a1a
SOFT = 0x5b5b5b
FAINT = 0xe2e2e2
GHOST = 0xc4c4c4

# A name has the same look on every chart: fastest, recommended, two-pass, Welford, naive, fused, plugin, peers,
# proven. lnbench's kernels are blue, textbook kernels orange, others black and grey.
array LOOK[12] = [0x08519c, 0x2b83ba, 0xc04a00, 0x857000, 0xa50f15, 0x00796b, 0x7b3294, \
    0x1a1a1a, 0x707070, 0x5d4037, 0x9e9e9e, 0x3f51b5]
array LOOK_MARK[12] = [7, 5, 9, 11, 2, 13, 3, 6, 4, 8, 12, 15]

# Error classes. Blue: accurate; orange and red: not. All differ in greyscale (luma 78, 120, 208, 169, 50).
array CLASS[6] = [0x9a9a9a, 0x0f5ca8, 0x3a88c6, 0xb5d8ec, 0xf29d2c, 0x8b0a12]
class_colour(c) = CLASS[int(c) + 1]
on_class(c) = c > 1 && c < 5 ? INK : 0xffffff

# "-" means an empty text, since gnuplot reads an empty cell as missing.
two_lines(words) = (colon = strstrt(words, ': '), colon ? words[1:colon]."\n".words[colon + 2:*] : words)
# Returns how far to move up a label of two lines: gnuplot puts its first line at the place of a single one.
rise(words) = strstrt(words, ': ') ? 7 : 0
shown(cell) = cell eq '-' ? '' : cell

# Labels of logarithmic axes: 500, 0.05, 1e7, 2e5. (The font has no superscript 4 to 9, so no exponents are raised.)
exponent(v) = int(floor(log10(v) + 1e-9))
leading(v) = int(v / 10.0 ** exponent(v) + 0.5)
tick_label(v) = v >= 0.000999 && v < 9999 ? sprintf('%g', v) : sprintf('%de%d', leading(v), exponent(v))

# A speed with about three digits.
figure(v) = v < 10 ? sprintf('%.1f', v) : sprintf('%.0f', v)

# The approximate width of a text in pixels at a font size.
text_width(words, size) = 0.55 * size * strlen(words)

width = 900
font_size = 15
