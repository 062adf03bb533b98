#!/bin/sh
# Runs .ci/gate on a small repository, with a substitute for lnbench: what it builds and compares, its exit code, and
# what it leaves. usage: gate_test.sh SOURCE_ROOT
set -u
gate=$1/.ci/gate
for program in git cmake cc; do
    command -v $program >/dev/null || {
        echo "skipped: no $program"
        exit 77
    }
done
scratch=$(mktemp -d "${TMPDIR:-/tmp}/lnbench-gate-test-XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failures=0
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 TMPDIR="$scratch/tmp"
unset GIT_DIR GIT_WORK_TREE
mkdir tmp repository
export LNBENCH="$scratch/lnbench" LNBENCH_GATE_REPOSITORY="$scratch/repository"

# A substitute that prints the versions it was given, and exits with a given code.
cat >lnbench <<'SCRIPT'
#!/bin/sh
echo "$1: $(grep -ao 'version-[a-z]*' "$3") $(grep -ao 'version-[a-z]*' "$5") $6 $7"
exit "${STAND_IN_CODE:-0}"
SCRIPT
chmod +x lnbench

# commit VERSION [FILE]: commits a library of this version.
commit() {
    echo "const char *version(void) { return \"version-$1\"; }" >kernels/a.c
    [ "$1" != broken ] || echo "this is no C" >kernels/a.c
    git add -A && git commit -qm "$1"
}

cd repository || exit 1
git init -q -b main .
mkdir kernels
cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.22)
set(CMAKE_C_COMPILER_FORCED TRUE) # skips CMake's test of the compiler
project(small C)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
add_library(layernorm SHARED kernels/a.c)
CMAKE
commit broken
git tag broken
commit old
git checkout -q -b topic
commit new
git checkout -q main
commit ahead # main advances: the merge base is still "old"
git checkout -q topic

# expect CODE TEXT ARGUMENTS...
expect() {
    wanted=$1
    text=$2
    shift 2
    "$gate" "$@" >../output 2>&1
    code=$?
    if [ $code -ne "$wanted" ] || ! grep -q -e "$text" ../output; then
        echo ".ci/gate $*: exit code $code, expected $wanted with '$text':"
        cat ../output
        failures=$((failures + 1))
    fi
    left=$(git worktree list | wc -l)
    if [ "$left" -ne 1 ] || [ -n "$(ls ../tmp)" ]; then
        echo ".ci/gate $*: left behind: $(git worktree list) $(ls ../tmp)"
        failures=$((failures + 1))
    fi
}

expect 0 'duet: version-old version-new --threshold 1%' --threshold 1%
for code in 1 3 6; do
    export STAND_IN_CODE=$code
    expect $code 'duet: version-old version-new'
done
export STAND_IN_CODE=3
expect 0 'no failure' --lenient
export STAND_IN_CODE=1
expect 1 'version-new' --lenient
export STAND_IN_CODE=0
expect 0 'would build both and run: .*duet .*--threshold 1%' --dry-run --threshold 1%
expect 2 'nowhere: no such commit' --base nowhere
expect 2 'nowhere: no such commit' --head nowhere
expect 2 'a value was expected' --base
echo words >README
git add -A && git commit -qm "words only"
expect 0 'version-old version-new'
expect 0 'nothing to measure' --base topic~1
expect 4 'the merge base cannot be built' --base broken
git checkout -q -b bad main
commit broken
expect 7 'the head cannot be built' --base main
git checkout -q --orphan alone
commit alone
expect 4 'no commit in common' --base main
git checkout -q topic
git remote add origin . && git fetch -q origin main:refs/remotes/origin/main
expect 0 'merge base with origin/main'

# If kernels have an object file each, the changed ones are measured; a changed comment is no change.
git checkout -q main
sed -i 's,kernels/a.c,& kernels/x.kernel.c kernels/y.kernel.c,' CMakeLists.txt
for name in x y; do
    echo "int run_$name(int a) { return a + 1; }" >kernels/$name.kernel.c
done
commit kernels
git checkout -q -b faster
sed -i 's/+ 1/+ 2/' kernels/y.kernel.c
commit quick
expect 0 'duet: version-kernels version-quick --kernels y$' --base main
expect 0 '--kernels x' --base main --kernels x
expect 0 'version-quick --threshold 1%' --base main --all --threshold 1%
git checkout -q -b comment main
echo '/* a word */' >>kernels/x.kernel.c
git commit -qam comment
expect 0 "no kernel's code changed" --base main
# A removed kernel is requested, so that duet names it; a new one is only named.
git checkout -q -b gone main
sed -i 's, kernels/y.kernel.c,,' CMakeLists.txt
commit gone
expect 0 'duet: version-kernels version-gone --kernels y$' --base main
git checkout -q -b added main
sed -i 's,kernels/a.c,& kernels/z.kernel.c,' CMakeLists.txt
echo "int run_z(int a) { return a; }" >kernels/z.kernel.c
commit added
expect 0 'only the head has: z$' --base main

[ $failures -eq 0 ] && echo "gate: as expected"
exit $failures
