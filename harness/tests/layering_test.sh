#!/bin/sh
# Checks the order of the folders against the files that the compiler reads and the symbols that the linker needs.
#
#   headers   the output of `cc -M` for each source file of kernels/, reference/, harness/ and lnjudge/
#   symbols   the undefined symbols of each folder's static library (nm)
#
# The order is in harness/CMakeLists.txt (LNBENCH_LAYERS); docs/architecture.md draws it.
# usage: layering_test.sh SOURCE_ROOT BUILD_DIRECTORY C_COMPILER
set -u
root=$1 build=$2 compiler=$3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$root" || exit 1
layers=$(tr '\n' ' ' <harness/CMakeLists.txt | sed 's/.*set(LNBENCH_LAYERS \([^)]*\)).*/\1/')
[ "$(echo "$layers" | wc -w)" -gt 5 ] || { echo "harness/CMakeLists.txt: no LNBENCH_LAYERS"; exit 1; }

# Prints FILE: HEADER lines, relative to the root; only those system headers that a layer may not use.
headers() {
    # -MG: generated headers need not exist. A rule is "NAME.o: FILE HEADER...".
    # shellcheck disable=SC2046,SC2086 # lists of words
    "$compiler" -M -MG -D_GNU_SOURCE -std=c17 -I harness -I reference $2 \
        -I "$build/kernels/generated" -I "$build/harness/generated" -I harness/hayai-c/include \
        -I harness/hayai-c -I lnjudge/include $(find "$1" -name '*.c' -not -path '*/tests/*' \
            -not -path '*/hayai-c/*' -not -path '*/peers/*') 2>>"$work/errors" | tr -s ' \\' '\n\n' |
        awk -v root="$root/" '
            { if (index($0, root) == 1) $0 = substr($0, length(root) + 1) }
            /:$/ { first = 1; next }
            first { file = $0; first = 0 }
            /^(harness|reference|kernels)\// || /\/(sqlite3|mpfr|gmp|jansson|lzma|dlfcn|hayai)\.h$/ {
                if (!seen[file, $0]++) print file ": " $0
            }'
}

# The include directories of kernels/, found by their headers.
kernel_folders=$(find kernels -name '*.h' -not -path '*/tests/*' -not -path '*/peers/*' -exec dirname {} + |
    sort -u | sed 's/^/-I /' | tr '\n' ' ')
for part in kernels reference harness lnjudge; do
    headers "$part" "-I kernels $kernel_folders"
done >"$work/headers"
if [ -s "$work/errors" ] && grep -q 'error' "$work/errors"; then
    echo "the compiler could not list the headers:"
    grep error "$work/errors" | head -5
    exit 1
fi

# Checks the list on standard input for headers that a file may not read.
check_headers() {
    awk -v layers="$layers" -v least="$1" '
function folder(path, part) { split(path, part, "/"); return part[2] }
function complain(why) { print file " reads " header ": " why; bad++ }
BEGIN {
    count = split(layers, name, " ")
    for (i = 1; i <= count; i++) rank[name[i]] = i
}
{
    file = $1; sub(/:$/, "", file); header = $2
    part = file; sub(/\/.*/, "", part)
    of = header; sub(/\/.*/, "", of)
    seen[file] = 1
    if (part == "kernels" && of != "kernels") complain("kernels/ stands alone")
    if (part == "reference" && of == "harness") complain("reference/ comes before the harness")
    if (part == "reference" && header ~ /(sqlite3|jansson)\.h$/) complain("not for the reference")
    if (part == "lnjudge" && of == "harness" && rank[folder(header)] > rank["conformance"])
        complain("the library has nothing beyond the conformance tests")
    if (part != "harness") next
    here = folder(file)
    owner = header; sub(/\/internal\.h$/, "/", owner)
    if (owner != header && index(file, owner) != 1) complain("it belongs to " owner " alone")
    if (header ~ /(mpfr|gmp)\.h$/) complain("only reference/ uses MPFR and GMP")
    if (header ~ /sqlite3\.h$/ && here != "store")
        complain("SQL stands in harness/store alone")
    if (header ~ /(dlfcn|hayai)\.h$/ && file !~ /^harness\/worker\/child\//)
        complain("only the worker loads and times kernels")
    if (file ~ /^harness\/worker\/child\// && header ~ /^harness\/(judge|store)\//)
        complain("the worker never holds the answer")
    if (rank[here] > rank["store"] && file !~ /^harness\/((run|commands)\/|show\/duet)/ &&
        header ~ /^harness\/(judge|worker|conformance)\//)
        complain("what reads the store knows neither judge nor worker")
    if (of == "harness" && header !~ /^harness\/hayai-c\// && folder(header) in rank) {
        if (!(here in rank)) complain("a folder that LNBENCH_LAYERS does not name")
        else if (rank[folder(header)] > rank[here]) complain(here " stands above " folder(header))
    }
}
END {
    for (f in seen) files++
    if (files < least) { print "only " files " files were seen"; bad++ }
    exit bad > 0
}'
}
check_headers 100 <"$work/headers" || exit 1

# Check the check: it finds headers of the worker that show/ reads only through another one, and that the judge reads.
mkdir "$work/planted"
cp -r harness reference kernels "$work/planted"
for plant in show:domain/kernel.h judge:judge/judge.h conformance:conformance/internal.h; do
    read=worker/worker.h
    [ "${plant%:*}" != conformance ] || read=store/internal.h
    sed -i "1i #include \"$read\"" "$work/planted/harness/${plant#*:}"
    (cd "$work/planted" && root=$PWD && headers "harness/${plant%:*}" "-I kernels $kernel_folders") >"$work/headers"
    if check_headers 1 <"$work/headers" >/dev/null; then
        echo "an include of $read planted in ${plant#*:} was not found in ${plant%:*}"
        exit 1
    fi
    cp "harness/${plant#*:}" "$work/planted/harness/${plant#*:}"
done

# A type declared by name needs no header: the judge never names the worker, except in runner.h.
if grep -rn worker harness/judge --include='*.[ch]' | grep -v '^harness/judge/runner\.h'; then
    echo "the judge names the worker"
    exit 1
fi

# A library's undefined symbols must be defined by itself or by a library above it.
nm_of() { # LAYER U|D : prints its undefined or defined global symbols
    case $2 in
    U) nm -u "$build/lib/liblnbench_$1.a" 2>/dev/null | awk 'NF == 2 { print $2 }' ;;
    D) nm -g --defined-only "$build/lib/liblnbench_$1.a" 2>/dev/null | awk 'NF == 3 { print $3 }' ;;
    esac | sort -u
}
bad=0
: >"$work/above"
for layer in $layers; do
    nm_of "$layer" D >"$work/defined.$layer"
    [ -s "$work/defined.$layer" ] || { echo "liblnbench_$layer.a: missing or empty"; bad=1; }
done
for layer in $layers; do
    sort -u "$work/above" "$work/defined.$layer" >"$work/known"
    nm_of "$layer" U | comm -23 - "$work/known" >"$work/lacking"
    for other in $layers; do
        comm -12 "$work/defined.$other" "$work/lacking" | sed "s/^/$layer links $other for /" >>"$work/wrong"
    done
    cp "$work/known" "$work/above"
done
if [ -s "$work/wrong" ]; then
    cat "$work/wrong"
    bad=1
fi

# The page that draws the architecture lists every folder in this order.
drawn=$(sed -n 's/^| `harness\/\([a-z-]*\)\/` .*/\1/p' docs/architecture.md | grep -v hayai-c | tr '\n' ' ')
[ "$(echo $drawn)" = "$(echo $layers)" ] || {
    echo "docs/architecture.md lists:  $drawn"
    echo "harness/CMakeLists.txt says: $layers"
    bad=1
}
# Text is printed by base/output.c and base/die.c, which clean it; help has only our own text.
doors='harness/(base/(die|output)\.c|commands/(main|options|help)\.c|worker/child/|hayai-c/|.*tests/)'
grep -rnE '\b(stdout|stderr)\b|(^|[^a-z_])(printf|puts|putchar)\(' harness --include='*.c' | grep -vE "^$doors" &&
    echo "these print past base/output.h" && bad=1
[ "$bad" -eq 0 ] && echo "layers: every include and every link goes one way"
exit "$bad"
