"""LayerNorms of whatever libraries can be imported, as functions of x, gamma and beta."""
import importlib
import importlib.util
from dataclasses import dataclass, field
from typing import Any, Callable, List

from ._library import ArgumentError


@dataclass
class Peer:
    """Another library's LayerNorm under torch's convention: a callable for judge() and bench().
    `framework` is what its arrays are."""
    name: str
    version: str
    framework: str
    make: Callable[[], Callable] = field(repr=False)
    _function: Any = field(default=None, repr=False)

    def __call__(self, x, gamma, beta):
        if self._function is None:
            self._function = self.make()
        return self._function(x, gamma, beta)


def _numpy():
    import numpy as np

    def layernorm(x, gamma, beta):
        mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) / np.sqrt(var + x.dtype.type(1e-5)) * gamma + beta
    return layernorm


def _torch():
    import torch

    def layernorm(x, gamma, beta):
        with torch.no_grad():
            return torch.nn.functional.layer_norm(x, x.shape[-1:], gamma, beta, 1e-5)
    return layernorm


def _jax():
    import jax
    import numpy as np
    standardize = getattr(jax.nn, "standardize", None) or jax.nn.normalize  # its older name
    compiled = jax.jit(lambda x, gamma, beta: standardize(x, axis=-1, epsilon=1e-5) * gamma + beta)
    return lambda x, gamma, beta: np.asarray(compiled(x, gamma, beta))


def _tensorflow():
    import tensorflow as tf

    def layernorm(x, gamma, beta):
        mean, var = tf.nn.moments(tf.convert_to_tensor(x), [-1], keepdims=True)
        return tf.nn.batch_normalization(x, mean, var, beta, gamma, 1e-5).numpy()
    return layernorm


def _openvino():
    import numpy as np
    import openvino
    try:
        from openvino import opset8 as opset
    except ImportError:
        from openvino.runtime import opset8 as opset
    core, models = getattr(openvino, "Core", None), {}
    if core is None:
        from openvino.runtime import Core as core, Model
    else:
        Model = openvino.Model

    def model_of(hidden, dtype):
        x, gamma, beta = (opset.parameter(shape, dtype, name) for shape, name in
                          (([-1, hidden], "x"), ([hidden], "gamma"), ([hidden], "beta")))
        normal = opset.mvn(x, np.array([-1], np.int64), True, 1e-5, "inside_sqrt")
        made = opset.add(opset.multiply(normal, gamma), beta)
        return core().compile_model(Model([made], [x, gamma, beta], "layernorm"), "CPU")

    def layernorm(x, gamma, beta):
        key = (x.shape[-1], x.dtype)
        if key not in models:
            models[key] = model_of(*key)
        return next(iter(models[key]([x, gamma, beta]).values())).copy()
    return layernorm


def _onnxruntime():
    import onnxruntime
    from onnx import TensorProto, helper
    kinds = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE,
             "float16": TensorProto.FLOAT16}
    sessions = {}

    def session_of(hidden, dtype):
        def value(name, shape):
            return helper.make_tensor_value_info(name, kinds[dtype], shape)
        node = helper.make_node("LayerNormalization", ["x", "gamma", "beta"], ["y"], axis=-1,
                                epsilon=1e-5)
        graph = helper.make_graph([node], "layernorm", [
            value("x", [None, hidden]), value("gamma", [hidden]), value("beta", [hidden])],
            [value("y", [None, hidden])])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        return onnxruntime.InferenceSession(model.SerializeToString(),
                                            providers=["CPUExecutionProvider"])

    def layernorm(x, gamma, beta):
        key = (x.shape[-1], x.dtype.name)
        if key not in sessions:
            sessions[key] = session_of(*key)
        return sessions[key].run(None, {"x": x, "gamma": gamma, "beta": beta})[0]
    return layernorm


# module, what else it takes, its framework, its maker
_KNOWN = (("numpy", (), "numpy", _numpy), ("torch", (), "torch", _torch),
          ("jax", (), "numpy", _jax), ("tensorflow", (), "numpy", _tensorflow),
          ("openvino", (), "numpy", _openvino), ("onnxruntime", ("onnx",), "numpy", _onnxruntime))


def _version(module):
    from importlib import metadata  # slow to import
    try:
        return metadata.version(module)
    except metadata.PackageNotFoundError:
        return getattr(importlib.import_module(module), "__version__", "unknown")


def peers() -> List[Peer]:
    """The libraries that are installed here, with their versions; none is imported before its
    first call, where that can be helped."""
    return [Peer(module, _version(module), framework, make)
            for module, more, framework, make in _KNOWN
            if all(importlib.util.find_spec(name) for name in (module, *more))]


def peer(name) -> Peer:
    """The one of this name."""
    found = peers()
    for one in found:
        if one.name == name:
            return one
    raise ArgumentError(f"peer {name!r}: {', '.join(one.name for one in found)} are there")
