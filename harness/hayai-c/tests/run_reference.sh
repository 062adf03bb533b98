#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every public function has its line in docs/reference.md and nothing else has; every version that
# the README names is in the matrix; every file says its license. usage: run_reference.sh C_COMPILER
#   SOURCE
set -eu
cd "$2"
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
LC_ALL=C
export LC_ALL

tests/list_functions.sh "$1" . > "$work/declared"
grep '^| `hayai_' docs/reference.md | cut -d'|' -f2 | grep -o 'hayai_[a-z_0-9]*' | sort > "$work/documented"
diff "$work/declared" "$work/documented"

# Each header compiles alone.
for header in hayai*.h; do
    echo "#include <$header>" | "$1" -std=c17 -I. -Wall -Wextra -Wpedantic -Werror -fsyntax-only -xc -
done

# Names in the documentation exist.
cat hayai*.h > "$work/headers"
cat README.md docs/*.md man/hayai.3 | tr -d '\\' | grep -o '\bhayai_[a-z_0-9]*()' | tr -d '()' | sort -u |
    while read -r name; do
        grep -qw "$name" "$work/headers" || [ "$name" = hayai_benchmark_ ] || [ "$name" = hayai_state_ ] ||
            { echo "no such function: $name"; exit 1; }
    done
grep -o '\bHAYAI_[A-Z_0-9]*' README.md docs/*.md CHANGELOG.md -h | sort -u |
    grep -v '^HAYAI_\(TESTS\|EXAMPLES\|SANITIZE\|SANITIZED_TESTS\)$' | while read -r name; do
        grep -q "$name" "$work/headers" || { echo "no such macro: $name"; exit 1; }
    done

# Links lead somewhere.
for page in README.md docs/*.md; do
    grep -o '](\([^)#:]*\)' "$page" | cut -c3- | sort -u | while read -r link; do
        [ -z "$link" ] || [ "$link" = https ] || [ -e "$(dirname "$page")/$link" ] || { echo "$page: $link is not there"; exit 1; }
    done
done

grep -o 'tested\*\*: .*' README.md | grep -o '1\.[0-9]*\.[0-9]*' | while read -r version; do
    grep -q "^| $version " docs/compatibility.md || { echo "$version is not in the matrix"; exit 1; }
done
version=$(sed -n 's/.*VERSION_STRING "\(.*\)"/\1/p' hayai.h)
grep -q "^## $version$" CHANGELOG.md
grep -q "\"hayai $version\"" man/hayai.3
find . -name '*.[ch]' -o -name '*.[ch]pp' -o -name '*.sh' -o -name '*.py' -o -name CMakeLists.txt |
    while read -r file; do
        head -3 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || { echo "$file: no license"; exit 1; }
    done
