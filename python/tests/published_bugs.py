"""The ten published bugs of docs/lab/faults.md in NumPy, each with the check of its project's own
test: the check passes, and one line of assert_layernorm finds the bug."""
import numpy as np

EPS = np.float32(1e-5)
NORMAL = np.random.default_rng(2).standard_normal


def layernorm(x, gamma=1, beta=0, eps=EPS):
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) / np.sqrt(var + eps) * gamma + beta


def liger_518(x, gamma, beta):
    """var includes the padding to the next power of two, as (0 - mean)^2."""
    hidden = x.shape[-1]
    padding = (1 << (hidden - 1).bit_length()) - hidden
    mean = x.mean(-1, keepdims=True)
    var = (((x - mean) ** 2).sum(-1, keepdims=True) + padding * mean ** 2) / np.float32(hidden)
    return (x - mean) / np.sqrt(var + EPS) * gamma + beta


def burn_2185(x, gamma, beta):
    """Uses sqrt(var) + eps instead of sqrt(var + eps)."""
    return (x - x.mean(-1, keepdims=True)) / (np.sqrt(x.var(-1, keepdims=True)) + EPS) \
        * gamma + beta


def deepspeed_581(x, gamma, beta):
    """Rounds var + 1e-12 to f16 before its root: constant rows become NaN."""
    wide = x.astype(np.float32)
    var = (wide.var(-1, keepdims=True) + np.float32(1e-12)).astype(np.float16).astype(np.float32)
    made = (wide - wide.mean(-1, keepdims=True)) / np.sqrt(var) * gamma + beta
    return made.astype(np.float16)


def pytorch_41527(x, gamma, beta):
    """eps 1e-12 is 0 in f16: a row of zeros becomes NaN."""
    wide = x.astype(np.float32)
    return layernorm(wide, gamma, beta, np.float32(np.float16(1e-12))).astype(np.float16)


def lbann_2024(x, gamma, beta):
    """Divides by N - 1 instead of N."""
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True, ddof=1) + EPS) \
        * gamma + beta


def tplinker_37(x, gamma, beta):
    """Uses (var + eps)^2 instead of the root."""
    return (x - x.mean(-1, keepdims=True)) / (x.var(-1, keepdims=True) + EPS) ** 2 * gamma + beta


_buffers = {}


def llmc_353(x, gamma, beta):
    """Does not write every second row, where the results of an earlier launch look right."""
    y = _buffers.setdefault(x.shape, np.zeros_like(x))
    y[::2] = layernorm(x, gamma, beta)[::2]
    return y


def directml_588(x, gamma, beta):
    """Reads rows as contiguous even if they are not."""
    step = x.shape[-1] * x.itemsize
    return layernorm(np.lib.stride_tricks.as_strided(x, strides=(step, x.itemsize)), gamma, beta)


_calls = [0]


def paddle_56100(x, gamma, beta):
    """Has a rare race in the sums."""
    _calls[0] += 1
    return layernorm(x, gamma, beta) * np.float32(1 if _calls[0] % 997 else 1.01)


def ttmetal_27126(x, gamma, beta):
    """Sums only the first 4096 elements: 2048 x 4096 is right, 2080 x 4128 is wrong."""
    mean, var = x[:, :4096].mean(-1, keepdims=True), x[:, :4096].var(-1, keepdims=True)
    return (x - mean) / np.sqrt(var + EPS) * gamma + beta


def close(fn, rows, hidden, atol, dtype="f4", convention_eps=EPS):
    """A usual test: random rows, another implementation, a tolerance."""
    x, gamma, beta = (NORMAL(shape).astype(dtype) for shape in ((rows, hidden), hidden, hidden))
    wanted = layernorm(x.astype("f8"), gamma.astype("f8"), beta.astype("f8"), convention_eps)
    return np.allclose(fn(x, gamma, beta), wanted, rtol=0, atol=atol)


def close_after_a_launch(fn, rows, hidden):
    x, gamma, beta = (NORMAL(shape).astype("f4") for shape in ((rows, hidden), hidden, hidden))
    _buffers[x.shape] = layernorm(x, gamma, beta)  # the earlier, correct launch
    made = fn(x, gamma, beta)
    del _buffers[x.shape]
    return np.allclose(made, layernorm(x, gamma, beta), atol=1e-2)


# name: (bug, whether its own test passes, options of assert_layernorm, text that its message must contain)
BUGS = {
    "Liger-Kernel#518": (liger_518, lambda f: close(f, 8, 512, 1e-4), {}, "inaccurate"),
    "burn#2185": (burn_2185, lambda f: close(f, 8, 64, 1e-3), {}, "adds eps to the standard deviation"),
    "DeepSpeed#581": (deepspeed_581, lambda f: close(f, 8, 64, 1e-2, "f2", 1e-12),
                      {"convention": "bert", "dtype": "f16"}, "inaccurate|wrong-class"),
    "pytorch#41527": (pytorch_41527, lambda f: close(f, 8, 64, 1e-2, "f2", 1e-12),
                      {"convention": "bert", "dtype": "f16"}, "inaccurate|wrong-class"),
    "lbann#2024": (lbann_2024, lambda f: close(f, 8, 512, 1e-2), {}, "ddof=1"),
    "TPlinker#37": (tplinker_37, lambda f: close(f, 8, 1 << 18, 1e-1), {}, "inaccurate"),
    "llm.c#353": (llmc_353, lambda f: close_after_a_launch(f, 64, 768), {}, "static-output"),
    "DirectML#588": (directml_588, lambda f: close(f, 8, 64, 1e-4), {}, "wrong-class|inaccurate"),
    "Paddle#56100": (paddle_56100, lambda f: close(f, 8, 64, 1e-4), {}, "nondeterministic"),
    "tt-metal#27126": (ttmetal_27126, lambda f: close(f, 64, 4096, 1e-4), {}, "right at hidden"),
}
