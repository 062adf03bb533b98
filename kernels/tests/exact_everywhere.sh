#!/bin/sh
# Compares the hashes of the results of the class `exact` for all available compilers and machines:
#     kernels/tests/exact_everywhere.sh [CASES [FOLDER]]
# builds the library with gcc, clang, for aarch64 and for s390x (Debian: gcc-aarch64-linux-gnu,
# gcc-s390x-linux-gnu, qemu-user) in FOLDER (default: build/everywhere), and prints a line for each ISA
# and 1 and 2 threads. CASES is the number of cases of each of five pairs of types: 2300 (the default) give 10^7
# results. Exit code: 0 if all hashes are the same, else 1.
set -eu
cases=${1:-2300}
source=$(cd "$(dirname "$0")/../.." && pwd)
folder=${2:-$source/build/everywhere}
mkdir -p "$folder"
: >"$folder/hashes"

# Builds and runs one target: one NAME COMPILER EMULATOR [CMAKE_OPTION...]
one() {
    name=$1 compiler=$2 emulator=$3
    shift 3
    for tool in "$compiler" $emulator; do
        case $tool in -* | /*) continue ;; esac
        if ! command -v "$tool" >/dev/null; then
            echo "$name: left out, there is no $tool"
            return
        fi
    done
    cmake -S "$source" -B "$folder/$name" -G Ninja -DCMAKE_BUILD_TYPE=Release \
        -DLNBENCH_KERNELS_ONLY=ON -DLNBENCH_TESTS=ON "$@" >"$folder/$name.log" 2>&1 &&
        cmake --build "$folder/$name" -j2 --target exact_test >>"$folder/$name.log" 2>&1 || {
        echo "$name: see $folder/$name.log"
        exit 1
    }
    $emulator "$folder/$name/bin/exact_test" "$cases" | sed "s/^/$name, /" | tee -a "$folder/hashes"
}

one gcc gcc '' -DCMAKE_C_COMPILER=gcc
one clang clang '' -DCMAKE_C_COMPILER=clang
one aarch64 aarch64-linux-gnu-gcc 'qemu-aarch64 -L /usr/aarch64-linux-gnu' \
    -DCMAKE_TOOLCHAIN_FILE="$source/cmake/aarch64-linux-gnu.cmake"
one s390x s390x-linux-gnu-gcc 'qemu-s390x -L /usr/s390x-linux-gnu' \
    -DCMAKE_TOOLCHAIN_FILE="$source/cmake/s390x-linux-gnu.cmake"

different=$(sed 's/.*: //' "$folder/hashes" | sort -u | wc -l)
echo "$(wc -l <"$folder/hashes") runs, $different different hash(es)"
test "$different" -eq 1
