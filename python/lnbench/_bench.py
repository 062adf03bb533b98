"""How long callables take, beside liblayernorm and a copy."""
import ctypes as c
import html
import json
import math
import os
import time
from dataclasses import dataclass, field
from typing import List

import numpy as np

from . import _arrays as arrays
from . import _library as lib

_LEAST_SECONDS = 2e-3  # of a repetition


@dataclass
class Timed:
    """One callable: medians of a call, in ns, with the 95 % interval of the median."""
    name: str
    time_ns: float
    time_lo_ns: float
    time_hi_ns: float
    overhead_ns: float  # of a call with one row
    gbps: float         # bytes of x and of y
    roof_ratio: float   # time of the copy / time
    repetitions: int

    @property
    def is_overhead(self) -> bool:
        """Whether more than half of the time is the call's own."""
        return self.overhead_ns > self.time_ns / 2


@dataclass
class BenchReport:
    """What bench() measured, the fastest first."""
    rows: int
    hidden: int
    dtype: str
    timed: List[Timed] = field(default_factory=list)

    def to_dict(self) -> dict:
        return {"schema": "lnbench-python-bench-1", "rows": self.rows, "hidden": self.hidden,
                "dtype": self.dtype,
                "timed": [{**vars(one), "is_overhead": one.is_overhead} for one in self.timed]}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=1)

    _headings = ("", "us a call", "95 %", "one row, us", "GB/s", "of the copy", "")

    def _lines(self):
        for one in self.timed:
            yield (one.name, f"{one.time_ns / 1e3:.4g}",
                   f"{one.time_lo_ns / 1e3:.4g} to {one.time_hi_ns / 1e3:.4g}",
                   f"{one.overhead_ns / 1e3:.3g}", f"{one.gbps:.3g}", f"{one.roof_ratio:.2f}",
                   "mostly overhead" if one.is_overhead else "")

    def __str__(self) -> str:
        lines = [self._headings, *self._lines()]
        width = [max(len(line[i]) for line in lines) for i in range(7)]
        table = ["  ".join(cell.ljust(width[i]) if i == 0 else cell.rjust(width[i])
                           for i, cell in enumerate(line)).rstrip() for line in lines]
        return "\n".join([f"{self.rows} x {self.hidden}, {self.dtype}, one thread of "
                          "liblayernorm, hot cache", "", *table])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>"
                       for line in self._lines())
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in self._headings)
        return f"<table><tr>{head}</tr>{rows}</table>"


def _layernorm():
    """liblayernorm's ln_layernorm; None where the library is not there."""
    own = os.path.join(os.path.dirname(__file__), "_native", "lib", "liblayernorm.so")
    path = os.environ.get("LNBENCH_LIBRARY") or (own if os.path.exists(own)
                                                 else "liblayernorm.so.0")
    try:
        return c.CDLL(path).ln_layernorm
    except OSError:
        return None


def _ours(convention, type_, param):
    """A call of ln_layernorm on arrays, or None."""
    function = _layernorm()
    if function is None:
        return None
    index = arrays.TYPES.index

    def call(x, gamma, beta, y):
        problem = lib.Problem(rows=x.shape[0], hidden=x.shape[1], storage=index(type_),
                              param=index(param), convention=convention)
        tensors = lib.Tensors(x=x.ctypes.data, y=y.ctypes.data,
                              gamma=None if gamma is None else gamma.ctypes.data,
                              beta=None if beta is None else beta.ctypes.data)
        return function(c.byref(problem), c.byref(tensors))
    return call


def _seconds(call, times):
    begin = time.perf_counter_ns()
    for _ in range(times):
        call()
    return (time.perf_counter_ns() - begin) / times


def _calls_of(call):
    """Warms it up; calls a repetition of at least _LEAST_SECONDS."""
    times = 1
    while _seconds(call, times) * times < _LEAST_SECONDS * 1e9:
        times *= 2
    return times


def _median(values):
    """The median and its 95 % interval by ranks: binomial, no assumption on the distribution."""
    ordered, n = sorted(values), len(values)
    below, out = 0, 0.0
    while below < n // 2:
        out += math.comb(n, below) / 2 ** n
        if out > 0.025:
            break
        below += 1
    rank = max(below - 1, 0)
    return float(np.median(ordered)), ordered[rank], ordered[n - 1 - rank]


def _rounds(calls, repetitions):
    """Nanoseconds of each call, repetition by repetition in turn, in an order drawn anew."""
    draw = np.random.default_rng(1)
    times = {name: _calls_of(call) for name, call in calls.items()}
    found = {name: [] for name in calls}
    for _ in range(repetitions):
        for name in draw.permutation(list(calls)):
            found[name].append(_seconds(calls[name], times[name]))
    return found


def _measure(functions, ours, rows, hidden, type_, param, form, repetitions):
    """Every function on all rows and on one; by name."""
    draw = np.random.default_rng(2).standard_normal
    stored = arrays.stored(type_)

    def made(shape, type_):
        values = draw(shape).astype("f4")
        if type_ == "bf16":
            return (values.view(np.uint32) >> 16).astype(np.uint16)
        return values.astype(arrays.stored(type_))
    parameters = [made(hidden, param) for _ in range({"none": 0, "gamma": 1}.get(form, 2))]
    calls = {}
    for count, part in ((rows, "all"), (1, "one")):
        x, y = made((count, hidden), type_), np.empty((count, hidden), stored)
        calls["copy", part] = lambda x=x, y=y: np.copyto(y, x)
        if ours:
            both = (parameters + [None, None])[:2]
            if ours(x, *both, y) == 0:
                calls["liblayernorm", part] = lambda x=x, y=y, p=both: ours(x, *p, y)
        for name, (fn, framework) in functions.items():
            given = [arrays.give(x, type_, framework)]
            given += [arrays.give(p, param, framework) for p in parameters]
            calls[name, part] = lambda fn=fn, given=given: fn(*given)
    indexed = dict(enumerate(calls))
    found = _rounds({i: calls[key] for i, key in indexed.items()}, repetitions)
    return {indexed[i]: values for i, values in found.items()}


def _report(found, rows, hidden, type_):
    size = 2 * rows * hidden * arrays.stored(type_).itemsize
    roof = _median(found["copy", "all"])[0]
    timed = []
    for name in {name: None for name, _ in found}:
        median, low, high = _median(found[name, "all"])
        timed.append(Timed(name, median, low, high, _median(found[name, "one"])[0],
                           size / median, roof / median, len(found[name, "all"])))
    return BenchReport(rows, hidden, type_, sorted(timed, key=lambda one: one.time_ns))


def bench(*functions, hidden=768, rows=512, dtype="f32", param_dtype=None, convention=None,
          framework=None, repetitions=25, isolate=True) -> BenchReport:
    """Times functions (as judge() takes them, or peers()) beside liblayernorm and a copy of x.

    Each is warmed up and timed in a forked process (isolate=False: in this one), in turns of a
    drawn order. `overhead_ns` is a call with one row: where that is more than half, the figure is
    of the call and not of the kernel.
    """
    from ._isolate import in_child
    from ._judge import _Module, _fit_form, _name_of, is_module
    type_ = arrays.type_name(dtype)
    param = arrays.type_name(param_dtype) if param_dtype else type_
    made, wanted = {}, lib.convention_of(convention or "torch")
    for fn in functions:
        if not callable(fn):
            raise lib.ArgumentError(f"a callable was expected, not {type(fn).__name__}")
        if is_module(fn):
            module = _Module(fn)
            wanted = module.convention(convention)
            made[_name_of(fn)] = (module, framework or "torch")
            continue
        wanted = _fit_form(fn, wanted)
        kind = framework or getattr(fn, "framework", "numpy")
        made[getattr(fn, "name", None) or _name_of(fn)] = (fn, kind)
    ours = _ours(wanted, type_, param)

    def work(_called=None):
        try:
            return _measure(made, ours, rows, hidden, type_, param, lib.AFFINE[wanted.affine],
                            repetitions)
        finally:
            for fn, _ in made.values():
                if isinstance(fn, _Module):
                    fn.restore()
    if not isolate:
        found = work()
    else:
        found = in_child(work, math.inf, {})
    return _report(found, rows, hidden, type_)
