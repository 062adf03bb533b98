#!/bin/bash
# shellcheck disable=SC2154 # cli_common.sh sets code, binaries and lnbench
# The corpus of reference/worst: every file reads, names a kernel of the table, and what was found stays
# within what is proven. A find that comes out otherwise, because its kernel was changed, is told and
# no failure: the command above it hunts anew.
corpus=$(readlink -f -- "$(dirname "$0")/../../../reference/worst") # before the directory changes
. "$(dirname "$0")/cli_common.sh" "$@"

changed=0
absent=0
finds=0
for file in "$corpus"/*.txt; do
    name=${file##*/}
    run_it replay "$file" --json
    case $code in
    0) ;;
    1) changed=$((changed + 1)) && echo "changed: $name" ;;
    4) absent=$((absent + 1)) ;; # its ISA
    *)
        failed "$name replays"
        continue # there is nothing to look at
        ;;
    esac
    count=$(value "" out)
    [[ $count =~ ^[0-9]+$ ]] || count=0 # what is no JSON is described
    check "$name: finds" test "$count" -ge 1
    for ((i = 0; i < count; i++)); do
        finds=$((finds + 1))
        now="$(value "$i.now.verdict" out) $(value "$i.now.reason" out)"
        check "$name: within what is proven: $now" grep -Eq '^(pass|type-limited inaccurate|unsupported|missing)' <<<"$now"
    done
done
check "there is a corpus" test "$finds" -gt 20
check "it is small" test "$(cat "$corpus"/*.txt | wc -c)" -lt 2000000
# Each kernel of ours has a row of its own, whether this CPU can run it or not; but those that round
# correctly, which have none worse than another, and calls, which take kernels that have theirs; and
# but for some that have not been hunted on NEON.
accepted "the kernels" 0 list kernels --format tsv
while read -r kernel; do
    check "a find of $kernel: reference/worst/every.sh makes one" grep -q "^kernel $kernel$" "$corpus"/*.txt
done < <(awk -F '\t' '$11 == "builtin" && $2 != "exact" && $1 !~ /^library_/ &&
    !($7 == "neon" && ($3 == "split" || $3 == "in_pairs")) { print $1 }' out)
for type in f32 f64 bf16 f16; do
    check "rows of $type" grep -q "^dtype $type$" "$corpus"/*.txt
done
echo "$finds finds; changed files: $changed; without their ISA here: $absent"
finish
