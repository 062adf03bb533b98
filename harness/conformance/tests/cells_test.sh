#!/bin/bash
# Compares layernorm.h, the dispatch table and the library with results/judged/cells.tsv: a sample of its
# shorter rows is judged again; with LNBENCH_FULL all rows.
# usage: cells_test.sh SOURCE_ROOT BUILD_DIRECTORY
set -u
root=$1 judge=$2/bin/judge_cells cells=$1/results/judged/cells.tsv every=49 failed=0
export LC_ALL=C LNBENCH_WORKER=$2/bin/lnbench-worker LNBENCH_LIBRARY=$2/lib/liblayernorm.so
[ -z "${LNBENCH_FULL-}" ] || every=1

# layernorm.h must have the promises of promise.c. A promise that rests on judged cells is the worst cell rounded up to
# a power of two, or for 16-bit types to a hundredth; a proven one is no less than the worst cell. `reproducible` has
# one figure for all call_places and ISAs of x86. Every cell of the dispatch table must be in cells.tsv.
"$judge" --table | awk -F'\t' '
    function complain(text) { print text; bad++ }
    function above(worst, type, step) {
        if (type ~ /16/) return -int(-worst * 100 - 0.999999) / 100
        for (step = 1; step < worst;) step *= 2
        return step
    }
    function check(class, type, said, part) {
        split(said == "unsupported" ? "inf, " said : said, part, ", ")
        if (part[1] != promised[class, type] ||
            (part[2] == "judged" ? part[1] != above(worst[class, type], type) : part[1] != "inf" && part[1] < worst[class, type]))
            complain("layernorm.h, " class " of " type ": " said "; promise.c has " promised[class, type] "; the worst that was judged is " worst[class, type])
    }
    FILENAME == "-" && NF == 3 { promised[$1, $2] = $3 }
    FILENAME == "-" && NF == 5 { cells[++count] = $1 FS $2 FS $3 FS $5; place[count] = $4 }
    FILENAME ~ /tsv$/ && FNR > 1 {
        places[$1 FS $2 FS $3 FS $5] = "," $4 ","
        split($1, part, "_")
        if ($6 + 0 > worst[part[2], part[3]]) worst[part[2], part[3]] = $6 + 0
        if (part[2] != "reproducible" || $2 == "neon") next # neon was judged with fewer seeds
        if (($1, $3) in same && same[$1, $3] != $6 FS $7 FS $8)
            complain($1 ", hidden " $3 ": " $6 " row ULP on " $2 ", elsewhere " same[$1, $3])
        same[$1, $3] = $6 FS $7 FS $8
    }
    /^ \*  +(f32|fast|accurate|exact)  / {
        sub(/^ \*  +/, "")
        columns = split($0, said, /  +/)
        for (i = 1; i <= 4; i++)
            if (said[1] == "f32") type[i] = said[i]
            else { check(said[1], type[i], said[i + 1]); checked++ }
    }
    END {
        for (i = 1; i <= count; i++)
            if (!index(places[cells[i]], "," place[i] ","))
                complain("not in cells.tsv: " cells[i] ", " place[i] ": results/judged/cells.sh makes it anew")
        exit bad > 0 || checked != 12 || count < 1000
    }' - "$cells" "$root/kernels/include/layernorm.h" || failed=1

# A call may dispatch to another kernel on another make of CPU; judge_cells compares that with the promise, too.
while IFS=$'\t' read -r call isa hidden places kernel row_ulp family seed; do
    found=$("$judge" "$isa" "$seed" "$call" "$hidden" "${places%%,*}" 2>&1) || { echo "$found"; failed=1; }
    IFS=$'\t' read -r _ _ _ _ taken again worst _ <<<"$found"
    [ "$taken" != "$kernel" ] || [ "$again, $worst" = "$row_ulp, $family" ] ||
        { echo "$call, $isa, hidden $hidden: $again on $worst; cells.tsv has $row_ulp on $family"; failed=1; }
done < <(awk -F'\t' -v every="$every" -v arm="$(uname -m | grep -c aarch64)" '
    FNR > 1 && ($2 == "neon") == arm && ($3 <= 1024 || every == 1) && ++n % every == 0' "$cells")
exit $failed
