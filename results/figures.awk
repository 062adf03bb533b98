# Makes the tables of figures in a document anew from a published table.txt; the rest of the
# document passes unchanged.
#     awk -v aliases=kernels/table/aliases.def -f figures.awk table.txt DOCUMENT
# Kernels that table.txt has by earlier names are known by the ones they have now.
# A table stands between one of these lines and "<!-- end of figures -->":
#     <!-- figures of L2 768: KERNEL ... -->                 these kernels at one hidden size
#     <!-- figures of the fastest: REGIME HIDDEN ASKED ... -->   the fastest kernel of each
# Figures that table.txt has not end the program with code 1, after a line on standard error.

BEGIN {
    while (aliases != "" && (getline line < aliases) > 0)
        if (line ~ /^LN_ALIAS\(/) {
            gsub(/LN_ALIAS\(|,|\)/, " ", line)
            split(line, pair, " ")
            now[pair[1]] = pair[2]
        }
}

FNR == 1 { file++ }
file == 1 && $1 in now { $1 = now[$1] }

# ---- table.txt: blocks of one shape, then the errors ----

file == 1 && /^[0-9]+ x [0-9]+ f32, torch, [A-Z0-9]+, hot cache, 1 thread$/ {
    regime = $6
    sub(/,/, "", regime)
    at = regime " " $3
    rows[at] = $1
    next
}
file == 1 && /^accuracy over all / { at = ""; errors = 1; next }
file == 1 && /^$/ { at = ""; next }
file == 1 && at != "" && $3 ~ /^[0-9.]+$/ && $4 ~ /^\[/ {
    gbps[at, $1] = $2
    share[at, $1] = $3 " " $4 " " $5
    row_ulp[at, $1] = $8
    proven[at, $1] = $9
    class[at, $1] = $10
    if ($1 !~ /^roof_/ && !(at in fastest))
        fastest[at] = $1
    next
}
file == 1 && errors && $2 ~ /^[0-9]+$/ && NF >= 9 {
    cases[$1] = $2
    wrong[$1] = $5 + $7
    worst[$1] = $9
    next
}
file == 1 { next }

# ---- the document ----

function complain(what) {
    printf "%s: %s\n", FILENAME, what >"/dev/stderr"
    failed = 1
}

# The largest error of the cases in which the kernel is right, and in how many it is not; beyond
# 2^23 row ULP no digit is.
function worst_words(kernel, words) {
    if (!(kernel in worst))
        return "-"
    words = worst[kernel] + 0 >= 8388608 ? "no digit right" : worst[kernel]
    return words (wrong[kernel] ? "; wrong in " wrong[kernel] : "")
}

function kernel_table(at, names, count, i, most) {
    for (i = 1; i <= count; i++)
        if (cases[names[i]] > most)
            most = cases[names[i]]
    printf "| kernel | GB/s | share of the roof | row ULP, normal input | proven | worst row ULP of %d cases | reproducible |\n", most
    print "|---|---|---|---|---|---|---|"
    for (i = 1; i <= count; i++) {
        if (!((at, names[i]) in gbps)) {
            complain("the run has no " names[i] " at " at)
            continue
        }
        printf "| `%s` | %s | %s | %s | %s | %s | %s |\n", names[i], gbps[at, names[i]],
            share[at, names[i]], row_ulp[at, names[i]], proven[at, names[i]], worst_words(names[i]),
            class[at, names[i]]
    }
}

function fastest_table(words, count, i, at) {
    print "| regime | rows × hidden | fastest | GB/s | share | reproducible | asked for |"
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
    kind = line
    sub(/:.*/, "", kind)
    sub(/^[^:]*: */, "", line)
    count = split(line, words, " ")
    if (kind == "the fastest")
        fastest_table(words, count)
    else
        kernel_table(kind, words, count)
    inside = 1
    next
}
/^<!-- end of figures -->$/ { inside = 0 }
inside { next }

# In the sentence above the README's table.
/ rows × [0-9]+, .*data in L2/ {
    match($0, / rows × [0-9]+/)
    hidden = substr($0, RSTART, RLENGTH)
    sub(/^ rows × /, "", hidden)
    sub(/^[0-9]+ rows/, rows["L2 " hidden] " rows")
    sub(/a copy loop at [0-9.]+ GB\/s/, "a copy loop at " gbps["L2 " hidden, "roof_copy"] " GB/s")
}
{ print }

END {
    if (inside)
        complain("a table of figures has no end")
    exit failed
}
