#!/bin/sh
# Every header of the kernels compiles alone, with the flags of the ISA in its name (isa.def) or, where
# it names none, with those of an ISA that has all words (lane/lane.h selects the lanes); and a reader
# of one kernel opens MOST files at most. Not counted: the public headers, and the generated file, which
# says no more than the kernel's line of kernels.def.
#   headers_test.sh KERNELS GENERATED CC MOST [CROSS_CC]
# CROSS_CC compiles NEON, where CC does not.
kernels=$1 generated=$2 cc=$3 most=$4 cross=$5
cd "$kernels" || exit 1
failed=0
target=$($cc -dumpmachine)

flags_of() # ISA
{
    sed -n "s/^LN_ISA($1, \"[^\"]*\", [0-9]*, [01], [0-9]*, \"\([^\"]*\)\".*/\1/p" table/isa.def
}

# A third of a compilation goes into the intrinsics. Headers of lanes include them themselves; the others
# find them there, and get them precompiled.
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
precompiled() # header isa: options for all but lanes
{
    case $1,$2 in lane/* | *,neon | *,scalar) return ;; esac
    [ "$known" = x86 ] || return
    if [ ! -e "$work/$2.h" ]; then
        echo '#include <immintrin.h>' > "$work/$2.h"
        # shellcheck disable=SC2046
        "$cc" -std=c17 $(flags_of "$2") -x c-header "$work/$2.h" -o "$work/$2.h.gch"
    fi
    echo "-include $work/$2.h"
}

check() # header compiler flags...
{
    header=$1 && shift
    if ! messages=$("$@" -std=c17 -fsyntax-only -Werror=implicit-function-declaration \
        -I. -Iinclude -x c "$header" 2>&1); then
        printf '%s does not compile alone:\n%s\n' "$header" "$messages" | head -12
        failed=1
    fi
}

count=0
for header in *.h bounds/*.h lane/*.h statistics/*.h apply/*.h schedule/*.h; do
    isa=${header%.h} && isa=${isa##*[_/]}
    case $target in
    x86_64*) known=x86 ;;
    aarch64*) known=neon ;;
    *) known= ;;
    esac
    case $isa in
    neon) wanted=neon ;;
    avx2 | avx512 | avx512bf16) wanted=x86 ;;
    scalar) wanted=$known ;;
    *) wanted=x86 isa=avx512 ;;
    esac
    count=$((count + 1))
    if [ "$wanted" = "$known" ]; then
        # shellcheck disable=SC2046
        check "$header" "$cc" $(flags_of "$isa") $(precompiled "$header" "$isa")
    elif [ "$wanted" = neon ] && command -v "${cross:-none}" > /dev/null; then
        check "$header" "$cross"
    else
        count=$((count - 1))
    fi
done
echo "$count headers were compiled alone"

# Prints how many files each kernel of the ISA reads, and its name. -MM names no system header: the
# largest of them is not read.
count_files() # ISA sources...
{
    isa=$1 && shift
    # shellcheck disable=SC2046 # a list of flags
    "$cc" -MM -D_IMMINTRIN_H_INCLUDED $(flags_of "$isa") -I. -Iinclude "$@" | awk '
        {
            more = sub(/\\$/, "")
            for (i = 1; i <= NF; i++)
                if ($i ~ /:$/) name = $i
                else if ($i !~ /^include\/|\.kernel\.c$/ && !seen[name, $i]++) files++
        }
        !more { print files, name; files = 0 }'
}

names=$(printf '%s\n' "$generated"/*.kernel.c)
# shellcheck disable=SC2046 # lists of files
read -r largest kernel <<END
$({
    for isa in avx2 avx512 avx512bf16; do
        count_files $isa $(echo "$names" | grep "_${isa}[_.]")
    done
    count_files scalar $(echo "$names" | grep -v _avx)
} 2>/dev/null | sort -rn | head -1)
END
kernel=${kernel%.kernel.o:}
echo "at most $largest files a kernel ($kernel)"
if [ "$largest" -gt "$most" ]; then
    echo "a reader of $kernel opens $largest files; $most are allowed"
    failed=1
fi
exit $failed
