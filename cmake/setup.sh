# shellcheck shell=sh
# Shared by `lnbench` and `run-tests`: installs the packages of packages.txt, then configures and builds.
# It is sourced, never run, and needs two variables:
#   program  the name that messages start with
#   root     the checkout, an absolute path
# and it sets
#   build    the build directory, an absolute path
# Its messages go to standard error; standard output belongs to the program. A failure prints one line and
# exits with code 7.
# shellcheck disable=SC2154 # the sourcing script sets program and root

say() {
    printf '%s: %s\n' "$program" "$*" >&2
}

stop() {
    say "$@"
    exit 7
}

# set_up run|tests: makes an up-to-date Release build in $build (tests: with the tests).
set_up() {
    purpose=$1
    build=${LNBENCH_BUILD_DIR:-$root/build/release}
    case $build in
    /*) ;;
    *) build=$PWD/$build ;;
    esac
    state=$build/setup           # logs, lock and stamps of this file
    configured=$state/configured # the settings that the build was configured with; see settings()
    if [ -x "$build/bin/$program" ] && [ ! -w "$build" ]; then
        say "$build cannot be written: using the program that is built there"
        return
    fi
    open_build_directory
    take_lock
    if ! is_configured; then
        see_to_packages
        configure
    fi
    build_what_changed
    exec 9>&- # only building needs the lock
}

# ---- the build directory and its lock ----------------------------------------------------------

open_build_directory() {
    # Do not fill a directory that has other contents.
    if [ -d "$build" ] && [ ! -f "$build/CMakeCache.txt" ] && [ ! -d "$state" ] &&
        [ -n "$(ls -A "$build")" ]; then
        stop "$build is neither empty nor a build directory: set LNBENCH_BUILD_DIR to a new," \
            "an empty or a build directory"
    fi
    if ! mkdir -p "$state" 2>/dev/null || ! (: >>"$state/lock") 2>/dev/null; then
        stop "$build cannot be written: set LNBENCH_BUILD_DIR to a writable directory"
    fi
}

take_lock() {
    exec 9>>"$state/lock"
    # Without flock (util-linux, BusyBox), two first starts at the same time may disturb each other.
    command -v flock >/dev/null || return 0
    flock -n 9 && return
    say "another start is building in $build: waiting for it"
    flock 9 || stop "$state/lock: cannot be locked"
}

# ---- packages ----------------------------------------------------------------------------------

# Installs the packages that $purpose needs and dpkg lacks. Without root it stops if one of them is required. With
# LNBENCH_NO_INSTALL or without apt-get it continues: they may have been built by hand, and CMake reports missing ones.
see_to_packages() {
    list_missing >"$state/missing"
    [ -s "$state/missing" ] || return 0
    required=$(awk '$1 !~ /[?]/ { printf " %s", $3 }' "$state/missing")
    optional=$(awk '$1 ~ /[?]/ { printf " %s", $3 }' "$state/missing")
    if command -v dpkg-query >/dev/null; then
        say "these packages are not installed (those with a ? are optional):"
    else
        say "this system has no dpkg; lnbench needs what these packages of Debian hold (those with a ? are optional):"
    fi
    sed 's/^/  /' "$state/missing" >&2
    if may_install; then
        install_packages
        return
    fi
    command="  apt-get update && apt-get install -y --no-install-recommends"
    say "not installing them: $hindrance"
    [ -z "$optional" ] || printf '%s\n' "optional:" "$command$optional" >&2
    [ -z "$required" ] || printf '%s\n' "needed:" "$command$required" >&2
    [ -z "$required" ] || [ "$as_root" != sudo ] || exit 7
}

# Prints the lines of the table that $purpose needs and whose package is not installed.
list_missing() {
    dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' 2>/dev/null |
        awk -v purpose="$purpose" -v peers="${LNBENCH_PEERS-}" '
            FILENAME == "-" { if (sub(/^.i */, "")) installed[$1] = 1; next }
            /^#/ || $3 in installed { next }
            /^run/ || (/^tests/ && purpose == "tests") || (/^peers/ && peers == 1)
            ' - "$root/cmake/packages.txt"
}

# Sets $as_root, the prefix that runs a command as root, or $hindrance, the reason why nothing can be installed.
may_install() {
    as_root=
    hindrance="this system has no apt-get; lnbench is built with what is there"
    command -v apt-get >/dev/null || return
    hindrance="LNBENCH_NO_INSTALL is set; lnbench is built with what is there"
    [ "${LNBENCH_NO_INSTALL:-0}" = 0 ] || return
    [ "$(id -u)" != 0 ] || return 0
    as_root=sudo
    hindrance="only root may install them, and sudo is missing or wants a password (LNBENCH_NO_INSTALL=1 builds with what is there; docs/install.md says what else to do)"
    sudo -n true 2>/dev/null || { [ -t 0 ] && sudo -v; }
}

install_packages() {
    : >"$state/install.log"
    size=$(size_of_packages)
    if [ -z "$size" ]; then
        apt_get update
        size=$(size_of_packages)
    fi
    say "installing ${size:-them} with apt-get"
    apt_install "$required $optional" && return
    # An old index names files that the mirror no longer has, and an optional package may not exist in
    # this release or for this processor.
    apt_get update
    apt_install "$required" || fail_to_install
    for package in $optional; do
        apt_install "$package" || say "going on without $package, which could not be installed"
    done
}

# Prints "40 packages (90 MB to download, 400 MB on disk)", or nothing if apt-get does not know one of them.
size_of_packages() {
    # shellcheck disable=SC2086 # lists of packages
    apt_get install --assume-no --no-install-recommends $required $optional
    awk '
        / newly installed/ { packages = $3 }
        /^Need to get/ { sub("/.*", "", $5); download = $4 " " $5 }
        /^After this operation/ { disk = $4 " " $5 }
        END { if (packages) print packages " packages (" download " to download, " disk " on disk)" }' "$state/install.log"
}

fail_to_install() {
    ! grep -q 'Could not resolve\|Could not connect\|Temporary failure' "$state/install.log" ||
        stop "the packages cannot be downloaded: there is no network; docs/install.md says how to go on without it"
    fail_with_log install
}

apt_install() {
    # shellcheck disable=SC2086 # a list of packages
    apt_get install -y --no-install-recommends $1
}

apt_get() {
    $as_root env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@" \
        >>"$state/install.log" 2>&1 </dev/null 9>&-
}

# ---- configure and build -----------------------------------------------------------------------

# Prints the facts other than files that a build depends on. The first line says whether it has the tests.
settings() {
    printf '%s\n' "$1" "root=$root" "build=$build" "CC=${CC-}" "CXX=${CXX-}" \
        "CPPFLAGS=${CPPFLAGS-}" "CFLAGS=${CFLAGS-}" "CXXFLAGS=${CXXFLAGS-}" "LDFLAGS=${LDFLAGS-}" \
        "PKG_CONFIG_PATH=${PKG_CONFIG_PATH-}" "CMAKE_PREFIX_PATH=${CMAKE_PREFIX_PATH-}"
}

# Returns whether the build is configured for $1. A build with tests serves both purposes. A new request for peers, or
# a newer packages.txt, configures again.
is_configured() {
    [ -f "$configured" ] && [ -f "$build/CMakeCache.txt" ] || return
    [ -z "$(find "$root/CMakePresets.json" "$root/cmake/packages.txt" -newer "$configured")" ] || return
    [ "${LNBENCH_PEERS-}" != 1 ] || [ -f "$state/peers" ] || return
    recorded=$(cat "$configured")
    [ "$recorded" = "$(settings tests)" ] ||
        { [ "$purpose" = run ] && [ "$recorded" = "$(settings run)" ]; }
}

configure() {
    tests=OFF
    [ "$purpose" = run ] && ! grep -qsx tests "$configured" || tests=ON
    # CMake keeps the compilers and flags of its first run, so other ones need a new cache. A build that only gains
    # tests or peers keeps its files.
    if [ ! -f "$configured" ] || [ "$(sed 1d "$configured")" != "$(settings run | sed 1d)" ]; then
        rm -rf "$build/CMakeCache.txt" "$build/CMakeFiles"
    fi
    rm -f "$configured"
    say "configuring (Release) in $build"
    cmake -S "$root" -B "$build" --preset release -DLNBENCH_TESTS=$tests \
        >"$state/configure.log" 2>&1 </dev/null 9>&- || fail_with_log configure
    [ "${LNBENCH_PEERS-}" != 1 ] || touch "$state/peers"
    settings "$([ $tests = ON ] && echo tests || echo run)" >"$configured" ||
        stop "$configured: cannot be written"
}

# Builds. On a terminal Ninja shows its progress if there is much to build; otherwise it prints only failures.
build_what_changed() {
    quiet=--quiet
    steps=$(ninja -C "$build" -n 2>/dev/null | sed -n 's/^\[[0-9]*\/\([0-9]*\)\].*/\1/p' | tail -n 1)
    if [ ! -x "$build/bin/lnbench" ] || [ "${steps:-0}" -gt 9 ]; then
        say "building in $build (the first time takes about two minutes on two cores)"
        [ ! -t 2 ] || quiet=
    fi
    # shellcheck disable=SC2086 # an option or nothing
    ninja -C "$build" $quiet >&2 </dev/null 9>&- && return
    rm -f "$configured" # the next start looks for packages again
    stop "the build in $build failed"
}

# fail_with_log NAME: shows the end of that log, which has the error.
fail_with_log() {
    tail -n 20 "$state/$1.log" | sed 's/^/  /' >&2
    reason=$(grep -i '^E: \|not found\|could not find\|no package' "$state/$1.log" | grep -v 'A required package' | tail -n 1 | sed 's/^[ -]*//; s/:$/ (see above)/')
    stop "$1 failed${reason:+ ($reason)}; the whole log is $state/$1.log; docs/install.md and cmake/packages.txt list the packages"
}
