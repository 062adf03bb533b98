#!/bin/bash
# shellcheck disable=SC2154 # cli_common.sh sets lnbench, binaries and libraries
# Ctrl-C and kill -9 during a run, and --resume.
. "$(dirname "$0")/cli_common.sh" "$@"

plan=(--plan quick --kernels 'naive_f32_scalar,two_pass_f32_scalar' --no-charts)

field() { "$lnbench" list runs --db "$1" --json >runs 2>/dev/null && value "0.$2" runs; }

# stop SIGNAL FIELD DATABASE: starts the plan and ends it once FIELD of its run is above 2. Tries again if the run
# ended first.
stop() {
    local signal=$1 field=$2 database=$3 now
    for _ in 1 2 3 4 5; do
        rm -f "$database"*
        $by_default "$lnbench" run "${plan[@]}" --db "$database" >out 2>err &
        process=$!
        while kill -0 $process 2>/dev/null; do
            now=$(field "$database" "$field") && [ "$now" -gt 2 ] && break
            sleep 0.05
        done
        children=$(cat "/proc/$process/task/$process/children" 2>/dev/null)
        kill -"$signal" $process 2>/dev/null
        { wait $process; } 2>/dev/null
        code=$?
        [ "$code" -ne 0 ] && return
    done
}

# Commands that this shell starts with & ignore SIGINT without this.
by_default='env --default-signal=INT'

# gone PROCESS...: each has ended, or only waits to be reaped by the process that inherited it.
gone() {
    local process
    for process in "$@"; do
        for _ in $(seq 100); do
            grep -Eqs '^State:.[^Z]' "/proc/$process/status" || continue 2
            sleep 0.1
        done
        echo "process $process is still there"
        return 1
    done
}

accepted "uninterrupted" 0 run "${plan[@]}" --db whole.db
cases=$(field whole.db cases)
repetitions=$(field whole.db repetitions)
"$lnbench" export --db whole.db --format tsv | cut -f 1-13,15-37 | grep -v '^copy' >whole.tsv

# interrupted LABEL SIGNAL FIELD CODE STATE
interrupted() {
    local label=$1 database=$1.db kept
    stop "$2" "$3" "$database"
    check "$label: exit code" is "$code" "$4"
    check "$label: no worker is left" gone $children
    if [ "$2" = INT ]; then
        check "$label: one line" lines err 1
        check "$label: says how to go on" has err '^lnbench: interrupted.*--resume'
        check "$label: what there is is shown" has out '^stored  run 1 in '
    fi
    ends "$label: report" 3 report --db "$database" --no-charts
    check "$label: report: what is lost" has out '^requested [0-9]+, judged [0-9]+, missing [0-9]+'
    check "$label: report: one line" has err '^lnbench: run 1: requested .* the run did not finish .*--allow-missing'
    accepted "$label: --allow-missing" 0 report --db "$database" --no-charts --allow-missing
    kept=$(field "$database" cases)
    check "$label: state" is "$(field "$database" state)" "$5"
    check "$label: something was kept" test "$kept" -gt 2
    check "$label: not everything" test "$(field "$database" repetitions)" -lt "$repetitions"
    # Mark judgements under another shape than the timed ones: judging them again would remove the mark.
    "$binaries/run_sql" "$database" "UPDATE judgements SET detail = coalesce(detail, '') || '#marked' WHERE case_id IN
        (SELECT cases.id FROM cells JOIN cases ON cell = cells.id WHERE rows = 18)"
    marks=$("$binaries/run_sql" "$database" "SELECT count(*) FROM judgements WHERE detail LIKE '%#marked'")
    accepted "$label: resumed" 0 run "${plan[@]}" --db "$database" --resume
    check "$label: nothing is lost" has out '^requested [0-9]+, judged [0-9]+, missing 0$'
    accepted "$label: resumed: report" 0 report --db "$database" --no-charts
    check "$label: the same run" is "$("$lnbench" list runs --db "$database" --json >runs; value '' runs)" 1
    check "$label: complete" is "$(field "$database" state)" complete
    check "$label: as many cases" is "$(field "$database" cases)" "$cases"
    check "$label: repetitions not lost" test "$(field "$database" repetitions)" -ge "$repetitions"
    check "$label: nothing judged twice" is "$("$binaries/run_sql" "$database" \
        "SELECT count(*) FROM judgements WHERE detail LIKE '%#marked'")" "$marks"
    "$binaries/run_sql" "$database" "UPDATE judgements SET detail = nullif(replace(detail, '#marked', ''), '')"
    "$lnbench" export --db "$database" --format tsv | cut -f 1-13,15-37 | grep -v '^copy' >resumed.tsv
    check "$label: the figures of an uninterrupted run" diff whole.tsv resumed.tsv
    run_it run "${plan[@]}" --only accuracy --shapes 2x4 --db "$database" --resume
    check "$label: another plan does not go on with it" has err 'no unfinished run in '
}
interrupted accuracy-INT INT cases 130 interrupted
interrupted speed-INT INT repetitions 130 interrupted
interrupted speed-TERM TERM repetitions 130 interrupted
interrupted accuracy-KILL KILL cases 137 open
interrupted speed-KILL KILL repetitions 137 open

# Signals that were ignored at the start stay ignored: a closed terminal does not end a run started by nohup.
nohup "$lnbench" run "${plan[@]}" --only accuracy --db night.db >out 2>err &
process=$!
until [ "$(field night.db cases)" -gt 2 ] 2>/dev/null || ! kill -0 $process; do sleep 0.05; done
kill -HUP $process
kill -INT $process
wait $process
code=$?
check "nohup: exit code" is "$code" 0
check "nohup: state" is "$(field night.db state)" complete

# A worker with a kernel that never ends is ended with its parent.
"$lnbench" run --db loop.db --no-charts --plugin "$libraries/sabotage_plugin.so" --deadline 60 \
    --kernels naive.endless_loop --shapes 4x8 --conventions torch --inputs normal >out 2>err &
process=$!
for _ in $(seq 100); do
    [ "$(field loop.db state)" = open ] && break
    sleep 0.05
done
children=$(cat "/proc/$process/task/$process/children")
kill -KILL $process
{ wait $process; } 2>/dev/null
code=$?
check "an endless loop: there was a worker" test -n "$children"
check "an endless loop: none is left" gone $children

# Ctrl-C does not wait for a kernel that hangs.
"$binaries/test_files" make x.npy '<f4' '(2, 4)' 1:1
$by_default "$lnbench" eval --x x.npy --convention tinyllm --plugin "$libraries/sabotage_plugin.so" \
    --kernel naive.endless_loop >out 2>err &
process=$!
sleep 0.5
kill -INT $process
{ wait $process; } 2>/dev/null
code=$?
check "eval interrupted: exit code" is "$code" 130

# One signal ends a gnuplot that hangs, with its children, and leaves no incomplete file. The run is kept. If lnbench
# is killed, gnuplot ends too, but not necessarily its children.
mkdir programs tmp
cat >programs/gnuplot <<'END'
#!/bin/sh
sleep 1000 &
inside=$!
echo $$ $inside >"$0.part" && mv "$0.part" "$0.hangs"
wait
END
chmod +x programs/gnuplot
# hung CODE SIGNAL ARGUMENT...
hung() {
    local program=programs/gnuplot wanted=$1 signal=$2 label="gnuplot hangs, $2"
    shift 2
    rm -f "$program".hangs
    PATH=$PWD/programs:$PATH "$lnbench" "$@" >out 2>err &
    process=$!
    for _ in $(seq 600); do
        [ -e "$program".hangs ] && break
        sleep 0.1
    done
    check "$label: it was started" read -r started inside <"$program".hangs
    read -r started inside <"$program".hangs
    kill -"$signal" $process
    { wait $process; } 2>/dev/null
    code=$?
    check "$label: exit code" is "$code" "$wanted"
    [ "$signal" = KILL ] && gone "$started" && kill "$inside"
    check "$label: none is left" gone "$started" "$inside"
    [ "$signal" = KILL ] || check "$label: no half file" is "$(find charts -name '*.part' -o -name '*.svg')" ""
}
hung 130 TERM run --db hung.db --out charts --kernels two_pass_f32_scalar --shapes 4x8 \
    --conventions torch --inputs normal --processes 1 --repetitions 2
check "gnuplot hangs: the run is kept" is "$(field hung.db state)" complete
hung 137 KILL report --db hung.db --out charts

# The temporary folder for redrawing a page is removed.
rm -r charts/*
PATH=$PWD/nowhere "$lnbench" report --db hung.db --out page >out 2>err
TMPDIR=$PWD/tmp hung 130 TERM report --verify page/index.html
check "verify: nothing is left" is "$(ls tmp)" ""

# A worker that cannot be started is not a kernel's fault.
cp out no_program # a file that cannot be executed
for worker in /bin/true "$PWD/no_program"; do
    LNBENCH_WORKER=$worker refused "worker $worker" 7 'the worker .* cannot be started' run \
        --db none.db --kernels two_pass_f32_scalar --shapes 4x8
done

# Other settings that decide results are part of a plan: another limit, or another tensor under the same name.
"$binaries/test_files" make x.npy '<f4' '(2, 4)' 1:1
small=(--kernels two_pass_f32_scalar --only accuracy --conventions tinyllm --inputs x.npy
    --no-charts --db other.db)
run_it run "${small[@]}"
unfinish() { "$binaries/run_sql" other.db "UPDATE runs SET state = 'interrupted'"; }
unfinish
run_it run "${small[@]}" --resume
check "the same limit and tensor go on" hasnt err 'no unfinished run'
unfinish
run_it run "${small[@]}" --resume --max-row-ulp 1e6
check "another limit does not" has err "run 1 is unfinished, and of another plan: continue it with 'lnbench run .*--resume', or"
unfinish
"$binaries/test_files" make x.npy '<f4' '(2, 4)' 2:3
run_it run "${small[@]}" --resume
check "another tensor does not" has err 'run 1 is unfinished, and of another plan'

# ---- In a control group with limits, and in one below it. Skipped if version 2 has no controllers.
group=/sys/fs/cgroup/lnbench-test-$$
trap 'sleep .2; rmdir "$group/in" "$group" 2>/dev/null; rm -rf "$scratch"' EXIT
if ! { [ -e /sys/fs/cgroup/cgroup.controllers ] && mkdir -p "$group/in" &&
    echo +cpu +memory >/sys/fs/cgroup/cgroup.subtree_control && echo '30000 100000' >"$group/cpu.max" &&
    echo 60M >"$group/memory.max"; } 2>/dev/null; then
    echo "not checked: no control groups can be made here"
    finish
fi
inside() { # ARGUMENT...: runs lnbench in the inner group
    (echo "$BASHPID" >"$group/in/cgroup.procs" && exec timeout 100 "$lnbench" "$@") >out 2>err </dev/null
    code=$?
    without_progress
}
inside doctor
check "CPU quota" has out '^warning +CPU quota of the control group: 0\.30:'
check "memory limit" has out '^warning +memory limit of the control group: 60 MiB:'
shape=(run --only speed --kernels two_pass_f32_scalar --conventions torch --processes 1 --repetitions 2
    --no-charts --db m.db --shapes)
inside "${shape[@]}" 16384x1024
check "more than there is: exit code" is "$code" 7
check "more than there is" has err 'shape 16384x1024: x and y need 128 MiB; the control group may use 60 MiB of memory'
inside "${shape[@]}" 7000x1024 # with the other memory in use
check "ended by the system: exit code" is "$code" 7
check "ended by the system" has err 'out of memory at 7000x1024: the system ended the worker, whose control group may use 60 MiB'

finish
