"""Converts arrays of any library to NumPy arrays of the four element types, and back."""
import contextlib

import numpy as np

from ._library import ArgumentError, clean

TYPES = ("f32", "f64", "bf16", "f16")  # in the order of ln_type
STORED = {"f32": np.dtype("f4"), "f64": np.dtype("f8"), "bf16": np.dtype("u2"),
          "f16": np.dtype("f2")}  # the NumPy dtype that holds each type's elements
_ALIASES = {"float32": "f32", "float64": "f64", "bfloat16": "bf16", "float16": "f16"}


def type_name(given):
    """Converts "f32", "float32", np.float32, torch.bfloat16, ... to one of TYPES."""
    text = str(given)
    if text.startswith("torch."):
        text = text[len("torch."):]
    elif given is not None and not isinstance(given, str):
        with contextlib.suppress(TypeError):
            text = np.dtype(given).name
    text = _ALIASES.get(text, text)
    if text not in TYPES:
        raise ArgumentError(f"invalid dtype {text}: choose f32, f64, bf16 or f16")
    return text


def _bfloat16():
    try:
        import ml_dtypes
    except ImportError:
        return None
    return np.dtype(ml_dtypes.bfloat16)


def is_torch(value):
    return type(value).__module__.split(".")[0] == "torch"


def take(value, name="x", type_=None):
    """Returns (array of the stored dtype, type) of a NumPy array, a torch tensor, or an object with
    DLPack or the buffer protocol. With type_ "bf16", uint16 holds the bits. Nothing is rounded."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ArgumentError(f"{name} is a masked array: replace the masked elements by numbers")
    own = None
    if is_torch(value) and hasattr(value, "detach"):
        value = value.detach().cpu()
        if str(value.dtype) == "torch.bfloat16":
            import torch
            own, value = "bf16", value.contiguous().view(torch.int16)
        array = value.numpy()
    else:
        try:
            if isinstance(value, np.ndarray) or not hasattr(value, "__dlpack__"):
                array = np.asarray(value)
            else:
                array = np.from_dlpack(value)
        except Exception as failed:  # raised by another library
            raise ArgumentError(f"{name} cannot be read as an array: {clean(failed)}") from None
    if own or array.dtype.name == "bfloat16" or (type_ == "bf16" and array.dtype == np.uint16):
        array, own = array.view(np.uint16), "bf16"
    if own is None and array.dtype.name not in _ALIASES:
        raise ArgumentError(f"{name} has dtype {array.dtype}: use float32, float64, float16 or "
                            "bfloat16 (or uint16 where dtype=\"bf16\" is given)")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array, own or _ALIASES[array.dtype.name]


def rows_of(x, type_=None):
    """Like take(), but returns contiguous rows: (array, type, shape). The last axis is hidden."""
    array, own = take(x, "x", type_)
    if type_ and own != type_:
        raise ArgumentError(f"x has dtype {own}, but dtype={type_!r} was given")
    if array.ndim == 0 or array.size == 0:
        raise ArgumentError(f"x has shape {array.shape}: it needs at least one row of at least one element")
    shape = array.shape
    return np.ascontiguousarray(array).reshape(-1, shape[-1]), own, shape


def like(value, name, shape, type_):
    """Returns a second tensor, which must have the shape and type of x."""
    array, own = take(value, name, type_)
    if array.shape != shape:
        raise ArgumentError(f"{name} has shape {array.shape}, but x has {shape}")
    if own != type_:
        raise ArgumentError(f"{name} has dtype {own}, but x has {type_}")
    return np.ascontiguousarray(array).reshape(-1, shape[-1])


def parameter(value, name, count, type_=None):
    """Returns (array, type) of gamma or beta. uint16 holds the bits of bf16."""
    array, own = take(value, name, "bf16")
    if array.size != count or array.shape[-1:] not in ((), (count,)):
        raise ArgumentError(f"{name} has shape {array.shape}: it must have shape ({count},)")
    if type_ and own != type_:
        raise ArgumentError(f"{name} has dtype {own}, but gamma has {type_}")
    return np.ascontiguousarray(array).reshape(-1), own


def give(array, type_, framework="numpy"):
    """Returns an array of stored elements as a user's array of the type, in NumPy (bf16 needs
    ml_dtypes) or torch."""
    if framework not in ("numpy", "torch"):
        raise ArgumentError(f"invalid framework {framework!r}: choose numpy or torch")
    if framework == "torch":
        try:
            import torch
        except ImportError as failed:
            raise ArgumentError(f"framework=\"torch\": torch cannot be imported ({failed})") from None
        if type_ == "bf16":
            return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
        return torch.from_numpy(array)
    if type_ == "bf16":
        dtype = _bfloat16()
        if dtype is None:
            raise ArgumentError("bf16 in NumPy needs ml_dtypes: install it, or use framework=\"torch\"")
        return array.view(dtype)
    return array


def give_or_bits(array, type_, framework="numpy"):
    """Like give(), but returns the bits of bf16 if ml_dtypes is not installed."""
    if type_ == "bf16" and framework == "numpy" and _bfloat16() is None:
        return array
    return give(array, type_, framework)


def as_double(array, type_):
    if type_ == "bf16":
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.float64)
