"""How far RMSNorm's presets lie apart in bf16: of 64 rows of 4096 the share of elements that differ, in %, and by
how many units in the last place at most. The table of docs/lab/conventions.md.

usage: PYTHONPATH=python LNBENCH_LNJUDGE=build/release/lib/liblnjudge.so /usr/bin/python3 rmsnorm_presets.py"""
import numpy as np
import lnbench

PRESETS = "torch-rms gemma llama candle vllm-cpu flashinfer".split()
draw = np.random.default_rng(1).standard_normal


def bits(values):
    """As bf16, rounded to nearest even."""
    words = values.astype("f4").view("u4")
    return (words + 0x7fff + (words >> 16 & 1) >> 16).astype("u2")


def places(y):
    """Neighbours are one apart."""
    return np.where(y & 0x8000, -(y.astype("i4") & 0x7fff), y.astype("i4"))


x, residual = bits(draw((64, 4096))), bits(draw((64, 4096)))
weight = (bits(draw(4096) * .2 + 1).astype("u4") << 16).view("f4")
for what, r in (("without", None), ("with", residual)):
    y = {name: places(lnbench.reference(x, weight - (name == "gemma"), convention=name, dtype="bf16", residual=r))
         for name in PRESETS}
    print(f"\n{what} a residual\n{'':10}", *(f"{name:>10}" for name in PRESETS))
    for name in PRESETS:
        print(f"{name:10}", *(f"{f'{100 * (y[name] != y[other]).mean():.1f} {abs(y[name] - y[other]).max()}':>10}"
                              for other in PRESETS))
