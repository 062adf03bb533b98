#!/bin/bash
# shellcheck disable=SC2154 # cli_common.sh sets code
# choose: what is wrong with a request, measuring only what is lacking, budgets nothing meets.
. "$(dirname "$0")/cli_common.sh" "$@"
few=(--db c.db --kernels 'naive_f32_scalar,two_pass_f32_scalar' --time 0.1)
near=(--kappa 1 "${few[@]}") # on rows near zero alone

refused "for what?" 2 '--shapes ROWSxHIDDEN' choose
refused "a shape that is none" 2 "shape '7by8'" choose --shape 7by8
refused "a model with a slip" 2 "unknown model 'gpt2-lx' .did you mean 'gpt2-xl'" choose --model gpt2-lx
refused "tokens without a model" 2 '--tokens goes with --model' choose --shape 1x8 --tokens 3
refused "tokens that are none" 2 '--tokens -3' choose --model gpt2 --tokens -3
refused "proven, but how much?" 2 '--max-row-ulp' choose --shape 1x8 --proven
refused "kappa below 1" 2 '--kappa 0.5' choose --shape 1x8 --kappa 0.5
refused "a share above 1" 2 'correctly-rounded 99' choose --shape 1x8 --correctly-rounded 99
refused "stored and fresh" 2 'exclude each other' choose --shape 1x8 --stored --fresh
refused "two runs" 2 'exclude each other' choose --shape 1x8 --run 1 --machine x
refused "another format" 2 '--format xml' choose --shape 1x8 --format xml
refused "another dtype" 2 '--dtypes f17: f32, f64' choose --shape 1x8 --dtype f17 --db c.db
refused "another parameter type" 2 '--param f17: f32, f64' choose --shape 1x8 --param f17 --db c.db
refused "two conventions" 2 'one was expected' choose --shape 1x8 --convention torch,bert
refused "no database, and none wanted" 7 'nothing like 4x64 f32, torch was timed' \
    choose --shape 4x64 --db none.db --stored
check "--stored made no database" test ! -e none.db
echo "no database" >bad.db
refused "no database but a text" 7 'bad.db' choose --shape 4x64 --db bad.db

# Nothing is stored: it measures, once; the second time it reads.
run_it choose --shape 4x64 "${near[@]}"
check "measured: exit code" is "$code" 0
check "measured: says so" has out '^measured now: run 1'
check "measured: an answer" has out '^take (naive|two_pass)_f32_scalar: [0-9.]+ us, [0-9.]+ row ULP$'
check "measured: in few lines, noisy or not" test "$(wc -l <out)" -le 8
accepted "stored" 0 choose --shape 4x64 "${near[@]}"
check "stored: says so" has out '^from what is stored of this machine: run 1'
check "stored: the library is the same" hasnt out 'NOT the library'
check "stored: its interval is behind --explain" hasnt out '\['
check "no colour in a file" hasnt out $'\033'
run_it choose --shape 3x64 --explain "${near[@]}"
check "a near shape is an estimate" has out '^an estimate: times are scaled by bytes from 4 x 64'
check "a near shape: marked" has out '^use .*_f32_scalar: ~[0-9.]+ us, from 4 x 64; '
check "a near shape: no interval" has out '^(naive|two_pass)_f32_scalar +~[0-9.]+  '
run_it choose --shape 3x64 --json "${near[@]}"
check "a near shape: in JSON" is "$(value best.estimated out)" true
check "a near shape: its own rows" is "$(value best.rows out)" 3
accepted "runs so far" 0 list runs --db c.db
check "one run" lines out 2

# Rows of kappa 1e4 are of the sweep that was judged: nothing is measured again.
run_it choose --shape 4x64 --kappa 1e4 --max-row-ulp 1e6 --explain "${few[@]}"
check "kappa: exit code" is "$code" 0
check "kappa: the better of the two" has out '^use two_pass_f32_scalar'
check "kappa: why the other lost" has out '^naive_f32_scalar .*(no correct digit|wrong )'
accepted "runs so far" 0 list runs --db c.db
check "still one run" lines out 2

# What a run was asked for and lost is never fine; it is measured again where that may be.
cp c.db lost.db
"$binaries/run_sql" lost.db "DELETE FROM repetitions WHERE case_id IN
    (SELECT cases.id FROM cells JOIN cases ON cell = cells.id WHERE kernel = 'naive_f32_scalar'); UPDATE runs SET state = 'interrupted'"
lost='requested 2, judged 1, missing 1: naive_f32_scalar 4x64 \(judged, not timed\)'
refused "lost" 7 "$lost.*--allow-missing" choose --shape 4x64 --stored --json "${near[@]}" --db lost.db
check "lost: in JSON" is "$(value coverage.missing out)" 1
check "lost: named in JSON" is "$(value coverage.missing_names.0 out)" 'naive_f32_scalar 4x64 (judged, not timed)'
accepted "lost is allowed" 0 choose --shape 4x64 --stored --allow-missing "${near[@]}" --db lost.db
check "lost is allowed: said" has out "^kernels at this shape: $lost"
check "lost is allowed: the run's state" has out '^run 1 is not complete'
run_it choose --shape 4x64 --stored --allow-missing --format tsv "${near[@]}" --db lost.db
check "lost is allowed: a notice" has err "^lnbench: $lost"
run_it choose --shape 4x64 "${near[@]}" --db lost.db
check "lost is measured again: exit code" is "$code" 0
check "lost is measured again" has out '^kernels at this shape: requested 2, judged 2, missing 0'
"$binaries/run_sql" lost.db "DELETE FROM runs WHERE id > 1; UPDATE cases SET requested = NULL;
    UPDATE runs SET requested = NULL, unsupported = NULL, missing = NULL"
accepted "an older run" 0 choose --shape 4x64 --stored "${near[@]}" --db lost.db
check "an older run does not say" has out '^run 1 does not say what it was asked for$'

# Stored, but of no run at all, or of another machine: what there is, and what would help.
cp c.db vacant.db
"$binaries/run_sql" vacant.db 'PRAGMA foreign_keys = ON; DELETE FROM runs'
refused "no runs" 7 'nothing like 4x64 f32, torch was timed on this machine; no run has times; without --stored' \
    choose --shape 4x64 --stored --db vacant.db
cp c.db other.db
"$binaries/run_sql" other.db "UPDATE facts SET value = 'another CPU' WHERE name = 'cpu_model'; UPDATE runs SET machine = 'another CPU' || substr(machine, instr(machine, ' | '))"
refused "no run of this machine" 7 'run 1 is of another CPU \(cpu_model: another CPU\): --run 1 asks it; without' \
    choose --shape 4x64 --stored --db other.db
cp c.db build.db
"$binaries/run_sql" build.db "UPDATE facts SET value = 'cc 1' WHERE name = 'compiler'; UPDATE runs SET machine = 'x | 1'"
refused "another build" 7 'run 1 is of the same CPU; another build of the library \(compiler: cc 1\): --run 1 asks it' \
    choose --shape 4x64 --stored --db build.db
refused "another question" 7 'run 1 of it timed 4x64 f32, torch: another cache state; without' \
    choose --shape 4x64 --cache cold --stored --db c.db
accepted "that run" 0 choose --shape 4x64 --run 1 "${near[@]}" --db other.db
check "that run: says whose" has out '^from what is stored of another CPU: run 1'
accepted "that machine" 0 choose --shape 4x64 --machine 'Other c' "${near[@]}" --db other.db
refused "no such machine" 2 'no run of such a processor' choose --shape 4x64 --machine epyc-x --db other.db
refused "no such run" 7 'no run 9' choose --shape 4x64 --run 9 --db other.db
run_it choose --shape 4x64 "${near[@]}" --db other.db
check "no run of this machine: measured" has out '^measured now: run 2'
refused "a directory that can't be" 7 "no directory '/proc/nowhere'" choose --shape 4x64 \
    --db /proc/nowhere/c.db --time 0.1
refused "more threads than CPUs" 7 '--threads 4000: this process may run on [0-9]+ CPU' choose \
    --shape 4x64 --threads 4000 "${near[@]}"
refused "a kappa that bf16 can't have" 2 'bf16 can realise kappa from 1 to 1000' choose --shape 4x64 \
    --dtype bf16 --kappa 1e4 --db b.db --kernels 'two_pass_bf16_scalar' --time 0.1
refused "kernels that are none" 2 "no kernel matches 'nothing'" choose --shape 4x64 --kernels nothing \
    --db k.db
for budget in '--max-ulp 0.4' '--correctly-rounded 1' '--bits 60' '--max-row-ulp 0.4 --proven'; do
    # shellcheck disable=SC2086
    refused "nothing meets $budget" 5 'the best there is, (two_pass|naive)_f32_scalar, has' choose \
        --shape 4x64 --json $budget "${near[@]}"
    check "nothing meets $budget: best is null" is "$(value best out)" null
done

# Another type, several shapes at once, a cold cache.
typed=(--db b.db --dtype bf16 --kernels 'two_pass_bf16_scalar,shifted_two_mean_fused_bf16_scalar' --time 0.1)
run_it choose --shape 4x64,2x96 --kappa 100 --max-row-ulp 0.51 --json "${typed[@]}"
check "bf16: exit code" is "$code" 0
check "bf16: two answers" is "$(value choices out)" 2
check "bf16: the type" is "$(value choices.0.best.dtype out)" bf16
accepted "bf16, stored" 0 choose --shape 4x64,2x96 --kappa 100 --max-row-ulp 0.51 --stored "${typed[@]}"
check "bf16, stored: two answers" is "$(grep -c '^take ' out)" 2
check "bf16, stored: one run for both" is "$(grep -c '^from what is stored' out)" 1
refused "parameters that no kernel asked for has" 2 'no kernel of --kernels has f32 parameters: choose their type with --param' \
    choose --shape 4x64 --param f32 "${typed[@]}"
run_it choose --shape 4x64 --dtype bf16 --param f32 --kappa 1 --json --db b.db --time 0.1 \
    --kernels 'shifted_two_mean_fused_bf16_scalar,shifted_two_mean_fused_bf16_param_f32_scalar'
check "f32 parameters: exit code" is "$code" 0
check "f32 parameters: the kernel" is "$(value best.kernel out)" shifted_two_mean_fused_bf16_param_f32_scalar
check "f32 parameters: no other" is "$(value runners_up out)" 0
check "f32 parameters: said so" is "$(value param out)" f32
run_it choose --shape 4x64 --cache cold --json "${near[@]}"
check "cold: exit code" is "$code" 0
check "cold: measured so" is "$(value best.cache out)" cold

refused "an impossible budget" 5 'nothing meets the budget: the best there is, [a-z_0-9]+, has row ULP' \
    choose --shape 4x64 --max-row-ulp 0.01 --json "${near[@]}"
check "an impossible budget: best is null" is "$(value best out)" null

accepted "JSON" 0 choose --shape 4x64 --json "${near[@]}"
check "JSON: schema" is "$(value schema out)" lnbench-choose-2
check "JSON: best has a time" has out '"time_ns": [0-9]'
check "JSON: runners_up" is "$(value runners_up out)" 1
accepted "TSV" 0 choose --shape 4x64 --format tsv "${near[@]}"
check "TSV: headings and two kernels" lines out 3
accepted "Markdown" 0 choose --shape 4x64 --format markdown --explain "${near[@]}"
check "Markdown: a table" has out '^\| kernel'
run_it choose --model gpt2-xl --tokens 2 --format tsv "${near[@]}"
check "a model: exit code" is "$code" 0
check "a model: its shape" has out '^2	1600	'
ends "a model of RMSNorm, of no operation named" 0 choose --model llama-3-8b --tokens 1 --time 0.1 --db rms.db \
    --kernels rms_wide_scaled_f32_acc_f64_scalar --max-row-ulp 64
check "a model of RMSNorm: its kernel" has out '^take rms_wide_scaled_f32_acc_f64_scalar: '
check "a model, and the type that nobody named" has out '^llama-3-8b: 1 x 4096 f32 \(--dtypes bf16 for bf16\), llama, '
refused "a model, and a convention of another operation" 2 \
    'torch is of layernorm: llama-3-8b has rmsnorm, as llama computes it' choose --model llama-3-8b --conventions torch
accepted "models" 0 list models
check "models: GPT-2 XL" has out '^gpt2-xl .* 1600 +1024  torch'
accepted "models of RMSNorm" 0 list models --operation rmsnorm
check "models of RMSNorm: one" has out '^llama-3-8b '
check "models of RMSNorm: no other" hasnt out 'layernorm'
accepted "models as JSON" 0 list models --json
check "models as JSON: a name" is "$(value 0.name out)" gpt2

# A config.json of Hugging Face, the folder or the file, and an id whose model is listed.
while IFS='|' read -r name wanted config; do
    mkdir "$name" && echo "$config" >"$name/config.json"
    refused "config.json of $name" 7 "nothing like $wanted was timed" choose --model "$name/config.json" --tokens 1 --stored --db none.db
done <<'END'
like-gpt2|1x768 f32, torch|{"model_type":"gpt2","n_embd":768,"n_positions":1024,"layer_norm_epsilon":1e-05}
like-bert|1x1024 f32, bert|{"model_type":"bert","hidden_size":1024,"layer_norm_eps":1e-12,"max_position_embeddings":512}
like-llama|1x4096 bf16, llama|{"model_type":"llama","hidden_size":4096,"rms_norm_eps":1e-05,"torch_dtype":"bfloat16"}
like-gemma|1x2304 f32, gemma|{"model_type":"gemma3","text_config":{"model_type":"gemma3_text","hidden_size":2304,"rms_norm_eps":1e-06,"dtype":"float32"}}
like-qwen|1x3584 bf16, t5|{"model_type":"qwen2","hidden_size":3584,"rms_norm_eps":1e-06,"torch_dtype":"bfloat16"}
like-phi|1x2560 f16, torch|{"model_type":"phi","hidden_size":2560,"layer_norm_eps":1e-05,"torch_dtype":"float16"}
END
refused "a folder, and another type" 7 'nothing like 1x4096 f32, llama' choose --model like-llama --dtypes f32 --tokens 1 --stored --db none.db
while IFS='|' read -r what config; do
    echo "$config" >broken.json
    refused "a broken config: $config" 2 "broken.json: $what" choose --model broken.json --stored --db none.db
done <<'END'
line 2: .*end of file|
line 2: |{"hidden_size":
line 1: |hidden_size: 768
no hidden_size|[768, 1e-5]
no hidden_size|{"layer_norm_eps":1e-5}
no hidden_size|{"hidden_size":"768","layer_norm_eps":1e-5}
no hidden_size|{"hidden_size":-1,"layer_norm_eps":1e-5}
no rms_norm_eps|{"hidden_size":768}
no rms_norm_eps|{"hidden_size":768,"rms_norm_eps":"1e-6"}
torch_dtype int8|{"hidden_size":768,"rms_norm_eps":1e-6,"torch_dtype":"int8"}
END
refused "an id" 7 'nothing like 1x4096 f32, llama' choose --model meta-llama/Meta-Llama-3-8B-Instruct --tokens 1 --stored --db none.db
finish
