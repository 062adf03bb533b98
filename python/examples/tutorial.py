"""lnbench in five steps. Every `assert` here holds: a test runs this file."""
import numpy as np

import lnbench

# 1. A LayerNorm as one writes it.


def mine(x, gamma, beta):
    mean = x.mean(-1, keepdims=True)
    var = x.var(-1, keepdims=True)
    return (x - mean) / np.sqrt(var + np.float32(1e-5)) * gamma + beta


# 2. Is it right? On every size up to 1100, strided rows, zeros, infinities, rows far from zero.
report = lnbench.judge(mine, hidden=256)
print(report)
assert report.passed

# 3. The divisor N - 1 is a frequent mistake, which a tolerance of 1e-2 does not show.


def other_divisor(x, gamma, beta):
    std = np.sqrt(x.var(-1, keepdims=True, ddof=1) + np.float32(1e-5))
    return (x - x.mean(-1, keepdims=True)) / std * gamma + beta


try:
    lnbench.assert_layernorm(other_divisor)
except AssertionError as wrong:
    print(wrong)
    assert "ddof=1" in str(wrong)
else:
    raise SystemExit("the wrong divisor was not found")

# 4. Which function made this output?
x = np.random.default_rng(1).standard_normal((6, 32)).astype("f4") * np.float32(1e-5)
x[1::2] /= 4
found = lnbench.fingerprint(x, (x - x.mean(-1, keepdims=True))
                            / (x.std(-1, keepdims=True, ddof=1) + np.float32(1e-6)))
print(found)
assert found.function == "ddof=1,eps=1e-06@std,affine=none"

# 5. An answer to compare with: every element is the float nearest to the exact result.
exact = lnbench.reference(x, convention="bert")
assert lnbench.judge_output(x, exact, convention="bert").cases[0].metrics["correctly_rounded"] == 1
