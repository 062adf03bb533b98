#!/bin/sh
# README.md and docs/lab/figures.md agree with the published run, figure by figure; results/publish.sh makes both
# from a run.
#     readme_test.sh SOURCE LNBENCH
# shellcheck disable=SC2016 # backquotes of Markdown
set -u
root=$1
lnbench=$2
failures=0
fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

[ "$(wc -l <"$root/README.md")" -le 80 ] || fail "README.md has more than 80 lines"
[ "$(wc -w <"$root/README.md")" -le 900 ] || fail "README.md has more than 900 words"
grep -v '^!' "$root/README.md" | LC_ALL=C.UTF-8 grep -nE '.{201}' && fail "README.md has lines of more than 200 characters"
"$root/results/publish.sh" --check || fail "the documents say other figures than were published"

awk -f "$root/results/judged/factors.awk" "$root/results/judged/library.txt" >"$scratch/factors" &&
    sed -n '/factors\.awk/,/end -->/p' "$root/docs/lab/faults.md" | grep '^|' | diff - "$scratch/factors" ||
    fail "docs/lab/faults.md's table of factors is not that of results/judged/library.txt"

# Old terms must not be in the documents or in the output of commands.
old='roof|referee|hearing|told apart|hunted|corpus|extremes|usable'
(cd "$root" && grep -iwnE "$old" README.md docs/*.md &&
    exit 1
    find harness -name '*.c' ! -path '*/tests/*' -exec grep -noE '"[^"]*"' {} + | grep -v '\.h"\|"referee"' | grep -iwE "$old" && exit 1
    exit 0) || fail "an old word is back: docs/glossary.md has the terms"

# links DOCUMENT: prints each target that does not exist, as a file or as a heading of one.
links() {
    grep -v '^    ' "$1" | grep -o '\](#*[^)#: ][^): ]*)' | sed 's/^](//; s/)$//' | sort -u |
        while read -r link; do
            file=$(dirname "$1")/${link%%#*}
            [ "${link%%#*}" ] || file=$1
            [ -e "$file" ] || echo "FAILED: $1 names $link, which is not there"
            case $link in
            *'#'*)
                sed -n 's/^##* //p' "$file" | tr '[:upper:] ' '[:lower:]-' | sed 's/[^a-z0-9_-]//g' |
                    grep -qxF -- "${link#*#}" || echo "FAILED: $1 names $link, a heading that is not there"
                ;;
            esac
        done
}
for document in "$root"/README.md "$root"/docs/*.md "$root"/kernels/README.md "$root"/results/README.md \
    "$root"/harness/hayai-c/README.md; do
    links "$document"
done | tee "$scratch/lost"
[ ! -s "$scratch/lost" ] || failures=$((failures + 1))
printf '# A page\n[a](#a-page) [b](nowhere.md) [c](#nowhere)\n' >"$scratch/page.md"
[ "$(links "$scratch/page.md" | wc -l)" = 2 ] || fail "a lost link was not seen"
# Every page is in the index.
for document in "$root"/docs/*.md; do
    grep -q "($(basename "$document"))" "$root/docs/README.md" ||
        [ "$(basename "$document")" = README.md ] || fail "$document is not in docs/README.md"
done
# Functions that documents name are in a header; the format of the store has the number in its files.
grep -oh '`ln_[a-z0-9_]*' "$root"/docs/*.md "$root"/README.md "$root"/kernels/README.md | sort -u | tr -d '`' |
    while read -r name; do
        grep -rqw "$name" "$root/kernels" "$root/reference" "$root/python" --include=*.h --include=*.py || echo "FAILED: documents name $name, which no header has"
    done | tee "$scratch/lost"
[ ! -s "$scratch/lost" ] || failures=$((failures + 1))
version=$(sed -n 's/.*STORE_VERSION = \([0-9]*\).*/\1/p' "$root/harness/store/open.c")
for words in "## Tables (format $version;" "is the number of the format ($version)"; do
    grep -qF "$words" "$root/results/README.md" || fail "results/README.md says not: $words"
done

bytes=$(find "$root/results" -name 'lnbench.db*' -prune -o -name charts -prune -o -type f -print0 | xargs -0 cat | wc -c)
[ "$bytes" -le 6000000 ] || fail "results/ has $bytes bytes; 6000000 are its share of the repository"

# Check the checks: a changed figure is found in any column.
tree=$scratch/tree
mkdir -p "$tree/docs/lab" "$tree/results" || exit 1
cp "$root"/results/publish.sh "$root"/results/*.awk "$tree/results/"
ln -s "$root/results/published" "$tree/results/published"
plant() {
    document=$1
    cp "$root/README.md" "$tree/README.md"
    cp "$root/docs/lab/figures.md" "$tree/docs/lab/figures.md"
    sed "$2" "$root/$document" >"$tree/$document"
    cmp -s "$root/$document" "$tree/$document" && fail "$document: '$2' changes nothing"
    "$tree/results/publish.sh" --check >/dev/null 2>&1 && fail "$document: '$2' was not seen"
}
plant README.md 's/^- Recommended: `[^`]*`/- Recommended: `naive_f32_scalar`/'
plant README.md 's/is [0-9.]* times as fast/is 99 times as fast/'
plant README.md 's/at most [0-9.]* row ULP/at most 0.1 row ULP/'
plant docs/lab/figures.md '/^| L2 | .* × 768/s/| [0-9.]* | 0/| 999 | 0/'
plant docs/lab/figures.md '/^| DRAM | .* × 768/s/`[a-z0-9_]*`/`naive_f32_scalar`/'
plant docs/lab/figures.md '/^| DRAM | .* × 768/s/| row |/| run |/'

# A run of its own is published: the README's figures become the run's, and name it.
rm "$tree/results/published"
cat >"$tree/README.md" <<'END'
[all](results/published/old/table.txt)
<!-- the answer of the report -->
<!-- end of the answer -->
The end.
END
printf '<!-- figures of the fastest: L2 768 .5 -->\n<!-- end of figures -->\n' >"$tree/docs/lab/figures.md"
publish() {
    LNBENCH_PEERS=0 LNBENCH_COMMAND=$lnbench "$tree/results/publish.sh" "$1" --plan quick \
        --kernels two_pass_f32_scalar --shapes "$2" --conventions torch --inputs normal,offset \
        --processes 2 --repetitions 2 >"$scratch/out" 2>&1
}
publish new 16x768 || fail "publishing: $(cat "$scratch/out")"
for file in table.txt answer.md run.db.xz; do
    [ -s "$tree/results/published/new/$file" ] || fail "published: no $file"
done
grep -q '(results/published/new/table.txt)' "$tree/README.md" || fail "the README's run: $(cat "$tree/README.md")"
grep -Eq '^- Recommended: `two_pass_f32_scalar`, .* at 16x768 ' "$tree/README.md" ||
    grep -q '^- No kernel is recommended: ' "$tree/README.md" ||
    fail "the README's answer: $(cat "$tree/README.md")"
grep -Eq '^\| [a-z]+ \| `two_pass_f32_scalar` \| [0-9.]+ \| [0-9]+ % \\?\[' "$tree/results/published/new/answer.md" ||
    fail "the published row: $(cat "$tree/results/published/new/answer.md")"
grep -Eq '^\| L2 \| 16 × 768 \| `two_pass_f32_scalar` \| [0-9.]+ \|' "$tree/docs/lab/figures.md" ||
    fail "the figures' row: $(cat "$tree/docs/lab/figures.md")"
grep -qx 'The end.' "$tree/README.md" || fail "the README's end is lost"
"$tree/results/publish.sh" --check || fail "what was just published is not what the README says"
# A run without the shapes of the documents leaves them unchanged.
cp "$tree/README.md" "$scratch/before"
publish newer 16x256 && fail "a run without the documents' shape was published into it"
cmp -s "$tree/README.md" "$scratch/before" || fail "the README was changed by a run that lacks it"
exit $failures
