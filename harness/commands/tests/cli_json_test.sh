#!/bin/bash
# shellcheck disable=SC2154 # cli_common.sh sets lnbench, binaries and libraries
# The output of --json, and the corresponding tables.
. "$(dirname "$0")/cli_common.sh" "$@"

for what in kernels models; do
    accepted "list $what" 0 list "$what"
    rows=$(($(sed '/^$/,$d' out | wc -l) - 1)) # the columns are explained below
    accepted "list $what --json" 0 list "$what" --json
    json "list $what" "$what"
    check "list $what: as many in both" is "$(value '' out)" "$rows"
done

# The exit code depends on the present load: 0 or 3.
run_it doctor --facts
warnings=$(grep -c ^warning out)
check "doctor: the verdict first" is "$(sed -n '1s/.*: \([0-9]*\) warnings*$/\1/p' out)" "$warnings"
check "doctor: warnings, notes, what is fine, then facts" is \
    "$(sed -n 's/^\(warning\|note\|fine\|machine\)\b.*/\1/p' out | uniq | xargs)" \
    "$(sed -n 's/^\(warning\|note\) .*/\1/p' out | sort -ru | xargs) fine machine"
run_it doctor
check "doctor: without --facts only what is to be mended" is "$(grep -Ec '^(fine|machine) |cannot be read here' out)" 0
run_it doctor --json
check "doctor --json: exit code" is "$code" "$([ "$(value trusted out)" = true ] && echo 0 || echo 3)"
json "doctor" doctor
cpu=$(taskset -cp $$ | sed 's/.*[:,-] *//')
for _ in 1 2 3; do
    taskset -c "$cpu" sh -c 'while :; do :; done' &
    spinning+=($!)
done
taskset -c "$cpu" "$lnbench" doctor >out
code=$?
kill "${spinning[@]}"
check "doctor beside three that spin: exit code" is "$code" 3
check "doctor beside three that spin: says so" has out '^timings here cannot be trusted, since other work took [0-9]+ % of the time of this CPU '

small=(--kernels two_pass_f32_scalar --shapes 4x8 --conventions "torch,zscore" --inputs "normal,nan")
ends "run --json" 0 run --db a.db --json --processes 1 --repetitions 2 "${small[@]}"
check "run --json: where it is stored goes elsewhere" has err '^stored  run 1 in a.db$'
check "run --json: no charts" test ! -e results
# Four judged cases, one of them also timed (normal, torch), and two copies.
check "run --json: the cases" is "$(value '' out)" 7
check "run --json: a verdict" is "$(value 0.verdict out)" pass
check "run --json: elements" is "$(value 0.metrics.elements out)" 32
check "run --json: repetitions" is "$(value 0.speed.repetitions out)" 2

accepted "run --dry-run --json" 0 run --db none.db --dry-run --json "${small[@]}"
check "run --dry-run: no database" test ! -e none.db
check "run --dry-run: a line a group" is "$(value 0.what out)" accuracy

accepted "list runs" 0 list runs --db a.db
check "list runs: the state" has out ' complete '
accepted "list runs --json" 0 list runs --db a.db --json
check "list runs: the run" is "$(value 0.run out)" 1

"$binaries/test_files" make x.npy '<f4' '(2, 3)' 1 2 4 8 16 32
accepted "eval --json" 0 eval --x x.npy --convention tinyllm --kernel two_pass_f32_scalar --json
check "eval --json: no speed" is "$(value speed out)" null

accepted "export db" 0 export --db a.db --format db --out few.db
refused "export db to standard output" 2 '--format db needs --out FILE' export --db a.db --format db
refused "an unknown format" 2 "invalid --format 'jsn' \(did you mean 'json'\?\): choose json, tsv, csv, smaller or db" export --db a.db --format jsn
accepted "export tsv" 0 export --db a.db --format tsv
check "export tsv: as many fields in each line" is "$(awk -F '\t' '{ print NF }' out | uniq | wc -l)" 1
check "export tsv: a line a case" lines out 8
for format in json smaller csv tsv; do
    accepted "export $format" 0 export --db a.db --format $format
    cp out printed
    accepted "export $format --out" 0 export --db a.db --format $format --out saved
    check "export $format: the same in a file" cmp printed saved
done
mkfifo pipe
timeout 20 cat pipe >drained &
accepted "export into a pipe" 0 export --db a.db --format tsv --out pipe
wait
check "export into a pipe: what it is" cmp printed drained
check "export into a pipe leaves it one" test -p pipe

finish
