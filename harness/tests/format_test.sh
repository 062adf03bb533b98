#!/bin/sh
# Every C and C++ file has the format of .clang-format and at most 1,500 lines.
# usage: format_test.sh SOURCE_ROOT; exit code 77: skipped, clang-format 14 is missing
set -u
cd "$1" || exit 1
files=$(find kernels reference harness lnjudge plots \( -name '*.c' -o -name '*.h' -o -name '*.cpp' -o -name '*.hpp' \) | sort)
# shellcheck disable=SC2086
long=$(wc -l $files | awk '$2 != "total" && $1 > 1500')
if [ -n "$long" ]; then
    echo "longer than 1,500 lines:"
    echo "$long"
    exit 1
fi
# The dispatch tables say "clang-format off"; skip them, since each would take half a minute.
files=$(echo "$files" | grep -vxE 'kernels/dispatch/(dispatch|rms)_table\.h')
# Other versions format a little differently.
for program in clang-format-14 clang-format; do
    if "$program" --version 2>/dev/null | grep -q 'version 14\.'; then
        # shellcheck disable=SC2086
        "$program" --dry-run -Werror $files && echo "$(echo "$files" | wc -l) files are formatted"
        exit
    fi
done
echo "skipped: clang-format 14 is not installed"
exit 77
