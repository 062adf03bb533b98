"""A callable through the referee's checks."""
import contextlib
import ctypes as c
import inspect
import os
import re
import signal
import threading
import warnings

import numpy as np

from . import _arrays as arrays
from . import _library as lib
from ._exact import report_of
from ._report import Report

_FAULTS = 1000  # the codes from here on stand for what the callable did, in `Callable.faults`


class Strangers:
    """Runs somebody else's code: Ctrl-C ends it, and nothing that the code raises does."""

    def __init__(self):
        self.inside, self.watched = False, False
        self.stop = c.c_int(0)  # the library looks at it between two rows

    def on_interrupt(self, number, frame):
        """Raises in the stranger's code alone: what is raised at the edge of a callback is lost."""
        self.stop.value = 1
        if self.inside:
            raise KeyboardInterrupt

    def is_interrupt(self, raised):
        """Whether it is Ctrl-C, and no KeyboardInterrupt of the code's own."""
        return issubclass(type(raised), KeyboardInterrupt) and (
            self.stop.value if self.watched else
            threading.current_thread() is threading.main_thread())

    def ask(self, question, otherwise=None):
        """question(), or `otherwise` where it raises."""
        try:
            self.inside = True
            return question()
        except lib.ArgumentError:
            raise
        except BaseException as raised:
            if self.is_interrupt(raised):
                raise
            return otherwise
        finally:
            self.inside = False

    def text_of(self, fn, name):
        """An attribute where it is text, else None."""
        found = self.ask(lambda: getattr(fn, name, None))
        return found if type(found) is str else None


class Callable(Strangers):
    """A user's function as the kernel of a question: one array in, one out."""

    def __init__(self, fn, framework, type_, param, on_call=None):
        super().__init__()
        self.fn, self.framework, self.type, self.param = fn, framework, type_, param
        self.faults, self.raised, self.on_call = [], None, on_call
        self.dtypes = (arrays.stored(type_), arrays.stored(param))
        self.kernel = lib.KERNEL(self._called)

    def _fault(self, reason, sentence):
        sentence = lib.clean(sentence, 180)
        if (reason, sentence) not in self.faults:
            self.faults.append((reason, sentence))
        return _FAULTS + self.faults.index((reason, sentence))

    def _called(self, _user, problem, tensors):
        try:
            if self.stop.value:
                return lib.STOP
            return self._call(problem[0], tensors[0])
        except BaseException as raised:  # the verdict is on the function, whatever it raises
            if self.is_interrupt(raised):
                self.raised = raised
                return lib.STOP
            return self._fault("raised", lib.said(raised))

    def _input(self, address, rows, hidden, stride, dtype):
        """A copy that is Python's own, as far off a multiple of 64 bytes and as strided: the
        function may keep it for ever."""
        size, item = (rows - 1) * stride + hidden, dtype.itemsize
        ahead = address % 64 // item
        room = np.empty(ahead + size, dtype)[ahead:]
        c.memmove(room.ctypes.data, address, size * item)
        return room, np.ndarray((rows, hidden), dtype, room, 0, (stride * item, item))

    def _call(self, problem, tensors):
        if self.on_call:
            self.on_call(problem.rows, problem.hidden)
        rows, hidden = problem.rows, problem.hidden
        dtype, param = self.dtypes
        count = 1 if problem.convention.affine == 1 else hidden
        inputs = [(tensors.x, *self._input(tensors.x, rows, hidden, problem.x_stride, dtype))]
        for address in (getattr(tensors, role) for role in lib.PARAMETERS):
            if address:
                room, view = self._input(address, 1, count, count, param)
                inputs.append((address, room, view.reshape(-1)))
        types = (self.type, self.param, self.param)
        given = [arrays.give(view, type_, self.framework)
                 for (_, _, view), type_ in zip(inputs, types)]
        try:
            self.inside = True
            answer = self.fn(*given)
        finally:
            self.inside = False
        for address, room, _ in inputs:  # the judge looks whether they are what they were
            c.memmove(address, room.ctypes.data, room.nbytes)
        return self._take(answer, problem, tensors)

    def _take(self, answer, problem, tensors):
        try:
            y, type_ = arrays.take(answer, "what it returned", self.type)
        except lib.ArgumentError as wrong:
            return self._fault("wrong-type", str(wrong))
        rows, hidden = problem.rows, problem.hidden
        if y.shape != (rows, hidden):
            wanted = "a result of the input's shape was expected"
            shape = "another number of rows or columns" if y.ndim == 2 else f"{y.ndim} dimensions"
            return self._fault("wrong-shape", f"it returned {shape}: {wanted}")
        if type_ != self.type:
            return self._fault("wrong-dtype", f"it returned {type_} where {self.type} was given")
        item = y.dtype.itemsize
        size = ((rows - 1) * problem.y_stride + hidden) * item
        room = (c.c_char * size).from_address(tensors.y)
        np.ndarray((rows, hidden), y.dtype, room, 0, (problem.y_stride * item, item))[...] = y
        return lib.OK

    def put_right(self, case):
        """Puts what the callable did in the place of its code."""
        code = re.search(r"returned (\d+)$", case.detail)
        if case.reason == "crashed" and code and int(code[1]) >= _FAULTS:
            case.reason, sentence = self.faults[int(code[1]) - _FAULTS]
            case.detail = case.detail[:code.start()] + sentence


def is_module(fn):
    """A torch.nn.Module."""
    return any(str.startswith(base.__module__, "torch.nn") for base in type(fn).__mro__)


_GAMMAS = ("weight", "scale", "gamma", "alpha", "a_2", "g")
_BETAS = ("bias", "shift", "beta", "b_2", "b")


class _Module:
    """A torch module as a function of x, gamma and beta. Its own parameters are put back."""

    def __init__(self, module):
        self.module = module
        named = dict(module.named_parameters())
        self.weight, self.bias = (next((p for name, p in named.items() if name in names), None)
                                  for names in (_GAMMAS, _BETAS))
        if len(named) != (self.weight is not None) + (self.bias is not None) or \
                (self.weight is None and self.bias is not None):
            raise lib.ArgumentError(f"a module with the parameters {', '.join(named)}: wrap it in a "
                                    "function of x, gamma and beta")
        self.scalar = self.weight is not None and self.weight.numel() == 1
        shape = getattr(module, "normalized_shape", None)
        if shape is None and self.weight is not None and not self.scalar:
            shape = self.weight.shape
        self.hidden = None if shape is None else tuple(shape)
        if self.hidden and len(self.hidden) != 1:
            raise lib.ArgumentError(f"normalized_shape {self.hidden}: one axis was expected")
        self.kept = [p.data for p in (self.weight, self.bias) if p is not None]

    def convention(self, given):
        """The one given, or torch's with the module's own eps; with the module's affine form."""
        made = lib.Convention.from_buffer_copy(lib.convention_of(given or "torch"))
        if given is None and isinstance(getattr(self.module, "eps", None), float):
            made.eps = self.module.eps
        made.affine = lib.AFFINE.index("none" if self.weight is None else "scalar" if self.scalar
                                       else "gamma" if self.bias is None else "vector")
        return made

    def __call__(self, x, gamma=None, beta=None):
        import torch
        for parameter, value in ((self.weight, gamma), (self.bias, beta)):
            if parameter is not None:
                parameter.data = value.reshape(parameter.shape)
        with torch.no_grad():
            return self.module(x)

    def restore(self):
        for parameter, data in zip([p for p in (self.weight, self.bias) if p is not None],
                                   self.kept):
            parameter.data = data


def _positional(fn):
    """How many positional arguments it can take; None where nobody knows."""
    parameters = inspect.signature(fn).parameters.values()
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return None
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)


def _fit_form(fn, convention, count):
    """The convention with the affine form that the function's `count` arguments allow."""
    made = lib.Convention.from_buffer_copy(convention)
    if count == 0:
        raise lib.ArgumentError("fn takes no argument: fn(x), fn(x, gamma) or fn(x, gamma, beta) "
                                "was expected")
    if count == 1:
        made.affine = lib.AFFINE.index("none")
    elif count == 2 and lib.AFFINE[made.affine] == "vector":
        made.affine = lib.AFFINE.index("gamma")
    return made


def _sizes(hidden):
    try:
        hidden = tuple(hidden)
    except TypeError:
        hidden = (hidden,)
    if not hidden:
        raise lib.ArgumentError("hidden (): at least one size was expected")
    return tuple(lib.whole(one, "hidden", 1) for one in hidden)


def _progress(wanted):
    """tqdm's bar, where there is one and it is wanted (default: on a terminal)."""
    import sys
    if wanted is None:
        wanted = sys.stderr.isatty()
    if not wanted:
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(desc="lnbench", unit="check", leave=False)


def _ask(question, callable_, bar, first_only):
    """Runs a session; the report so far, whatever happens, belongs to nobody else."""
    session, done, steps = c.c_void_p(), c.c_size_t(0), c.c_size_t(1)
    lib.call("lnjudge_begin", c.byref(question), c.byref(session))
    report, fine = lib.Report(), False
    try:
        while done.value < steps.value:
            status = lib.call("lnjudge_step", session, c.byref(done), c.byref(steps))
            if bar is not None:
                bar.total = steps.value
                bar.update(done.value - bar.n)
            if status == lib.STOPPED or callable_.stop.value:
                raise callable_.raised or KeyboardInterrupt
            if first_only and lib.library.lnjudge_failed(session):
                break
        fine = True
    finally:
        lib.library.lnjudge_end(session, c.byref(report) if fine else None)
    return report


class Subject:
    """A function as judge() and bench() take it: what its attributes say, as far as they do.
    fn: the function or the _Module; name, own_name (of its attribute), framework, wanted (the
    convention)."""

    def __init__(self, fn, convention, framework):
        if not callable(fn):
            raise lib.ArgumentError(f"a callable was expected, not {lib.class_name(fn)}")
        asked = Strangers()
        with _interrupts_of(asked):
            self.is_module = asked.ask(lambda: is_module(fn), False)
            self.name = self._name(fn, asked)
            self.own_name = lib.clean(asked.text_of(fn, "name") or "", 60)
            own = asked.text_of(fn, "framework")
            self.fn, module = fn, None
            if self.is_module:
                self.fn = module = asked.ask(lambda: _Module(fn))
                if module is None:
                    raise lib.ArgumentError("a module whose parameters cannot be read: wrap it in "
                                            "a function of x, gamma and beta")
            self.wanted = module.convention(convention) if module else _fit_form(
                fn, lib.convention_of(convention or "torch"), asked.ask(lambda: _positional(fn)))
        if asked.stop.value:
            raise KeyboardInterrupt
        self.framework = framework or ("torch" if module else
                                       own if own in ("numpy", "torch") else "numpy")

    def _name(self, fn, asked):
        if not asked.ask(lambda: inspect.isroutine(fn), False) and not self.is_module:
            return lib.clean(asked.ask(lambda: repr(fn)) or lib.class_name(fn), 60)
        return lib.clean(asked.text_of(fn, "__qualname__") or lib.class_name(fn), 60)


def judge(fn, *, convention=None, hidden=None, dtype="f32", param_dtype=None, seed=1,
          max_row_ulp=0, framework=None, only=False, strided=True, isolate=False, deadline=60.0,
          progress=None, first_only=False, on_call=None) -> Report:
    """Judges a LayerNorm: fn(x, gamma, beta), fn(x, gamma), fn(x), or a torch module.

    convention: torch by default, with a module's own eps.
    fn gets arrays of rows x hidden of `dtype` and returns one like x; so do gamma and beta, of
    `param_dtype` (default: dtype). hidden: sizes at which every input family is asked (default:
    768, or a module's own); a plain function is asked every size from 1 to 1100 besides, but for only=True.
    max_row_ulp: a limit of one's own on rows of kappa <= 2 (about zero). framework "torch" hands tensors over.
    strided=False: dense rows alone. isolate=True runs fn in a child process; a call that takes
    longer than `deadline` seconds is a timeout there. first_only: ends with the first check that
    fails. on_call(rows, hidden) is called before each call.

    A wrong fn never raises: the report says what is wrong. Wrong arguments raise ArgumentError.
    """
    subject = Subject(fn, convention, framework)
    type_ = arrays.type_name(dtype)
    param = arrays.type_name(param_dtype) if param_dtype else type_
    framework, wanted = subject.framework, subject.wanted
    traits = lib.NOT_IN_PLACE | lib.NO_RESIDUAL | (0 if strided else lib.DENSE)
    traits |= lib.THESE_SIZES if only else 0
    if subject.is_module and subject.fn.hidden:
        hidden, traits = subject.fn.hidden if hidden is None else hidden, traits | lib.THESE_SIZES
    sizes = _sizes(768 if hidden is None else hidden)
    seed = lib.whole(seed, "seed", 0, (1 << 64) - 1)
    max_row_ulp = lib.number(max_row_ulp, "max_row_ulp", 0)
    deadline = lib.number(deadline, "deadline", 0)
    arrays.give(np.zeros((1, 1), arrays.stored(type_)), type_, framework)  # can it be made here?
    repeat = (f"lnbench.judge({subject.name}, convention={lib.label_of(wanted)!r}, "
              f"hidden={sizes}, dtype={type_!r}, seed={seed})")
    options = {"wanted": wanted, "sizes": sizes, "type_": type_, "param": param, "traits": traits,
               "seed": seed, "max_row_ulp": max_row_ulp, "framework": framework,
               "subject": subject.name, "repeat": repeat, "progress": progress,
               "first_only": first_only}
    if isolate:
        from ._isolate import in_child
        return in_child(lambda called: _judge(subject.fn, on_call=called, isolated=True, **options),
                        deadline, options)
    return _judge(subject.fn, on_call=on_call, **options)


def _watch(pipe, stop, forward):
    """Sets stop as soon as SIGINT comes: Python's own handler waits for the library to return."""
    with contextlib.suppress(OSError):  # where the function closed it
        while numbers := os.read(pipe, 64):
            if signal.SIGINT in numbers:
                stop.value = 1
            if forward >= 0:
                os.write(forward, numbers)
        os.close(pipe)


@contextlib.contextmanager
def _interrupts_of(strangers):
    """Ctrl-C goes to them, where it would raise KeyboardInterrupt."""
    if threading.current_thread() is not threading.main_thread() or \
            signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    strangers.watched = True
    signal.signal(signal.SIGINT, strangers.on_interrupt)
    usual = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reading, strangers.stop, usual), daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(usual)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with contextlib.suppress(OSError):
            os.close(writing)


def _judge(fn, *, wanted, sizes, type_, param, traits, seed, max_row_ulp, framework, subject,
           repeat, progress, first_only, on_call, isolated=False):
    called = Callable(fn, framework, type_, param, on_call)
    called.watched = isolated  # by its parent
    index = arrays.TYPES.index
    question = lib.Question(
        struct_size=c.sizeof(lib.Question), kernel=called.kernel, convention=wanted,
        storage=index(type_), param=index(param), accumulator=index("f64" if type_ == "f64"
                                                                    else "f32"),
        traits=traits, hidden=(c.c_size_t * len(sizes))(*sizes), hidden_count=len(sizes),
        seed=seed, max_row_ulp=max_row_ulp, stop=c.pointer(called.stop))
    bar = _progress(progress)
    try:
        watched = contextlib.nullcontext() if isolated else _interrupts_of(called)
        with watched, warnings.catch_warnings():  # rows that overflow are asked on purpose
            warnings.simplefilter("ignore", RuntimeWarning)
            report = _ask(question, called, bar, first_only)
        if called.stop.value:  # between the last check and here
            lib.library.lnjudge_report_free(c.byref(report))
            raise KeyboardInterrupt
    finally:
        if bar is not None:
            bar.close()
        if type(fn) is _Module:
            fn.restore()
    return report_of(report, subject, repeat, type_, param, framework, called.put_right)


def assert_layernorm(fn, max_row_ulp=4, **options) -> None:
    """Raises AssertionError where fn is not the LayerNorm that `convention` names: it says what is
    wrong, with the row, and how to repeat it. Options are those of judge()."""
    report = judge(fn, max_row_ulp=max_row_ulp, first_only=True, **options)
    if report.passed:
        return
    case = report.worst_case
    where = f"{case.name} at {case.rows} x {case.hidden}: " if case else ""
    raise AssertionError(f"{report.subject} is not {case.convention if case else 'a LayerNorm'}: "
                         f"{where}{case.says() if case else 'not judged'}\nrepeat: {report.repeat}"
                         + "\n".join(report._worst_lines()))
