#!/bin/bash
# Every program that a script of the project calls is in a package that cmake/packages.txt names, in a dependency of
# such a package, or in the smallest Debian (priority required).
# usage: programs_test.sh SOURCE_ROOT
# Exit code: 77 without dpkg.
set -u
cd "$1" || exit 1
command -v dpkg-query >/dev/null || { echo "no dpkg: not checked"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# Write PROGRAM PACKAGE for all that is installed, and the packages whose programs may be called.
dpkg-query -S '/bin/*' '/usr/bin/*' '/sbin/*' '/usr/sbin/*' |
    awk -F': ' '!/^diversion/ { sub(/[:,].*/, "", $1); sub(/.*\//, "", $2); print $2, $1 }' >"$work/programs"
awk -F'|' '!/^#/ && NF > 3 { gsub(/ /, "", $2); print $2 }' cmake/packages.txt >"$work/named"
dpkg-query -W -f='${Package}\t${Priority}\t${Essential}\t${Pre-Depends}, ${Depends}\n' |
    awk -F'\t' '
        NR == FNR { wanted[++count] = $1; next }
        { needs[$1] = $4 }
        $2 == "required" || $3 == "yes" { wanted[++count] = $1 }
        END {
            for (at = 1; at <= count; at++) {
                if (seen[wanted[at]]++) continue
                print wanted[at]
                parts = split(needs[wanted[at]], part, /[,|]/)
                for (i = 1; i <= parts; i++) {
                    sub(/^ */, "", part[i])
                    sub(/[ :(].*/, "", part[i])
                    if (part[i] in needs) wanted[++count] = part[i]
                }
            }
        }' "$work/named" - >"$work/allowed"

# Prints SCRIPT WORD for each word in the place of a command, except quoted words, patterns of case, and names that the
# script gives to a variable or function.
words() {
    for script in "$@"; do
        sed -E 's/(^|[[:space:]])#.*//; s/\\[(|]//g' "$script" | tr '\n' '\1' | sed "s/'[^']*'//g" | tr '\1' '\n' |
            grep -oE '(^|[|&;(!{`]|\<(then|do|else|exec|if|while|until|timeout [0-9]+|xargs( -0)?|command -v))[[:space:]]*[a-zA-Z][a-zA-Z0-9._+-]*([^a-zA-Z0-9._+)=-]|$)' |
            sed -E 's/[^a-zA-Z0-9._+-]$//; s/.*[^a-zA-Z0-9._+-]//' | sort -u | while read -r word; do
            grep -Eq "(^|[[:space:]])$word ?(\(\)|=)|(for|as) $word\>|read .*\<$word\>" "$script" || echo "$script $word"
        done
    done
}

# Prints those of them that no allowed package has.
lacking() {
    awk '
        FILENAME == ARGV[1] { allowed[$1] = 1; next }
        FILENAME == ARGV[2] { package[$1] = package[$1] " " $2; next }
        $2 in package {
            count = split(package[$2], of, " ")
            for (i = 1; i <= count; i++) if (of[i] in allowed) next
            print $1 " calls " $2 ", which comes with" package[$2] ": cmake/packages.txt does not bring it"
        }' "$work/allowed" "$work/programs" -
}

mapfile -t scripts < <({ git ls-files 2>/dev/null || find . -type f -not -path './build/*' | sed 's|^\./||'; } | while read -r file; do
    [ -f "$file" ] && head -c 20 "$file" | tr -d '\0' | grep -qE '^#!/bin/(ba)?sh' && echo "$file"
done)
[ ${#scripts[@]} -gt 20 ] || { echo "only ${#scripts[@]} scripts were found"; exit 1; }
words cmake/setup.sh "${scripts[@]}" | lacking | tee "$work/lacks"

# Check the check: it finds a program of an installed package that is not allowed.
foreign=$(awk 'FILENAME == ARGV[1] { allowed[$1] = 1; next } !($2 in allowed) { print $1; exit }' \
    "$work/allowed" "$work/programs")
if [ -n "$foreign" ]; then
    printf '#!/bin/sh\nset -e\ntrue && %s --version\n' "$foreign" >"$work/planted.sh"
    [ -n "$(words "$work/planted.sh" | lacking)" ] || { echo "a call of $foreign was not seen"; exit 1; }
else
    echo "each package here is allowed: the planted call could not be tried"
fi

# CMake uses make by default: a test that configures must get the build's own generator.
unsaid() { # CMAKELISTS SCRIPT...: prints the scripts that configure, if the list does not set it
    grep -q 'ENVIRONMENT CMAKE_GENERATOR=' "$1" || grep -lE '"[$]cmake" -S ' "${@:2}"
}
for list in $(grep -lE '"[$]cmake" -S ' "${scripts[@]}" | xargs -n 1 dirname | sort -u); do
    unsaid "$list/CMakeLists.txt" "$list"/*.sh | sed 's/$/ configures, and would call make/' | tee -a "$work/lacks"
    unsaid /dev/null "$list"/*.sh >/dev/null || { echo "$list: a test without a generator was not seen"; exit 1; }
done
echo "${#scripts[@]} scripts, $(wc -l <"$work/allowed") packages"
[ ! -s "$work/lacks" ]
