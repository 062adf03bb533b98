#!/bin/sh
# Measures and publishes: one run of the default plan with the peers, and everything that stands of it in
# the repository.
#     results/publish.sh [NAME [OPTION OF lnbench run...]]     (default: the date and the processor)
#     results/publish.sh --check     do the documents say what was published?
# writes results/published/NAME/ (table.txt, answer.md, PNGs, run.db.xz), makes the tables of
# figures in README.md and docs/lab/figures.md anew, and tells which sentences to read again.
set -u
root=$(cd "$(dirname "$0")/.." && pwd) || exit 7
lnbench=${LNBENCH_COMMAND:-$root/lnbench}
documents="README.md docs/lab/figures.md"
charts="field throughput speed_error error_kappa conventions error_spread timings"

stop() {
    echo "publish.sh: $*" >&2
    exit 7
}

# The directory that the README names.
published() { sed -n 's|.*(\(results/published/[^/)]*\)/.*|\1|p' "$root/README.md" | head -n 1; }

# made_anew DIRECTORY DOCUMENT: as it would be with the figures of that run. The README has the
# sentences of the report's answer.
made_anew() {
    awk -v answer="$1/answer.md" '
        /^<!-- end of the answer -->$/ { inside = 0 }
        !inside { print }
        /^<!-- the answer of the report -->$/ {
            while ((getline line < answer) > 0 && line !~ /^\|/ && line !~ /^Noisy: /)
                if (line != "") {
                    for (line = "- " line; length(line) > 198; line = "  " substr(line, at + 1)) {
                        at = 198
                        while (substr(line, at, 1) != " ")
                            at--
                        print substr(line, 1, at - 1)
                    }
                    print line
                }
            inside = 1
        }' "$2" >"$work/document" &&
        awk -f "$root/results/figures.awk" "$1/table.txt" "$work/document"
}

# answer_of report.md: what the README shows of it.
answer_of() {
    awk 'NR == 3 { print }
        /^## Speed/ { exit }
        /^## / { within = 1; print ""; next }
        /^!\[/ { skip = 3 }
        skip-- > 0 || !within || /\(#what-went-wrong\)/ || /on a page of its own/ { next }
        { print }' "$1" | cat -s
}

work=$(mktemp -d) || exit 7
trap 'rm -rf "$work"' EXIT
if [ "${1-}" = --check ]; then
    wrong=0
    [ -f "$root/$(published)/table.txt" ] || stop "README.md names no published table.txt that is there"
    for document in $documents; do
        made_anew "$root/$(published)" "$root/$document" | diff "$root/$document" - || wrong=1
    done
    [ $wrong = 0 ] || echo "publish.sh: the documents say other figures than $(published)" >&2
    exit $wrong
fi

export LNBENCH_PEERS="${LNBENCH_PEERS-1}"
name=${1:-$(date +%Y-%m-%d)-$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1 |
    tr '[:upper:] ' '[:lower:]-' | tr -cd 'a-z0-9-' | cut -c 1-24)}
[ $# = 0 ] || shift
case $name in */* | .*) stop "$name: a plain name was expected" ;; esac
to=$root/results/published/$name
old=$(published)

# From there, so that the command that the report names holds no path of this machine.
(cd "$work" && "$lnbench" run --db run.db --out charts "$@") >"$work/out" ||
    stop "lnbench run ended with $?: nothing is published"
"$lnbench" export --db "$work/run.db" --format tsv --out "$work/cases.tsv" || exit 7
awk -f "$root/results/table.awk" "$work/cases.tsv" >"$work/table.txt" || exit 7
"$lnbench" export --db "$work/run.db" --format db --out "$work/run.db.xz" || exit 7

mkdir -p "$to" || exit 7
cp "$work/table.txt" "$work/run.db.xz" "$to/" || exit 7
answer_of "$work/charts/report.md" >"$to/answer.md" || exit 7
for chart in $charts; do
    [ ! -f "$work/charts/$chart.png" ] || cp "$work/charts/$chart.png" "$to/" || exit 7
done
echo "published in results/published/$name"

for document in $documents; do
    mkdir -p "$work/$(dirname "$document")" || exit 7
    sed "s|${old:-results/published/none}/|results/published/$name/|g" "$root/$document" \
        >"$work/renamed" || exit 7
    made_anew "$to" "$work/renamed" >"$work/$document" ||
        stop "$document: the run lacks figures: the documents are left as they were"
done
for document in $documents; do
    cat "$work/$document" >"$root/$document" || exit 7
done
echo "made anew: the answer in README.md, the tables of figures in docs/lab/figures.md"
[ "$old" = "results/published/$name" ] || [ -z "$old" ] || echo "no longer named: $old"
echo "to be read again by hand, sentences with figures of the run:"
for document in $documents; do
    grep -nE 'fastest is|times the time|third more|GB/s' "$root/$document" | grep -v '[0-9]:|' |
        cut -c 1-110 | sed "s|^|  $document:|"
done
