# shellcheck shell=sh
# What `lnbench` and `run-tests` share: see to it that what packages.txt lists is there, then
# configure and build. It is sourced, never run, and wants two variables:
#   program  the name that messages start with
#   root     the checkout, an absolute path
# and it sets
#   build    the build directory, an absolute path
# All that it says goes to standard error; standard output belongs to the tool. What fails here is
# the environment's fault: one line, exit code 7.
# shellcheck disable=SC2154 # program and root are set by who sources this

say() {
    printf '%s: %s\n' "$program" "$*" >&2
}

stop() {
    say "$@"
    exit 7
}

# set_up run|tests: afterwards $build holds an up-to-date Release build (with tests: of the tests
# too). When nothing changed since the last start this costs two `find` and no more.
set_up() {
    purpose=$1
    choose_build_directory
    is_up_to_date && return
    open_build_directory
    take_lock
    # Whoever held the lock may have built what we want.
    if ! is_up_to_date; then
        see_to_packages
        configure_and_build
    fi
    exec 9>&- # the lock is for building, not for the tool that runs next
}

# ---- is there anything to do? ----------------------------------------------------------------

choose_build_directory() {
    build=${LNBENCH_BUILD_DIR:-$root/build/release}
    case $build in
    /*) ;;
    *) build=$PWD/$build ;;
    esac
    state=$build/setup           # logs, lock and stamps of this file
    configured=$state/configured # what the build was configured from; see settings()
    packages=$state/packages     # the packages then; see installed_packages()
    peers=$state/peers           # there once they were asked for and looked for
    built=$state/built           # its time is when the last good build began
}

# What a build is made from, apart from the files. The first line says whether it has the tests.
settings() {
    printf '%s\n' "$1" "root=$root" "build=$build" "CC=${CC-}" "CXX=${CXX-}" \
        "CPPFLAGS=${CPPFLAGS-}" "CFLAGS=${CFLAGS-}" "CXXFLAGS=${CXXFLAGS-}" "LDFLAGS=${LDFLAGS-}" \
        "PKG_CONFIG_PATH=${PKG_CONFIG_PATH-}" "CMAKE_PREFIX_PATH=${CMAKE_PREFIX_PATH-}"
}

# A build with tests serves both purposes.
is_configured() {
    [ -f "$configured" ] && [ -f "$build/CMakeCache.txt" ] || return 1
    recorded=$(cat "$configured")
    [ "$recorded" = "$(settings tests)" ] && return
    [ "$purpose" = run ] && [ "$recorded" = "$(settings run)" ]
}

is_up_to_date() {
    [ -f "$built" ] && [ -x "$build/bin/lnbench" ] && is_configured && has_peers &&
        has_same_packages && [ -z "$(changes)" ]
}

# What dpkg keeps of the packages of the table, with the time of the last change. What else is
# installed does not matter.
installed_packages() (
    records=${DPKG_ADMINDIR:-/var/lib/dpkg}/info
    [ -d "$records" ] || exit 0
    set -f
    names=
    while IFS='|' read -r need_for need_package _; do
        trim "$need_package"
        case $need_for in
        \#*) ;;
        *) names="$names -o -name $trimmed.list -o -name $trimmed:*.list" ;;
        esac
    done <"$root/packages.txt"
    # shellcheck disable=SC2086 # a list of words
    find "$records" -maxdepth 1 \( -name '' $names \) -printf '%f %T@\n' | sort
)

has_same_packages() {
    [ -f "$packages" ] && [ "$(installed_packages)" = "$(cat "$packages")" ]
}

# Other libraries are large: they are installed for whoever asks for them.
wants_peers() {
    [ "${LNBENCH_PEERS-}" = 1 ]
}

has_peers() {
    ! wants_peers || [ -f "$peers" ]
}

# Prints what changed since the last good build: a file of the checkout, a directory in which one
# came or went, or the commit (the build records it). What lnbench itself writes does not count.
changes() (
    cd "$root" || exit
    inside=.git
    case $build in
    "$root"/*) inside=./${build#"$root"/} ;;
    esac
    git=.git
    [ ! -f .git ] || read -r _ git <.git # a worktree's says "gitdir: DIRECTORY"
    set --
    for file in "$git/HEAD" "$git/logs/HEAD"; do
        [ ! -f "$file" ] || set -- "$@" "$file"
    done
    find . "$@" \( -name .git -o -path "$inside" -o -path './build*' -o -path ./out \
        -o -path ./results/charts -o -path ./results/hunts -o -path './results/lnbench.db*' \
        -o -name __pycache__ \) -prune \
        -o ! -path . ! -path ./results -newer "$built" -print
)

# ---- the build directory and its lock ----------------------------------------------------------

open_build_directory() {
    # Never fill a directory that holds something else.
    if [ -d "$build" ] && [ ! -f "$build/CMakeCache.txt" ] && [ ! -d "$state" ] &&
        [ -n "$(ls -A "$build")" ]; then
        stop "$build: not empty and not a build directory; LNBENCH_BUILD_DIR must name a new," \
            "an empty or a build directory"
    fi
    if ! mkdir -p "$state" 2>/dev/null || ! (: >>"$state/lock") 2>/dev/null; then
        stop "$build: cannot be written; set LNBENCH_BUILD_DIR to a directory that can"
    fi
}

take_lock() {
    exec 9>>"$state/lock"
    # Where there is no flock (util-linux, BusyBox), two first starts at once are not kept apart.
    command -v flock >/dev/null || return 0
    flock -n 9 && return
    say "another start is building in $build: waiting for it"
    flock 9 || stop "$state/lock: cannot be locked"
}

# ---- packages ----------------------------------------------------------------------------------

see_to_packages() {
    find_missing
    [ -n "$required$optional" ] || return 0
    if ! command -v apt-get >/dev/null; then
        name_upstream
        return
    fi
    leave_out_installed
    [ -n "$required$optional" ] || return 0
    say "needed, and not installed yet:"
    list_missing package
    may_install
    if [ "$right" = yes ]; then
        install_packages
        find_missing
        leave_out_installed
        return
    fi
    if [ -n "$required" ]; then
        say "$right; install them with"
    else
        say "going on without, since $right; to install them:"
    fi
    printf '  %s\n' "$(apt_command)" >&2
    [ -z "$required" ] || exit 7
}

# Calls "$@" for each line of the table that counts for $purpose, with the columns in
# $need_for, $need_package, $need_check, $need_name and $need_why.
each_need() {
    [ -r "$root/packages.txt" ] || stop "$root/packages.txt: cannot be read"
    while IFS='|' read -r need_for need_package need_check need_name need_why; do
        trim "$need_for" && need_for=$trimmed
        case $purpose:$need_for in
        run:run | run:run\? | tests:run | tests:run\? | tests:tests | tests:tests\?) ;;
        *:peers | *:peers\?) wants_peers || continue ;;
        *) continue ;;
        esac
        trim "$need_package" && need_package=$trimmed
        trim "$need_check" && need_check=$trimmed
        trim "$need_name" && need_name=$trimmed
        trim "$need_why" && need_why=$trimmed
        "$@"
    done <"$root/packages.txt"
}

trim() {
    trimmed=${1#"${1%%[! ]*}"}
    trimmed=${trimmed%"${trimmed##*[! ]}"}
}

# Sets $required and $optional: the packages, with a blank before each, whose check fails.
find_missing() {
    required=
    optional=
    each_need note_if_missing
}

note_if_missing() {
    # shellcheck disable=SC2086 # the words of the check
    check $need_check && return
    case $need_check in
    "links CC "*) [ -z "${CC-}" ] || stop "CC=$CC: not a C17 compiler that works: $reason" ;;
    "links CXX "*) [ -z "${CXX-}" ] || stop "CXX=$CXX: not a C++17 compiler that works: $reason" ;;
    esac
    case $need_for in
    *\?) optional="$optional $need_package" ;;
    *) required="$required $need_package" ;;
    esac
}

# check KIND ARGUMENT...: a check of the table. On failure $reason may tell more.
check() {
    reason=
    case $1 in
    program) command -v "$2" >/dev/null && { [ -z "${3-}" ] || program_is_at_least "$2" "$3"; } ;;
    library) command -v pkg-config >/dev/null && pkg-config --exists "$2${3:+ >= $3}" ;;
    links) shift && links "$@" ;;
    file) [ -f "$2" ] ;;
    runs) shift && "$@" >/dev/null 2>&1 </dev/null ;;
    *) stop "$root/packages.txt: unknown check '$1': program, library, links, file or runs" ;;
    esac
}

program_is_at_least() {
    have=$("$1" --version 2>/dev/null </dev/null | sed -n 's/^[^0-9]*\([0-9][0-9.]*\).*/\1/p;q')
    [ "$(printf '%s\n' "$2" "$have" | sort -V | head -n 1)" = "$2" ]
}

links() {
    case $1 in
    CC) compiler=${CC:-cc} ;;
    CXX) compiler=${CXX:-c++} ;;
    *) compiler=$1 ;;
    esac
    shift
    # shellcheck disable=SC2086 # CC="ccache gcc" is two words
    if printf '#include <stdio.h>\nint main(void) { return 0; }\n' |
        $compiler "$@" -o "$state/probe" - >"$state/probe.log" 2>&1; then
        return 0
    fi
    reason=$(head -n 1 "$state/probe.log")
    return 1
}

# list_missing package|name: one line each, with its reason.
list_missing() {
    each_need list_if_missing "$1"
}

list_if_missing() {
    case "$required$optional " in
    *" $need_package "*) ;;
    *) return 0 ;;
    esac
    case $need_for in
    *\?) need_why="$need_why (can be done without)" ;;
    esac
    case $1 in
    package) printf '  %-24s %s\n' "$need_package" "$need_why" >&2 ;;
    name) printf '  %-36s %s\n' "$need_name" "$need_why" >&2 ;;
    esac
}

# For systems without apt.
name_upstream() {
    if [ -z "$required" ]; then
        say "going on without these:"
        list_missing name
        return
    fi
    say "this system has no apt-get; install these with its own package manager, then start again:"
    list_missing name
    exit 7
}

# What is installed and does not pass its check, no installing mends.
leave_out_installed() {
    installed=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' 2>/dev/null |
        sed -n 's/^.i *//p')
    drop_installed "$required"
    # A compiler without the C library's headers fails too: then there is something to install.
    [ -n "$kept" ] || [ -z "$required" ] ||
        stop "installed, but too old or broken:$required (packages.txt has the checks)"
    required=$kept
    drop_installed "$optional"
    [ "$kept" = "$optional" ] ||
        say "installed, but too old or broken (going on without): $dropped"
    optional=$kept
}

# Sets $kept and $dropped: those of the packages $1 that are not installed, and those that are.
drop_installed() {
    kept=
    dropped=
    for package in $1; do
        case "
$installed
" in
        *"
$package
"*) dropped="$dropped $package" ;;
        *) kept="$kept $package" ;;
        esac
    done
}

# Sets $right: yes, or the reason why not; and $as_root, the words that make a command root's.
may_install() {
    as_root=
    case ${LNBENCH_NO_INSTALL:-0} in
    0) right=yes ;;
    *) right="LNBENCH_NO_INSTALL is set" ;;
    esac
    [ "$(id -u)" != 0 ] || return 0
    if ! command -v sudo >/dev/null; then
        as_root="su -c"
        right="this user is not root, and there is no sudo"
        return
    fi
    as_root=sudo
    [ "$right" = yes ] || return 0
    sudo -n true 2>/dev/null && return
    right="this user is not root, and sudo refused it or wants a password"
    [ ! -t 0 ] || ! sudo -v || right=yes
}

# Prints the command that a person would give.
apt_command() {
    command="apt-get install -y --no-install-recommends$required$optional"
    index_knows_packages || command="apt-get update && $command"
    case $as_root in
    "su -c") printf "su -c '%s'" "$command" ;;
    sudo) printf '%s' "$command" | sed 's/apt-get/sudo apt-get/g' ;;
    *) printf '%s' "$command" ;;
    esac
}

index_knows_packages() {
    # shellcheck disable=SC2086 # a list of packages
    apt-get -s install --no-install-recommends $required $optional >/dev/null 2>&1
}

install_packages() {
    log=$state/install.log
    : >"$log"
    updated=no
    say "installing them with apt-get"
    index_knows_packages || update_index
    index_knows_packages || leave_out_unknown
    # shellcheck disable=SC2086 # a list of packages
    apt_get install -y --no-install-recommends $required $optional && return
    # An index of last month names files that the registry no longer has.
    if [ $updated = no ]; then
        update_index
        # shellcheck disable=SC2086
        apt_get install -y --no-install-recommends $required $optional && return
    fi
    fail_with_log "$log" "apt-get could not install the packages"
}

update_index() {
    updated=yes
    apt_get update || fail_with_log "$log" "apt-get update failed"
}

# Optional packages may not exist in this release or for this processor.
leave_out_unknown() {
    known=
    for package in $optional; do
        if apt-get -s install --no-install-recommends "$package" >/dev/null 2>&1; then
            known="$known $package"
        else
            say "going on without $package, which this system's registry does not have"
        fi
    done
    optional=$known
}

apt_get() {
    case $as_root in
    sudo) set -- sudo env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@" ;;
    *) set -- env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@" ;;
    esac
    "$@" >>"$log" 2>&1 </dev/null 9>&-
}

# ---- configure and build -----------------------------------------------------------------------

configure_and_build() {
    rm -f "$built"
    # Stamped now: what changes from here on is newer than the build.
    touch "$built.new" || stop "$built.new: cannot be written"
    if ! is_configured || [ -n "$(find "$root/CMakePresets.json" -newer "$configured")" ]; then
        configure
    elif ! has_peers || ! has_same_packages; then
        say "configuring again in $build: its packages have changed"
        run_cmake "$build"
        touch "$configured"
    fi
    ! wants_peers || touch "$peers"
    say "building in $build"
    if ! logged "$state/build.log" cmake --build "$build"; then
        fail_with_log "$state/build.log" "the build failed"
    fi
    [ -x "$build/bin/lnbench" ] || stop "$build/bin/lnbench: the build did not make it"
    mv "$built.new" "$built"
}

configure() {
    # CMake keeps the compilers and flags of its first run; other ones need a new cache. A build
    # that only gains the tests keeps what it has.
    if [ ! -f "$configured" ] || [ "$(cat "$configured")" != "$(settings run)" ]; then
        rm -rf "$build/CMakeCache.txt" "$build/CMakeFiles"
    fi
    rm -f "$configured"
    tests=OFF
    [ "$purpose" = run ] || tests=ON
    say "configuring (Release) in $build"
    run_cmake -S "$root" -B "$build" --preset release -DLNBENCH_TESTS=$tests
    settings "$purpose" >"$configured" || stop "$configured: cannot be written"
}

run_cmake() {
    found=$(installed_packages)
    logged "$state/configure.log" cmake "$@" ||
        fail_with_log "$state/configure.log" "the configuration failed"
    printf '%s\n' "$found" >"$packages" || stop "$packages: cannot be written"
}

# logged LOG COMMAND...: the command's output goes to the log; a terminal shows how far it is.
logged() {
    log=$1
    shift
    : >"$log"
    if [ ! -t 2 ]; then
        tell_steps "$log" 9>&- &
        teller=$!
        "$@" >"$log" 2>&1 </dev/null 9>&-
        status=$?
        kill "$teller" 2>/dev/null
        wait "$teller" 2>/dev/null
        return "$status"
    fi
    status=$({
        {
            "$@" 2>&1 </dev/null 3>&- 9>&-
            echo $? >&3
        } | show_steps
    } 3>&1)
    return "$status"
}

# A line every ten seconds, for as long as this shell lives.
tell_steps() {
    while sleep 10 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
        step=$(sed -n 's/^\(\[[0-9]*\/[0-9]*\]\).*/\1/p' "$1" | tail -n 1)
        say "still at it${step:+: $step}"
    done
}

# Ninja starts its lines with [done/all].
show_steps() {
    while IFS= read -r line; do
        printf '%s\n' "$line" >>"$log"
        case $line in
        \[*/*\]*) printf '\r  %s]' "${line%%]*}" >&2 ;;
        esac
    done
    printf '\r                \r' >&2
}

# Shows where it went wrong: Ninja marks that; else the end of the log.
fail_with_log() {
    {
        if grep -q '^FAILED:' "$1"; then
            sed -n '/^FAILED:/,$p' "$1" | head -n 30
        else
            tail -n 20 "$1"
        fi
    } | sed 's/^/  /' >&2
    stop "$2; the whole log is $1"
}
