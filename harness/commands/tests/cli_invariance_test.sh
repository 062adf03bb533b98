#!/bin/bash
# shellcheck disable=SC2154 # cli_common.sh sets lnbench, binaries and libraries
# The column `reproducible`: kernels that break one axis each, the promises of the library's own kernels,
# and the class in every table.
. "$(dirname "$0")/cli_common.sh" "$@"
plugin=$libraries/invariance_plugin.so

# found KERNEL: prints its class in the store f.db, and the axes along which its bits differ.
found() {
    python3 - "$1" <<'END'
import json, sqlite3, sys
(descriptor,), = sqlite3.connect("f.db").execute("SELECT descriptor FROM kernels WHERE name = ?", sys.argv[1:])
kernel = json.loads(descriptor)
print(kernel["reproducibility"], *kernel["varies_with"])
END
}

run_it run --conformance no --only accuracy --db f.db --no-charts --plugin "$plugin" --shapes 2x8 --conventions torch \
    --inputs normal --kernels 'on_*'
check "nothing" is "$(found on_nothing)" "row"
check "call" is "$(found on_call)" "none call"
check "rows" is "$(found on_rows)" "run rows"
check "threads" is "$(found on_threads)" "run threads"
check "alignment" is "$(found on_alignment)" "run alignment"
check "stride, of which the judge knows" is "$(found on_stride)" "run stride"
check "isa" is "$(found on_isa.one) $(found on_isa.two)" "row isa row isa"
check "isa: the same" is "$(found on_same.one)" "isa"

# The library's kernels keep their declared class on the ISAs of this machine.
accepted "our kernels" 0 run --conformance no --only accuracy --db own.db --no-charts --shapes 2x8 --conventions torch \
    --inputs normal --dtypes f32,f64,bf16,f16 --kernels '*_f32_*,*_fused_*16_*,two_pass_f64_*,reproducible_*'
check "our kernels: all keep what they declare" python3 - <<'END'
import json, sqlite3
classes = [None, "none", "run", "row", "isa"]
kernels = [json.loads(one) for one, in sqlite3.connect("own.db").execute("SELECT descriptor FROM kernels")]
measured = [k for k in kernels if k["reproducibility"]]
assert len(measured) > 50, len(measured)
for k in measured:
    declared = k["declared_reproducibility"]
    least = "row" if declared == "isa" and "isa" not in k["varies_with"] else declared # a single ISA cannot show more
    assert classes.index(k["reproducibility"]) >= classes.index(least), k
END

# The class is in every other table.
accepted "list" 0 list kernels --plugin "$plugin" --json
check "list: what is declared" has out '"declared_reproducibility": "row"'
run_it run --conformance no --db v.db --no-charts --plugin "$plugin" --shapes 40x64 --conventions torch --inputs normal \
    --kernels 'on_rows,on_same.one,on_nothing' --processes 1 --repetitions 2
check "run: fine" is "$code" 0
check "run: what depends on the batch" has out 'on_rows .* run$'
check "run: what depends on nothing" has out 'on_nothing .* row$'
check "run: an ISA that was not asked for counts" has out 'on_same\.one .* isa$'
accepted "export" 0 export --db v.db --format tsv
check "tsv" has out $'^operation\tkernel\t.*\treproducibility\tcase$'
check "tsv" has out $'^layernorm\ton_rows\t.*\trun\t[0-9]+$'
check "what it varies with" is "$("$binaries/run_sql" v.db "SELECT descriptor ->> '$.varies_with' FROM kernels WHERE name = 'on_rows'")" '["rows"]'
accepted "export" 0 export --db v.db --format db --out v.run.db
accepted "import" 0 import v.run.db --db w.db
accepted "import: export" 0 export --db w.db --format tsv
check "import keeps the class" has out $'^layernorm\ton_rows\t.*\trun\t[0-9]+$'
"$binaries/test_files" make x.npy '<f4' '(2, 4)' 1:1
accepted "eval" 0 eval --x x.npy --convention tinyllm --plugin "$plugin" --kernel on_stride
check "eval" has out '^reproducible +run \(stride\)$'
accepted "eval --json" 0 eval --x x.npy --convention tinyllm --plugin "$plugin" --kernel on_stride --json
check "eval --json" has out '"reproducibility": "run"'
accepted "list, in brackets" 0 list kernels --plugin "$plugin" --format tsv
check "list, in brackets" is "$(awk -F'\t' '$1 == "on_rows" { print $10 }' out)" "(row)"
run_it hunt --plugin "$plugin" --kernel on_threads --time 0.1 --hidden 8 --out h.txt
check "hunt" has out '^on_threads is reproducible: run$'
run_it hunt --plugin "$plugin" --kernel on_nothing --time 0.1 --hidden 8 --json --out h.txt
check "hunt --json" is "$(value reproducibility out)" row
case_of() { "$binaries/run_sql" v.db "SELECT min(case_id) FROM judged WHERE kernel = '$1'" | tail -n 1; }
accepted "replay" 0 replay --db v.db --plugin "$plugin" --case "$(case_of on_rows)"
check "replay" has out ' yes +run +-$'
accepted "replay --json" 0 replay --db v.db --plugin "$plugin" --case "$(case_of on_same.one)" --json
check "replay --json" is "$(value 0.reproducibility out)" isa

# Two builds, of which the second depends on the number of threads: its class is lost.
duet="duet --base $libraries/invariance_kept.so --new $plugin --only accuracy --shapes 5x768"
# shellcheck disable=SC2086 # words
{
    accepted "duet" 0 $duet --kernels on_threads,on_nothing --inputs normal
    check "duet: lost" has out '^on_threads .*reproducible: run was row'
    check "duet: kept" hasnt out '^on_nothing .*reproducible:'
    check "duet: lost, below" has out '^note: on_threads: reproducible: run was row$'
    check "duet: lost, at the end" has out '1 kernel less reproducible'
    accepted "duet --accuracy exact" 5 $duet --kernels on_threads --inputs normal --accuracy exact
    accepted "duet --json" 5 $duet --kernels on_threads --inputs normal --accuracy exact --json
    check "duet --json: new" is "$(value pairs.0.reproducibility out)" run
    check "duet --json: base" is "$(value pairs.0.base.reproducibility out)" row
}
finish
