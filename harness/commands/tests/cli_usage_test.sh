#!/bin/bash
# shellcheck disable=SC2154 # cli_common.sh sets lnbench, binaries and libraries
# Help, subcommands, options and invalid words.
. "$(dirname "$0")/cli_common.sh" "$@"

run_it
check "no arguments: exit code" is "$code" 2
check "no arguments: help on standard error" has err '^  run  '
check "no arguments: nothing on standard output" lines out 0

accepted "--help" 0 --help
for subcommand in run list eval choose report export doctor; do
    check "--help names $subcommand" has out "^  $subcommand "
done
for exit in '0: fine' '2: usage' '7: environment' '130: interrupted'; do
    check "--help documents '$exit'" has out "$exit"
done
accepted "--version" 0 --version
check "--version prints one" has out '^lnbench [0-9]+\.[0-9]+\.[0-9]+$'

# The options in --help are exactly those that the subcommand accepts.
documented() { sed -n 's/^  \(--[a-z-]*\).*/\1/p' out | sort | tr '\n' ' '; }
options_of() {
    local subcommand=$1 listed
    shift
    accepted "$subcommand --help" 0 "$subcommand" --help
    check "$subcommand --help: its usage" has out "^Usage: lnbench $subcommand "
    check "$subcommand --help: at most 100 columns" hasnt out '.{101}'
    listed=$(documented)
    for option in $listed; do
        [ "$option" = --help ] && continue
        run_it "$subcommand" "$option=" --no-such-option
        check "$subcommand takes $option" hasnt err "has no option ${option}[ (]"
    done
    check "$subcommand --help: its options" is "$listed" "$(printf '%s\n' "$@" --help | sort | tr '\n' ' ')"
}
options_of run --plan --operation --kernels --conventions --dtypes --shapes --inputs --cache --time-on --threads --only --conformance --allow-missing \
    --plugin --seed --processes --repetitions --max-row-ulp --deadline --db --out \
    --no-charts --resume --dry-run --all --format --json
options_of list --plugin --operation --db --format --json
options_of eval --x --residual --gamma --beta --dy --dx --dgamma --dbeta --conventions --kernels --reference --y --out --inputs \
    --shapes --seed --axis --dtypes \
    --plugin --max-row-ulp --deadline --format --json
options_of fingerprint --x --y --gamma --beta --residual --dtypes --digits --x-digits --probe --format --json
options_of choose --shapes --model --tokens --max-row-ulp --proven --kappa --stored --conventions --dtypes --param --kernels \
    --cache --time-on --threads --plugin --deadline --allow-missing --db --format --json
options_of report --allow-missing --run --out --no-charts --verify --sample --plugin --db --all --format --json
options_of export --format --run --out --db
options_of doctor --store --remove --noise --time --db --facts --format --json
for subcommand in compare history import help; do
    accepted "$subcommand --help" 0 "$subcommand" --help
    check "$subcommand --help: at most 100 columns" hasnt out '.{101}'
done
options_of hunt --kernels --conventions --hidden --time --seed --out \
    --plugin --db --format --json
options_of replay --run --case --failures \
    --plugin --max-row-ulp --db --format --json
options_of duet --base --new --operation --kernels --conventions --dtypes --shapes --inputs --cache --time-on --threads \
    --threshold --time --accuracy --only --allow-missing --format --all --also --json --seed --deadline

(
    ulimit -s 32
    "$lnbench" list runs >out 2>err
)
check "a small stack: exit code" is "$?" 7
check "a small stack: one line" lines err 1
check "a small stack: what to do" has err '^lnbench: the limit of the stack is 32 KiB, .*ulimit -s 8192'

refused "a subcommand with a slip" 2 "'rnu' \(did you mean 'run'\?\)" rnu
refused "a subcommand far from all" 2 "no subcommand 'zzzzzzzz': see" zzzzzzzz
refused "an option where a subcommand stands" 2 "no option '--versio'" --versio
check "fifteen subcommands at most" test "$("$lnbench" --help | grep -c '^  [a-z]')" -le 15
refused "an option with a slip" 2 '--kernal \(did you mean --kernels\?\)' run --kernal x
# Options are plural everywhere; the singular is accepted.
for words in 'run --kernel x' 'choose --shape 1x8 --dtype x' 'eval --input normal --kernel x' \
    'run --convention x' 'duet --thread x' 'hunt --kernel x --convention y'; do
    # shellcheck disable=SC2086 # several words
    run_it $words
    check "$words: the singular is known" hasnt err 'has no option'
done
refused "a model and shapes" 2 '--shapes and --model exclude each other' \
    choose --model gpt2 --shape 1x8
for words in run choose 'list runs' report export history; do
    # shellcheck disable=SC2086 # several words
    refused "$words: a store where no directory is" 7 "there is no directory 'no/such'" \
        $words --db no/such/store.db
done
refused "an option far from all" 2 'run has no option --zzzzzzzz:' run --zzzzzzzz
refused "a single dash" 2 "'-x': options begin with two dashes" run -x
for words in run 'eval --input normal --reference' 'choose --shape 1x8' \
    'duet --base a --new b'; do
    # shellcheck disable=SC2086 # several words
    refused "no time to hang in: ${words%% *}" 2 '--deadline 0: choose more than 0 seconds' \
        $words --deadline 0
done
refused "an operand too many" 2 "unexpected 'foo'" run foo
refused "a value left out" 2 '--kernels needs a value: GLOB' run --kernels
refused "a value for a flag" 2 '--json takes no value' run --json=1
refused "list of nothing" 2 'list what\?' list
refused "list with a slip" 2 "cannot list 'kernel' \(did you mean 'kernels'" list kernel
refused "list of two things" 2 "unexpected 'runs'" list kernels runs
for bad in -1 +1 abc 1.5 '' 99999999999999999999999; do
    refused "--seed '$bad'" 2 "--seed.*whole number" run "--seed=$bad"
done
for bad in nan -1 inf x ''; do
    refused "--max-row-ulp '$bad'" 2 '--max-row-ulp.*a number from 0' run "--max-row-ulp=$bad"
done
accepted "--help wins over what is wrong behind it" 0 run --help --zzz

# Standard output that cannot be written is an error; a closed pipe is not reported.
if [ -c /dev/full ]; then
    for arguments in --help 'run --help' 'list kernels' 'list kernels --json' doctor 'doctor --json' \
        'run --dry-run' 'run --dry-run --json'; do
        # shellcheck disable=SC2086
        "$lnbench" $arguments >/dev/full 2>err
        code=$?
        : >out
        check "$arguments >/dev/full: exit code" is "$code" 7
        check "$arguments >/dev/full: one line" lines err 1
    done
fi
"$lnbench" list kernels 2>err | true
code=${PIPESTATUS[0]}
check "a reader that goes away: 0 or 141" has <(echo "$code") '^(0|141)$'
check "a reader that goes away is told nothing" lines err 0

finish
