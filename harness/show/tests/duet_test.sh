#!/bin/sh
# lnbench duet from the command line: the results of planted changes, the loaded code, errors, formats.
# No timing is asserted. usage: duet_test.sh BUILD_DIRECTORY
# shellcheck disable=SC2034,SC2154 # expect.sh sets build, scratch and tests
. "$(dirname "$0")/../../tests/expect.sh"
subcommand=duet
cp "$build/lib/duet_sabotage.so" base.so
cp base.so new.so

# plant WHAT [FILE]: plants a change in the new side, or in FILE.
plant() {
    echo "$1" >"${2:-new.so}.plant"
}

# judged CODE TEXT OPTIONS...: compares one kernel of base.so and new.so, without timing.
judged() {
    code=$1
    text=$2
    shift 2
    expect "$code" "$text" --base ./base.so --new ./new.so --only accuracy --shapes 5x768 \
        --kernels two_pass_f32_scalar "$@"
}

echo "accuracy verdicts and gates"
for gate in exact no-worse bound; do
    plant none
    judged 0 'bit-identical' --accuracy $gate
done
plant last-bit
torch='--conventions torch --inputs normal'
# shellcheck disable=SC2086
{
    judged 5 'bits differ in 1 pair' --accuracy exact $torch
    prints 'differs on [1-3] of 3 inputs: normal' "no input is told"
    judged 0 'bits differ in 1 pair' --accuracy no-worse $torch
    prints 'differs on [1-3] of 3 inputs: normal' "no input is told"
    judged 0 'bits differ in 1 pair' --accuracy bound $torch
    prints 'differs on [1-3] of 3 inputs: normal' "no input is told"
}
plant dropped-tail
judged 5 'less accurate' --accuracy no-worse
plant eps
judged 5 'less accurate' --accuracy no-worse
judged 5 'fail (inaccurate: ' --accuracy bound
judged 5 'less accurate' --accuracy exact
plant floor
judged 5 'differs on' --accuracy exact
judged 0 'bit-identical' --accuracy exact --conventions torch # whose eps hides it
plant eps base.so
plant none
judged 0 'more accurate' --accuracy no-worse
judged 5 'more accurate' --accuracy exact
rm base.so.plant

echo "the other types"
# typed CODE TEXT PLANT TYPE: judges both sides of each kernel of the type.
typed() {
    plant "$3"
    expect "$1" "$2" --base ./base.so --new ./new.so --only accuracy --shapes 5x64 --dtypes "$4" \
        --kernels "two_pass_${4}_scalar,shifted_two_mean_fused_${4}_param_f32_scalar" --conventions torch --inputs normal --accuracy exact
    prints "5x64 $4 " "no type is told"
}
for type in f64 bf16 f16; do
    typed 0 'fine: bit-identical in 2 pairs' none $type
    typed 5 'differs on' last-bit $type
    typed 5 'fail (inaccurate: .*' eps $type
    typed 6 'new: fail (crashed: SIGSEGV)' crash $type
done
plant none
expect 2 'choose f32, f64, bf16 or f16' --base ./base.so --new ./new.so --dtypes f8
expect 2 'no kernel of --kernels takes that type' --base ./base.so --new ./new.so --dtypes f16 --kernels 'two_pass_f64*'
# Pairs of several shapes show their shape, however long the names are.
"$build/bin/lnbench" duet --base ./base.so --new ./new.so --only speed --all --time 0.1 --dtypes bf16 \
    --shapes 4x64,4x65 --kernels shifted_two_mean_fused_bf16_param_f32_scalar >output 2>&1
grep -q '^shifted_two.* 4x64' output && grep -q '^shifted_two.* 4x65' output || failed "no shape is shown"
# Each shape once, whatever the types: with shorter elements, a cache level holds more rows.
expect 0 'bit-identical in 9 pairs' --base ./base.so --new ./new.so --only accuracy --dtypes bf16,f32 \
    --kernels 'two_pass_f32_scalar,two_pass_bf16_scalar,shifted_two_mean_fused_bf16_param_f32_scalar' \
    --conventions torch --inputs normal
sed -i '/^lnbench: [0-9]* %, /d' output # a slow machine's progress
rows=$(sed -nE 's/^two_pass_f32_scalar +torch +([0-9]+)x64 .*/\1/p' output) # the number that fills half of L2
[ "$(grep -c '_scalar' output)" -eq 9 ] && [ -z "$(grep _scalar output | sort | uniq -d)" ] &&
    grep -q " $((2 * rows))x64 bf16" output && ! grep -q " ${rows}x64 bf16" output ||
    failed "shapes of the types"

echo "kernels that fail"
plant crash
judged 6 'new: fail (crashed: SIGSEGV)'
plant crash base.so
judged 6 'kernel failed'
plant none
judged 4 'base: fail (crashed: SIGSEGV)'
rm base.so.plant
plant late-crash
quick="--shapes 5x64 --kernels two_pass_f32_scalar --conventions torch --inputs normal"
# shellcheck disable=SC2086
expect 6 'new: fail (crashed: in timing: SIGSEGV)' --base ./base.so --new ./new.so $quick --time 5
plant none

echo "what was asked, compared and lost"
# built SIDE KERNELS [NAME]: builds a plugin of these kernels, see duet_kernels.c.
built() {
    "${CC:-cc}" -shared -fPIC -O1 -I "$tests/../../../kernels/include" "-DKERNELS=$2" "-DNAME=\"${3-mine}\"" \
        "$tests/duet_kernels.c" -o "$1.so" -lm || exit 1
}
two='K(a, run) K(b, run)'
while IFS='|' read -r code text base new options; do
    [ "$base" = . ] || built was "$base"
    [ "$new" = . ] || built now "$new"
    case $options in
    --shapes*) ;;
    *) options="--shapes 4x64 --conventions torch --only accuracy $options" ;;
    esac
    # shellcheck disable=SC2086
    expect "$code" "$text" --base was.so --new now.so $options
    [ "$code" -eq 4 ] && grep -q fine output && failed "fine, and exit code 4"
done <<TABLE
0|^requested 2, compared 2, missing 0$|$two|$two|
0|c (only in new)|.|$two K(c, run)|
5|^bravo .*less accurate|K(alpha, run) K(bravo, run)|K(alpha, run) K(bravo, worse)|
5|^bravo .*less accurate|.|K(alpha, run) K(bravo, worse, .unroll = 4, .accumulator = LN_F64)|
4|^requested 2, compared 1, missing 1: b torch 4x64 hot (only in base)$|$two|K(a, run)|
4|^requested 4, compared 2, missing 2: b torch 4x64 hot.*; b torch 9x100|.|K(a, run)|--shapes 4x64,9x100 --only accuracy --conventions torch
0|compared 1, missing 1: b .*only in base|.|K(a, run)|--allow-missing
4|b .*(other element types in new)|.|K(a, run) K(b, run, .storage = LN_F64)|
4|b .*(new: not any more)|.|K(a, run) K(b, run, .supports = nothing)|
4|b .*(2 of 3 inputs: normal, as timed;|.|K(a, run) K(b, run, .supports = few_rows)|--shapes 70x80 --only accuracy --conventions torch --inputs normal
4|b .*(new, in timing: unsupported (few|.|K(a, run) K(b, run, .supports = few_rows)|--shapes 2000x768 --only speed --time .1 --kernels b
6|^kernel failed: bit-identical in 1 of 2 pairs, 1 pair failed$|.|K(a, run) K(b, run, .prepare = fall, .release = release)|
4|^not comparable: 2 of 2 pairs missing (--allow-missing accepts that); nothing was compared$|.|K(c, run)|
4|nothing was compared|.|K(c, run)|--allow-missing
4|^requested 1, compared 0, missing 1: b |.|K(a, run)|--kernels b
4|^requested 0, compared 0, missing 0$|.|$two K(c, run)|--kernels c
0|^requested 2, compared 1, unsupported 1, missing 0$|K(a, run) K(b, run, .supports = nothing)|K(a, run) K(b, run, .supports = nothing)|
0|b (base: not any more)|.|$two|
4|missing 1: b .*(base failed)$|K(a, run) K(b, run, .prepare = fall, .release = release)|$two|
4|^not comparable: 1 of 1 pairs missing (allowed)|.|.|--kernels b --allow-missing
7|it has no kernels|.||
TABLE
built was "$two"
built now "$two" builtin # could be mistaken for the library
expect 7 "which is reserved for" --base was.so --new now.so
built now 'K(a, run)'
expect 4 . --base was.so --new now.so --only accuracy --conventions torch --shapes 4x64 --format json
mv output json
python3 - <<'PYTHON' || failures=$((failures + 1))
import json
duet = json.load(open("json"))
assert duet["verdict"] == "not comparable" and duet["not_compared"] == ["b (only in base)"], duet
assert duet["coverage"] == {"requested": 2, "compared": 1, "unsupported": 0, "missing": 1,
                            "missing_names": ["b torch 4x64 hot (only in base)"]}, duet["coverage"]
PYTHON

echo "whose code it is"
plant none
mkdir a b
ln new.so hard.so
ln -s new.so soft.so
expect 2 'are one file' --base ./new.so --new ./new.so
expect 2 'are one file' --base ./new.so --new hard.so
expect 2 'are one file' --base ./new.so --new soft.so
# A plugin that does its work in another library next to it; and a library that is no plugin, but is linked to one.
echo 'int inner(int value); int inner(int value) { return value; }' >inner.c
cat >outer.c <<'C'
#include <layernorm_plugin.h>
int inner(int value);
static void run(const void *state, const ln_tensors *tensors)
{
    (void)state;
    *(float *)tensors->y = (float)inner(1);
}
LN_API const ln_plugin_table *ln_plugin(void)
{
    static const ln_kernel kernels[] = {{.name = "outer", .isa = "scalar", .run = run}};
    static const ln_plugin_table plugin = {LN_PLUGIN_ABI, sizeof(ln_plugin_table), sizeof(ln_kernel), "outer", 1, kernels};
    return &plugin;
}
C
printf '#include <layernorm_plugin.h>\nconst ln_plugin_table *hollow(void);\n' >hollow.c
echo 'const ln_plugin_table *hollow(void) { return ln_plugin(); }' >>hollow.c
# linked ARGUMENTS...: links a shared library.
linked() {
    "${CC:-cc}" -shared -fPIC -I "$tests/../../../kernels/include" "$@" || exit 1
}
for side in a b; do
    linked inner.c -o $side/inner.so -Wl,-soname,inner.so
    linked outer.c $side/inner.so -o $side/outer.so -Wl,-rpath,'$ORIGIN'
done
expect 4 'both builds load the same .*inner.so' --base a/outer.so --new b/outer.so
linked hollow.c -o hollow.so -L "$build/lib" -llayernorm -Wl,-rpath,"$build/lib"
expect 4 'is in another library, which it loads' --base ./base.so --new hollow.so
built now 'K(a, (void (*)(const void *, const ln_tensors *))abort)'
expect 4 "a kernel's run is in another library, which it loads" --base was.so --new now.so
cp "$build/lib/liblayernorm.so" library.so
expect 0 'bit-identical' --base library.so --new ./base.so --only accuracy --shapes 5x64 \
    --kernels 'naive_*' --conventions torch --inputs normal

echo "bad input"
expect 7 'nowhere.so: No such file' --base ./base.so --new nowhere.so
expect 7 'is not a file' --base ./base.so --new a
echo "no library" >text.so
expect 7 'text.so' --base ./base.so --new text.so
expect 7 'another ABI version' --base ./base.so --new "$build/lib/bad_plugin_2.so"
plant bogus
expect 7 'returned NULL' --base ./base.so --new ./new.so
plant none
expect 2 'new FILE.so is missing' --base ./base.so
expect 2 'threshold' --base ./base.so --new ./new.so --threshold 2x
expect 2 'no-worse' --base ./base.so --new ./new.so --accuracy better
expect 2 'junit' --base ./base.so --new ./new.so --format xml
expect 2 'FORMAT=FILE' --base ./base.so --new ./new.so --also text
expect 2 'no kernel matches' --base ./base.so --new ./new.so --kernels nothing
expect 2 'more than 0 seconds' --base ./base.so --new ./new.so --time 0
judged 7 'cannot write' --also text=/nowhere/file

echo "formats"
plant eps
for format in json junit github; do
    judged 5 . --format $format
    mv output "$format"
done
judged 5 . --also junit=also --also json=also.json
cmp -s junit also || failed "--also writes other than --format"
python3 - <<'PYTHON' || failures=$((failures + 1))
import json
duet = json.load(open("json"))
assert duet["schema"] == "lnbench-duet-3" and duet["verdict"] == "accuracy violation", duet
assert duet["exit_code"] == 5 and duet["speed_verdict"] is None, duet
pair, = duet["pairs"]
for key in ("kernel convention rows hidden dtype input cache threads verdict metrics speed ratio "
            "ratio_lo ratio_hi speed_verdict accuracy_verdict base").split():
    assert key in pair, key
assert pair["accuracy_verdict"] == "less accurate" and pair["ratio"] is None
assert pair["metrics"]["row_ulp_max"] > pair["base"]["metrics"]["row_ulp_max"]
lines = open("github").read().splitlines()
assert lines[0].startswith("::error title=accuracy violation::two_pass_f32_scalar"), lines
assert lines[-1].startswith("::notice title=lnbench duet::"), lines
PYTHON

echo "a timed pair, whatever it comes to"
plant none
# shellcheck disable=SC2086
"$build/bin/lnbench" duet --base ./base.so --new ./new.so $quick --time 3 --json >timed
code=$?
python3 - $code <<'PYTHON' || failures=$((failures + 1))
import json, sys
code, duet = int(sys.argv[1]), json.load(open("timed"))
pair, = duet["pairs"]
assert code == duet["exit_code"] and code in (0, 1, 3), duet
assert pair["speed_verdict"] in ("same", "slower", "faster", "inconclusive"), pair
if pair["processes"]:
    assert pair["processes"] >= 8 and pair["search_processes"] >= 8, pair
    assert 0 < pair["ratio_lo"] <= pair["ratio"] <= pair["ratio_hi"], pair
else:
    assert pair["ratio"] is None and "--time" in pair["note"] and code == 3, pair
PYTHON

# Each number of threads is a case of its own, with the same bits.
if [ "$(nproc)" -ge 2 ]; then
    "$build/bin/lnbench" duet --base ./base.so --new ./new.so --shapes 40x768 --threads 1,2 --time 2 \
        --dtypes bf16 --kernels two_pass_bf16_scalar --conventions torch --inputs normal --json >timed
    python3 - <<'PYTHON' || failures=$((failures + 1))
import json
pairs = json.load(open("timed"))["pairs"]
assert [pair["threads"] for pair in pairs] == [1, 2], pairs
for pair in pairs:
    assert pair["dtype"] == "bf16" and pair["accuracy_verdict"] == "bit-identical", pair
    assert pair["search_processes"] > 0, pair
PYTHON
else
    echo "skipped: threads: this machine has one CPU"
fi

# shellcheck disable=SC2086
"$build/bin/lnbench" duet --base ./base.so --new ./new.so --shapes 5x64 --conventions torch \
    --only speed --time 60 >output 2>&1 &
sleep 1
kill -TERM $!
wait $!
code=$?
[ $code -eq 130 ] || failed "interrupted: exit code $code"

finish
