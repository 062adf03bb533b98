#!/bin/bash
# shellcheck disable=SC2154 # cli_common.sh sets lnbench, binaries and libraries
# replay: stored cases and failures again, bit for bit; files of finds and their errors.
. "$(dirname "$0")/cli_common.sh" "$@"

sabotage=$libraries/sabotage_plugin.so
ends "a run with failures" 6 run --conformance no --only accuracy --db r.db --no-charts --shapes 18x40 --conventions torch,zscore \
    --inputs normal,kappa,signed-zeros,nan --plugin "$sabotage" --seed 5 --kernels \
    two_pass_f32_scalar,naive_f32_scalar,naive.crash,naive.writes_one_behind,naive.n_for_n_minus_1,naive.nan_output
check "a run with failures" has out '^✗ naive.crash: crashed (\(.*\) )?on '
check "its faults are named by case" has out '^  lnbench replay --case [0-9]+ --db /'
again=$(grep '^  lnbench replay' out | head -1)
check "the command as it is printed, from another folder" bash -c "cd / && PATH=$binaries:\$PATH && $again"

# case_of DATABASE CONDITION: prints the first judged case of the latest run that meets it.
case_of() {
    "$binaries/run_sql" "$1" "SELECT min(case_id) FROM judged WHERE run = (SELECT max(id) FROM runs) AND $2" | tail -n 1
}
accepted "all failures again" 0 replay --db r.db --failures --plugin "$sabotage"
check "all failures reproduce" hasnt out ' NO '
check "more than one" has out '^[0-9]{2,} replayed'
check "failures of several kinds" has out 'fail \((crashed|overrun|wrong-class|inaccurate)'
"$binaries/run_sql" r.db "SELECT count(*) FROM judged WHERE failed" | tail -n 1 >failed
check "all of them" has out "^$(cat failed) replayed, $(cat failed) the same"
accepted "as JSON" 0 replay --db r.db --case "$(case_of r.db "kernel = 'two_pass_f32_scalar'")" --json --plugin "$sabotage"
check "as JSON: reproduces" is "$(value 0.reproduces out)" true
check "as JSON: the same bits" is "$(value 0.same_bits out)" true
formats "replay" replay --db r.db --failures --plugin "$sabotage"
check "replay, TSV: a line a case" is "$(($(wc -l <tsv) - 1))" "$(value "" json)"
refused "a kernel that is not here" 4 'if it came from a plugin' replay --db r.db --failures
refused "no such case" 7 'no case 999999' replay --db r.db --case 999999
for words in 'x --case 3' '--case 3 --failures' 'x --failures' 'x --run 1'; do
    # shellcheck disable=SC2086 # several words
    refused "two of them: $words" 2 'choose one of --case, --failures and FILE' replay $words
done

# Conformance tests: the same problems again, by their bits or, without output, by their verdicts. A run that names a
# convention has other problems than one that names none, and another seed has others again.
of_conformance() { # DATABASE RUN-ARGUMENT...
    run_it run --only accuracy --plan quick --db "$1" --no-charts --shapes 3x40 --inputs normal \
        --plugin "$sabotage" --kernels naive.eps_on_wrong_side,naive.crash,naive.random_bit "${@:2}"
}
first() { # DATABASE KERNEL
    "$binaries/run_sql" "$1" "SELECT min(case_id) FROM judged WHERE input = 'combinations' AND kernel = '$2'
        AND convention = 'torch'" | tail -n 1
}
of_conformance all.db
of_conformance torch.db --conventions torch
for db in all.db torch.db; do
    for kernel in naive.eps_on_wrong_side naive.crash; do
        accepted "$db, $kernel" 0 replay --db $db --case "$(first $db $kernel)" --plugin "$sabotage"
        check "$db, $kernel: the words of then" has out '^  then and now  '
        check "$db, $kernel: the same" has out '1 the same in bits'
    done
done
run_it replay --db all.db --case "$(first all.db naive.random_bit)" --plugin "$sabotage"
check "a race: said" has out 'nondeterministic again: its bits may differ|it may be another problem'
cp all.db seed.db
"$binaries/run_sql" seed.db "UPDATE runs SET seed = 77"
for kernel in naive.eps_on_wrong_side naive.crash; do
    run_it replay --db seed.db --case "$(first seed.db $kernel)" --plugin "$sabotage"
    check "$kernel, another seed: other problems are not the same" has out ' 0 the same in bits'
done

# A stored failure that now passes does not reproduce: the stored verdict is changed.
cp r.db changed.db
one="(SELECT min(case_id) FROM judged WHERE kernel = 'two_pass_f32_scalar')"
"$binaries/run_sql" changed.db "UPDATE accuracies SET row_ulp_max = 12345.0 WHERE case_id = $one;
    UPDATE judgements SET verdict = 'fail', reason = 'inaccurate' WHERE case_id = $one"
accepted "another error" 1 replay --db changed.db --case "$(case_of changed.db "kernel = 'two_pass_f32_scalar'")"
check "another error: said so" has out ' NO '

# A user's rows that are gone or changed.
"$binaries/test_files" make own.npy '<f4' '(3, 8)' 1:1
accepted "own rows" 0 run --only accuracy --conformance no --db own.db --no-charts --conventions torch \
    --inputs own.npy --kernels two_pass_f32_scalar
accepted "own rows: again" 0 replay --db own.db
"$binaries/test_files" make own.npy '<f4' '(3, 8)' 7:3
accepted "own rows, changed" 1 replay --db own.db
check "own rows, changed: said so" has out 'own.npy may have been changed since'
rm own.npy
ends "own rows, gone" 4 replay --db own.db
check "own rows, gone: said so" has err 'its rows cannot be made again: .*own.npy'
check "own rows, gone: not replayed" has out '^0 replayed'

# Rows of every type.
accepted "every type" 0 run --only accuracy --conformance no --db t.db --no-charts --shapes 4x40 \
    --dtypes f64,bf16,f16 --conventions torch,scalar-std --inputs normal,kappa,nan --kernels \
    two_pass_f64_scalar,two_pass_bf16_scalar,shifted_two_mean_fused_bf16_param_f32_scalar,two_pass_f16_scalar
for name in two_pass_f64_scalar two_pass_bf16_scalar shifted_two_mean_fused_bf16_param_f32_scalar two_pass_f16_scalar; do
    for input in kappa nan; do
        accepted "$name, $input: again" 0 replay --db t.db --json \
            --case "$(case_of t.db "kernel = '$name' AND input = '$input' AND convention <> 'torch'")"
        check "$name, $input: all rows were made again" is "$(value 0.whole out)" true
        check "$name, $input: the same bits" is "$(value 0.same_bits out)" true
    done
done
# A run that is exported and imported keeps its histograms.
accepted "export" 0 export --db t.db --format db --out t.run.db
accepted "import" 0 import t.run.db --db there.db
for db in t.db there.db; do
    "$binaries/run_sql" $db "SELECT ulp_histogram FROM accuracies ORDER BY case_id" >$db.histograms
done
check "import: histograms" has t.db.histograms '\[[0-9]+'
check "import: the same histograms" cmp t.db.histograms there.db.histograms
for format in json tsv; do
    "$lnbench" export --db t.db --format $format >ours && "$lnbench" export --db there.db --format $format >theirs
    check "export again: the same $format" cmp ours theirs
done
accepted "import: replays" 0 replay --db there.db
# Exports compressed by xz: one unpacks to more than its reader accepts.
accepted "a packed export" 0 export --db t.db --format db --out t.run.db.xz
check "a packed export: the same bytes" cmp <(xz -dc t.run.db.xz | sha256sum) <(sha256sum <t.run.db)
accepted "a packed export: import" 0 import t.run.db.xz --db packed.db
cat t.run.db <(head -c 300M /dev/zero) | xz -1 >bomb.xz
refused "a bomb" 7 'bomb.xz: .* larger than 256 MiB when unpacked' import bomb.xz --db bad.db
check "what was refused leaves nothing behind" test -z "$(compgen -G '*bad.db*' old.db*)"

accepted "bf16 with gamma in f32, hunted" 0 hunt --kernels shifted_two_mean_fused_bf16_param_f32_scalar --hidden 8 --time 0.1 --out typed.txt
check "bf16 with gamma in f32: said" has typed.txt '^param f32$'
sed -i 's/shifted_two_mean_fused_bf16_param_f32_scalar/shifted_two_mean_fused_bf16_scalar/' typed.txt
refused "gamma of another type" 4 'now takes bf16; the stored parameters were f32' replay typed.txt
# A file of adversarial rows; the first one is tested.
accepted "a hunt" 0 hunt --kernels two_pass_f32_scalar --hidden 40 --time 0.1 --out hunt.txt
sed -n '/^find$/,/^end$/{p;/^end$/q}' hunt.txt >find.txt
check "as a find: hex floats" has find.txt '^x (-?0x[0-9a-f.]+p[+-][0-9]+ ?)+$'
accepted "the find" 0 replay find.txt
check "the find reproduces" has out '1 replayed, 1 the same'
cat hunt.txt find.txt >joined.txt
accepted "joined files" 0 replay joined.txt
check "joined files: all finds" has out "^$(grep -c '^find$' joined.txt) replayed"
sed 's/^y_hash .*/y_hash 0000000000000001/' find.txt >other.txt
accepted "other bits" 1 replay other.txt
check "other bits: said so" has out ' NO '

# wrong LABEL PATTERN SED: a file that sed changes is refused.
wrong() {
    sed "$3" find.txt >bad.txt
    refused "$1" 2 "$2" replay bad.txt
}
line=$(grep -n -m 1 '^x ' find.txt | cut -d: -f1)
wrong "no hex float" "bad.txt:$line: 'one': a hex float of f32" "${line}s/^x [^ ]*/x one/"
wrong "more digits than f32 has" "bad.txt:$line: .*a hex float of f32" \
    "${line}s/^x [^ ]*/x 0x1.00000000001p+0/"
wrong "a number lacks" 'x has 39 numbers; 40 were expected' "${line}s/^x [^ ]*/x/"
wrong "a number too many" 'no more expected' "$ s/^end/x 0x1p+0\nend/"
wrong "an unknown field" "bad.txt:2: 'colour' is no field" '2s/.*/colour red/'
wrong "an unknown convention" 'bad.txt:3: .*torhc' '3s/.*/convention torhc/'
wrong "no type" "bad.txt:4: dtype 'f8': f32, f64, bf16 or f16 was expected" '4s/.*/dtype f8/'
wrong "a type behind its numbers" 'dtype: comes after the numbers' '$ s/^end/dtype f32\nend/'
# Found by fuzzing: gamma was allocated for the first hidden size, and written with the second.
for field in 'hidden 400' 'rows 9' 'convention torch'; do
    wrong "${field% *} between gamma and x" "${field% *}: comes after the numbers" \
        "$line s/.*/gamma 0x1p+0\n$field\ngamma 0x1p+0\n&/"
done
sed '4s/.*/dtype f64/' find.txt >bad.txt
refused "another type" 4 'two_pass_f32_scalar now takes f32; the stored rows were f64' replay bad.txt
wrong "no rows" "bad.txt:5: rows '0'" '5s/.*/rows 0/'
wrong "no end" 'the file ends within a row' '$d'
wrong "an unknown verdict" "unknown verdict 'perfect'" 's/^verdict .*/verdict perfect/'
wrong "outside" 'the worst element lies outside' 's/^worst 0 [0-9]*/worst 0 40/'
: >empty.txt
refused "an empty file" 2 'no adversarial' replay empty.txt
refused "no such file" 7 'cannot read it' replay nowhere.txt
run_it replay --help
check "help" has out 'Exit code 0: all agree'
finish
