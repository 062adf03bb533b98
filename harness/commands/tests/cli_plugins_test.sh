#!/bin/bash
# shellcheck disable=SC2154 # cli_common.sh sets lnbench, binaries and libraries
# Plugins that cannot be loaded, kernels that fail, and a CPU without an ISA.
. "$(dirname "$0")/cli_common.sh" "$@"

# bad NUMBER CODE PATTERN: tests bad_plugin_NUMBER.so with every subcommand that loads plugins.
"$binaries/test_files" make x.npy '<f4' '(2, 4)' 1:1
bad() {
    local file=$libraries/bad_plugin_$1.so
    refused "bad plugin $1: list" "$2" "$3" list kernels --plugin "$file"
    refused "bad plugin $1: run" "$2" "$3" run --db bad.db --plugin "$file" --shapes 4x8
    refused "bad plugin $1: eval" "$2" "$3" eval --x x.npy --convention tinyllm --kernel fine \
        --plugin "$file"
    check "bad plugin $1: no database" test ! -e bad.db
}
bad 1 7 'bad_plugin_1.so: it has no symbol ln_plugin: compile it '
bad 2 7 'bad_plugin_2.so: it has another ABI version than 3'
bad 14 7 'bad_plugin_14.so: its ln_plugin_table or ln_kernel has another size: compile it again'
bad 15 7 'bad_plugin_15.so: its ln_plugin_table or ln_kernel has another size: compile it again'
bad 16 7 "bad_plugin_16.so: a kernel's isa is unknown: layernorm_plugin.h lists the known ones"
bad 17 7 "bad_plugin_17.so: a kernel's operation is no value of ln_operation"
# Names that cannot be printed are refused: markup, too many characters, and a plugin's own name.
bad 3 7 "bad_plugin_3.so: a kernel's name does not match"
bad 10 7 "bad_plugin_10.so: a kernel's name does not match"
bad 11 7 'bad_plugin_11.so: its name does not match'
check "a hostile name is not repeated" hasnt err '<script>'
bad 4 2 'two_pass_f32_scalar is in both builtin and bad'
bad 5 6 'bad_plugin_5.so: fail \(crashed: SIGABRT\) at load'
bad 18 6 'fail \(crashed: exited with status 3: no licence found\) at load'
# A kernel's output goes to /dev/null, else this one crashes (6): a plugin's output is kept only while it is loaded.
accepted "a kernel that prints" 5 eval --x x.npy --convention tinyllm --kernel fine --plugin "$libraries/bad_plugin_19.so"
refused "no such plugin" 7 'nowhere.so: No such file' list kernels --plugin nowhere.so
echo text >text.so
refused "no library" 7 'text.so' list kernels --plugin text.so
refused "a plugin twice" 2 'example is in both' list kernels \
    --plugin "$libraries/example_plugin.so" --plugin "$libraries/example_plugin.so"

accepted "the example: list" 0 list kernels --plugin "$libraries/example_plugin.so"
check "the example is named" has out '^example .* example +yes'
accepted "the example: run" 0 run --plan quick --conformance no --db e.db --no-charts --plugin "$libraries/example_plugin.so" \
    --kernels example --shapes 4x64 --conventions torch,zscore,torch-nobias --inputs normal \
    --processes 1 --repetitions 2
accepted "the example: export" 0 export --db e.db --format tsv
check "the example: fine where it is at home" has out $'^layernorm\texample\ttorch\t.*\tpass\tno bound\t'
check "the example: says what it does not take" has out \
    $'^layernorm\texample\tzscore\t.*\tunsupported\t.*only ddof 0'
check "the example: likewise" has out $'^layernorm\texample\ttorch-nobias\t.*\tunsupported\t.*only vector'

# With sanitizers, the plugin's own check ends the worker before the signal does.
crashed='(SIGSEGV|exited with status 1)'

# Each kernel has only its own fault. The rows are few, so that even a slow machine makes enough calls for kernels that
# fail after 200 calls.
ends "sabotage" 6 run --plan quick --conformance no --db s.db --no-charts --all --plugin "$libraries/sabotage_plugin.so" --shapes 8x64 \
    --conventions torch --inputs normal --kernels \
    'naive.good,naive.crash_when_timed,naive.wrong_when_timed,naive.crash,naive.nan_output,two_pass_f32_scalar' \
    --processes 2 --repetitions 2
check "sabotage: nothing on standard error" lines err 0
check "sabotage: a good kernel of ours" has out '^(≈ )?(fastest|recommended|textbook) +two_pass'
check "sabotage: a good kernel of the plugin" has out '^plugin +naive\.good +[0-9]'
check "sabotage: a crash" has out "^✗ naive\.crash: crashed (\(SIGSEGV\) )?on "
check "sabotage: a crash when timed" has out "^✗ naive\.crash_when_timed: crashed (\(SIGSEGV\) )?on "
check "sabotage: wrong when timed" has out '^✗ naive\.wrong_when_timed: (inaccurate|nondeterministic)'
check "sabotage: NaN" has out '^✗ naive\.nan_output: wrong-class on '
check "sabotage: the copy" has out 'copy, GB/s +[0-9.]+!? '
check "sabotage: each with its case" has out '^  lnbench replay --case [0-9]+ --db /.*/s.db --plugin /'
accepted "sabotage: export" 0 export --db s.db --format json
check "sabotage: export" value "" out
accepted "sabotage: report" 0 report --db s.db --out charts
check "sabotage: report has them" has charts/index.html 'naive\.crash_when_timed'

# With -ffast-math the constructor sets flush-to-zero: the kernel is judged and timed in that state, and it is
# reported.
root=$(dirname "$0")/../../..
"${CC:-cc}" -shared -fPIC -O1 -ffast-math -I "$root/kernels/include" -o fast.so "$root/kernels/example_plugin.c" -lm
ends "flush to zero" 6 run --plan quick --conformance no --db f.db --no-charts --plugin ./fast.so --conventions torch \
    --kernels example,two_pass_f32_scalar --shapes 4x64 --inputs normal,subnormal --processes 1 --repetitions 2
check "flush to zero: said" has out '^  its constructor changed (MXCSR|FPCR): flush to zero$'
check "flush to zero: timed" has out '^plugin +example +[0-9]'
check "flush to zero: the other kernel is fine" hasnt out '^✗ two_pass'
accepted "flush to zero: export" 0 export --db f.db --format tsv
check "flush to zero: what comes of it" has out \
    $'^layernorm\texample\t.*subnormal\t.*\tfail\tstate-changed\t.*flush to zero; fail \\((inaccurate|wrong-class)'

# A supports() that crashes is the fault of its kernel; the plugin's other kernel and ours are judged.
sed -e 's/^static const ln_kernel kernels\[\] = {{/static const char *crash(const ln_problem *problem)\n{\n    return *(const char *const *)(problem - problem);\n}\n\n&/' \
    -e 's/^}};/}, {.operation = LN_OPERATION_LAYERNORM, .name = "crashing", .isa = "scalar", .unroll = 1, .supports = crash, .run = run}};/' \
    "$root/kernels/example_plugin.c" >crashing.c
"${CC:-cc}" -shared -fPIC -O0 -w -I "$root/kernels/include" -o crashing.so crashing.c -lm
ends "supports() crashes" 6 run --plan quick --only accuracy --conformance no --db crashing.db --no-charts --plugin ./crashing.so \
    --kernels example,crashing,two_pass_f32_scalar --shapes 4x64 --conventions torch --inputs normal
check "supports() crashes: said" has out '^✗ crashing: crashed '
check "supports() crashes: the others are judged" has out '^requested 3, judged 3,'

accepted "OpenMP" 0 run --db o.db --no-charts --plugin "$libraries/threads_plugin_3.so" \
    --kernels openmp --plan quick --only accuracy --conventions torch --inputs normal --shapes 4x64
check "a pass of the quick plan: what was tested" has <(tr -s '\n ' ' ' <out) 'tested a third of the hidden sizes'

ends "eval of a crash" 6 eval --x x.npy --convention tinyllm --plugin "$libraries/sabotage_plugin.so" \
    --kernel naive.crash --out y.npy
check "eval of a crash: one line" has err "^lnbench: naive\.crash: fail \(crashed: $crashed\); y.npy was not written$"
check "eval of a crash: no figures" lines out 0
check "eval of a crash: no file" test ! -e y.npy
refused "eval of an endless loop" 6 'naive.endless_loop: fail \(timeout: no answer within 0.2 s\)' eval \
    --x x.npy --convention tinyllm --plugin "$libraries/sabotage_plugin.so" \
    --kernel naive.endless_loop --deadline 0.2

ends "three time-outs" 6 run --plan quick --conformance no --only accuracy --no-charts --db hang.db --conventions torch \
    --plugin "$libraries/sabotage_plugin.so" --kernels naive.endless_loop --deadline 0.2
check "three time-outs: the rest is missing, with a hint" has out 'judged [34], missing [0-9]+: .*not run after 3'
check "three time-outs: each a verdict" has out '^✗ naive.endless_loop: timeout .*fails on ([34]) of \1 cases'
ends "three time-outs of choose" 6 choose --shape 4x64 --db asked.db --plugin "$libraries/sabotage_plugin.so" \
    --kernels naive.endless_loop --deadline 0.2
accepted "three time-outs of choose: its cases" 0 export --db asked.db --format tsv
check "three time-outs of choose: the rest is missing, with a hint" has out 'not run after 3 time-outs of this kernel; --deadline'

# Options restrict the timed and printed shapes, but not the conformance tests: a kernel that fails when two threads
# call it is not recommended for its rows; without conformance tests, or half of the evidence, none is.
narrow=(--plugin "$libraries/faults_plugin.so" --kernels "fault.two_at_once,fault.last_of_many_rows"
    --conventions torch --no-charts --db n.db --processes 1 --repetitions 2)
ends "narrow rows" 6 run --plan quick "${narrow[@]}" --shapes 4x64 --inputs spike --only accuracy
check "narrow rows: its fault" has out '^✗ fault.two_at_once: nondeterministic on combinations, torch; fails on'
check "narrow rows: the factors of the other, and no more" has out \
    '^  only with 9 rows or more, residual \(9x[0-9]+; right at 8 rows; [2-7]x[0-9]+, default: pass; '
ends "a kernel that declines most conventions" 5 run --plan quick --only accuracy --no-charts --db c.db \
    --plugin "$libraries/sabotage_plugin.so" --kernels special.last_of_257
check "its fault: without the convention that it was met under" has out \
    '^  only with 257 rows or more \(257x[0-9]+; right at 256 rows; [2-7]x[0-9]+, default: pass; '
run_it replay --db n.db --plugin "$libraries/faults_plugin.so" --case \
    "$("$binaries/run_sql" n.db "SELECT min(case_id) FROM judged WHERE kernel = 'fault.two_at_once' AND input = 'combinations'" | tail -n 1)"
check "its check again: a race, which has no bits of its own" has out ': combinations .* nondeterministic again: '
ends "a shape is judged at all of its rows" 5 run --only accuracy --plugin "$libraries/faults_plugin.so" --no-charts \
    --kernels fault.long_batches --conventions torch --db rows.db --shapes 512x2048 --inputs normal --conformance no
check "all of its rows: said" has out 'wrong in all 512 rows'
ends "one size of 16" 5 run --plan quick --only accuracy --plugin "$libraries/faults_plugin.so" --no-charts \
    --kernels fault.mod_16_13 --conventions torch --db mod.db --shapes 4x64 --inputs spike
check "one size of 16: more than one is named" has out '13, default; right at .*; wrong at .*29, 45'
ends "x_stride ignored" 5 run --plan quick --only accuracy --plugin "$libraries/faults_plugin.so" --no-charts \
    --kernels fault.x_stride_ignored --conventions torch --db x.db --shapes 4x64 --inputs spike
check "x_stride ignored: what it read" has out 'NaN that it read between the rows of x where'
half() { # LABEL WORDS ARGUMENT...
    local label=$1 words=$2
    shift 2
    accepted "$label" 0 run "${narrow[@]}" "$@"
    check "$label: said" has out "^$words\\.$"
    check "$label: none is recommended" hasnt out '^recommended|^Recommended'
}
accepted "without the referee" 0 run --kernels library_accurate_f32 --conventions torch --no-charts --db l.db \
    --processes 1 --repetitions 2 --conformance no --shapes 4x64 --inputs normal,offset
check "without conformance tests: said" has out 'No kernel is recommended: library_accurate_f32 is accurate enough, but it did not'
check "without conformance tests: none is recommended" hasnt out '^recommended|^Recommended'
half "half of the evidence" 'No kernel is recommended, because errors were judged on the timed rows only' --only speed --shapes 4x64
half "the other half" 'No kernel is recommended, because speed was not measured' --only accuracy --conformance no --shapes 4x64 --inputs spike
check "the other half: how little was judged" has out '^✓ .* no conformance tests ran$'
cp "$libraries/faults_plugin.so" other.so
narrow[1]=./other.so
half "another build" 'No kernel is recommended, because speed was not measured' --only accuracy --conformance no --inputs spike --shapes 4x64
"$binaries/run_sql" n.db "SELECT count(*) || ' ' || count(DISTINCT request_hash) FROM runs" >hashes
check "another build is asked the same, other options are not" is "$(cat hashes)" "4 3"
refused "a referee that is none" 2 "--conformance 'maybe': choose yes or no" run "${narrow[@]}" --conformance maybe

# A CPU without AVX2, as the library detects it.
if "$lnbench" list kernels | grep -q '^two_pass_f32_avx2 .* yes$'; then
    export LN_DISABLE_ISA=avx512,avx2
    accepted "no AVX2: list" 0 list kernels
    check "no AVX2: the reason" has out '^two_pass_f32_avx2 .*no AVX2'
    check "no AVX2: scalar goes on" has out '^two_pass_f32_scalar .* yes$'
    accepted "no AVX2: list --json" 0 list kernels --json
    check "no AVX2: marked" has out '"supported": false'
    accepted "no AVX2: run" 0 run --db isa.db --no-charts --kernels 'two_pass_*' --shapes 4x64 \
        --conventions torch --inputs normal --processes 1 --repetitions 2
    check "no AVX2: its verdict" has out '^[0-9]+ kernels? cannot run here: no AVX2'
    check "no AVX2: others are measured" has out '^(≈ )?(fastest|recommended|textbook) +two_pass'
    refused "no AVX2: eval" 7 'two_pass_f32_avx2: unsupported \(no AVX2' eval --x x.npy \
        --convention tinyllm --kernel two_pass_f32_avx2
    unset LN_DISABLE_ISA
fi

finish
