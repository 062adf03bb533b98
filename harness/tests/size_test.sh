#!/bin/sh
# The project may only become smaller: size.tsv has the largest number of lines and files of each folder and of
# the whole, and this test fails if a number is larger.
#
# usage: size_test.sh            compares the checkout with size.tsv
#        size_test.sh --lower    writes today's numbers into size.tsv. The sums (the names without a "/") may only
#                                fall; the number of a folder may rise, when a commit moves code there.
#
# A line is a newline; a file of long lines counts as bytes / 60, so that dense lines gain nothing. Product
# is code outside tests/ folders; hayai-c, a library of its own, only counts in "files". Data are not counted as lines:
# published results and adversarial rows are not code. Exit code 77: skipped, not a git checkout.
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
cd "$here/../.." || exit 1
table=harness/tests/size.tsv

# Prints "NAME lines files", sorted by name. New files count before they are added to git. A deleted file is listed
# twice, and `uniq -u` removes it.
count() {
    { git ls-files --cached --others --exclude-standard && git ls-files --deleted; } | sort | uniq -u |
        xargs wc -lc |
        awk '$3 == "total" && NF == 3 { next }
            { lines = $1 > $2 / 60 ? $1 : int($2 / 60); file = $3; all++ }
            file ~ /^harness\/hayai-c\// || file !~ /\.(c|h|cc|cpp|hpp|py|sh|sql|gp|def|cmake)$/ { next }
            file ~ /(^|\/)tests?\// { add("tests"); next }
            file !~ /^(kernels|reference|harness|lnjudge|python|plots|tools|cmake)\// { next }
            {
                parts = split(file, part, "/")
                add("product")
                if (part[1] == "harness") add("harness")
                add(part[1] "/" (part[1] == "harness" && parts > 2 ? part[2] "/" : ""))
            }
            function add(name) { sum[name] += lines; files[name]++ }
            END {
                print "files - " all
                for (name in sum) print name, sum[name], files[name]
            }' | LC_ALL=C sort
}

git rev-parse --is-inside-work-tree >/dev/null 2>&1 || { echo "skipped: this is no git checkout"; exit 77; }
now=$(mktemp) || exit 1
trap 'rm -f "$now"' EXIT
count | tr ' ' '\t' >"$now"
mode=${1:-compare}

# The first file has the limits, the second the present numbers; --lower only checks sums.
larger=$(awk -F '\t' -v mode="$mode" '
    FNR == NR { lines[$1] = $2; files[$1] = $3; next }
    mode == "--lower" && $1 ~ /\// { next }
    !($1 in files) { if ($1 ~ /\//) print $1 ": a folder that size.tsv does not have"; next }
    $2 > lines[$1] + 0 && $2 != "-" { print $1 ": " $2 " lines, at most " lines[$1] " are allowed" }
    $3 > files[$1] + 0 { print $1 ": " $3 " files, at most " files[$1] " are allowed" }' "$table" "$now")
if [ -n "$larger" ]; then
    echo "$larger"
    echo "Remove something. Where code only moved: harness/tests/size_test.sh --lower."
    exit 1
fi
[ "$mode" != --lower ] || cp "$now" "$table"
cat "$now"
