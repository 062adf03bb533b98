#!/bin/bash
# shellcheck disable=SC2154 # cli_common.sh sets lnbench, binaries and libraries
# run --threads: one call over several threads, kernels whose bits depend on the thread, plugins with
# threads of their own, and what cannot be asked for.
. "$(dirname "$0")/cli_common.sh" "$@"

cpus=$(nproc)
refused "more threads than CPUs" 7 "threads 5000: this process may run on $cpus CPU" \
    run --db bad.db --threads 5000
check "more threads than CPUs: no database" test ! -e bad.db
if [ "$cpus" -lt 2 ]; then
    echo "skipped: two threads on one CPU measure nothing"
    finish
fi

# verdict_of KERNEL THREADS: of the stored case.
verdict_of() {
    python3 -c "
import json, sys
cases = json.load(open('cases.json'))['cases']
print(*[(c['verdict'] + ' ' + c['reason']).strip() for c in cases if c['kernel'] == '$1' and c['threads'] == $2])"
}
timed() { # KERNEL THREADS: has a time
    python3 -c "
import json, sys
cases = json.load(open('cases.json'))['cases']
found = [c for c in cases if c['kernel'] == '$1' and c['threads'] == $2]
sys.exit(not (found and found[0]['speed']['time_ns'] > 0))"
}

run_it run --db threads.db --out out.d --only speed --json \
    --plugin "$libraries/threads_plugin_0.so" --plugin "$libraries/threads_plugin_1.so" \
    --plugin "$libraries/threads_plugin_2.so" \
    --kernels 'two_pass_f32_scalar,reproducible_two_mean_f32_scalar,*first_thread_only' \
    --shapes 40x64,1x8 --threads 1,2 --processes 2 --repetitions 2
check "one and two threads: a kernel's fault" is "$code" 5
python3 -c "
import json
data = json.load(open('out'))
cases = data['cases'] if isinstance(data, dict) else data
json.dump({'cases': [c for c in cases if c['rows'] == 40]}, open('cases.json', 'w'))"
for threads in 1 2; do
    for kernel in two_pass_f32_scalar reproducible_two_mean_f32_scalar copy copy_nt; do
        check "$kernel is timed with $threads" timed "$kernel" $threads
    done
    check "bits as on one thread with $threads" \
        is "$(verdict_of reproducible_two_mean_f32_scalar $threads)" "pass"
done
# Split over the pool: half of its rows are done by the second thread, and compared.
check "a wrong second thread, alone" is "$(verdict_of old.first_thread_only 1)" "pass no bound"
check "a wrong second thread is seen" is "$(verdict_of old.first_thread_only 2)" "fail inaccurate"
# Its own threads: called whole, on the first.
check "threads of its own" is "$(verdict_of own.first_thread_only 2)" "pass no bound"
check "threads of its own are timed" timed own.first_thread_only 2
check "one thread at most, alone" is "$(verdict_of one.first_thread_only 1)" "pass no bound"
check "one thread at most" is "$(verdict_of one.first_thread_only 2)" "unsupported"

run_it choose --stored --db threads.db --shape 40x64 --threads 2
check "choose finds what was timed with two threads" has out '2 threads'
finish
