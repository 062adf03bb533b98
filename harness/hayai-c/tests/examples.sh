#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the examples with every output, and has Google's compare.py and an XML parser read them.
# usage: run_examples.sh EXAMPLE_DIRECTORY PYTHON COMPARE_PY   (the last one may not be there)
set -eu
examples=$1 python=$2 compare=$3
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

for example in plain fixture; do
    for number in 1 2; do
        "$examples/hayai_example_$example" --benchmark_min_time=0.002 --benchmark_repetitions=3 \
            --quartiles -o none -o "json:$work/$example$number.json" \
            -o "junit:$work/$example.xml" -o "tsv:$work/$example.tsv" \
            -o "jsonl:$work/$example.jsonl" -o "markdown:$work/$example.md"
    done
    "$python" - "$work/$example" <<'PYTHON'
import json, sys, xml.etree.ElementTree
def refuse(text):
    raise SystemExit("not strict JSON: " + text)
with open(sys.argv[1] + "1.json") as file:
    document = json.load(file, parse_constant=refuse)
with open(sys.argv[1] + ".jsonl") as file:
    lines = [json.loads(line, parse_constant=refuse) for line in file]
assert len(document["benchmarks"]) == len(lines) - 1 > 0
suite = xml.etree.ElementTree.parse(sys.argv[1] + ".xml").getroot()[0]
cases = suite.findall("testcase")
runs = [run for run in document["benchmarks"] if run["run_type"] == "iteration"]
assert len(cases) == len(runs) == int(suite.get("tests")) and suite.get("failures") == "0"
PYTHON
done

"$examples/hayai_example_reporter" | grep -q '^2 benchmarks$'
"$examples/hayai_example_plain" --list | grep -qx text/compare
"$examples/hayai_example_plain" --help | grep -q -- --output
"$examples/hayai_example_plain" -f nothing 2> "$work/error" && exit 1
grep -q 'no benchmark matches nothing' "$work/error"
set +e
"$examples/hayai_example_plain" --benchmark_min_time=x 2> "$work/error"
[ $? -eq 2 ] || exit 1
"$examples/hayai_example_plain" unknown 2>> "$work/error"
[ $? -eq 2 ] || exit 1
set -e
[ "$(wc -l < "$work/error")" -eq 2 ]

if [ -f "$compare" ] && "$python" -c 'import scipy' 2> /dev/null; then
    for example in plain fixture; do
        "$python" "$compare" --no-color benchmarks "$work/${example}1.json" \
            "$work/${example}2.json" > "$work/compared"
        grep -q '^Benchmark .*Time .*CPU .*Time Old' "$work/compared"
        grep -q '_mean ' "$work/compared"
    done
    grep -q 'blocks/copy/bytes:64/real_time/threads:2_pvalue' "$work/compared"
else
    echo "compare.py is not here: not tried"
fi
