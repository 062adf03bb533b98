#!/bin/sh
# Tests of lnbench, run-tests and cmake/setup.sh: they run from a copy in a checkout of its own, whose path has
# a blank, with substitutes for cmake, ninja, ctest, apt-get, dpkg-query and sudo.
# Needs no network and changes nothing on this machine.
#
# usage: launcher_test.sh CHECKOUT
#
# Tests are called by name, and substitutes expand their variables later:
# shellcheck disable=SC2016,SC2317
set -u
source_root=$(readlink -f -- "${1:?usage: launcher_test.sh CHECKOUT}")
top=$(mktemp -d) || exit 1
trap 'rm -rf "$top"' EXIT
failures=0
# Unset the caller's settings: run-tests may have been started with any of them.
unset CC CXX CPPFLAGS CFLAGS CXXFLAGS LDFLAGS PKG_CONFIG_PATH CMAKE_PREFIX_PATH \
    LNBENCH_BUILD_DIR LNBENCH_NO_INSTALL LNBENCH_PEERS LNBENCH_FULL CTEST_PARALLEL_LEVEL

# ---- the sandbox -------------------------------------------------------------------------------

# A substitute reads its script from standard input; each call is a line in $box/calls.
stand_in() {
    {
        printf '#!/bin/sh\necho "%s $*" >>"$BOX/calls"\n' "${1##*/}"
        cat
    } >"$1"
    chmod +x "$1"
}

fresh_box() {
    box="$top/box $1"
    checkout="$box/check out"
    mkdir -p "$box/bin" "$box/shelf" "$box/base" "$box/elsewhere" \
        "$checkout/kernels" "$checkout/cmake"
    export BOX="$box"
    for program in sh cat find flock readlink mkdir mv rm touch ls sed grep head tail env id \
        awk getconf cp chmod echo true sleep timeout; do
        ln -s "$(PATH=/usr/bin:/bin which $program)" "$box/base/$program"
    done
    cp "$source_root/lnbench" "$source_root/run-tests" "$checkout"
    cp "$source_root/cmake/setup.sh" "$checkout/cmake"
    echo '{}' >"$checkout/CMakePresets.json"
    echo first >"$checkout/kernels/source.c"
    : >"$box/calls"
    cat >"$checkout/cmake/packages.txt" <<'END'
# for  | package          | name                      | why
run    | gcc              | a C17 compiler            | compiles the kernels
run    | cmake            | CMake >= 3.22             | configures the build
run    | libbenchmark-dev | Google Benchmark >= 1.7.1 | times the kernels
run?   | gnuplot-nox      | gnuplot >= 5.4            | draws the charts
peers? | libpeer-dev      | the peer                  | large
tests  | libcmocka-dev    | cmocka                    | the unit tests
END
    printf '%s\n' gcc cmake libbenchmark-dev gnuplot-nox libcmocka-dev >"$box/installed"
    touch "$box/index"
    put_programs
}

put_programs() {
    stand_in "$box/bin/cmake" <<'END'
[ ! -e "$BOX/configuration-is-broken" ] || { echo "planted CMake fault"; exit 1; }
echo "of the configuration"
mkdir -p "$4" && touch "$4/CMakeCache.txt"
END
    stand_in "$box/bin/ninja" <<'END'
source="$BOX/check out/kernels/source.c"
if [ "$3" = -n ]; then
    [ ! -x "$2/bin/lnbench" ] && echo "[1/99] Building" || echo "ninja: no work to do."
    exit
fi
[ "$3" = --quiet ] || echo "[60/99] Building"
if [ -e "$BOX/hold" ]; then
    touch "$BOX/held"
    tries=0
    while [ -e "$BOX/hold" ] && [ $((tries += 1)) -lt 600 ]; do sleep 0.05; done
fi
if grep -q broken "$source"; then
    printf '%s\n' "FAILED: source.o" "source.c:1: planted fault" "ninja: build stopped"
    exit 1
fi
mkdir -p "$2/bin"
{
    echo '#!/bin/sh'
    echo "printf '%s' 'built from $(cat "$source"):'"
    echo 'printf " [%s]" "$@"'
    echo 'echo " in ${PWD##*/}"'
    echo "flock -n '$2/setup/lock' echo the lock is free"
    echo 'exit ${FAKE_TOOL_CODE:-0}'
} >"$2/bin/lnbench"
chmod +x "$2/bin/lnbench"
END
    stand_in "$box/bin/ctest" <<'END'
echo "full=${LNBENCH_FULL-}"
printf '[%s]' "$@"
exit ${FAKE_CTEST_CODE:-0}
END
    stand_in "$box/bin/dpkg-query" <<'END'
sed 's/^/ii  /' "$BOX/installed"
END
    stand_in "$box/bin/id" <<'END'
echo "${FAKE_UID:-0}"
END
    stand_in "$box/bin/apt-get" <<'END'
for word in "$@"; do
    [ "$word" != "${FAKE_UNKNOWN:-none}" ] || exit 100
done
case "$*" in
*update) [ -e "$BOX/network-is-down" ] || touch "$BOX/index" ;;
*--assume-no*)
    [ -e "$BOX/index" ] || exit 100
    printf '%s\n' "0 upgraded, 40 newly installed, 0 to remove and 0 not upgraded." \
        "Need to get 10.0 MB/90.5 MB of archives." "After this operation, 400 MB of additional disk space will be used."
    exit 1
    ;;
*install*)
    if [ ! -e "$BOX/index" ] || [ -e "$BOX/registry-is-broken" ]; then
        echo "E: planted registry fault"
        [ ! -e "$BOX/network-is-down" ] || echo "Temporary failure resolving 'registry'"
        exit 100
    fi
    while [ "$1" != --no-install-recommends ]; do shift; done
    shift
    printf '%s\n' "$@" >>"$BOX/installed"
    ;;
esac
END
}

# Removes packages, which the substitute of apt-get can install.
lacks() {
    for package in "$@"; do
        sed -i "/^$package$/d" "$box/installed"
    done
}

# start PROGRAM ARGUMENT...: starts it in another directory, with only the sandbox on the PATH.
start() {
    : >"$box/calls"
    (
        cd "$box/elsewhere" || exit 99
        export PATH="$box/bin:$box/base"
        # VARIABLE=VALUE words come before the program.
        exec env "$@" >"$box/stdout" 2>"$box/stderr" </dev/null
    )
    code=$?
}

# ---- assertions --------------------------------------------------------------------------------

fault() {
    failures=$((failures + 1))
    {
        echo "FAULT in $test: $*"
        for record in stdout stderr calls; do
            head -n 40 "$box/$record" | sed "s/^/    $record: /"
        done
    } >&2
}

exits() { [ "$code" = "$1" ] || fault "exit code $code, not $1"; }
prints() { grep -qF -- "$1" "$box/stdout" || fault "standard output lacks: $1"; }
prints_nothing() { [ ! -s "$box/stdout" ] || fault "standard output is not empty"; }
tells() { grep -qF -- "$1" "$box/stderr" || fault "standard error lacks: $1"; }
tells_nothing() { [ ! -s "$box/stderr" ] || fault "standard error is not empty"; }
tells_not() { ! grep -qF -- "$1" "$box/stderr" || fault "standard error has: $1"; }
calls() { grep -q -- "^$1" "$box/calls" || fault "no call: $1"; }
calls_not() { ! grep -q -- "^$1" "$box/calls" || fault "a call: $1"; }

# ---- the tests ---------------------------------------------------------------------------------

test_first_and_second_start() {
    start "$checkout/lnbench" run "two words" '*'
    exits 0
    prints "built from first: [run] [two words] [*] in elsewhere"
    prints "the lock is free"
    tells "the first time takes about two minutes on two cores"
    calls "cmake -S $checkout -B $checkout/build/release --preset release -DLNBENCH_TESTS=OFF"
    calls_not "apt-get"
    start "$checkout/lnbench" run
    exits 0
    prints "built from first: [run]"
    tells_nothing
    calls "ninja -C $checkout/build/release --quiet"
    calls_not "cmake"
    calls_not "dpkg-query"
    start FAKE_TOOL_CODE=5 "$checkout/lnbench"
    exits 5
}

test_symbolic_link() {
    ln -s "$checkout/lnbench" "$box/absolute"
    ln -s "../absolute" "$box/elsewhere/relative"
    start ./relative list
    exits 0
    prints "built from first: [list] in elsewhere"
}

test_what_is_configured_for_changes() {
    for file in cmake/packages.txt CMakePresets.json; do
        start "$checkout/lnbench"
        touch -d tomorrow "$checkout/$file"
        start "$checkout/lnbench"
        grep -q "^cmake -S" "$box/calls" || fault "not configured after: $file"
        touch -d yesterday "$checkout/$file"
    done
}

test_failed_build_is_not_run() {
    start "$checkout/lnbench"
    echo broken >"$checkout/kernels/source.c"
    for _ in 1 2; do
        start "$checkout/lnbench"
        exits 7
        prints_nothing
        tells "source.c:1: planted fault"
        tells "the build in $checkout/build/release failed"
    done
    echo mended >"$checkout/kernels/source.c"
    start "$checkout/lnbench"
    exits 0
    prints "built from mended"
}

# A terminal shows the progress of the build, and must also show its failure.
test_on_a_terminal() {
    command -v script >/dev/null && script -qec true /dev/null >"$box/stdout" 2>&1 || return 0
    for content in broken mended; do
        echo $content >"$checkout/kernels/source.c"
        env PATH="$box/bin:$box/base" SHELL=/bin/sh \
            "$(command -v script)" -qec "'$checkout/lnbench' tty" "$box/typescript" \
            >"$box/stdout" 2>"$box/stderr" </dev/null
        code=$?
        prints "[60/99] Building"
        if [ $content = broken ]; then
            exits 7
            prints "source.c:1: planted fault"
        else
            exits 0
            prints "built from mended"
        fi
    done
}

test_failed_configuration() {
    touch "$box/configuration-is-broken"
    start "$checkout/lnbench"
    exits 7
    tells "planted CMake fault"
    tells "configure failed; the whole log is $checkout/build/release/setup/configure.log"
    rm "$box/configuration-is-broken"
    start "$checkout/lnbench"
    exits 0
}

test_environment_that_a_build_depends_on() {
    start "$checkout/lnbench"
    mkdir "$checkout/build/release/CMakeFiles"
    start CC=other-cc "$checkout/lnbench"
    calls "cmake -S"
    [ ! -e "$checkout/build/release/CMakeFiles" ] || fault "the cache of another compiler is kept"
    start CC=other-cc "$checkout/lnbench"
    calls_not "cmake"
    start CFLAGS=-O1 CC=other-cc "$checkout/lnbench"
    calls "cmake -S"
    start "$checkout/lnbench"
    calls "cmake -S"
}

# Root can write to every directory, so then there is nothing to test.
test_build_that_belongs_to_somebody_else() {
    start "$checkout/lnbench"
    chmod a-w "$checkout/build/release"
    if [ ! -w "$checkout/build/release" ]; then
        start "$checkout/lnbench" list
        exits 0
        prints "built from first: [list]"
        tells "cannot be written: using the program that is built there"
        calls_not "ninja"
    fi
    chmod u+w "$checkout/build/release"
}

test_build_directory() {
    start LNBENCH_BUILD_DIR=here "$checkout/lnbench"
    exits 0
    calls "ninja -C $box/elsewhere/here"
    start LNBENCH_BUILD_DIR="$checkout/inside" "$checkout/lnbench"
    exits 0
    start LNBENCH_BUILD_DIR="$checkout/inside" "$checkout/lnbench"
    calls_not "cmake"
    [ ! -e "$checkout/build" ] || fault "made a build directory that was not requested"

    mkdir "$box/full" && touch "$box/full/letters.txt"
    start LNBENCH_BUILD_DIR="$box/full" "$checkout/lnbench"
    exits 7
    tells "$box/full is neither empty nor a build directory"
    start LNBENCH_BUILD_DIR="$box/full/letters.txt" "$checkout/lnbench"
    exits 7
    tells "$box/full/letters.txt cannot be written: set LNBENCH_BUILD_DIR"
    [ "$(grep -c . "$box/stderr")" = 1 ] || fault "more than one line"
}

test_installs_what_is_missing() {
    lacks cmake libbenchmark-dev gnuplot-nox libcmocka-dev
    rm "$box/index"
    start "$checkout/lnbench" run
    exits 0
    prints "built from first: [run]"
    tells "run    | cmake            | CMake >= 3.22             | configures the build"
    tells "libbenchmark-dev"
    tells "run?   | gnuplot-nox"
    tells_not "cmocka"
    tells_not "compiles the kernels"
    calls "apt-get .*update"
    calls "apt-get .*install -y --no-install-recommends cmake libbenchmark-dev"
    tells "installing 40 packages (10.0 MB to download, 400 MB on disk) with apt-get"
    grep -qx gnuplot-nox "$box/installed" || fault "gnuplot is not installed"
}

# Without a network, the package index cannot be fetched either.
test_registry_fails() {
    lacks cmake
    touch "$box/registry-is-broken"
    start "$checkout/lnbench"
    exits 7
    calls "apt-get .*update"
    tells "E: planted registry fault"
    tells "install failed (E: planted registry fault); the whole log is"
    rm "$box/index"
    touch "$box/network-is-down"
    start "$checkout/lnbench"
    exits 7
    tells "the packages cannot be downloaded: there is no network; docs/install.md says how"
    tells_not "E: planted"
}

test_optional_package_that_does_not_exist() {
    lacks cmake gnuplot-nox
    start FAKE_UNKNOWN=gnuplot-nox "$checkout/lnbench"
    exits 0
    tells "going on without gnuplot-nox, which could not be installed"
    grep -qx cmake "$box/installed" || fault "cmake is not installed"
}

# CMake finds packages that were built by hand, and names missing ones.
test_no_install() {
    lacks cmake gnuplot-nox
    start LNBENCH_NO_INSTALL=1 "$checkout/lnbench"
    exits 0
    tells "LNBENCH_NO_INSTALL is set; lnbench is built with what is there"
    tells "  apt-get update && apt-get install -y --no-install-recommends gnuplot-nox"
    calls_not "apt-get"
    start LNBENCH_NO_INSTALL=1 "$checkout/lnbench"
    tells_nothing
    touch -d tomorrow "$checkout/cmake/packages.txt"
    mv "$box/bin/cmake" "$box/shelf"
    start LNBENCH_NO_INSTALL=1 "$checkout/lnbench"
    exits 7
    tells "configure failed"
}

# Without root, optional packages are skipped, and a missing required one stops at once, with the command as the last
# line.
test_not_root() {
    lacks gnuplot-nox
    start FAKE_UID=1000 "$checkout/lnbench"
    exits 0
    lacks cmake
    rm -r "$checkout/build"
    start FAKE_UID=1000 "$checkout/lnbench"
    exits 7
    tells "only root may install them, and sudo is missing or wants a password"
    tells "--no-install-recommends gnuplot-nox"
    calls_not "cmake"
    [ "$(tail -n 1 "$box/stderr")" = "  apt-get update && apt-get install -y --no-install-recommends cmake" ] ||
        fault "the last line is not the command that installs what is needed"
    stand_in "$box/bin/sudo" <<'END'
[ "$1" != -n ] || shift
exec "$@"
END
    start FAKE_UID=1000 "$checkout/lnbench"
    exits 0
    calls "sudo env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get"
    calls_not "sudo -v"
}

test_no_apt() {
    lacks gnuplot-nox cmake
    mv "$box/bin/apt-get" "$box/shelf"
    start "$checkout/lnbench"
    exits 0
    tells "this system has no apt-get"
    tells "CMake >= 3.22"
    tells "gnuplot >= 5.4"
}

# Peers are installed if they are requested, and then configured; the rest of the build is kept.
test_peers() {
    start "$checkout/run-tests"
    calls_not "apt-get"
    mkdir "$checkout/build/release/CMakeFiles"
    start LNBENCH_PEERS=1 "$checkout/lnbench" list
    exits 0
    tells "libpeer-dev"
    calls "apt-get .*install -y --no-install-recommends libpeer-dev"
    calls "cmake -S .* -DLNBENCH_TESTS=ON"
    [ -e "$checkout/build/release/CMakeFiles" ] || fault "what was built is thrown away"
    for peers in 1 0; do
        start LNBENCH_PEERS="$peers" "$checkout/lnbench" list
        tells_nothing
        calls_not "cmake"
    done
}

test_run_tests() {
    start "$checkout/run-tests" -R "some name" --full
    exits 0
    calls "cmake -S .* -DLNBENCH_TESTS=ON"
    calls "ctest --test-dir $checkout/build/release --no-tests=error .* -R some name$"
    prints "full=1"
    prints "[-R][some name]"
    start FAKE_CTEST_CODE=8 "$checkout/run-tests"
    exits 8
    calls_not "cmake"
    prints "full="
    start "$checkout/lnbench"
    calls_not "cmake"
    start "$checkout/run-tests" --help
    exits 0
    prints "usage: run-tests"
    calls_not "ctest"
}

test_tests_after_run() {
    lacks libcmocka-dev
    start "$checkout/lnbench"
    calls_not "apt-get"
    mkdir "$checkout/build/release/CMakeFiles"
    start "$checkout/run-tests"
    exits 0
    [ -e "$checkout/build/release/CMakeFiles" ] || fault "what was built is thrown away"
    calls "apt-get .*install -y --no-install-recommends libcmocka-dev"
    calls "cmake -S .* -DLNBENCH_TESTS=ON"
}

test_two_starts_at_once() {
    touch "$box/hold"
    (start "$checkout/lnbench" one && mv "$box/stdout" "$box/first") &
    wait_for test -e "$box/held"
    (
        cd "$box/elsewhere" || exit
        env PATH="$box/bin:$box/base" "$checkout/lnbench" two \
            >"$box/second.out" 2>"$box/second.err"
    ) &
    wait_for grep -qs "waiting for it" "$box/second.err"
    rm "$box/hold"
    wait
    cp "$box/second.err" "$box/stderr" && cp "$box/second.out" "$box/stdout"
    prints "built from first: [two]"
    grep -q "built from first: \[one\]" "$box/first" || fault "the first start did not run"
    [ "$(grep -c "^cmake -S" "$box/calls")" = 1 ] || fault "configured more than once"
}

# wait_for COMMAND...: waits until it succeeds, for ten seconds at most.
wait_for() {
    tries=0
    until "$@" || [ $((tries += 1)) -gt 200 ]; do sleep 0.05; done
}

test_shellcheck() {
    command -v shellcheck >/dev/null || return 0
    (
        cd "$source_root" || exit
        find kernels reference harness plots -name '*.sh' \
            -exec shellcheck -x -S warning lnbench run-tests .ci/run {} +
    ) >"$box/stdout" 2>"$box/stderr" || fault "shellcheck complains"
}

tests=$(sed -n 's/^\(test_[a-z_]*\)() {$/\1/p' "$0")
for test in $tests; do
    fresh_box "$test"
    : >"$box/stdout"
    : >"$box/stderr"
    $test
done
[ $failures = 0 ] || echo "$failures faults" >&2
exit $((failures > 0))
