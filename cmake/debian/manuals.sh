#!/bin/sh
# Makes the man pages lnbench(1), lnbench-run(1) and so on from --help, with help2man.
#     manuals.sh PROGRAMS FOLDER     (PROGRAMS: the folder of lnbench)
set -eu
PATH=$1:$PATH
folder=$2
export LC_ALL=C.UTF-8
version=$(lnbench --version | cut -d ' ' -f 2)

# manual PAGE BRIEF COMMAND
manual() {
    help2man --no-info --version-string "$1 $version" --name "$2" --output "$folder/$1.1" "$3"
}

mkdir -p "$folder"
manual lnbench "measure how fast and how accurate LayerNorm and RMSNorm kernels are" lnbench
lnbench --help | sed -n 's/^  \([a-z][a-z]*\)  *\(.*\)/\1 \2/p' >"$folder/subcommands"
while read -r subcommand brief; do
    manual "lnbench-$subcommand" "$brief" "lnbench $subcommand"
done <"$folder/subcommands"
rm "$folder/subcommands"
