"""LayerNorms in NumPy with rare faults, and unusual ones that are right: faults that only exist in Python, and a few
of each other kind (harness/conformance/tests/faults tests the judge itself)."""
import numpy as np

from published_bugs import EPS, layernorm

as_strided = np.lib.stride_tricks.as_strided
STATE = {}


def _where(condition, wrong):
    """Returns a function that calls wrong(x, gamma, beta) if condition(x) is true, else layernorm()."""
    return lambda x, g, b: (wrong if condition(x) else layernorm)(x, g, b)


def _off(x, g, b):
    return layernorm(x, g, b) * np.float32(1.01)


def _rows(change):
    """Returns a function that changes the y of layernorm() by change(y)."""
    def fn(x, g, b):
        y = layernorm(x, g, b)
        change(y.reshape(-1, y.shape[-1]))
        return y
    return fn


def _dense(x, g, b):
    flat = as_strided(x, (x.size,), (x.itemsize,))
    return layernorm(flat.reshape(x.shape), g, b)


def _buffer(x, g, b):
    room = STATE.setdefault((x.shape, x.dtype), np.empty(x.shape, x.dtype))
    room[...] = layernorm(x, g, b)
    return room


def _restores(x, g, b):
    try:
        kept = x.copy()
        x -= x.mean(-1, keepdims=True)
    except ValueError:  # read-only
        return layernorm(x, g, b)
    y = x / np.sqrt((x * x).mean(-1, keepdims=True) + EPS) * g + b
    x[...] = kept
    return y


def _in_place(x, g, b):
    x[...] = layernorm(x, g, b)
    return x


def _cached(x, g, b):
    return STATE.setdefault(x.shape, layernorm(x, g, b)).copy()


def _cached_gamma(x, g, b):
    return layernorm(x, STATE.setdefault(("gamma", g.shape), g.copy()), b)


def _axis(x, g, b):
    axis = 0 if x.shape[0] == g.shape[0] else -1
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + EPS) * g + b


def _dense_gamma(x, g, b):
    return layernorm(x, as_strided(g, g.shape, (g.itemsize,)), b)


def _seldom(x, g, b):
    STATE["calls"] = STATE.get("calls", 0) + 1
    return layernorm(x, g, b) * np.float32(1 if STATE["calls"] % 700 else 1.01)


def _rms(x, g, b):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + EPS) * g + b


# name: function, text that the message must contain
WRONG = {
    "the axis by shape": (_axis, "inaccurate|wrong-class"),
    "a static output buffer": (_buffer, "static output buffer"),
    "x changed and restored": (_restores, "during the call"),
    "rows beyond 2100": (_rows(lambda y: y[2100:].fill(0)), "2100"),
    "hidden 4097 to 8191, even": (_where(
        lambda x: 4097 <= x.shape[-1] <= 8191 and x.shape[-1] % 2 == 0, _off), "right at hidden .*; wrong at"),
    "the last axis as dense": (_where(lambda x: abs(x.strides[-1]) > x.itemsize, _dense),
                               r"x is (transposed|a slice \[..., ::2\]) \(it passes if x is contiguous\)"),
    "negative strides as dense": (_where(lambda x: min(x.strides) < 0, _dense),
                                  r"x is a slice \[(..., )?::-1\] \(it passes if x is contiguous\)"),
    "rows as dense": (_dense, ""),
    "gamma as dense": (_dense_gamma, "x is a slice"),
    "3-D over the last two axes": (_where(lambda x: x.ndim > 2, lambda x, g, b: layernorm(
        x.reshape(len(x), -1), 1, 0).reshape(x.shape) * g + b), r"x is 3-D \(it passes if x is contiguous\)"),
    "beta where rows are expanded": (_where(lambda x: x.strides[0] == 0, lambda x, g, b: x * 0 + b),
                                     "x is expanded"),
    "in place": (_in_place, "wrote to its input x and returned it"),
    "a view": (lambda x, g, b: x[...], "returned a view of its input x"),
    "a cache by shape": (_cached, ""),
    "gamma of the first call": (_cached_gamma, ""),
    "N - 1": (lambda x, g, b: (x - x.mean(-1, keepdims=True)) / np.sqrt(
        x.var(-1, keepdims=True, ddof=1 if x.shape[-1] > 1 else 0) + EPS) * g + b, "ddof=1"),
    "eps outside the root": (lambda x, g, b: (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + EPS) * g + b,
                             "adds eps to the standard deviation"),
    "eps outside the root, N - 1": (lambda x, g, b: (x - x.mean(-1, keepdims=True)) / (x.std(
        -1, keepdims=True, ddof=1) + np.float32(1e-6)) * g + b, r"divides by std or std \+ eps with the std of N - 1"),
    "no gamma": (lambda x, g, b: layernorm(x) + b, "does not multiply by gamma"),
    "beta first": (lambda x, g, b: (layernorm(x) + b) * g, "beta before it multiplies"),
    "no tail": (_rows(lambda y: y[:, y.shape[1] // 8 * 8:].fill(0)), r"the last \d of \d+ columns: 0 where -?\d"),
    "RMSNorm": (_rms, r"subtracts no mean \(RMSNorm\)"),
    "output rounded to f16": (lambda x, g, b: layernorm(x, g, b).astype("f2").astype(x.dtype), "named: torch; output rounded to f16"),
    "seldom": (_seldom, ""),
    "NaN as 0": (lambda x, g, b: np.nan_to_num(layernorm(x, g, b)), "wrong-class"),
}


def _needs_contiguous(x, g, b):
    if not x.flags.c_contiguous or x.ndim != 2 or not x.flags.aligned:
        raise ValueError("x: C-contiguous rows were expected")
    return layernorm(x, g, b)


def _out(x, g, b):
    y = np.empty_like(x)
    np.subtract(x, x.mean(-1, keepdims=True), out=y)
    y *= 1 / np.sqrt(x.var(-1, keepdims=True) + EPS)
    y *= g
    y += b
    return y


# name: function, the fact that the report must contain
RIGHT = {
    "f64 returned": (lambda x, g, b: layernorm(x.astype("f8"), g, b, float(EPS)),
                     "returns f64 where f32 is given"),
    "C-contiguous alone": (_needs_contiguous, r"does not support arrays that are .*transposed.* \(ValueError: x: C-contiguous rows were expected\)"),
    "out=": (_out, ""),
    "Fortran's order": (lambda x, g, b: np.asfortranarray(layernorm(x, g, b)), ""),
}
