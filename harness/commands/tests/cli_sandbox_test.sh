#!/bin/bash
# shellcheck disable=SC2154 # cli_common.sh sets lnbench, binaries and libraries
# --sandbox: what a kernel can do without it, and not with it.
. "$(dirname "$0")/cli_common.sh" "$@"

bwrap --ro-bind / / --unshare-all --dev /dev --proc /proc true 2>/dev/null || {
    echo "skipped: bubblewrap is missing, or may not make namespaces here"
    exit 77
}

case=(--plugin "$libraries/escape_plugin.so" --kernels 'escape,two_pass_f32_scalar' --shapes 4x64
    --conventions torch --inputs normal --processes 1 --repetitions 2 --referee no --no-charts)
export LNBENCH_ESCAPE_DIRECTORY=$scratch LNBENCH_ESCAPE_PARENT=$$

# Each thing alone can be done without: else the second half would show nothing.
for number in 1 2 4 6 7 8 9; do
    LNBENCH_ESCAPE=$number run_it run "${case[@]}" --only accuracy --db free.db
    check "without a sandbox, $number: exit code" is "$code" 6
    check "without a sandbox, $number" has out "escape: crashed \(exited with status 10$number\)"
done

# In it nothing succeeds; that it starts processes at all is a fault of its own.
ends "in a sandbox" 6 run "${case[@]}" --db closed.db --sandbox
check "in a sandbox: its processes alone are a fault" has out '^  run\(\) started a process$'
check "in a sandbox: nothing else succeeds" hasnt out 'exited with status 10'
check "in a sandbox: ours" has out '^(fastest|take|textbook) +two_pass'

LNBENCH_SANDBOX=1 accepted "by the environment, every subcommand" 0 list kernels \
    --plugin "$libraries/escape_plugin.so"
mkdir -p none
printf '#!/bin/sh\nexit 1\n' >none/bwrap
chmod +x none/bwrap
PATH=$PWD/none:$PATH refused "no bubblewrap" 7 'cannot be started in a sandbox \(bubblewrap\)' run \
    "${case[@]}" --db none.db --sandbox

finish
