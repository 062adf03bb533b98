# Completion of lnbench for bash, from the output of --help: lnbench --help lists the subcommands, SUBCOMMAND --help
# the options and their values. Anything else is completed as the name of a file.
_lnbench() {
    local subcommand=() words
    ((COMP_CWORD == 1)) || subcommand=("${COMP_WORDS[1]}")
    words=$(lnbench "${subcommand[@]}" --help 2>/dev/null | awk -v before="$3" '
        /^  [a-z-]/ { print $1 }
        /^  --[a-z-]+ [a-z]/ && $1 == before { gsub(/[|,]/, " ", $2); print $2 }')
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$2")
}
complete -o default -F _lnbench lnbench
