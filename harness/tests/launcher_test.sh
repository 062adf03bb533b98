#!/bin/sh
# Tests of lnbench, run-tests and setup.sh: a copy of them in a checkout of its own, whose path has
# a blank, with stand-ins for cmake, ctest, apt-get, dpkg-query, sudo, pkg-config and the compiler.
# Needs no network and changes nothing on this machine.
#
# usage: launcher_test.sh CHECKOUT
#
# Tests are called by name, and stand-ins expand their variables later:
# shellcheck disable=SC2016,SC2317
set -u
source_root=$(readlink -f -- "${1:?usage: launcher_test.sh CHECKOUT}")
top=$(mktemp -d) || exit 1
trap 'rm -rf "$top"' EXIT
failures=0
# Nothing of the caller's settings: run-tests may have been started with any of them.
unset CC CXX CPPFLAGS CFLAGS CXXFLAGS LDFLAGS PKG_CONFIG_PATH CMAKE_PREFIX_PATH \
    LNBENCH_BUILD_DIR LNBENCH_NO_INSTALL LNBENCH_PEERS LNBENCH_FULL CTEST_PARALLEL_LEVEL

# ---- the sandbox -------------------------------------------------------------------------------

# A stand-in takes its script from standard input; each call is a line of $box/calls.
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
    mkdir -p "$box/bin" "$box/shelf" "$box/libraries" "$box/base" "$box/dpkg/info" "$box/elsewhere" \
        "$checkout/kernels"
    export BOX="$box"
    for program in sh cat find flock readlink mkdir mv rm touch ls sed grep head tail sort env id \
        getconf cp chmod echo true sleep timeout; do
        ln -s "$(PATH=/usr/bin:/bin which $program)" "$box/base/$program"
    done
    cp "$source_root/lnbench" "$source_root/run-tests" "$source_root/setup.sh" "$checkout"
    echo '{}' >"$checkout/CMakePresets.json"
    echo first >"$checkout/kernels/source.c"
    : >"$box/calls"
    : >"$box/dpkg/status"
    cat >"$checkout/packages.txt" <<'END'
# for  | package          | check                    | name                      | why
run    | gcc              | links CC -std=c17 -x c   | a C17 compiler            | compiles the kernels
run    | cmake            | program cmake 3.22       | CMake >= 3.22             | configures the build
run    | libbenchmark-dev | library benchmark 1.7.1  | Google Benchmark >= 1.7.1 | times the kernels
run?   | gnuplot-nox      | program gnuplot 5.4      | gnuplot >= 5.4            | draws the charts
peers? | libpeer-dev      | library peer             | the peer                  | large
tests  | libcmocka-dev    | library cmocka           | cmocka                    | the unit tests
END
    put_programs
}

put_programs() {
    stand_in "$box/bin/cc" <<'END'
if [ -e "$BOX/compiler-is-broken" ]; then
    echo "planted compiler fault" >&2
    exit 1
fi
END
    stand_in "$box/bin/cmake" <<'END'
case $1 in
--version) echo "cmake version ${FAKE_CMAKE_VERSION:-3.25.1}" ;;
-S)
    [ ! -e "$BOX/configuration-is-broken" ] || { echo "planted CMake fault"; exit 1; }
    echo "of the configuration"
    mkdir -p "$4" && touch "$4/CMakeCache.txt"
    ;;
--build)
    echo "[1/1] Building"
    if [ -e "$BOX/hold" ]; then
        touch "$BOX/held"
        tries=0
        while [ -e "$BOX/hold" ] && [ $((tries += 1)) -lt 600 ]; do sleep 0.05; done
    fi
    source="$BOX/check out/kernels/source.c"
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
    ;;
esac
END
    stand_in "$box/bin/ctest" <<'END'
echo "full=${LNBENCH_FULL-}"
printf '[%s]' "$@"
exit ${FAKE_CTEST_CODE:-0}
END
    stand_in "$box/bin/pkg-config" <<'END'
name=${2%% *}
[ -e "$BOX/libraries/$name" ]
END
    stand_in "$box/bin/gnuplot" <<'END'
echo "gnuplot 5.4 patchlevel 4"
END
    stand_in "$box/bin/dpkg-query" <<'END'
[ ! -e "$BOX/installed" ] || sed 's/^/ii  /' "$BOX/installed"
END
    stand_in "$box/bin/id" <<'END'
echo "${FAKE_UID:-0}"
END
    stand_in "$box/bin/apt-get" <<'END'
for word in "$@"; do
    [ "$word" != "${FAKE_UNKNOWN:-none}" ] || exit 100
done
case "$*" in
*update) touch "$BOX/index" ;;
"-s install"*) [ -e "$BOX/index" ] ;;
*install*)
    if [ ! -e "$BOX/index" ] || [ -e "$BOX/registry-is-broken" ]; then
        echo "E: planted registry fault"
        exit 100
    fi
    for word in "$@"; do
        case $word in
        cmake | gnuplot-nox) cp "$BOX/shelf/${word%-nox}" "$BOX/bin/" ;;
        lib*-dev)
            word=${word#lib}
            touch "$BOX/libraries/${word%-dev}"
            ;;
        esac
        echo "$word" >>"$BOX/installed"
    done
    ;;
esac
END
    touch "$box/libraries/benchmark" "$box/libraries/cmocka" "$box/index"
}

# Takes a program away, for the stand-in of apt-get to bring back.
lacks() {
    for program in "$@"; do
        mv "$box/bin/$program" "$box/shelf/$program"
    done
}

# start PROGRAM ARGUMENT...: from another directory, with nothing but the sandbox on the PATH.
start() {
    : >"$box/calls"
    (
        cd "$box/elsewhere" || exit 99
        export PATH="$box/bin:$box/base" DPKG_ADMINDIR="$box/dpkg"
        # VARIABLE=VALUE words come before the program.
        exec env "$@" >"$box/stdout" 2>"$box/stderr" </dev/null
    )
    code=$?
}

# Waits until what is written now is newer than the last build, whatever the clock's grain.
let_clock_tick() {
    tries=0
    until [ -n "$(find "$box/clock" -newer "$checkout/build/release/${1-setup/built}" 2>&1)" ]; do
        touch "$box/clock"
        if [ $((tries += 1)) -gt 2000 ]; then
            fault "no stamp of a build, or a clock that stands still"
            break
        fi
    done
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
    calls "cmake -S $checkout -B $checkout/build/release --preset release -DLNBENCH_TESTS=OFF"
    calls "cmake --build"
    calls_not "apt-get"
    start "$checkout/lnbench" run
    exits 0
    prints "built from first: [run]"
    tells_nothing
    [ ! -s "$box/calls" ] || fault "a second start calls something"
    start FAKE_TOOL_CODE=5 "$checkout/lnbench"
    exits 5
    # It needs no lock, so that it does not wait for whoever holds it.
    start timeout 10 flock "$checkout/build/release/setup/lock" "$checkout/lnbench" list
    exits 0
    prints "built from first: [list]"
}

test_symbolic_link() {
    ln -s "$checkout/lnbench" "$box/absolute"
    ln -s "../absolute" "$box/elsewhere/relative"
    start ./relative list
    exits 0
    prints "built from first: [list] in elsewhere"
}

test_changed_files_are_built() {
    start "$checkout/lnbench"
    let_clock_tick
    echo second >"$checkout/kernels/source.c"
    start "$checkout/lnbench"
    prints "built from second"
    calls_not "cmake -S"
    start "$checkout/lnbench"
    calls_not "cmake"

    for change in "touch kernels/new.c" "rm kernels/new.c" "touch packages.txt" "touch setup.sh" \
        "mkdir reference"; do
        let_clock_tick
        (cd "$checkout" && $change)
        start "$checkout/lnbench"
        grep -q "^cmake --build" "$box/calls" || fault "no build after: $change"
    done
    let_clock_tick
    mkdir "$checkout/.git" "$checkout/.git/logs" && touch "$checkout/.git/logs/HEAD"
    start "$checkout/lnbench"
    calls "cmake --build"
    rm -r "$checkout/.git"
    mkdir "$box/git of worktree" && touch "$box/git of worktree/HEAD"
    echo "gitdir: $box/git of worktree" >"$checkout/.git"
    start "$checkout/lnbench"
    let_clock_tick
    touch "$box/git of worktree/HEAD"
    start "$checkout/lnbench"
    calls "cmake --build"
    let_clock_tick
    touch "$checkout/CMakePresets.json"
    start "$checkout/lnbench"
    calls "cmake -S"
}

test_own_output_is_no_change() {
    mkdir "$checkout/results" "$checkout/out" "$checkout/.git"
    start "$checkout/lnbench"
    let_clock_tick
    touch "$checkout/results/lnbench.db" "$checkout/results/lnbench.db-wal" "$checkout/out/x" \
        "$checkout/.git/index"
    mkdir "$checkout/results/charts" "$checkout/build/debug"
    start "$checkout/lnbench"
    calls_not "cmake"
}

test_change_while_building() {
    touch "$box/hold"
    start "$checkout/lnbench" &
    wait_for "$box/held"
    let_clock_tick CMakeCache.txt
    touch "$checkout/kernels/source.c"
    rm "$box/hold"
    wait
    start "$checkout/lnbench"
    calls "cmake --build"
}

test_failed_build_is_not_run() {
    start "$checkout/lnbench"
    let_clock_tick
    echo broken >"$checkout/kernels/source.c"
    for _ in 1 2; do
        start "$checkout/lnbench"
        exits 7
        prints_nothing
        tells "source.c:1: planted fault"
        tells "the build failed; the whole log is $checkout/build/release/setup/build.log"
    done
    echo mended >"$checkout/kernels/source.c"
    start "$checkout/lnbench"
    exits 0
    prints "built from mended"
}

# A terminal shows how far the build is; the build's failure must not get lost on the way there.
test_on_a_terminal() {
    command -v script >/dev/null && script -qec true /dev/null >"$box/stdout" 2>&1 || return 0
    start "$checkout/lnbench"
    let_clock_tick
    for content in broken mended; do
        echo $content >"$checkout/kernels/source.c"
        env PATH="$box/bin:$box/base" DPKG_ADMINDIR="$box/dpkg" SHELL=/bin/sh \
            "$(command -v script)" -qec "'$checkout/lnbench' tty" "$box/typescript" \
            >"$box/stdout" 2>"$box/stderr" </dev/null
        code=$?
        if [ $content = broken ]; then
            exits 7
            prints "source.c:1: planted fault"
        else
            exits 0
            prints "  [1/1]"
            prints "built from mended"
        fi
    done
}

test_failed_configuration() {
    touch "$box/configuration-is-broken"
    start "$checkout/lnbench"
    exits 7
    tells "planted CMake fault"
    tells "the configuration failed; the whole log is $checkout/build/release/setup/configure.log"
    rm "$box/configuration-is-broken"
    start "$checkout/lnbench"
    exits 0
}

test_environment_that_a_build_depends_on() {
    start "$checkout/lnbench"
    cp "$box/bin/cc" "$box/bin/other-cc"
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
    touch "$box/compiler-is-broken"
    start CC=other-cc "$checkout/lnbench"
    exits 7
    tells "CC=other-cc: not a C17 compiler that works: planted compiler fault"
    calls_not "apt-get"
}

test_build_directory() {
    start LNBENCH_BUILD_DIR=here "$checkout/lnbench"
    exits 0
    calls "cmake --build $box/elsewhere/here"
    start LNBENCH_BUILD_DIR="$checkout/inside" "$checkout/lnbench"
    exits 0
    start LNBENCH_BUILD_DIR="$checkout/inside" "$checkout/lnbench"
    calls_not "cmake"
    [ ! -e "$checkout/build" ] || fault "made a build directory that nobody asked for"

    mkdir "$box/full" && touch "$box/full/letters.txt"
    start LNBENCH_BUILD_DIR="$box/full" "$checkout/lnbench"
    exits 7
    tells "$box/full: not empty and not a build directory"
    start LNBENCH_BUILD_DIR="$box/full/letters.txt" "$checkout/lnbench"
    exits 7
    tells "$box/full/letters.txt: cannot be written; set LNBENCH_BUILD_DIR"
    [ "$(grep -c . "$box/stderr")" = 1 ] || fault "more than one line"
}

test_installs_what_is_missing() {
    lacks cmake gnuplot
    rm "$box/libraries/benchmark" "$box/index"
    start "$checkout/lnbench" run
    exits 0
    prints "built from first: [run]"
    tells "cmake                    configures the build"
    tells "libbenchmark-dev         times the kernels"
    tells "gnuplot-nox              draws the charts"
    tells_not "cmocka"
    tells_not "compiles the kernels"
    calls "apt-get .*update"
    calls "apt-get .*install -y --no-install-recommends cmake libbenchmark-dev gnuplot-nox"
}

test_no_update_when_the_index_knows() {
    lacks cmake
    start "$checkout/lnbench"
    exits 0
    calls "apt-get .*install -y"
    calls_not "apt-get .*update"
}

test_registry_fails() {
    lacks cmake
    touch "$box/registry-is-broken"
    start "$checkout/lnbench"
    exits 7
    calls "apt-get .*update"
    tells "E: planted registry fault"
    tells "apt-get could not install the packages; the whole log is"
}

test_optional_package_that_does_not_exist() {
    lacks cmake gnuplot
    start FAKE_UNKNOWN=gnuplot-nox "$checkout/lnbench"
    exits 0
    tells "going on without gnuplot-nox, which this system's registry does not have"
}

test_no_install() {
    lacks cmake gnuplot
    start LNBENCH_NO_INSTALL=1 "$checkout/lnbench"
    exits 7
    prints_nothing
    tells "LNBENCH_NO_INSTALL is set; install them with"
    tells "  apt-get install -y --no-install-recommends cmake gnuplot-nox"
    tells_not "configuring"
    calls_not "apt-get .*install -y"
    rm "$box/index"
    start LNBENCH_NO_INSTALL=1 "$checkout/lnbench"
    tells "  apt-get update && apt-get install -y --no-install-recommends cmake gnuplot-nox"
    mv "$box/shelf/cmake" "$box/bin"
    start LNBENCH_NO_INSTALL=1 "$checkout/lnbench"
    exits 0
    tells "going on without, since LNBENCH_NO_INSTALL is set"
    start LNBENCH_NO_INSTALL=1 "$checkout/lnbench"
    tells_nothing
}

test_not_root() {
    lacks cmake
    start FAKE_UID=1000 "$checkout/lnbench"
    exits 7
    tells "this user is not root, and there is no sudo"
    tells "  su -c 'apt-get install -y --no-install-recommends cmake'"

    stand_in "$box/bin/sudo" <<'END'
[ -e "$BOX/no-password-wanted" ] || exit 1
[ "$1" != -n ] || shift
exec "$@"
END
    start FAKE_UID=1000 "$checkout/lnbench"
    exits 7
    tells "this user is not root, and sudo refused it or wants a password"
    tells "  sudo apt-get install -y --no-install-recommends cmake"
    calls_not "sudo -v"

    touch "$box/no-password-wanted"
    start FAKE_UID=1000 "$checkout/lnbench"
    exits 0
    calls "sudo env DEBIAN_FRONTEND=noninteractive apt-get"
}

test_no_apt() {
    lacks apt-get gnuplot cmake
    start "$checkout/lnbench"
    exits 7
    tells "this system has no apt-get"
    tells "CMake >= 3.22"
    tells "gnuplot >= 5.4"
    tells_not "gnuplot-nox"
    mv "$box/shelf/cmake" "$box/bin"
    start "$checkout/lnbench"
    exits 0
    tells "going on without"
}

test_too_old() {
    echo cmake >"$box/installed"
    start FAKE_CMAKE_VERSION=3.9.9 "$checkout/lnbench"
    exits 7
    tells "installed, but too old or broken: cmake"
    calls_not "apt-get"
    start FAKE_CMAKE_VERSION=3.100 "$checkout/lnbench"
    exits 0
}

# A compiler without the C library's headers: only the headers are to be installed.
test_broken_for_want_of_another() {
    echo gcc >"$box/installed"
    touch "$box/compiler-is-broken"
    lacks cmake
    start "$checkout/lnbench"
    exits 7
    calls "apt-get .*install -y --no-install-recommends cmake$"
    tells "installed, but too old or broken: gcc"
}

# Peers are installed for whoever asks for them, and then configured for; what else was built stays.
test_peers() {
    start "$checkout/run-tests"
    calls_not "apt-get"
    start LNBENCH_PEERS=1 "$checkout/lnbench" list
    exits 0
    tells "libpeer-dev              large (can be done without)"
    calls "apt-get .*install -y --no-install-recommends libpeer-dev"
    calls "cmake $checkout/build/release$"
    calls_not "cmake -S"
    calls "cmake --build"
    for peers in 1 0; do
        start LNBENCH_PEERS="$peers" "$checkout/lnbench" list
        tells_nothing
        [ ! -s "$box/calls" ] || fault "LNBENCH_PEERS=$peers: a second start calls something"
    done
}

test_no_peers_to_be_had() {
    start LNBENCH_PEERS=1 LNBENCH_NO_INSTALL=1 "$checkout/lnbench" list
    exits 0
    tells "going on without, since LNBENCH_NO_INSTALL is set; to install them:"
    tells "  apt-get install -y --no-install-recommends libpeer-dev"
    start LNBENCH_PEERS=1 LNBENCH_NO_INSTALL=1 "$checkout/lnbench" list
    tells_nothing
}

# Somebody else installed a library: CMake looks again.
test_libraries_that_came() {
    start "$checkout/lnbench"
    # Only the packages of the table count, whether they come, change or go.
    touch "$box/dpkg/status" "$box/dpkg/info/libother.list"
    start "$checkout/lnbench"
    calls_not "cmake"
    for change in "touch gcc.list libpeer-dev:amd64.list" "touch -d tomorrow gcc.list" "rm gcc.list"; do
        (cd "$box/dpkg/info" && $change)
        start "$checkout/lnbench"
        grep -q "^cmake $checkout/build/release" "$box/calls" || fault "not configured after: $change"
        calls_not "cmake -S"
        start "$checkout/lnbench"
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
    rm "$box/libraries/cmocka"
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
    wait_for "$box/held"
    (
        cd "$box/elsewhere" || exit
        env PATH="$box/bin:$box/base" DPKG_ADMINDIR="$box/dpkg" "$checkout/lnbench" two \
            >"$box/second.out" 2>"$box/second.err"
    ) &
    wait_for_line "waiting for it" "$box/second.err"
    rm "$box/hold"
    wait
    cp "$box/second.err" "$box/stderr" && cp "$box/second.out" "$box/stdout"
    prints "built from first: [two]"
    grep -q "built from first: \[one\]" "$box/first" || fault "the first start did not run"
    [ "$(grep -c "^cmake --build" "$box/calls")" = 1 ] || fault "built more than once"
    [ "$(grep -c "^cmake -S" "$box/calls")" = 1 ] || fault "configured more than once"
}

wait_for() {
    tries=0
    until [ -e "$1" ] || [ $((tries += 1)) -gt 200 ]; do sleep 0.05; done
}

wait_for_line() {
    tries=0
    until grep -qs "$1" "$2" || [ $((tries += 1)) -gt 200 ]; do sleep 0.05; done
}

# The real table: every line has its five columns and a check that exists.
test_real_table() {
    cp "$source_root/packages.txt" "$checkout/packages.txt"
    awk -F'|' '/^#/ { next }
        { gsub(/ /, "", $1) }
        NF != 5 || $1 !~ /^(run|tests|peers|fleet)\??$/ || $3 !~ /^ (program|library|links|file|runs) / ||
        $2 !~ /[a-z]/ || $4 !~ /[a-zA-Z]/ || $5 !~ /[a-z]/ { print }' \
        "$checkout/packages.txt" >"$box/stdout"
    prints_nothing
    lacks apt-get cmake
    start "$checkout/run-tests"
    exits 7
    tells "CMake >= 3.22"
}

test_shellcheck() {
    command -v shellcheck >/dev/null || return 0
    (
        cd "$source_root" || exit
        find kernels reference harness plots -name '*.sh' \
            -exec shellcheck -x -S warning lnbench run-tests setup.sh .ci/run {} +
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
