"""liblnjudge through ctypes: its structs and functions (lnjudge.h), and its errors as exceptions."""
import ctypes as c
import math
import operator
import os

OK, ERROR_ARGUMENT, ERROR_MEMORY, STOPPED = range(4)
DENSE, NOT_IN_PLACE, NO_RESIDUAL, THESE_SIZES = 1, 2, 4, 8
EXACT = -1
METRICS, BINS = 24, 32
OPERATIONS = ("layernorm", "rmsnorm")
# The field of a Convention for the form of its parameters, and the forms.
FORMS = {"layernorm": ("affine", ("none", "scalar", "gamma", "vector", "gamma1")),
         "rmsnorm": ("weight", ("none", "w", "1+w", "1+w-rounded"))}
USUAL = {"layernorm": "torch", "rmsnorm": "torch-rms"}  # the default conventions
# Tensors by role, in the order of ln_tensors; and those whose size does not depend on the rows.
ROLES = ("x", "residual", "gamma", "beta", "y", "sum", "mean", "rstd")
PARAMETERS = ("gamma", "beta")


class ArgumentError(ValueError):
    """An invalid argument; the message gives the reason."""


def clean(value, most=120):
    """Returns str(value) as one line of at most `most` printable letters."""
    try:
        text = str(value)[:8 * most]
    except Exception:
        text = "(a text that cannot be read)"
    shown = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(shown.split())[:most]


def said(raised):
    """Returns an exception as one line."""
    return ": ".join(filter(None, (clean(type(raised).__name__, 60), clean(raised))))


def number(value, name):
    """Returns a finite float of at least 0."""
    try:
        made = float(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} is {value!r}: it must be a number") from None
    if not math.isfinite(made) or made < 0:
        raise ArgumentError(f"{name} is {made:g}: it must be finite and at least 0")
    return made


def whole(value, name, least, most=1 << 40):
    """Returns an int from least to most."""
    try:
        made = operator.index(value)
    except TypeError:
        made = None
    if made is None or isinstance(value, bool) or not least <= made <= most:
        raise ArgumentError(f"{name} is {value!r}: it must be a whole number from {least} to {most}")
    return made


class Convention(c.Structure):
    _fields_ = [("operation", c.c_int), ("eps_place", c.c_int), ("eps", c.c_double),
                ("ddof", c.c_int), ("affine", c.c_int),  # of LayerNorm
                ("weight", c.c_int), ("cast", c.c_int), ("root", c.c_int), ("sum", c.c_int)]


class Problem(c.Structure):
    _fields_ = [(name, c.c_size_t) for name in ("rows", "hidden", "x_stride", "y_stride",
                                                "residual_stride", "sum_stride")]
    _fields_ += [("storage", c.c_int), ("param", c.c_int), ("convention", Convention),
                 ("accuracy", c.c_int)]


class Tensors(c.Structure):
    _fields_ = [(name, c.c_void_p) for name in ROLES]


class Error(c.Structure):
    _fields_ = [("status", c.c_int), ("message", c.c_char * 1024)]


class Row(c.Structure):
    _fields_ = [("number", c.c_size_t)]
    _fields_ += [(name, c.c_void_p) for name in (*ROLES[:5], "exact")]


class Case(c.Structure):
    _fields_ = [("check", c.c_char * 16), ("input", c.c_char * 32), ("convention", c.c_char * 128),
                ("step", c.c_size_t), ("rows", c.c_size_t), ("hidden", c.c_size_t),
                ("passed", c.c_int),
                ("verdict", c.c_char * 16),
                ("reason", c.c_char * 24), ("detail", c.c_char * 512),
                ("metrics", c.c_double * METRICS), ("ulp_histogram", c.c_uint64 * BINS),
                ("worst", Row)]


class Report(c.Structure):
    _fields_ = [("count", c.c_size_t), ("cases", c.POINTER(Case)), ("worst", c.c_size_t),
                ("passed", c.c_int), ("untested", c.c_char_p)]


KERNEL = c.CFUNCTYPE(c.c_int, c.c_void_p, c.POINTER(Problem), c.POINTER(Tensors))
BEFORE_STEP = c.CFUNCTYPE(None, c.c_void_p, c.c_size_t, c.c_size_t, c.POINTER(c.c_double))


class Question(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("kernel", KERNEL), ("user", c.c_void_p),
                ("convention", Convention), ("storage", c.c_int), ("param", c.c_int),
                ("accumulator", c.c_int), ("traits", c.c_uint),
                ("hidden", c.POINTER(c.c_size_t)), ("hidden_count", c.c_size_t),
                ("seed", c.c_uint64), ("max_row_ulp", c.c_double), ("stop", c.POINTER(c.c_int)),
                ("step", c.c_size_t), ("before_step", BEFORE_STEP)]


class Box(c.Structure):
    _fields_ = [("dimensions", c.c_size_t), ("shape", c.c_size_t * 8), ("x", c.c_void_p),
                ("residual", c.c_void_p), ("y", c.c_void_p), ("gamma", c.c_void_p),
                ("beta", c.c_void_p), ("parameters", c.c_size_t), ("x_type", c.c_int),
                ("y_type", c.c_int), ("param", c.c_int), ("digits", c.c_int), ("x_digits", c.c_int)]


class Candidate(c.Structure):
    _fields_ = [("is_convention", c.c_int), ("convention", Convention), ("eps_low", c.c_double),
                ("eps_high", c.c_double), ("words", c.c_char * 256),
                ("also", c.c_char * 256)]


class Fingerprint(c.Structure):
    _fields_ = [("answer", c.c_int), ("count", c.c_size_t), ("candidates", c.POINTER(Candidate)),
                ("tried", c.c_size_t), ("rows", c.c_size_t), ("rows_used", c.c_size_t),
                ("probe", c.c_float), ("pairs", c.c_size_t), ("pairs_left", c.c_size_t)]


class Mistake(c.Structure):
    _fields_ = [("words", c.c_char * 148), ("atol", c.c_double)]


class Tolerance(c.Structure):
    _fields_ = [("rtol", c.c_double), ("certain", c.c_double), ("likely", c.c_double),
                ("usual", c.c_double), ("count", c.c_size_t), ("mistakes", Mistake * 9)]


def _open():
    """Loads the library in LNBENCH_LNJUDGE, else that of this package, else the installed one."""
    own = os.path.join(os.path.dirname(__file__), "_native", "lib", "liblnjudge.so.0")
    path = os.environ.get("LNBENCH_LNJUDGE") or (own if os.path.exists(own) else "liblnjudge.so.0")
    try:
        return c.CDLL(path)
    except OSError as failed:
        raise ImportError(f"liblnjudge cannot be loaded ({failed}): install it with "
                          "`pip install ./python`, or set LNBENCH_LNJUDGE to its path") from None


library = _open()
_P = c.POINTER
for _name, _result, *_arguments in (
        ("convention", c.c_int, c.c_char_p, _P(Convention), _P(Error)),
        ("reference", c.c_int, _P(Problem), _P(Tensors), c.c_void_p, _P(Error)),
        ("output_judge", c.c_int, _P(Problem), _P(Tensors), c.c_double, _P(Report), _P(Error)),
        ("kernel_judge", c.c_int, _P(Question), _P(Report), _P(Error)), ("report_free", None, _P(Report)),
        ("tolerance_find", c.c_int, _P(Problem), _P(Tensors), _P(Tolerance), _P(Error)),
        ("fingerprint_make", c.c_int, _P(Box), _P(Fingerprint), _P(Error)),
        ("fingerprint_free", None, _P(Fingerprint)), ("version", c.c_char_p),
        ("convention_label", c.c_char_p, _P(Convention), c.c_char_p), ("metric_name", c.c_char_p, c.c_size_t),
        ("watch", c.c_int, c.c_void_p, c.c_size_t), ("watched", c.c_void_p)):
    _function = getattr(library, "lnjudge_" + _name)
    _function.argtypes, _function.restype = _arguments, _result

metric_names = tuple(library.lnjudge_metric_name(i).decode() for i in range(METRICS))
counted = {"mismatches", "elements", "exact_zeros", "sign_of_zero", "worst_row", "worst_column"}


def call(name, *arguments):
    """Calls a function whose last parameter is its error, and raises the error. The GIL is released
    during the call."""
    error = Error()
    status = getattr(library, name)(*arguments, c.byref(error))
    if status == ERROR_ARGUMENT:
        raise ArgumentError(error.message.decode())
    if status == ERROR_MEMORY:
        raise MemoryError(error.message.decode())
    return status


def convention_of(given):
    """Returns the Convention for a preset's name, a list such as "ddof=1,eps=1e-6@std,affine=vector", or itself."""
    if isinstance(given, Convention):
        return given
    if not isinstance(given, str):
        raise ArgumentError(f"convention is {given!r}: it must be a text, such as 'bert' or 'ddof=1,eps=1e-6@std'")
    made = Convention()
    text = given.encode("ascii", "replace").replace(b"\0", b"?")
    call("lnjudge_convention", text, c.byref(made))
    return made


def operation_of(convention):
    return OPERATIONS[convention.operation]


def form_of(convention):
    field, forms = FORMS[operation_of(convention)]
    return forms[getattr(convention, field)]


def parameters_of(convention):
    """Returns ("gamma", "beta"), ("gamma",) or ()."""
    form = form_of(convention)
    return PARAMETERS[:0 if form == "none" else 1 if form == "gamma" or operation_of(convention) == "rmsnorm" else 2]


def with_form(convention, form):
    """Returns a copy of the convention with another form of its parameters."""
    made = Convention.from_buffer_copy(convention)
    field, forms = FORMS[operation_of(made)]
    setattr(made, field, forms.index(form))
    return made


def of_operation(given, operation):
    """Returns the given convention, or the default one of the operation (LayerNorm if none is named)."""
    if operation is not None and operation not in OPERATIONS:
        raise ArgumentError(f"invalid operation {operation!r}: choose {' or '.join(OPERATIONS)}")
    made = convention_of(given or USUAL[operation or "layernorm"])
    if operation_of(made) != (operation or operation_of(made)):
        raise ArgumentError(f"convention {given!r} is one of {operation_of(made)}, but operation is {operation}")
    return made


def label_of(convention):
    buffer = c.create_string_buffer(128)
    return library.lnjudge_convention_label(c.byref(convention), buffer).decode()
