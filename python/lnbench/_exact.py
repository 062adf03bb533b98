"""The certified reference, and judging the outputs of other programs."""
import ctypes as c
import threading

import numpy as np

from . import _arrays as arrays
from . import _library as lib
from ._report import Candidate, Case, FingerprintReport, Report, WorstRow

_PART = 1 << 16  # elements of one call of the reference: about 10 ms


def patiently(work):
    """Runs work() in a thread, since Python handles signals only between two of its own steps. The
    thread may be left running after an exception: it keeps its arrays alive."""
    result = []

    def run():
        try:
            result.append((work(), None))
        except BaseException as raised:  # raised again by the caller's thread
            result.append((None, raised))
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.05)
    value, raised = result[0]
    if raised is not None:
        raise raised
    return value


def _address(array):
    return None if array is None else array.ctypes.data


def fit_affine(convention, gamma, beta):
    """Returns the convention with the affine form of these parameters; gamma1 and scalar do not change.
    Without gamma and beta there is no affine form, since gamma 1 and beta 0 change nothing."""
    form = lib.form_of(convention)
    if gamma is None and beta is None:
        return lib.with_form(convention, "none")
    if lib.operation_of(convention) == "rmsnorm":
        if form == "none" or beta is not None:
            raise lib.ArgumentError("RMSNorm has no beta" if form != "none" else
                                    "the convention has weight=none: give no gamma and no beta")
        return convention
    if gamma is not None and beta is None and form == "vector":
        return lib.with_form(convention, "gamma")
    if gamma is None or (beta is None and form != "gamma") or form == "none":
        raise lib.ArgumentError(f"the convention has affine={form}: " + (
            "give no gamma and no beta" if form == "none" else f"give gamma{' and beta' * (form != 'gamma')}"))
    return lib.with_form(convention, "vector" if form == "gamma" else form)


class Given:
    """Checked rows, parameters and convention, from which problems and tensors are made."""

    def __init__(self, x, gamma, beta, residual, convention, dtype=None):
        self.framework = "torch" if arrays.is_torch(x) else "numpy"
        self.x, self.type, self.shape = arrays.rows_of(x, dtype and arrays.type_name(dtype))
        self.convention = fit_affine(lib.convention_of(convention), gamma, beta)
        form = lib.form_of(self.convention)
        hidden = self.shape[-1]
        count = 1 if form == "scalar" else hidden
        self.inputs = {"x": self.x}  # the given tensors, by role
        if residual is not None:
            self.inputs["residual"] = arrays.like(residual, "residual", self.shape, self.type)
        self.param = None
        for role, given in zip(lib.PARAMETERS, (gamma, beta)):
            if given is not None:
                self.inputs[role], self.param = arrays.parameter(given, role, count, self.param)
        self.param = self.param or (self.type if self.type in ("f32", "f64") else "f32")
        self.rows, self.hidden, self.parameters = len(self.x), hidden, count

    def problem(self, rows=None):
        return lib.Problem(rows=rows or self.rows, hidden=self.hidden,
                           storage=arrays.TYPES.index(self.type),
                           param=arrays.TYPES.index(self.param), convention=self.convention)

    def tensors(self, first=0, y=None):
        return lib.Tensors(y=_address(y), **{
            role: _address(a if role in lib.PARAMETERS else a[first:])
            for role, a in self.inputs.items()})


def reference(x, gamma=None, beta=None, *, convention="torch", residual=None, dtype=None):
    """LayerNorm or RMSNorm of the rows of x (its last axis), every element correctly rounded to x's type.

    convention: a preset ("torch", "bert", ...; for RMSNorm "llama", "gemma", ..., whose weight is gamma)
    or a list ("ddof=1,eps=1e-6@std,affine=vector").
    Without gamma and beta there is no affine form. residual is added to x first, and the sum is rounded
    to x's type. With dtype "bf16", x of uint16 holds bits. Returns an array of x's shape, type and library.
    """
    given = Given(x, gamma, beta, residual, convention, dtype)
    y = np.empty_like(given.x)
    stop = threading.Event()
    part = max(1, _PART // given.hidden)

    def work():
        for first in range(0, given.rows, part):
            if stop.is_set():
                return
            rows = min(part, given.rows - first)
            lib.call("lnjudge_reference", c.byref(given.problem(rows)),
                     c.byref(given.tensors(first, y[first:])), None)
    try:
        patiently(work)
    finally:
        stop.set()
    return arrays.give_or_bits(y.reshape(given.shape), given.type, given.framework)


# ---- Python objects for the library's reports ----

def _vector(address, count, dtype):
    return np.frombuffer(c.string_at(address, count * dtype.itemsize), dtype).copy() if address else None


def _row(row, case, type_, param, framework):
    if not row.x:
        return None
    hidden, form = case.hidden, lib.form_of(lib.convention_of(case.convention.decode()))
    count = 1 if form == "scalar" else hidden

    def array(role):
        own, length = (param, count) if role in lib.PARAMETERS else (type_, hidden)
        made = _vector(getattr(row, role), length, arrays.STORED[own])
        return None if made is None else arrays.give_or_bits(made, own, framework)
    return WorstRow(row.number, exact=_vector(row.exact, hidden, np.dtype("f8")),
                    **{role: array(role) for role in lib.ROLES[:5]})


def report_of(report, subject, repeat, type_, param, framework, put_right=lambda case: None):
    """Copies a report of the library and frees it; put_right may change the cases."""
    made = []
    for case in report.cases[:report.count]:
        metrics = dict(zip(lib.metric_names, case.metrics))
        made.append(Case(case.check.decode(), case.input.decode(), case.convention.decode(), type_,
                         case.rows, case.hidden, case.verdict.decode() or None, case.reason.decode(),
                         case.detail.decode("utf-8", "replace"), bool(case.passed), metrics,
                         _row(case.worst, case, type_, param, framework),
                         list(case.ulp_histogram), case.step))
        put_right(made[-1])
    worst = made[report.worst] if made else None
    result = Report(made, bool(report.passed), subject, repeat, worst,
                    untested=(report.untested or b"").decode())
    lib.library.lnjudge_report_free(c.byref(report))
    return result


def judge_output(x, y, gamma=None, beta=None, *, convention="torch", residual=None, max_row_ulp=0,
                 dtype=None) -> Report:
    """Judges an output y of x that another program computed, as `lnbench eval --y` does. If it is
    wrong, report.function names the function that made it."""
    given = Given(x, gamma, beta, residual, convention, dtype)
    y = arrays.like(y, "y", given.shape, given.type)
    report, limit = lib.Report(), lib.number(max_row_ulp, "max_row_ulp")
    patiently(lambda: lib.call("lnjudge_output_judge", c.byref(given.problem()),
                               c.byref(given.tensors(y=y)), limit, c.byref(report)))
    made = report_of(report, "given", "", given.type, given.param, given.framework)
    if made.verdict == "fail":
        def own(array, type_):
            return None if array is None else (arrays.as_double(array, type_), type_)
        rows = [None if array is None else own(array.reshape(given.shape), given.type)
                for array in (given.x, y, given.inputs.get("residual"))]
        made.function = patiently(lambda: _fingerprint(
            *rows, *(own(given.inputs.get(role), given.param) for role in lib.PARAMETERS)))
    return made


def tolerance(x, gamma=None, beta=None, *, convention="torch", residual=None,
              dtype=None) -> dict:
    """Returns rtol, and the atol for allclose() with which two correct implementations agree on these rows:
    always ("certain"), for all but 1 of 1e9 rows ("likely"), and about that of usual implementations
    ("usual"). "mistakes": the differences of wrong ones (similar conventions, 16-bit sums)."""
    given, found = Given(x, gamma, beta, residual, convention, dtype), lib.Tolerance()
    patiently(lambda: lib.call("lnjudge_tolerance_find", c.byref(given.problem()),
                               c.byref(given.tensors()), c.byref(found)))
    return {"rtol": found.rtol, "certain": found.certain, "likely": found.likely, "usual": found.usual,
            "mistakes": {one.words.decode(): one.atol for one in found.mistakes[:found.count]}}


# ---- fingerprint ----

def _has_decimals(array, digits, type_):
    """Returns whether every element may be a decimal number with `digits` places, rounded to its type."""
    scaled = array * 10.0 ** digits
    scaled = scaled[np.isfinite(scaled)]
    slack = np.abs(scaled) * 2 * (2.0 ** -53 if type_ == "f64" else 2.0 ** -24)
    return not np.any((slack > 0.125) | (np.abs(scaled - np.rint(scaled)) > slack))


def _doubles(value, name, wanted=None):
    """Returns (array of f8, type) of a tensor, whose shape must be the wanted one."""
    array, type_ = arrays.take(value, name)
    if array.size == 0 or wanted not in (None, array.shape) or (name == "x" and array.ndim == 0):
        raise lib.ArgumentError(f"{name} has shape {array.shape}"
                                + (f", but x has {wanted}" if wanted else
                                   ": it needs at least one row of at least one element"))
    return np.ascontiguousarray(arrays.as_double(array, type_)), type_


def fingerprint(x, y, gamma=None, beta=None, *, residual=None, digits=None,
                x_digits=None) -> FingerprintReport:
    """Finds the function that made y from x, as `lnbench fingerprint` does.

    digits: y was printed with this number of decimals; x_digits: the same for x (default: digits, if
    the elements of x fit). gamma and beta: one element each, or as many as an axis or the last axes have.
    """
    digits, x_digits = (None if value is None else lib.whole(value, name, 0, 17)
                        for value, name in ((digits, "digits"), (x_digits, "x_digits")))

    def work():
        given = _doubles(x, "x")
        shape = given[0].shape
        return _fingerprint(given, _doubles(y, "y", shape),
                            None if residual is None else _doubles(residual, "residual", shape),
                            *(None if value is None else _doubles(value, name)
                              for name, value in zip(lib.PARAMETERS, (gamma, beta))),
                            digits, x_digits)
    return patiently(work)


def _fingerprint(x, y, residual, gamma, beta, digits=None, x_digits=None):
    """Like fingerprint(), for pairs of an array of f8 and the type in which it was stored."""
    (x, x_type), (y, y_type) = x, y
    shape = x.shape if x.ndim <= 8 else (-1,) + x.shape[-7:]
    param = (beta or gamma or (None, "f32"))[1]
    residual, gamma, beta = (one and one[0] for one in (residual, gamma, beta))
    sizes = {one.size for one in (gamma, beta) if one is not None}
    if len(sizes) > 1:
        raise lib.ArgumentError(f"gamma has {gamma.size} elements and beta has {beta.size}: both must "
                                "have the same number")
    if x_digits is None and digits and _has_decimals(x, digits, x_type) \
            and not _has_decimals(x, digits - 1, x_type):
        x_digits = digits
    x = x.reshape(shape)
    types = [arrays.TYPES.index(one) for one in (x_type, y_type, param)]
    box = lib.Box(x.ndim, (c.c_size_t * 8)(*x.shape), *map(_address, (x, residual, y, gamma, beta)),
                  sizes.pop() if sizes else 0, *types, *(lib.EXACT if value is None else value
                                                         for value in (digits, x_digits)))
    found, hidden = lib.Fingerprint(), x.shape[-1]
    lib.call("lnjudge_fingerprint_make", c.byref(box), c.byref(found))
    try:
        candidates = [Candidate(
            one.words.decode(), lib.label_of(one.convention) if one.is_convention else None,
            *((one.eps_low, one.eps_high) if one.is_convention else (None, None)),
            one.also.decode() or None) for one in found.candidates[:found.count]]
        row = [0.0 if i + 1 == hidden and hidden % 2 else found.probe * (1 - 2 * (i % 2))
               for i in range(hidden)] if found.probe else None
        return FingerprintReport(("none", "open", "named")[found.answer], candidates, found.tried,
                                 found.rows, found.rows_used, row, found.pairs, found.pairs_left)
    finally:
        lib.library.lnjudge_fingerprint_free(c.byref(found))
