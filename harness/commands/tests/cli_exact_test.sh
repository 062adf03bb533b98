#!/bin/bash
# shellcheck disable=SC2154 # cli_common.sh sets lnbench, binaries and libraries
# lnbench hunt --exact: kernels that round correctly, one that does not, one hash for all ISAs and the library.
. "$(dirname "$0")/cli_common.sh" "$@"

accepted "what claims it" 0 hunt --exact --elements 30000 --json
cp out exact.json
check "as many hashes as pairs of types, all right" python3 -c "
import json, re
found = json.load(open('exact.json'))
assert found and all(k['correctly_rounded'] and k['claims_exact'] for k in found)
assert all(k['wrong'] == k['wrong_facts'] == 0 and k['facts'] > 0 for k in found)
assert all(k['elements'] >= 30000 and (k['aimed_at_midpoints'] > 0 or 'rms' in k['kernel']) for k in found)
hashes = {}
for k in found:
    types = re.sub('_(scalar|avx.*|neon)$', '', re.sub('^(library_exact_rms|rms_exact_certified_grouped)_', 'rms ', re.sub('^(library_exact|exact_certified_grouped(_nt)?)_(?!rms)', '', k['kernel'])))
    hashes.setdefault(types, set()).add(k['hash'])
assert len(hashes) == 6 and all(len(h) == 1 for h in hashes.values()), hashes"

# Within 2 row ULP is not correctly rounded.
ends "another kernel" 5 hunt --exact --kernel two_pass_two_rstd_f32_acc_f64_scalar --elements 20000
check "another kernel" has out '^two_pass_two_rstd_f32_acc_f64_scalar +no +no '
check "the first wrong one is told" has out 'is right$'
ends "a plugin" 5 hunt --exact --plugin "$libraries/example_plugin.so" --kernel example --elements 3000
refused "no such kernel" 2 "exat" hunt --exact --kernel exat_certified_grouped_f32_scalar
finish
