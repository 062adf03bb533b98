# Fault × factors, from the table of a judged library (library.txt): a row for each group of faults, with how many of them the factors
# decide that the verdict names; one that names two counts under both.
#     awk -f results/judged/factors.awk results/judged/library.txt
BEGIN {
    FS = "|"
    factors = split("residual, sum;in place;mean, rstd;convention;strides;place of a buffer;gamma, beta;content of rows;rows;calls, threads", name, ";")
    pattern[1] = "residual|sum"; pattern[2] = "in (x|residual)'s place"; pattern[3] = "^(mean|rstd|rrms)$"
    pattern[4] = "=|eps@|eps|^(weight|root|cast)"
    pattern[5] = "rows .*apart|gaps"; pattern[6] = "flush|an element|line's start|end of a page"; pattern[7] = "gamma|beta"
    pattern[8] = "NaN|infinity|tiny|huge|variance|off centre|far from zero"; pattern[9] = "[0-9].* rows|one row|rows or more"
    pattern[10] = "thread|turn|prepared|places|process|fork|half the rows"
    order = split("5 6 2 10 7 4 3 8 1 9", first, " ") # the first pattern that fits a factor's words is its column
}
/^\|/ && $2 !~ /^ *(group|---|) *$/ && !judged[$3]++ { # another plan's lines come later
    group = $2
    gsub(/ /, "", group)
    if (!(group in planted)) groups[++count] = group
    planted[group]++
    if (/\*\*missed\*\*/) next
    found[group]++
    if (!match($0, /(only with|seen best with) [^(:]*/)) {
        decided[group, 0]++
        next
    }
    words = substr($0, RSTART, RLENGTH)
    sub(/^(only with|seen best with) /, "", words)
    sub(/ +$/, "", words)
    gsub(/of -1, 0 and 1/, "of -1", words)
    split("", seen)
    for (i = split(words, word, / *, */); i > 0; i--)
        for (j = 1; j <= order; j++)
            if (word[i] ~ pattern[first[j]]) {
                if (!seen[first[j]]++) decided[group, first[j]]++
                break
            } else if (j == order) {
                print "factors.awk: no column for: " word[i] >"/dev/stderr"
                unknown = 1
            }
}
END {
    printf "| group | found | of any problem of its size"
    for (j = 1; j <= factors; j++) printf " | %s", name[j]
    printf " |\n|"
    for (j = -2; j <= factors; j++) printf "---|"
    print ""
    for (i = 1; i <= count; i++) row(groups[i])
    row("**all**")
    exit unknown
}
function row(group,    j) {
    printf "| %s | %d of %d", group, found[group], planted[group]
    found["**all**"] += found[group]
    planted["**all**"] += planted[group]
    for (j = 0; j <= factors; j++) {
        printf " | %s", decided[group, j]
        decided["**all**", j] += decided[group, j]
    }
    print " |"
}
