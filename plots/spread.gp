# Moves WANTED[1 .. slots], heights in pixels, as little as possible, so that the distance of neighbours i and j is at
# least apart(i, j); their order stays.
array FROM[slots + 1]
do for [i = 1:slots] { FROM[i] = WANTED[i] }
do for [pass = 1:200] {
    moved = 0
    do for [i = 1:slots] {
        do for [j = 1:slots] {
            if (i != j && (FROM[j] > FROM[i] || (FROM[j] == FROM[i] && j > i))) {
                lack = apart(i, j) - (WANTED[j] - WANTED[i])
                if (lack > 0.01) {
                    WANTED[i] = WANTED[i] - lack / 2
                    WANTED[j] = WANTED[j] + lack / 2
                    moved = 1
                }
            }
        }
    }
    if (!moved) { break }
}
