#!/bin/sh
# Each installed file belongs to exactly one of the packages' components.
# usage: components_test.sh CMAKE BUILD
set -eu
cmake=$1 build=$2
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

files() {
    (cd "$1" && find . \( -type f -o -type l \) | LC_ALL=C sort)
}

"$cmake" --install "$build" --prefix "$work/all" >"$work/log"
"$cmake" --install "$build" --prefix "$work/all" --component hayai >"$work/log"
components=$(sed -n 's/^set(CPACK_COMPONENTS_ALL "\(.*\)")$/\1/p' "$build/CPackConfig.cmake" | tr ';' ' ')
for component in $components; do
    "$cmake" --install "$build" --prefix "$work/$component" --component "$component" >"$work/log"
    mkdir -p "$work/$component" # the component of hayai's shared library is empty if hayai is static
    files "$work/$component" >>"$work/packed"
done
LC_ALL=C sort "$work/packed" >"$work/sorted"
files "$work/all" >"$work/wanted"
if ! diff "$work/wanted" "$work/sorted"; then
    echo "<: of no package; >: of two, or of none that is installed"
    exit 1
fi
[ "$(files "$work/liblnjudge" | wc -l)" = 2 ] # the library and the link by its soname
[ "$(files "$work/liblayernorm" | wc -l)" = 2 ]
echo "$(wc -l <"$work/wanted") files in the packages:" "$components"
