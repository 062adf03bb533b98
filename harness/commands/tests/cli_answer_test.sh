#!/bin/bash
# shellcheck disable=SC2154 # cli_common.sh sets lnbench, binaries and libraries
# The answer at the end of a run: its size, its columns, and that its sentences agree with the table. The run is a
# published one, read from its file: nothing is measured here.
raw=$(printf '%s\n' "$(dirname "$(readlink -f "$0")")"/../../../results/published/*/run.db.xz |
    tail -1)
. "$(dirname "$0")/cli_common.sh" "$@"
accepted "the published run" 0 import "$raw" --db p.db

widest() { LC_ALL=C.UTF-8 wc -L <"$1"; }
fits() { # FILE LINES COLUMNS
    if [ "$(wc -l <"$1")" -gt "$2" ] || [ "$(widest "$1")" -gt "$3" ]; then
        cat "$1"
        false
    fi
}
accepted "its table of cases" 0 export --db p.db --format tsv
sql() { "$binaries/run_sql" p.db "$1"; }
check "a line a case, one of headings" is "$(wc -l <out) $(grep -c '^operation' out)" "$(sql 'SELECT 1 + count(*) FROM cases') 1"

# The answer of the run's first operation.
answer() {
    run_it report --no-charts --db p.db
    sed -i '/^RMSNorm /,$d' out
}
rows() { sed -n '/^ *kernel /,/copy, GB/p' out | sed '1d;$d'; }

answer
cp out short
check "a pipe: 45 lines of 100 columns" fits short 45 100
check "at most 12 kernels" is "$(($(rows | wc -l) <= 12))" 1

# The figures of the first sentence are those of its kernel's row.
agrees() { # FILE
    # from the right, without the edge cases: digits, worst, ordinary, x oneDNN
    cells() { grep "^$2 " "$1" | sed -E 's/( +(pass|[0-9]+ (fail|type-limited)))? +(all|[0-9/]+)$//' | awk -v back="$3" '{ print $(NF - back) }'; }
    local name worst times sentence peer
    peer=$(sed -n 's/^ *kernel .* x \([^ ]*\) .*/\1/p' "$1")
    name=$(awk '$1 == "recommended" { print $2 }' "$1")
    worst=$(cells "$1" recommended 0)
    times="$(cells "$1" recommended 2) times"
    awk -v x="${times% times}" 'BEGIN { exit !(x > 0.95 && x < 1.05) }' && times=about
    sentence=$(sed -n '/^Recommended: /,/^[^ ]*_/p' "$1" | tr -s '\n ' ' ')
    [[ $sentence == "Recommended: $name"*", $times as fast as $peer"*"at most $worst row ULP in all "* ]] ||
        { echo "'$worst', '$times' are not '$sentence'"; false; }
}
check "sentence and table agree" agrees short
check "digits: all of the recommended kernel" has short '^recommended .* all( |$)'
check "digits: naive has no digit on some" has short '^textbook +naive.* [0-9]+/[0-9]+( |$)'
sed -E 's/([0-9.]+ times|about) as fast as /99 times as fast as /' short >wrong
check "another speed would be seen" eval '! agrees wrong'
sed 's/at most [0-9.]* row ULP in all/at most 99 row ULP in all/' short >wrong
check "another error would be seen" eval '! agrees wrong'

run_it run --only accuracy --kernels two_pass_f32_scalar --shapes 4x16 --conventions torch \
    --inputs normal --no-charts --db n.db
check "edge cases: none was judged" has out '^textbook +two_pass +[0-9.]+ +[0-9.]+ +- +all'
check "half of the evidence" has out '^No kernel is recommended, because speed was not measured\.$'

run_it compare 1 1 --db p.db
check "compare: 45 lines of 100 columns" fits out 45 100
check "compare: the rest is one option away" has out '^more pairs: .* \(see --all\)$'
run_it compare 1 1 --db p.db --all
check "compare --all" is "$(($(wc -l <out) > 100))" 1

# Views: one line of SQL is enough for a query.
check "the view timed has every timed case" is "$(sql 'SELECT count(*) FROM timed')" \
    "$(sql 'SELECT count(DISTINCT case_id) FROM repetitions')"
check "the faster copy has all of a copy's speed" is \
    "$(sql 'SELECT min(most) FROM (SELECT max(copy_ratio = 1) AS most FROM timed WHERE is_copy
        GROUP BY rows, hidden, types, cache, threads, convention)')" 1
check "the view judged has every judged case" is "$(sql 'SELECT count(*) FROM judged')" \
    "$(sql "SELECT count(*) FROM accuracies")"
check "the view summary counts them" is "$(sql 'SELECT sum(judged) FROM summary')" \
    "$(sql 'SELECT count(*) FROM judged WHERE NOT adversarial')"

# The recommended kernel is the same in the table, in the page's files and in SQL (with choose: cli_golden).
recommended=$(sed -n 's/^Recommended: \([^ ,]*\).*/\1/p' short)
check "a kernel is recommended" test -n "$recommended"
accepted "the page" 0 report --db p.db --allow-missing --out page
check "the page and all beside it: 9 MB at most" is "$(($(du -sb page | cut -f1) <= 9000000))" 1
# The chart agrees with the table at its shape.
label() { sed s/≈// short | awk -v role="$1" '$1 == role { print $2; exit }'; }
fastest=$(label fastest)
[ -n "$fastest" ] || fastest=$(label recommended) # one row is both
check "the field's recommended kernel is the answer's" is "$(awk -F'\t' '$5 ~ /recommended/ { print $3 "=" $4 }' page/data/field.tsv)" \
    "$(label recommended)=$recommended"
check "the field's fastest is the answer's" is \
    "$(awk -F'\t' '$5 ~ /^(among the )?fastest($|,)/ { print $3 }' page/data/field.tsv)" "$fastest"
check "no kernel stands twice in the field" is "$(cut -f4 page/data/field.tsv | grep -v '^-' | sort | uniq -d)" ''
cell() { awk -F' *[|] *' -v column="$1" '$2 == "L2" && $3 == 768 { sub(/^≈ /, "", $column); gsub(/\\/, "", $column); print $column }' page/report.md; }
check "the fastest of the table of sizes is the answer's" is "$(cell 4)" "$fastest"
check "the recommended kernel of the table of sizes is the answer's" is "$(cell 6)" "$(label recommended)"
shape=$(tr -s '\n ' ' ' <short | sed -n 's/.* at \([0-9]*\)x768 (L2).*/\1/p')
check "SQL recommends the same" is "$(sql "SELECT kernel FROM timed AS t WHERE rows = $shape AND hidden = 768 AND NOT is_copy AND
    convention = 'torch' AND cache = 'hot' AND threads = 1 AND EXISTS (SELECT 1 FROM kernels AS k WHERE k.run = t.run AND name = t.kernel
    AND role IN ('library', 'plugin')) AND EXISTS (SELECT 1 FROM judged AS j WHERE j.run = t.run
    AND j.kernel = t.kernel) AND NOT EXISTS (SELECT 1 FROM judged AS j WHERE j.run = t.run AND j.kernel = t.kernel
    AND NOT adversarial AND (failed OR error > 2)) ORDER BY copy_ratio DESC LIMIT 1")" "$recommended"

# A run whose times are replaced by made-up ones, too noisy to say which kernel is fastest: while the machine was slow,
# one kernel had a better copy ratio and a longer time than the others later.
sooner=exact_certified_grouped_f32_scalar nearer=retry_wide_fold_row_pairs_f32_acc_f64_scalar
between=shifted_two_mean_fused_f32_scalar,two_pass_two_rstd_f32_acc_f64_scalar
noisy=(run --plan quick --kernels "$sooner,$nearer,$between" --shapes 85x768 --conventions torch --inputs "normal,offset" --no-charts --db noisy.db)
accepted "a run to make noisy" 0 "${noisy[@]}"
"$binaries/run_sql" noisy.db "CREATE TEMP TABLE own AS SELECT cases.id AS case_id, kernel FROM cells JOIN cases ON cell = cells.id;
    UPDATE repetitions SET real_ns = iif(case_id IN (SELECT case_id FROM own WHERE kernel LIKE 'copy%'), 1000, 2000);
    UPDATE repetitions SET process = process + 100, real_ns = iif(case_id IN (SELECT case_id FROM own WHERE kernel = '$sooner'), 150, 140)
        WHERE case_id IN (SELECT case_id FROM own WHERE kernel <> '$nearer' AND kernel NOT LIKE 'copy%');
    UPDATE accuracies SET row_ulp_max = min(row_ulp_max, 2);
    INSERT INTO repetitions SELECT case_id, process + 100, repetition, place, iterations, 50, 50, NULL, NULL
        FROM repetitions JOIN own USING (case_id) WHERE kernel LIKE 'copy%';
    INSERT INTO finished_processes SELECT run, process + 100 FROM finished_processes;
    UPDATE runs SET state = 'open'"
untold() { # FILE: recommends the sooner one, whose error is smaller, and says so last, after the three nearest
    tr -s '`\n ' ' ' <"$1" | grep -Eq "Recommended: $sooner ?, .*Too noisy to say which is fastest of $nearer ?, ${between/,/ ?, } and $sooner ?: the one"
}
accepted "noisy: run, with nothing left to measure" 3 "${noisy[@]}" --resume
check "noisy: the table recommends the most accurate" has out "^recommended +exact_certified_grouped "
check "noisy: nothing is called the fastest" hasnt out '^fastest '
check "noisy: run says so" untold out
accepted "noisy: report" 3 report --db noisy.db --out noisy
check "noisy: report says so" untold out
check "noisy: the page says so" untold noisy/report.md
check "noisy: the table of sizes names the recommended one alone" has noisy/report.md '\| 768 \| too noisy to say \| [^|]* \| exact'
refused "noisy: choose" 3 'too noisy to say which kernel is fastest' choose --shapes 85x768 --stored --db noisy.db
check "noisy: choose recommends the same" has out "^Recommended: $sooner: "
check "noisy: choose says so" has out '^Too noisy to say which is fastest: '

# Printed names can be typed: a label selects the kernels that have it.
sed -n '/^ *kernel /,/copy, GB/p' short | sed '1d;$d' | grep -v '^peer' | sed 's/^[a-z]*  *//; s/  .*//' |
    while read -r label; do
    "$lnbench" run --dry-run --plan quick --kernels "$label" --db x.db 2>&1 | head -1 |
        grep -qE "^what " || echo "$label"
done >untyped
check "every label can be typed" test ! -s untyped

finish
