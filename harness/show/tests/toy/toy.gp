# data/STEM.tsv: kernel gbps
stem = ARG1
format = ARG2
drawing = ARG3
here = ARG0[1:strlen(ARG0) - strlen('toy.gp')]
load here.'style.gp'
height = 300
load here.'canvas.gp'
plot table skip 1 using 2:2 with points
