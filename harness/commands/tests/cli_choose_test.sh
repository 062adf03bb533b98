#!/bin/bash
# shellcheck disable=SC2154 # cli_common.sh sets code
# choose: invalid requests, what it measures and names, stored runs, budgets that no kernel meets.
. "$(dirname "$0")/cli_common.sh" "$@"
few=(--db c.db --kernels 'naive_f32_scalar,two_pass_f32_scalar') # both have a proof, so there are no conformance tests
calls=(--kernels 'library_fast_f32,library_accurate_f32')
sql() { "$binaries/run_sql" "$@" | tail -n 1; }

refused "for what?" 2 '--shapes ROWSxHIDDEN' choose
refused "a shape that is none" 2 "shape '7by8'" choose --shape 7by8
refused "a model with a slip" 2 "unknown model 'gpt2-lx' .did you mean 'gpt2-xl'" choose --model gpt2-lx
refused "tokens without a model" 2 '--tokens goes with --model' choose --shape 1x8 --tokens 3
refused "tokens that are none" 2 "shape '-3x768'" choose --model gpt2 --tokens -3
refused "kappa below 1" 2 '--kappa 0.5' choose --shape 1x8 --kappa 0.5
refused "kappa of RMSNorm" 2 '--kappa is for LayerNorm' choose --model llama-3-8b --kappa 10
refused "a kappa that bf16 can't have" 2 'bf16 can have kappa from 1 to 1000' choose --shape 4x64 --dtype bf16 --kappa 1e4
refused "another format" 2 "invalid --format 'xml'" choose --shape 1x8 --format xml
refused "another dtype" 2 "--dtypes 'f17' .did you mean 'f16'.*: choose f32, f64" choose --shape 1x8 --dtype f17 --db c.db
refused "another parameter type" 2 "--param 'f17' .did you mean 'f16'.*: choose f32, f64" choose --shape 1x8 --param f17 --db c.db
refused "two conventions" 2 'choose takes one convention' choose --shape 1x8 --convention torch,bert
refused "a model, and a convention of another operation" 2 \
    'torch is for layernorm, but llama-3-8b uses rmsnorm \(llama\)' choose --model llama-3-8b --conventions torch
refused "no database, and none wanted" 7 'none.db: no run timed 4x64 f32, torch, hot cache, 1 thread: leave out --stored' \
    choose --shape 4x64 --db none.db --stored
check "--stored made no database" test ! -e none.db
echo "no database" >bad.db
refused "no database but a text" 7 'bad.db' choose --shape 4x64 --db bad.db "${few[@]:2}"
refused "a directory that can't be" 7 "no directory '/proc/nowhere'" choose --shape 4x64 --db /proc/nowhere/c.db
refused "more threads than CPUs" 7 '--threads 4000: too many: this process may use [0-9]+ CPU' choose --shape 4x64 --threads 4000 "${few[@]}"
refused "kernels that are none" 2 "no kernel matches 'nothing'" choose --shape 4x64 --kernels nothing --db k.db

# It measures in every call; --stored uses the latest run that has the shape.
run_it choose --shape 4x64 --max-row-ulp 1e9 --kappa 1 "${few[@]}"
check "measured: an answer" has out '^Recommended: (naive|two_pass)_f32_scalar: [0-9.]+ us \[[0-9.]+, [0-9.]+\], at most [0-9.]+ row ULP on'
check "measured: says so" has out '^measured now on .*: run 1 in c.db$'
check "measured: in few lines" test "$(wc -l <out)" -le 10
check "no colour in a file" hasnt out $'\033'
run_it choose --shape 4x64 --max-row-ulp 1e9 --kappa 1 --stored "${few[@]}"
check "stored: says when and where" has out '^measured at 20[0-9-]*T[0-9:]*Z on .*: run 1 in c.db$'
refused "another shape" 7 'no run timed 3x64' choose --shape 3x64 --stored "${few[@]}"
refused "another cache" 7 'no run timed 4x64 f32, torch, cold cache' choose --shape 4x64 --cache cold --stored --db c.db
refused "other kernels" 7 'no run timed .*, of these kernels' choose --shape 4x64 --kernels 'welford*' --stored --db c.db
refused "two_pass is type-limited on edge cases" 5 'no kernel meets the budget; the most accurate, ' choose --shape 4x64 --stored --json --max-row-ulp 0.01 --kappa 1 "${few[@]}"
check "then the most accurate is named" is "$(value 0.answer out)" 'most accurate'
accepted "runs so far" 0 list runs --db c.db
check "one run" lines out 2

# A run of another machine is used if this one has none.
cp c.db other.db
sql other.db "UPDATE facts SET value = 'another CPU' WHERE name = 'cpu_model'; UPDATE runs SET machine = 'another CPU'"
run_it choose --shape 4x64 --stored --max-row-ulp 1e9 --kappa 1 --db other.db
check "another machine: says whose" has out '^measured at .* on another CPU: run 1 in'

# Missing results are never accepted silently.
cp c.db lost.db
sql lost.db "DELETE FROM repetitions WHERE case_id IN
    (SELECT cases.id FROM cells JOIN cases ON cell = cells.id WHERE kernel = 'naive_f32_scalar'); UPDATE runs SET state = 'interrupted'"
ends "lost" 7 choose --shape 4x64 --stored --max-row-ulp 1e9 --kappa 1 --db lost.db
check "lost: how it is accepted" has err 'cases of it have no result .*--allow-missing'
ends "lost is allowed" 0 choose --shape 4x64 --stored --allow-missing --max-row-ulp 1e9 --kappa 1 --db lost.db

# The calls of the library are judged as a whole, so that one is recommended.
run_it choose --shape 4x64,2x96 "${calls[@]}" --db l.db
check "calls: exit code" is "$code" 0
check "calls: the call and the kernel behind it" has out '^Recommended: library_[a-z]+_f32 \([a-z0-9_]+\): '
check "calls: two answers of one run" is "$(grep -c '^Recommended: ' out) $(grep -c '^measured now .*run 1 in l.db$' out)" '2 1'
accepted "calls, as JSON" 0 choose --shape 4x64 --stored --json --db l.db
check "JSON: the answer" is "$(value 0.answer out)" recommended
check "JSON: the kernel behind it" has out '"dispatched": "[a-z0-9_]+"'
check "JSON: a time" has out '"time_ns": [0-9]'
accepted "TSV" 0 choose --shape 4x64 --stored --format tsv --db l.db
check "TSV: one table" is "$(awk -F'\t' 'NR == 1 { n = NF } NF != n' out | wc -l)" 0
accepted "Markdown" 0 choose --shape 4x64 --stored --format markdown --db l.db
check "Markdown: a table" has out '^\| answer'

# A later run of only a plugin in the same store changes no answer.
run_it choose --shape 4x64 --stored --db l.db
cp out before
run_it run --db l.db --plugin "$libraries/example_plugin.so" --kernels 'example*' --shapes 4x64 --conventions torch --no-charts --conformance no
check "the plugin was timed" test "$(sql l.db "SELECT max(run) FROM timed WHERE kernel LIKE 'example%'")" = 2
run_it choose --shape 4x64 --stored --db l.db
check "a plugin's run: the same answer" cmp before out

# With made-up noise: of two calls without a significant difference, the recommended one does not have both the longer
# median and the larger error.
cp l.db load.db
made_up() { # DATABASE KERNEL ERROR OTHER_ERROR
    sql "$1" "UPDATE judgements SET verdict = 'pass', reason = '' WHERE verdict <> 'unsupported'; UPDATE accuracies SET mismatches = 0,
        row_ulp_max = iif(case_id IN (SELECT case_id FROM judged WHERE kernel = '$2'), $3, $4)"
}
made_up load.db library_fast_f32 1.9 1.2
fast="case_id IN (SELECT case_id FROM timed WHERE kernel = 'library_fast_f32')"
sql load.db "UPDATE timings SET time_ns = iif($fast, 110, 100), time_lo_ns = 80, time_hi_ns = 130,
    copy_ratio = iif($fast, 0.9, 0.8), copy_ratio_lo = iif($fast, 0.85, 0.75), copy_ratio_hi = iif($fast, 0.95, 0.84) WHERE NOT is_copy"
run_it choose --shape 4x64 --stored --json --kernels 'library_*' --db load.db
check "under load: the shorter median and the smaller error" is "$(value 0.kernel out)" library_accurate_f32

# For a model of RMSNorm the budget decides. The errors are made up.
run_it choose --model llama-3-8b --tokens 1 --db rms.db --kernels 'library_fast_rms_f32,library_accurate_rms_f32' --max-row-ulp 1e9
check "a model: the type that nobody named" has out '^llama-3-8b: 1 x 4096 f32 \(--dtypes bf16 for bf16\), llama, '
own="(SELECT case_id FROM timed WHERE kernel = 'library_fast_rms_f32')"
made_up rms.db library_fast_rms_f32 3.9 1.2
sql rms.db "UPDATE timings SET copy_ratio = iif(case_id IN $own, 0.6, 0.1), copy_ratio_lo = copy_ratio, copy_ratio_hi = copy_ratio,
    time_ns = iif(case_id IN $own, 100, 600) WHERE NOT is_copy; UPDATE timings SET copy_ratio_lo = copy_ratio, copy_ratio_hi = copy_ratio"
for budget in 2 4; do
    run_it choose --model llama-3-8b --tokens 1 --db rms.db --stored --json --max-row-ulp $budget
    check "a model, $budget row ULP" is "$(value 0.kernel out)" "library_$([ $budget = 2 ] && echo accurate || echo fast)_rms_f32"
done
run_it choose --model llama-3-8b --tokens 1 --db rms.db --stored
check "what the fastest would gain, and why not" has <(tr -s '\n ' ' ' <out) \
    'Fastest at any error: library_fast_rms_f32 [^:]*: 6.0 times as fast; has errors up to 3.9 row ULP, and 2 is allowed '

# Parameters of another type than the elements'.
run_it choose --shape 4x64 --dtype bf16 --param f32 --kappa 1 --max-row-ulp 64 --json --db b.db \
    --kernels 'shifted_two_mean_fused_bf16_scalar,shifted_two_mean_fused_bf16_param_f32_scalar'
check "f32 parameters: the kernel" is "$(value 0.kernel out)" shifted_two_mean_fused_bf16_param_f32_scalar
check "f32 parameters: no other" hasnt out 'fused_bf16_scalar'
refused "parameters that no kernel asked for has" 2 '--dtypes bf16 --param f32: no kernel of --kernels takes that type' \
    choose --shape 4x64 --dtype bf16 --param f32 --kernels shifted_two_mean_fused_bf16_scalar --db b.db
accepted "models" 0 list models
check "models: GPT-2 XL" has out '^gpt2-xl .* 1600 +1024  torch'
accepted "models of RMSNorm" 0 list models --operation rmsnorm
check "models of RMSNorm: one" has out '^llama-3-8b '
check "models of RMSNorm: no other" hasnt out 'layernorm'
accepted "models as JSON" 0 list models --json
check "models as JSON: a name" is "$(value 0.name out)" gpt2

# A config.json of Hugging Face, as a folder or a file, and the id of a listed model.
while IFS='|' read -r name wanted config; do
    mkdir "$name" && echo "$config" >"$name/config.json"
    refused "config.json of $name" 7 "no run timed $wanted" choose --model "$name/config.json" --tokens 1 --stored --db none.db
done <<'END'
like-gpt2|1x768 f32, torch|{"model_type":"gpt2","n_embd":768,"n_positions":1024,"layer_norm_epsilon":1e-05}
like-bert|1x1024 f32, bert|{"model_type":"bert","hidden_size":1024,"layer_norm_eps":1e-12,"max_position_embeddings":512}
like-llama|1x4096 bf16, llama|{"model_type":"llama","hidden_size":4096,"rms_norm_eps":1e-05,"torch_dtype":"bfloat16"}
like-gemma|1x2304 f32, gemma|{"model_type":"gemma3","text_config":{"model_type":"gemma3_text","hidden_size":2304,"rms_norm_eps":1e-06,"dtype":"float32"}}
like-qwen|1x3584 bf16, t5|{"model_type":"qwen2","hidden_size":3584,"rms_norm_eps":1e-06,"torch_dtype":"bfloat16"}
like-phi|1x2560 f16, torch|{"model_type":"phi","hidden_size":2560,"layer_norm_eps":1e-05,"torch_dtype":"float16"}
END
refused "a folder, and another type" 7 'no run timed 1x4096 f32, llama' choose --model like-llama --dtypes f32 --tokens 1 --stored --db none.db
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
refused "an id" 7 'no run timed 1x4096 f32, llama' choose --model meta-llama/Meta-Llama-3-8B-Instruct --tokens 1 --stored --db none.db
finish
