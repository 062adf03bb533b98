#!/bin/bash
# shellcheck disable=SC2154 # cli_common.sh sets lnbench, binaries and libraries
# lnbench eval --reproducible: kernels that break one axis each, promises that are kept and broken, and the
# class in every other table.
. "$(dirname "$0")/cli_common.sh" "$@"
plugin=$libraries/invariance_plugin.so

# found KERNEL: class, broken promise or not, and the axes along which the bits differ.
found() {
    python3 -c "
import json
kernel = [k for k in json.load(open('matrix.json')) if k['kernel'] == '$1'][0]
varied = [axis for axis, same in kernel['same_bits'].items() if same is False]
print(kernel['reproducibility'], kernel['promise_broken'], *varied)"
}

run_it eval --reproducible --plugin "$plugin" --kernels 'on_*' --json
check "all: the gravest is a nondeterministic kernel" is "$code" 6
cp out matrix.json
check "nothing" is "$(found on_nothing)" "row False"
check "call" is "$(found on_call)" "none True call"
check "rows" is "$(found on_rows)" "run True rows"
check "position" is "$(found on_position)" "run True position"
check "threads" is "$(found on_threads)" "run True threads"
check "alignment" is "$(found on_alignment)" "run True alignment"
check "stride" is "$(found on_stride)" "run True stride"
check "in place" is "$(found on_place)" "run True in-place"
check "isa: promised" is "$(found on_isa.one)" "row True isa"
check "isa: not promised" is "$(found on_isa.two)" "row False isa"
check "isa: the same" is "$(found on_same.one)" "isa False"
check "refused settings are no differences" is "$(found on_choosy)" "row False"
python3 -c "
import json
for kernel in json.load(open('matrix.json')):
    cells = {(c['hidden'], c['setting']): c for c in kernel['cells']}
    assert len(cells) == 28, kernel['kernel']
    if kernel['kernel'] == 'on_rows':
        assert [s for (h, s), c in cells.items() if c['same'] is False] == ['rows=255'] * 2
        assert cells[768, 'rows=255']['rows_that_differ'] == 255
    if kernel['kernel'] == 'on_position': # row 1 comes to place 2, which is not moved
        assert cells[768, 'moved by 1']['rows_that_differ'] == 257 - 1
        assert cells[768, 'moved by 100']['rows_that_differ'] == 100 # the others keep their parity
    if kernel['kernel'] == 'on_choosy':
        assert cells[768, 'strided']['same'] is None and cells[768, 'in place']['hash'] is None
plain = {k['kernel']: k['cells'][0]['hash'] for k in json.load(open('matrix.json'))}
assert plain['on_nothing'] == plain['on_isa.one'] != plain['on_isa.two']
" || check "cells" false

ends "a broken promise" 5 eval --reproducible --plugin "$plugin" --kernels on_threads
check "a broken promise is said" has out '^on_threads +run \(BROKEN PROMISE\) +row +same +same +same +differ'
accepted "kept promises" 0 eval --reproducible --plugin "$plugin" --kernels 'on_nothing,on_same.*,on_isa.two'
accepted "hashes" 0 eval --reproducible --plugin "$plugin" --kernels on_nothing --hashes --format tsv
check "hashes: a line a setting" lines out 29
check "hashes" has out $'^on_nothing\t771\tin place\tin-place\tsame\t0\t[0-9a-f]{16}$'

# What promises the same bits everywhere keeps that, on the ISAs that are here.
accepted "reproducible kernels" 0 eval --reproducible --kernels 'reproducible_*' --json
check "reproducible kernels: all promise it" is "$(grep -c '"declared_reproducibility": "isa"' out)" \
    "$(grep -c '"kernel"' out)"

accepted "our kernels keep what they declare" 0 eval --reproducible --kernels '*_f32_*'
accepted "in 16 bits and f64 too, where rows end with an addend" 0 \
    eval --reproducible --kernels '*_fused_*16_*,two_pass_f64_*' --convention numpy-quotient
accepted "and with a residual" 0 eval --reproducible --residual --kernels '*_fused_f32_*,*pipelined*,*blocked*,*staged*,*transposed*'
check "with a residual: told" has out 'normal with a residual: 257 rows'
accepted "a place that counts with a residual alone: without one" 0 \
    eval --reproducible --plugin "$plugin" --kernels on_residual
ends "a place that counts with a residual alone" 5 eval --reproducible --plugin "$plugin" --kernels on_residual --residual
check "a place that counts with a residual alone" has out '^on_residual +run \(BROKEN PROMISE\) +row +same +same +differ'

refused "no such kernel" 2 "no kernel matches 'nosuch'" eval --reproducible --kernels nosuch
python3 - <<'END'
import struct
head = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 5), }".ljust(117) + "\n"
open("own.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<10f", *range(10)))
END
ends "rows of a file" 5 eval --reproducible --plugin "$plugin" --kernels on_threads,on_nothing --inputs own.npy --json
check "rows of a file: their length alone" is "$(grep -o '"hidden": [0-9]*' out | sort | uniq -c | tr -d ' ')" '28"hidden":5'
refused "no such file" 7 "none.npy" eval --reproducible --kernels two_pass_f32_scalar --inputs none.npy
refused "no such input" 2 "nosuch" eval --reproducible --kernels two_pass_f32_scalar --input nosuch
refused "no such convention" 2 "nosuch" eval --reproducible --convention nosuch
refused "no time" 2 'deadline' eval --reproducible --deadline 0
ends "a crash" 6 eval --reproducible --plugin "$libraries/sabotage_plugin.so" --kernels naive.crash,naive.good
check "a crash is said" has out '^naive\.crash: wrong \(crashed'
check "a crash: the others" has out '^naive\.good +row '

ends "a crash when asked" 6 eval --reproducible --plugin "$plugin" --kernels 'on_crash,on_nothing'
check "a crash when asked" has out '^on_crash: wrong \(crashed: in supports\(\): SIGABRT'
check "a crash when asked: the others" has out '^on_nothing +row '

# The class is in every other table.
accepted "list" 0 list kernels --plugin "$plugin" --json
check "list: what is declared" has out '"declared_reproducibility": "row"'
run_it run --referee no --db v.db --no-charts --plugin "$plugin" --shapes 40x64 --conventions torch --inputs normal \
    --kernels 'on_rows,on_same.one,on_nothing' --processes 1 --repetitions 2
check "run: fine" is "$code" 0
check "run: what depends on the batch" has out 'on_rows .* run$'
check "run: what depends on nothing" has out 'on_nothing .* row$'
check "run: an ISA that was not asked for counts" has out 'on_same\.one .* isa$'
accepted "export" 0 export --db v.db --format tsv
check "tsv" has out $'^operation\tkernel\t.*\treproducibility\tcase$'
check "tsv" has out $'^layernorm\ton_rows\t.*\trun\t[0-9]+$'
accepted "export" 0 export --db v.db --format jsonl
check "jsonl" has out '"varies_with": ?\["rows"\]'
cp out v.jsonl
accepted "import" 0 import v.jsonl --db w.db
accepted "import: export" 0 export --db w.db --format tsv
check "import keeps the class" has out $'^layernorm\ton_rows\t.*\trun\t[0-9]+$'
"$binaries/npy_tool" make x.npy '<f4' '(2, 4)' 1:1
accepted "eval" 0 eval --x x.npy --convention tinyllm --plugin "$plugin" --kernel on_stride
check "eval" has out '^reproducible +run \(stride\)$'
accepted "eval --json" 0 eval --x x.npy --convention tinyllm --plugin "$plugin" --kernel on_stride --json
check "eval --json" has out '"reproducibility": "run"'
accepted "list, in brackets" 0 list kernels --plugin "$plugin" --format tsv
check "list, in brackets" is "$(awk -F'\t' '$1 == "on_rows" { print $10 }' out)" "(row)"
run_it hunt --plugin "$plugin" --kernel on_threads --restarts 1 --hidden 8 --out h.txt
check "hunt" has out '^on_threads is reproducible: run$'
run_it hunt --plugin "$plugin" --kernel on_nothing --restarts 1 --hidden 8 --json --out h.txt
check "hunt --json" is "$(value reproducibility out)" row
accepted "replay" 0 replay --db v.db --plugin "$plugin" --kernel on_rows
check "replay" has out ' yes +run +-$'
accepted "replay --json" 0 replay --db v.db --plugin "$plugin" --kernel on_same.one --json
check "replay --json" is "$(value 0.reproducibility out)" isa
run_it choose --db c.db --kappa 1 --shape 8x64 --fresh --kernels two_pass_f32_scalar --explain
check "choose: timed here, its class not measured" has out '^two_pass_f32_scalar .* \(row\)'

# Two builds, of which the second depends on the number of threads: a class that was lost.
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
