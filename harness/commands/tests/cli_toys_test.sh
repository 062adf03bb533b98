#!/bin/bash
# shellcheck disable=SC2154 # cli_common.sh sets lnbench, binaries and libraries
# A column, an export format and a subcommand are added in as many places as docs/architecture.md says. Each patch
# in toys/ adds one of them; its hunks are the places. The test's own program (lnbench_toys) shows the additions.
#     cli_toys_test.sh BINARIES LIBRARIES SOURCE BUILD
source=${3:?} build=${4:?}
. "$(dirname "$0")/cli_common.sh" "$@"
toys=$source/harness/commands/tests/toys
tree=$build/harness/commands/tests/toys
command -v patch >/dev/null || { echo "skipped: no patch" && exit 77; }
touch out err

places() { grep -c '^@@' "$toys/$1.patch"; }
check "a column: its line, and the value of a row" is "$(places column)" 2
check "an export format: its name, and its function" is "$(places format)" 2
check "a subcommand: its file, and its name" is "$(places command)" 2

# lnbench_toys compiles the patched files, and links the rest from the libraries of the build.
rm -rf "$tree"
cd "$source" || exit 1
mkdir -p "$tree"
sed -n 's/^--- \([^/].*\)/\1/p' "$toys"/*.patch | xargs cp --parents -t "$tree" harness/commands/export.c
cd "$scratch" || exit 1
for toy in column format command; do
    check "the patch of a $toy applies" patch -s -p0 -d "$tree" -i "$toys/$toy.patch"
done
check "it is built" cmake --build "$build" --target lnbench_toys
# shellcheck disable=SC2034 # cli_common.sh runs it
lnbench=$tree/lnbench_toys

formats "a column" list models
check "the column in text" has text '^model .*hidden  bytes of a row  tokens'
check "the column in TSV" has tsv '	768	3072	'
check "the column in JSON" is "$(value 0.toy json)" "$((4 * $(value 0.hidden json)))"

"$binaries/lnbench" run --db a.db --kernels two_pass_f32_scalar --only accuracy --shapes 2x8 \
    --conventions torch --inputs normal --no-charts >out 2>err
accepted "an export format" 0 export --db a.db --format toy
check "the format's output" has out '^a toy of 1 cases$'
refused "the format in the error" 2 'smaller, toy or db$' export --db a.db --format tov
accepted "the format in --help" 0 export --help
check "the format in --help" has out 'smaller\|toy'

accepted "a subcommand" 0 toy --count 5
check "the subcommand runs" has out '^5 toys$'
accepted "lnbench --help" 0 --help
check "the subcommand's line" has out '^  toy +a toy of a subcommand$'
accepted "lnbench help toy" 0 help toy
check "its options" has out '^  --count N  '
finish
