"""Runs the conformance tests on a Python callable."""
import collections
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
from . import _layouts as layouts
from . import _library as lib
from ._exact import fingerprint, report_of
from ._report import Report

_FAULTS = 1000  # a status code of _FAULTS + i stands for `Callable.faults[i]`
# Exceptions of a function that needs torch tensors and got NumPy arrays.
_WANTS_TORCH = re.compile(r"[Tt]ensor|torch|'numpy\.ndarray' object has no attribute|argument '(dim|keepdim)'")


def _attempt(question, otherwise=None):
    """Returns question(), or `otherwise` if the user's object raises an exception."""
    try:
        return question()
    except lib.ArgumentError:
        raise
    except Exception:
        return otherwise


class Wrong(BaseException):
    """A failure of a function that is no large error: a reason and a sentence."""


class Callable:
    """Makes a user's function, which takes and returns arrays, the kernel of a question. Ctrl-C ends it."""

    def __init__(self, fn, framework, type_, param, on_call=None, scalar=False):
        self.inside = False  # whether the function is running
        self.stop = c.c_int(0)  # the library reads it between two rows
        self.inputs, self.earlier = layouts.Inputs(), collections.deque(maxlen=3)
        self.layout, self.declined, self.wider, self.elements = None, {}, None, 0
        self.fn, self.framework, self.type, self.param = fn, framework, type_, param
        self.faults, self.raised, self.on_call, self.scalar = [], None, on_call, scalar
        self.dtypes = (arrays.STORED[type_], arrays.STORED[param])
        self.kernel = lib.KERNEL(self._called)

    def on_interrupt(self, number, frame):
        """Raises only in the user's code, since an exception outside it would be lost in the callback."""
        self.stop.value = 1
        if self.inside:
            raise KeyboardInterrupt

    def _fault(self, reason, sentence):
        sentence = lib.clean(sentence, 180)
        if (reason, sentence) not in self.faults:
            self.faults.append((reason, sentence))
        return _FAULTS + self.faults.index((reason, sentence))

    def _called(self, _user, problem, tensors):
        try:
            if self.stop.value:
                return lib.STOPPED
            self._call(problem[0], tensors[0])
            return lib.OK
        except Wrong as wrong:
            return self._fault(*wrong.args)
        except KeyboardInterrupt as raised:
            self.raised, self.stop.value = raised, 1
            return lib.STOPPED
        except BaseException as raised:  # any exception is a failure of the function
            why = lib.said(raised)
            if self.framework == "numpy" and _WANTS_TORCH.search(why):
                why = f'{why[:130]}; if fn takes torch tensors, use framework="torch"'
            return self._fault("raised", why)

    def _call(self, problem, tensors):
        rows, hidden = problem.rows, problem.hidden
        count = 1 if self.scalar else hidden

        def table(address, shape, dtype, stride):
            size = ((shape[0] - 1) * stride + shape[1]) * dtype.itemsize
            room = (c.c_char * size).from_address(address)
            return np.ndarray(shape, dtype, room, 0, (stride * dtype.itemsize, dtype.itemsize))
        dtype, param = self.dtypes
        x = table(tensors.x, (rows, hidden), dtype, problem.x_stride)
        given = [table(address, (1, count), param, count)[0] for address in
                 (getattr(tensors, role) for role in lib.PARAMETERS) if address]
        y = table(tensors.y, (rows, hidden), dtype, problem.y_stride)
        self._answer(x, given, y)
        # Which of two NaNs their sum returns depends on the arrays' alignment: all are replaced by the same NaN.
        if self.type == "bf16":
            y[(y & 0x7fff) > 0x7f80] = 0x7fc0
        else:
            y[np.isnan(y)] = np.nan

    def _answer(self, x, parameters, y):
        """Writes the result of fn for the layout of this step to y. If fn raises twice with this layout but not
        with contiguous arrays, it does not support the layout."""
        layout = self.layout or (layouts.ROWS if x.strides[0] > x[0].nbytes and len(x) > 1
                                 else layouts.PLAIN)
        if layout in self.declined:
            layout = layouts.PLAIN
        try:
            return self._run(layout, x, parameters, y)
        except Exception as raised:
            if layout == layouts.PLAIN:
                raise
            self._run(layouts.PLAIN, x, parameters, y)
            try:
                self._run(layout, x, parameters, y)
            except Exception:
                self.declined[layout] = lib.said(raised)
            else:
                raise

    def _run(self, layout, x, parameters, y):
        if layout != layouts.EXPANDED:
            y[...] = self._once(layout, x, len(x), parameters)
            return
        _, first, which = np.unique(np.ascontiguousarray(x).view(f"V{x[0].nbytes}"), True, True)
        if len(first) > 8:  # too many calls
            return self._run(layouts.PLAIN, x, parameters, y)
        for number, row in enumerate(first):
            at = which.reshape(-1) == number
            y[at] = self._once(layout, x[row:row + 1], int(at.sum()), parameters)

    def _once(self, layout, x, rows, parameters):
        if self.on_call:
            self.on_call(rows, x.shape[1])
        placed = self.inputs.place(layout, x, rows, parameters)
        given = [arrays.give(array, type_, self.framework)
                 for array, type_ in zip(placed, (self.type, self.param, self.param))]
        try:
            with self.inputs.watched():
                self.inside = True
                answer = self.fn(*given)
        finally:
            self.inside = False
        return self._take(answer, placed[0].shape).reshape(rows, x.shape[1])

    def _take(self, answer, shape):
        if isinstance(answer, tuple) and answer:  # such as (y, mean, rstd)
            self.elements, answer = len(answer), answer[0]
        try:
            y, type_ = arrays.take(answer, "what it returned", self.type)
        except lib.ArgumentError as wrong:
            raise Wrong("wrong-type", str(wrong)) from None
        changed, held = self.inputs.changed(), self.inputs.holds(y)
        if changed or self.inputs.written:
            raise Wrong("input-modified", f"wrote to {self.inputs.written} during the call, and then "
                        "restored it" if not changed else f"wrote to its input {changed}" +
                        " and returned it" * (held == changed))
        if y.shape != shape:
            other = "another number of rows or columns" if y.ndim == len(shape) \
                else f"an array of {y.ndim} dimensions"
            raise Wrong("wrong-shape", f"it returned {other}: the result must have the input's "
                        "shape")
        if held:
            raise Wrong("returns-input", f"returned a view of its input {held}")
        if any(np.may_share_memory(y, earlier) for earlier in self.earlier):
            raise Wrong("static-output", "returned the memory of an earlier result again, and so overwrote that "
                        "result: a static output buffer")
        self.earlier.append(y)
        if type_ == self.type:
            return y
        if "bf16" in (self.type, type_) or y.dtype.itemsize < self.dtypes[0].itemsize:
            raise Wrong("wrong-dtype", f"it returned {type_} where {self.type} was given")
        self.wider = type_
        return y.astype(self.dtypes[0])

    def facts(self):
        """Returns facts that are useful to know but no failures."""
        by_why = {}
        for layout, why in self.declined.items():
            by_why.setdefault(why, []).append(layout)
        made = [f"does not support arrays that are {', '.join(names)} ({why})"
                for why, names in by_why.items()]
        made += [f"returns {self.wider} where {self.type} is given"] * bool(self.wider)
        made += [f"returns a tuple of {self.elements}: its first element was judged"] * bool(self.elements)
        return made + (self.fn.facts if type(self.fn) is _Bound else [])

    def put_right(self, case):
        """Replaces a status code by its failure, and omits outputs that fn does not have."""
        case.detail = re.sub(r", (?:y(?:'s)? [^,:]*|mean|rstd)(?=[,:])", "", case.detail)
        code = re.search(r"returned (\d+)$", case.detail)
        if case.reason == "crashed" and code and int(code[1]) >= _FAULTS:
            case.reason, sentence = self.faults[int(code[1]) - _FAULTS]
            case.detail = case.detail[:code.start()] + sentence


# The tensor for a parameter, by its name. "other" is never bound: the user must wrap a function that requires one.
_ROLES = {name: role for role, names in (
    ("gamma", "weight scale gamma alpha a_2 g w"), ("beta", "bias shift beta b_2 b"),
    ("shape", "normalized_shape"), ("eps", "eps epsilon variance_epsilon"),
    ("other", "residual out output axis dim mean var std rstd")) for name in names.split()}


def _operation(made):
    """Returns rmsnorm if the name of the object's class or a base class contains RMSNorm, else layernorm."""
    named = any("RMSNorm" in base.__name__ for base in type(made).__mro__)
    return "rmsnorm" if named else "layernorm"


class _Module:
    """A torch module as a function of x, gamma and beta. Each call puts the module's own parameters back."""

    def __init__(self, module):
        self.module = module
        named = dict(module.named_parameters())
        self.weight, self.bias = (next((p for name, p in named.items() if _ROLES.get(name) == role), None)
                                  for role in lib.PARAMETERS)
        if len(named) != (self.weight is not None) + (self.bias is not None) or \
                (self.weight is None and self.bias is not None):
            raise lib.ArgumentError(f"the module has the parameters {', '.join(named)}, not only a weight "
                                    "and a bias: wrap it in a function of x, gamma and beta")
        self.scalar = self.weight is not None and self.weight.numel() == 1
        shape = getattr(module, "normalized_shape", None)
        if shape is None and self.weight is not None and not self.scalar:
            shape = self.weight.shape
        self.hidden = None if shape is None else tuple(shape)
        if self.hidden and len(self.hidden) != 1:
            raise lib.ArgumentError(f"normalized_shape is {self.hidden}: only one axis is supported")
        self.kept = [(p, p.data) for p in (self.weight, self.bias) if p is not None]

    def convention(self, given, operation, type_):
        """Returns the given convention, or that of the module's class with the module's eps; with the module's affine
        form. Well-known modules of other libraries have their own conventions; all others get PyTorch's."""
        own, name = _operation(self.module), type(self.module).__name__
        usual = lib.USUAL[own]
        if own == "rmsnorm" and not type(self.module).__module__.startswith("torch.nn"):
            usual = "gemma3n" if name.startswith("Gemma3n") else "gemma" if name.startswith("Gemma") else "llama"
        made = lib.Convention.from_buffer_copy(lib.of_operation(given or usual, operation))
        eps = getattr(self.module, "eps", getattr(self.module, "variance_epsilon", None))
        if given is None and isinstance(eps, float):
            made.eps = eps
        elif given is None and own == "rmsnorm" and type_ == "f64":
            made.eps = 2.0**-52  # PyTorch's eps=None is the epsilon of the type in which it computes
        if self.weight is None:
            return lib.with_form(made, "none")
        if lib.operation_of(made) == "layernorm":
            return lib.with_form(made, "scalar" if self.scalar else
                                 "gamma" if self.bias is None else "vector")
        return made if lib.form_of(made) != "none" else lib.with_form(made, "w")

    def __call__(self, x, gamma=None, beta=None):
        import torch
        try:
            for parameter, value in ((self.weight, gamma), (self.bias, beta)):
                if parameter is not None:
                    parameter.data = value.reshape(parameter.shape)
            with torch.no_grad():
                return self.module(x)
        finally:
            for parameter, data in self.kept:
                parameter.data = data


class _Bound:
    """Calls a function with x, gamma and beta, bound by the names of its parameters.

    The first parameter whose name has no other role gets x. A parameter without a default and with an unknown
    name gets gamma or beta, whichever is still free. A required normalized_shape gets (hidden,) and a
    required eps the convention's. Every other parameter keeps its default.
    `wanted`: the convention with the affine form of the function's parameters.
    """

    def __init__(self, fn, wanted):
        signature = inspect.signature(fn)
        kinds = [p.kind for p in signature.parameters.values()]
        own = [p for p in signature.parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]

        def refuse(why):
            raise lib.ArgumentError(f"fn{lib.clean(signature, 200)}: {why}; wrap it, for example "
                                    f"lambda {', '.join(('x', *lib.parameters_of(wanted)))}: fn(...)")
        if not kinds:
            raise lib.ArgumentError("fn takes no argument: it must be fn(x), fn(x, gamma) or fn(x, gamma, beta)")
        roles = {p.name: _ROLES.get(p.name.lower()) for p in own}
        roles = {name: "x" if len(own) == 1 and role in lib.PARAMETERS else role for name, role in roles.items()}
        free = [role for role in ("x", *lib.PARAMETERS) if role not in roles.values()]
        for p in own:
            if free and not roles[p.name] and (p.default is p.empty or free[0] == "x"):
                roles[p.name] = free.pop(0)
        rest = free if inspect.Parameter.VAR_POSITIONAL in kinds else []  # the tensors for *arguments
        taken = {*roles.values(), *rest}
        if "x" not in taken:
            refuse("it has no parameter for x")
        self.facts = []
        if not taken.intersection(lib.PARAMETERS):
            if inspect.Parameter.VAR_KEYWORD in kinds:
                refuse("it is unknown which arguments are gamma and beta")
            wanted = lib.with_form(wanted, "none")
            kept = [p.name for p in own if not roles[p.name]]
            self.facts += [f"gets no gamma and no beta: {', '.join(kept)} keep their defaults"] * bool(kept)
        elif "beta" not in taken and lib.form_of(wanted) == "vector":
            wanted = lib.with_form(wanted, "gamma")
        needed = lib.parameters_of(wanted)
        self.fn, self.wanted, self.by_name, self.by_position = fn, wanted, {}, []
        for role in needed:
            if role not in taken:
                refuse(f"it has no parameter for {role}, which the convention has")
        for p in own:
            role, required = roles[p.name], p.default is p.empty
            if required and role in ("shape", "eps"):
                self.facts.append(f"{p.name} gets {wanted.eps if role == 'eps' else '(hidden,)'}")
            elif required and role not in ("x", *needed):
                refuse(f"the convention has no {role}" if role in lib.PARAMETERS else f"the meaning of {p.name} is unknown")
            elif role not in ("x", *needed):
                role = None
            if p.kind is not p.KEYWORD_ONLY:
                self.by_position.append((role, p.default))
            elif role:
                self.by_name[p.name] = role
        self.by_position += [(role, None) for role in rest if role in ("x", *needed)]

    def __call__(self, *given):
        values = dict(zip(("x", *lib.PARAMETERS), given), shape=(given[0].shape[-1],), eps=self.wanted.eps)
        return self.fn(*(values[role] if role else default for role, default in self.by_position),
                       **{name: values[role] for name, role in self.by_name.items()})


class Subject:
    """The function that judge() got, with its name, framework and convention (`wanted`).
    fn is the function, bound by names, or a _Module."""

    def __init__(self, fn, convention, framework, operation=None, type_="f32"):
        if not callable(fn):
            raise lib.ArgumentError(f"fn is of type {type(fn).__name__}: it must be callable")
        self.is_module = _attempt(lambda: any(  # of torch
            base.__module__.startswith("torch.nn") for base in type(fn).__mro__), False)
        name = None
        if _attempt(lambda: inspect.isroutine(fn)):
            name = fn.__qualname__
        elif not self.is_module:
            name = _attempt(lambda: repr(fn))
        self.name = lib.clean(name or type(fn).__name__, 60)
        self.fn = _attempt(lambda: _Module(fn)) if self.is_module else fn
        if self.fn is None:
            raise lib.ArgumentError("the parameters of the module cannot be read: wrap it in "
                                    "a function of x, gamma and beta")
        if self.is_module:
            self.wanted = self.fn.convention(convention, operation, type_)
        else:
            self.wanted = lib.of_operation(convention, operation or (
                None if convention else _attempt(lambda: _operation(fn))))
            bound = _attempt(lambda: _Bound(fn, self.wanted))
            if bound:  # without a readable signature it gets x and the parameters of the convention
                self.fn, self.wanted = bound, bound.wanted
        self.own_framework = "torch" if self.is_module else "numpy"
        self.framework = framework or self.own_framework


def judge(fn, *, convention=None, operation=None, hidden=None, dtype="f32", param_dtype=None, seed=1,
          max_row_ulp=0, framework=None, only=False, strided=True, isolate=False, deadline=60.0,
          on_call=None, step=0) -> Report:
    """Judges a LayerNorm (fn(x, gamma, beta), fn(x, gamma), fn(x) or a torch module) or an RMSNorm
    (fn(x, weight), fn(x), or an object whose class has RMSNorm in its name).

    convention: torch by default, with a module's own eps. operation: "layernorm" or "rmsnorm"; by
    default that of the convention. The default convention of RMSNorm is "torch-rms"; for a torch module called
    LlamaRMSNorm or similar it is "llama", for GemmaRMSNorm "gemma".
    fn gets x of rows x hidden elements of `dtype`, and gamma and beta of `param_dtype` (default: dtype); it
    returns an array like x. hidden: the sizes at which fn is judged on every input family (default: 768, or
    the module's own). The covering array has other sizes too; with only=True, and for a module, it has only
    `hidden`. Arrays have ten layouts in memory (torch: six); fn need not support those in which it raises an exception.
    max_row_ulp: an additional limit (0: none) for rows with kappa <= 2 (mean near zero), no longer than hidden.
    framework "torch" passes tensors. strided=False: only dense rows. isolate=True runs fn in a child process;
    a call that takes longer than `deadline` seconds is a timeout there. on_call(rows, hidden) is called before
    each call. step: run only the step of this number, which the report's `repeat` contains.

    Raises ArgumentError for wrong arguments, and KeyboardInterrupt. Other exceptions of fn are in the report.
    """
    type_ = arrays.type_name(dtype)
    subject = Subject(fn, convention, framework, operation, type_)
    param = arrays.type_name(param_dtype) if param_dtype else type_
    framework, wanted = subject.framework, subject.wanted
    traits = lib.NOT_IN_PLACE | lib.NO_RESIDUAL | (0 if strided else lib.DENSE)
    traits |= lib.THESE_SIZES if only else 0
    if subject.is_module and subject.fn.hidden:
        hidden, traits = subject.fn.hidden if hidden is None else hidden, traits | lib.THESE_SIZES
    hidden = 768 if hidden is None else hidden
    sizes = tuple(lib.whole(one, "hidden", 1) for one in (hidden if np.iterable(hidden) else (hidden,)))
    if not sizes:
        raise lib.ArgumentError("hidden is empty: give at least one size")
    seed = lib.whole(seed, "seed", 0, (1 << 64) - 1)
    max_row_ulp = lib.number(max_row_ulp, "max_row_ulp")
    deadline = lib.number(deadline, "deadline")
    arrays.give(np.zeros((1, 1), arrays.STORED[type_]), type_, framework)  # raises if this type cannot be made here
    step = lib.whole(step, "step", 0)
    said = {"convention": lib.label_of(wanted), "hidden": sizes if len(sizes) > 1 else sizes[0],
            "dtype": type_, "seed": seed}
    said.update((name, value) for name, value, usual in (
        ("param_dtype", param, type_), ("max_row_ulp", max_row_ulp, 0), ("only", bool(only), False),
        ("strided", bool(strided), True), ("framework", framework, subject.own_framework))
                if value != usual)
    given = ", ".join(f"{name}={value!r}" for name, value in said.items())
    repeat = f"lnbench.judge({subject.name}, {given})"
    options = {"wanted": wanted, "sizes": sizes, "type_": type_, "param": param, "traits": traits,
               "seed": seed, "max_row_ulp": max_row_ulp, "framework": framework,
               "subject": subject.name, "repeat": repeat, "step": step}
    if isolate:
        from ._isolate import in_child
        return in_child(lambda called: _judge(subject.fn, on_call=called, **options),
                        deadline, options)
    return _judge(subject.fn, on_call=on_call, **options)


def _watch(pipe, stop, forward):
    """Sets stop as soon as SIGINT arrives, since Python's own handler runs only after the library returns."""
    with contextlib.suppress(OSError):  # the function may have closed it
        while numbers := os.read(pipe, 64):
            if signal.SIGINT in numbers:
                stop.value = 1
            if forward >= 0:
                os.write(forward, numbers)
        os.close(pipe)


@contextlib.contextmanager
def _interrupts_of(called):
    """Passes Ctrl-C to the callable if it would raise KeyboardInterrupt."""
    if threading.current_thread() is not threading.main_thread() or \
            signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.signal(signal.SIGINT, called.on_interrupt)
    usual = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reading, called.stop, usual), daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(usual)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with contextlib.suppress(OSError):
            os.close(writing)


def _made_by(fn, wanted, sizes, type_, param, framework, **_options):
    """Returns the fingerprint of fn on rows of falling variance; None if fn does not run on them."""
    random, count = np.random.default_rng(1), 1 if lib.form_of(wanted) == "scalar" else sizes[0]
    x = (random.standard_normal((64, sizes[0])) * np.logspace(0, -5, 64)[:, None]).astype(arrays.STORED[type_])
    given = [random.standard_normal(count).astype(arrays.STORED[param]) for _ in lib.parameters_of(wanted)]
    with contextlib.suppress(Exception, Wrong), np.errstate(all="ignore"):
        return fingerprint(x, Callable(fn, framework, type_, param)._once(layouts.PLAIN, x, len(x), given), *given)


def _judge(fn, *, step=0, **options):
    """Returns the report. If an array layout may cause a failure, runs the step again with contiguous arrays."""
    report = _report(fn, step=step, **options)
    case = report.worst_case
    if report.passed or not case or not case.step:
        return report
    report.repeat = f"{report.repeat[:-1]}, step={case.step})"
    layout = layouts.of_step(options["seed"], case.step, options["framework"])
    if layout and layout != layouts.PLAIN:
        plain = _report(fn, step=case.step, layout=layouts.PLAIN, **options)
        case.detail = f"x is {layout} (it passes if x is contiguous), " * plain.passed \
            + re.sub(r", x(?:'s)? [^,:]*", "", case.detail)  # without the layout of the plan
    if report.reason == "inaccurate" and not re.search("y is that of|; right at hidden|only with|max_row_ulp", case.detail):
        report.function = _made_by(fn, **options)
    return report


def _report(fn, *, wanted, sizes, type_, param, traits, seed, max_row_ulp, framework, subject,
            repeat, on_call, step, layout=None):
    called, report = Callable(fn, framework, type_, param, on_call, lib.form_of(wanted) == "scalar"), lib.Report()
    index = arrays.TYPES.index

    def before_step(_user, number, _steps, limit):
        called.layout = layout or layouts.of_step(seed, number, framework)
        if called.layout in layouts.ONE_BY_ONE:
            limit[0] = 0
    question = lib.Question(
        struct_size=c.sizeof(lib.Question), kernel=called.kernel, convention=wanted,
        storage=index(type_), param=index(param), accumulator=index("f64" if type_ == "f64" else "f32"),
        traits=traits, hidden=(c.c_size_t * len(sizes))(*sizes), hidden_count=len(sizes), seed=seed,
        max_row_ulp=max_row_ulp, stop=c.pointer(called.stop), step=step, before_step=lib.BEFORE_STEP(before_step))
    with _interrupts_of(called), warnings.catch_warnings():  # rows overflow on purpose
        warnings.simplefilter("ignore", RuntimeWarning)
        status = lib.call("lnjudge_kernel_judge", c.byref(question), c.byref(report))
    if status == lib.STOPPED or called.stop.value:
        lib.library.lnjudge_report_free(c.byref(report))
        raise called.raised or KeyboardInterrupt
    made = report_of(report, subject, repeat, type_, param, framework, called.put_right)
    made.facts = called.facts()
    return made


def assert_layernorm(fn, max_row_ulp=0, **options) -> None:
    """Raises AssertionError if fn is not the LayerNorm that `convention` names. Its message is report.explain().
    Options are those of judge()."""
    report = judge(fn, max_row_ulp=max_row_ulp, **options)
    if not report.passed:
        raise AssertionError(report.explain())


def assert_rmsnorm(fn, max_row_ulp=0, **options) -> None:
    """Raises AssertionError if fn is not the RMSNorm that `convention` names ("torch-rms" by default), as
    assert_layernorm() does. Options are those of judge()."""
    assert_layernorm(fn, max_row_ulp, operation="rmsnorm", **options)
