#!/bin/bash
# Compares the promises of the accuracy classes with the peers: on every input family each kernel that ln_layernorm()
# uses as `accurate` is at least as accurate as every peer, by the largest error over all hidden sizes, and each that
# it uses as `fast` for rows of a size is within 8 times of the best peer there (of 1/2 row ULP at least). Prints one
# line per family, with the largest row ULP over the hidden sizes, then the broken promises; exits with 1 if there
# are any, with 77 without peers.
#     peers_classes.sh BINARIES DISPATCH_TABLE [RUN-OPTION...]
# It takes about half a minute; the families `huge` and `overflow`, where squares overflow, and adversarial
# rows (`worst`) are left out for `fast`, as in the class (docs/lab/dispatch.md).
set -u
binaries=${1:?usage: $0 BINARIES DISPATCH_TABLE [RUN-OPTION...]}
table=${2:?usage: $0 BINARIES DISPATCH_TABLE [RUN-OPTION...]}
shift 2
scratch=$(mktemp -d) || exit 7
trap 'rm -rf "$scratch"' EXIT

# of_class CLASS: prints the f32 kernels of the table that this CPU runs, separated by commas; writes to ranges.CLASS
# the hidden sizes for which each may be used, on any ISA.
of_class() {
    sed -n 's/^ *row('"$1"', f32, f32, [a-z0-9]*, \([a-z_]*\), "\([a-z0-9_]*\)").*/\1 \2/p' "$table" | awk '
        $2 !~ /^rms_/ { print $2, $1 ~ /^long/ ? 4096 : 1, $1 ~ /^narrow/ ? 128 : 1e18 }' >"$scratch/ranges.$1"
    cut -d' ' -f1 "$scratch/ranges.$1" | sort -u >"$scratch/$1"
    grep -Fxf "$scratch/$1" "$scratch/usable" | paste -sd, -
}
"$binaries/lnbench" list kernels --format tsv >"$scratch/kernels" || exit 7
awk -F'\t' '$NF == "yes" && $5 == "f32" { print $1 }' "$scratch/kernels" >"$scratch/usable"
peers=$(grep -E '^(onednn|pytorch)_f32$' "$scratch/usable" | paste -sd, -)
[ -n "$peers" ] || {
    echo "Skipped: no peers were built (LNBENCH_PEERS; libdnnl-dev, libtorch-dev)"
    exit 77
}
fast=$(of_class fast)
accurate=$(of_class accurate)
"$binaries/lnbench" run --only accuracy --conventions torch --kernels "$peers,$fast,$accurate" \
    --db "$scratch/db" --no-charts "$@" >"$scratch/out" 2>&1
[ -s "$scratch/db" ] || {
    cat "$scratch/out"
    exit 7
}
"$binaries/lnbench" export --db "$scratch/db" --format tsv >"$scratch/tsv" || exit 7
awk -F'\t' -v peers="$peers" -v fast="$fast" -v accurate="$accurate" \
    -v ranges="$scratch/ranges.fast" '
    BEGIN {
        FS = " "
        while ((getline <ranges) > 0) { taken[++takes] = $1; from[takes] = $2; to[takes] = $3 }
        FS = "\t"
    }
    function is_taken(name, hidden,    i) {
        for (i = 1; i <= takes; i++)
            if (taken[i] == name && hidden >= from[i] && hidden <= to[i]) return 1
        return 0
    }
    function has(list, name) { return index("," list ",", "," name ",") > 0 }
    function most(a, b) { return a > b ? a : b }
    function shown(x) { return x >= 1e300 ? "wrong class" : sprintf("%.3g", x) }
    NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    {
        kernel = $column["kernel"]
        family = $column["input"] ($column["convention"] == "torch" ? "" : ", eps 0")
        rows = family ", hidden " $column["hidden"]
        error = $column["reason"] ~ /wrong-class/ ? 1e300 : $column["row_ulp_max"] + 0
        if (!(family in seen)) { seen[family] = 1; order[++families] = family }
        if (!(rows in best)) { best[rows] = 1e300; lines[++count] = rows; of[rows] = family }
        if (has(peers, kernel) && error < best[rows]) best[rows] = error
        if (is_taken(kernel, $column["hidden"] + 0)) worst_fast[rows] = most(worst_fast[rows], error)
        if (has(accurate, kernel)) worst_accurate[rows] = most(worst_accurate[rows], error)
    }
    END {
        for (i = 1; i <= count; i++) {
            rows = lines[i]; family = of[rows]
            peer_of[family] = most(peer_of[family], best[rows])
            fast_of[family] = most(fast_of[family], worst_fast[rows])
            accurate_of[family] = most(accurate_of[family], worst_accurate[rows])
            if (family !~ /^(huge|overflow|worst)/ && worst_fast[rows] > 8 * most(best[rows], 0.5))
                broken[++breaks] = "fast: " rows ": " shown(worst_fast[rows]) \
                    ", the best peer has " shown(best[rows])
        }
        for (i = 1; i <= families; i++)
            if (accurate_of[order[i]] > peer_of[order[i]])
                broken[++breaks] = "accurate: " order[i] ": " shown(accurate_of[order[i]]) \
                    ", the best peer has " shown(peer_of[order[i]])
        printf "%-28s %12s %12s %12s\n", "row ULP, worst", "accurate", "fast", "best peer"
        for (i = 1; i <= families; i++)
            printf "%-28s %12s %12s %12s\n", order[i], shown(accurate_of[order[i]]), \
                shown(fast_of[order[i]]), shown(peer_of[order[i]])
        print "\naccurate: " accurate "\nfast: " fast "\npeers: " peers "\n"
        for (i = 1; i <= breaks; i++) print broken[i]
        if (!breaks) print "every promise is kept"
        exit breaks > 0
    }' "$scratch/tsv"
