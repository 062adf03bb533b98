#!/bin/sh
# What the README says is what was published: each line of its table stands, figure by figure, in the
# table.txt that the README names, and every file of results/ that it names is there.
#     readme_test.sh SOURCE
# shellcheck disable=SC2016 # backquotes of Markdown
set -u
root=$1
readme=${2:-$root/README.md}
failures=0
fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

named=$(grep -o '(results/[^)]*)' "$readme" | tr -d '()' | sort -u)
[ -n "$named" ] || fail "the README names nothing of results/"
for file in $named; do
    [ -e "$root/$file" ] || fail "the README names $file, which is not there"
done
table=$root/$(echo "$named" | grep '/table.txt$' | head -n 1)
[ -f "$table" ] || {
    fail "the README names no table.txt"
    exit 1
}

# "85 rows × 768" above the table is the block "85 x 768 f32, torch, L2 ..." of table.txt.
shape=$(sed -n 's/^\([0-9]*\) rows × \([0-9]*\),.*/\1 x \2/p' "$readme" | head -n 1)
block=$(awk -v head="^$shape f32, torch, L2" '$0 ~ head { on = 1; next } on && /^$/ { exit } on' "$table")
[ -n "$block" ] || fail "table.txt has no block '$shape f32, torch, L2'"

# value KERNEL HEADING: a cell of the block, by where its columns begin.
value() {
    printf '%s\n' "$block" | awk -v kernel="$1" -v heading="$2" '
        NR == 1 { split("GB/s|share of roof|max ULP|mean ULP|row ULP|proven|verdict", names, "|"); next }
        $1 == kernel {
            share = $3 " " $4 " " $5
            if (heading == "GB/s") print $2
            if (heading == "share of roof") print share
            if (heading == "row ULP") print $8
            if (heading == "proven") print $9
        }'
}

rows=0
while IFS='|' read -r _ kernel gbps share row_ulp proven _; do
    kernel=$(echo "$kernel" | tr -d '\` ')
    rows=$((rows + 1))
    for pair in "GB/s=$gbps" "share of roof=$share" "row ULP=$row_ulp" "proven=$proven"; do
        said=$(echo "${pair#*=}" | sed 's/^ *//; s/ *$//')
        stored=$(value "$kernel" "${pair%%=*}")
        [ "$said" = "$stored" ] ||
            fail "$kernel, ${pair%%=*}: the README says '$said', the published table '$stored'"
    done
done <<END
$(grep -E '^\| `[a-z0-9_]+` \| [0-9.]+ \|' "$readme")
END
[ "$rows" -ge 3 ] || fail "the README's table was not found: $rows lines"

roof=$(sed -n 's/.*a copy loop at \([0-9.]*\) GB\/s.*/\1/p' "$readme")
stored=$(value roof_copy GB/s)
[ "$roof" = "$stored" ] || fail "the roof: the README says '$roof', the published table '$stored'"

# What checks the checks.
if [ $# -eq 1 ] && [ $failures -eq 0 ]; then
    changed=$(mktemp) || exit 1
    sed 's/^\(| `[a-z0-9_]*` | \)[0-9.]* /\1999 /' "$readme" >"$changed"
    "$0" "$root" "$changed" >/dev/null && fail "a changed figure was not seen"
    rm -f "$changed"
fi
echo "$rows lines of the README's table compared"
exit $failures
