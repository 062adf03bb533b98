#!/bin/bash
# Installed files are hardened: each ELF file is position independent, its relocations are read-only from the start, and
# no stack is executable; programs that handle strangers' bytes check their stack and their copies, and indirect jumps
# have landing places.
#     binaries_test.sh BINARIES LIBRARIES
set -u
binaries=$1 libraries=$2 wrong=0
command -v readelf objdump >/dev/null || { echo "skipped: no readelf (Debian: binutils)" && exit 77; }

fail() {
    echo "FAILED: $*"
    wrong=1
}

checks_itself() {
    readelf -sW --dyn-syms "$1" | grep -q __stack_chk_fail || fail "$1: no stack protector"
    readelf -sW --dyn-syms "$1" | grep -q '_chk@' || fail "$1: no fortified function"
}

for file in "$binaries"/lnbench "$binaries"/lnbench-worker "$libraries"/lib{layernorm,lnjudge}.so; do
    [ -f "$file" ] || { fail "no $file" && continue; }
    readelf -hW "$file" | grep -q 'Type: *DYN' || fail "$file: not position independent"
    readelf -dW "$file" | grep -q 'Flags:.*NOW\|BIND_NOW' || fail "$file: binds lazily"
    readelf -lW "$file" | grep -q GNU_RELRO || fail "$file: relocations stay writable"
    readelf -lW "$file" | grep 'GNU_STACK' | grep -q 'RWE' && fail "$file: an executable stack"
    if [ "$(uname -m)" = x86_64 ]; then
        entry=$([[ $file = *.so ]] && echo ln_version || echo main)
        [[ $file != *lnjudge* ]] || entry=lnjudge_reference
        objdump -d --no-show-raw-insn --disassemble="$entry" "$file" | grep -q endbr64 ||
            fail "$file: $entry has no landing place"
    fi
done
checks_itself "$binaries/lnbench"
checks_itself "$binaries/lnbench-worker"
checks_itself "$libraries/liblnjudge.so"
exit $wrong
