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
from ._exact import judge_output
from ._report import figure

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
    row_ulp_max: float  # the worst error of what was timed; NaN: no right result

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
    convention: str
    timed: List[Timed] = field(default_factory=list)

    def to_dict(self) -> dict:
        return {"schema": "lnbench-python-bench-1", "rows": self.rows, "hidden": self.hidden,
                "dtype": self.dtype, "convention": self.convention,
                "timed": [{**vars(one), "row_ulp_max": figure("row_ulp_max", one.row_ulp_max),
                           "is_overhead": one.is_overhead} for one in self.timed]}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)

    def chart(self, path) -> None:
        """Draws it with gnuplot as lnbench draws its own charts: NAME.svg, .png or .pdf."""
        from ._chart import draw
        draw(self, os.fspath(path))

    _headings = ("", "us a call", "95 %", "one row, us", "GB/s", "of the copy", "row ULP", "")

    def _lines(self):
        for one in self.timed:
            yield (one.name, f"{one.time_ns / 1e3:.4g}",
                   f"{one.time_lo_ns / 1e3:.4g} to {one.time_hi_ns / 1e3:.4g}",
                   f"{one.overhead_ns / 1e3:.3g}", f"{one.gbps:.3g}", f"{one.roof_ratio:.2f}",
                   "-" if one.name == "copy" else "wrong" if math.isnan(one.row_ulp_max)
                   else f"{one.row_ulp_max:.2g}",
                   "mostly overhead" if one.is_overhead else "")

    def __str__(self) -> str:
        lines = [self._headings, *self._lines()]
        width = [max(len(line[i]) for line in lines) for i in range(8)]
        table = ["  ".join(cell.ljust(width[i]) if i == 0 else cell.rjust(width[i])
                           for i, cell in enumerate(line)).rstrip() for line in lines]
        return "\n".join([f"{self.rows} x {self.hidden}, {self.dtype}, one thread of "
                          f"liblayernorm, hot cache, {self.convention}", "", *table])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>"
                       for line in self._lines())
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in self._headings)
        return f"<table><tr>{head}</tr>{rows}</table>"


def _library_call(operation):
    """liblayernorm's ln_layernorm or ln_rmsnorm; None where the library is not there."""
    own = os.path.join(os.path.dirname(__file__), "_native", "lib", "liblayernorm.so")
    path = os.environ.get("LNBENCH_LIBRARY") or (own if os.path.exists(own)
                                                 else "liblayernorm.so.0")
    try:
        return getattr(c.CDLL(path), "ln_" + operation)
    except (OSError, AttributeError):  # an older library has no ln_rmsnorm
        return None


def _ours(function, convention, x, gamma, beta, y, type_, param):
    """A call of the library on these arrays; None where it is not there or does not take them."""
    index = arrays.TYPES.index
    convention = lib.Convention.from_buffer_copy(convention)
    convention.ddof &= 0xffffff  # without the operation
    problem = lib.Problem(rows=x.shape[0], hidden=x.shape[1], storage=index(type_),
                          param=index(param), convention=convention)
    tensors = lib.Tensors(x=x.ctypes.data, y=y.ctypes.data,
                          gamma=None if gamma is None else gamma.ctypes.data,
                          beta=None if beta is None else beta.ctypes.data)
    given = c.byref(problem), c.byref(tensors)
    return (lambda: function(*given)) if function and function(*given) == 0 else None


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


def _error_of(answer, x, parameters, convention, type_):
    """The worst error of an answer in row ULP; NaN where it is none."""
    try:
        y = arrays.take(answer, "y", type_)[0]
        report = judge_output(x, y, *parameters, convention=convention, dtype=type_)
    except lib.ArgumentError:
        return math.nan
    figures = report.cases[0].metrics
    return math.nan if figures["mismatches"] else figures["row_ulp_max"]


class _Data:
    """What functions are timed on: normal rows, and parameters of each affine form."""

    def __init__(self, hidden, type_, param):
        self.hidden, self.type, self.param = hidden, type_, param
        self.draw, self.made = np.random.default_rng(2).standard_normal, {}

    def rows(self, shape, type_):
        values = self.draw(shape).astype("f4")
        if type_ == "bf16":
            return (values.view(np.uint32) >> 16).astype(np.uint16)
        return values.astype(arrays.stored(type_))

    def parameters(self, form):
        count = {"none": 0, "scalar": 2, "vector": 2, "gamma1": 2}.get(form, 1)
        size = 1 if form == "scalar" else self.hidden
        return [self.made.setdefault((i, size), self.rows(size, self.param)) for i in range(count)]


def _measure(functions, wanted, rows, data, repetitions):
    """Every function on all rows and on one: times by name, and the errors of what it answers."""
    calls, errors, library = {}, {"copy": math.nan}, _library_call(lib.operation_of(wanted))

    def add(name, part, call, answer, x, convention):
        calls[name, part] = call
        if part == "all":
            errors[name] = _error_of(answer(call()), x, data.parameters(lib.form_of(convention)),
                                     convention, data.type)
    for count, part in ((rows, "all"), (1, "one")):
        x = data.rows((count, data.hidden), data.type)
        y = np.empty_like(x)
        calls["copy", part] = lambda x=x, y=y: np.copyto(y, x)
        both = (data.parameters(lib.form_of(wanted)) + [None, None])[:2]
        call = _ours(library, wanted, x, *both, y, data.type, data.param)
        if call:
            add("liblayernorm", part, call, lambda status, y=y: y, x, wanted)
        for name, one in functions.items():
            given = [arrays.give(x, data.type, one.framework)]
            given += [arrays.give(p, data.param, one.framework)
                      for p in data.parameters(lib.form_of(one.wanted))]
            add(name, part, lambda fn=one.fn, given=given: fn(*given), lambda answer: answer, x,
                one.wanted)
    indexed = dict(enumerate(calls))
    found = _rounds({i: calls[key] for i, key in indexed.items()}, repetitions)
    return {indexed[i]: values for i, values in found.items()}, errors


def _report(found, errors, rows, hidden, type_, convention):
    size = 2 * rows * hidden * arrays.stored(type_).itemsize
    roof = _median(found["copy", "all"])[0]
    timed = []
    for name in {name: None for name, _ in found}:
        median, low, high = _median(found[name, "all"])
        timed.append(Timed(name, median, low, high, _median(found[name, "one"])[0],
                           size / median, roof / median, len(found[name, "all"]), errors[name]))
    return BenchReport(rows, hidden, type_, lib.label_of(convention),
                       sorted(timed, key=lambda one: one.time_ns))


def bench(*functions, hidden=768, rows=512, dtype="f32", param_dtype=None, convention=None,
          operation=None, framework=None, repetitions=25, isolate=True) -> BenchReport:
    """Times functions (as judge() takes them, or peers()), all LayerNorms or all RMSNorms, beside
    liblayernorm and a copy of x.

    Each is warmed up and timed in a forked process (isolate=False: in this one), in turns of a
    drawn order, and its answer is judged (`row_ulp_max`). `overhead_ns` is a call with one row:
    where that is more than half, the figure is of the call and not of the kernel.
    """
    from ._isolate import in_child
    from ._judge import Subject
    type_ = arrays.type_name(dtype)
    rows, repetitions = lib.whole(rows, "rows", 1), lib.whole(repetitions, "repetitions", 1)
    data = _Data(lib.whole(hidden, "hidden", 1), type_, arrays.type_name(param_dtype or dtype))
    made, wanted = {}, lib.of_operation(convention, operation)
    for fn in functions:
        one = Subject(fn, convention, framework, operation, type_)
        if made and lib.operation_of(one.wanted) != lib.operation_of(wanted):
            raise lib.ArgumentError("a LayerNorm and an RMSNorm have no common figures: call bench() for each")
        name = one.own_name or one.name
        alike = sum(other.split(" (")[0] == name for other in ("copy", "liblayernorm", *made))
        made[f"{name} ({alike + 1})" if alike else name] = one
        wanted = one.wanted

    def work(_called=None):
        try:
            return _measure(made, wanted, rows, data, repetitions)
        finally:
            for one in made.values():
                if one.is_module:
                    one.fn.restore()
    found, errors = in_child(work, math.inf, {}) if isolate else work()
    return _report(found, errors, rows, data.hidden, type_, wanted)
