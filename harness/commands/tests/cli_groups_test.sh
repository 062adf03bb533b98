#!/bin/bash
# shellcheck disable=SC2154 # cli_common.sh sets lnbench, binaries and libraries
# In a control group with limits, and in one below it: v1, or v2 where that has the controllers.
. "$(dirname "$0")/cli_common.sh" "$@"

root=/sys/fs/cgroup
cpu=$root/cpu memory=$root/memory
[ -d "$memory" ] || cpu=$root memory=$root
cpu+=/lnbench-test-$$ memory+=/lnbench-test-$$
trap 'sleep .2; rmdir "$cpu/in" "$memory/in" "$cpu" "$memory" 2>/dev/null; rm -rf "$scratch"' EXIT
mkdir -p "$cpu/in" "$memory/in" 2>/dev/null
# limit FILE_OF_V1 FILE_OF_V2 VALUE OF_V2
limit() { echo "$3" >"$1" || { echo +cpu +memory >"${2%/*}/../cgroup.subtree_control" && echo "$4" >"$2"; }; }
limit "$cpu/cpu.cfs_quota_us" "$cpu/cpu.max" 30000 '30000 100000' 2>/dev/null &&
    limit "$memory/memory.limit_in_bytes" "$memory/memory.max" 60M 60M 2>/dev/null || {
    echo "skipped: no control groups can be made here"
    exit 77
}
inside() { # lnbench ARGUMENT...: in the groups below
    (echo "$BASHPID" >"$cpu/in/cgroup.procs" && echo "$BASHPID" >"$memory/in/cgroup.procs" &&
        exec timeout 100 "$lnbench" "$@") >out 2>err </dev/null
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
inside "${shape[@]}" 7000x1024 # with what else is in memory
check "ended by the system: exit code" is "$code" 7
check "ended by the system" has err 'out of memory: the system ended the worker, whose control group may use 60 MiB; x and y of 7000x1024 need 54\.7 MiB'
finish
