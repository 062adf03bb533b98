#!/bin/bash
# Kernels by names of earlier versions (kernels/table/aliases.def): on the command line, in a store,
# in an export and in files of worst rows they are the kernels of now.
. "$(dirname "$0")/cli_common.sh" "$@"
now=shifted_two_mean_fused_f32_scalar
old=fused_f32_scalar
small=(--shapes 4x16 --conventions torch --inputs normal --only accuracy --no-charts)

accepted "--kernels takes an old name" 0 run --kernels $old "${small[@]}" --db s.db
check "and stores the name of now" grep -q "$now" out
accepted "--kernels takes an old glob" 0 run --kernels 'fused_f32_sc*' "${small[@]}" --db s.db
check "which finds the kernel" grep -q "$now" out

accepted "an export" 0 export --db s.db --format jsonl
check "has the name of now" grep -q "\"$now\"" out
check "and not the old one" test "$(grep -c "\"$old\"" out)" -eq 0
sed "s/\"$now\"/\"$old\"/g" out >old.jsonl
check "an export of an earlier version" grep -q "\"$old\"" old.jsonl
accepted "is imported" 0 import old.jsonl --db i.db
accepted "and exported" 0 export --db i.db --format jsonl
check "with the name of now" grep -q "\"$now\"" out
check "and without the old one" test "$(grep -c "\"$old\"" out)" -eq 0

# A store that an earlier version wrote.
cp s.db old.db
python3 -c "
import sqlite3
store = sqlite3.connect('old.db')
store.execute('UPDATE cells SET kernel = ?', ('$old',))
store.execute('UPDATE kernels SET name = ?, descriptor = replace(descriptor, ?, ?)',
              ('$old', '\"$now\"', '\"$old\"'))
store.commit()"
accepted "an old store" 0 export --db old.db --format jsonl
check "is read with the name of now" grep -q "\"$now\"" out
check "without the old one" test "$(grep -c "\"$old\"" out)" -eq 0
accepted "history by the old name" 0 history --db old.db --measure row_ulp_max --kernels $old --format tsv
check "finds it" grep -q "$now" out
finish
