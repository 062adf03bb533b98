# Makes the tables of figures in a document anew from a published table.txt; the rest of the
# document passes unchanged.
#     awk -f figures.awk table.txt DOCUMENT
# A table stands between this line and "<!-- end of figures -->":
#     <!-- figures of the fastest: REGIME HIDDEN ASKED ... -->   the fastest kernel of each
# Figures that table.txt has not end the program with code 1, after a line on standard error.

FNR == 1 { file++ }

# ---- table.txt: blocks of one shape, then the errors ----

file == 1 && /^[0-9]+ x [0-9]+ f32, torch, [A-Z0-9]+, hot cache, 1 thread$/ {
    regime = $6
    sub(/,/, "", regime)
    at = regime " " $3
    rows[at] = $1
    next
}
file == 1 && /^$/ { at = ""; next }
file == 1 && at != "" && $3 ~ /^[0-9.]+$/ && $4 ~ /^\[/ {
    gbps[at, $1] = $2
    share[at, $1] = $3 " " $4 " " $5
    class[at, $1] = $10
    if ($1 !~ /^(library_|copy)/ && !(at in fastest))
        fastest[at] = $1
    next
}
file == 1 { next }

# ---- the document ----

function complain(what) {
    printf "%s: %s\n", FILENAME, what >"/dev/stderr"
    failed = 1
}

function fastest_table(words, count, i, at) {
    print "| regime | rows × hidden | fastest | GB/s | share | reproducible | target |"
    print "|---|---|---|---|---|---|---|"
    for (i = 1; i + 2 <= count; i += 3) {
        at = words[i] " " words[i + 1]
        if (!(at in fastest)) {
            complain("the run has no kernel at " at)
            continue
        }
        printf "| %s | %d × %d | `%s` | %s | %s | %s | %s |\n", words[i], rows[at], words[i + 1],
            fastest[at], gbps[at, fastest[at]], share[at, fastest[at]], class[at, fastest[at]],
            words[i + 2]
    }
}

/^<!-- figures of / {
    print
    line = $0
    gsub(/^<!-- figures of | -->$/, "", line)
    sub(/^[^:]*: */, "", line)
    count = split(line, words, " ")
    fastest_table(words, count)
    inside = 1
    next
}
/^<!-- end of figures -->$/ { inside = 0 }
inside { next }

{ print }

END {
    if (inside)
        complain("a table of figures has no end")
    exit failed
}
