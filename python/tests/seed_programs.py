"""The programs of the five documents in shared/seeds, line by line in NumPy (torch's std and var
divide by N - 1 by default), each with its convention."""
import numpy as np


def ddof1(x):
    return x.std(-1, keepdims=True, ddof=1)


def document_000(x, weight, bias):
    mean = x.mean(-1, keepdims=True)
    var = x.var(-1, keepdims=True)
    x_norm = (x - mean) / np.sqrt(var + np.float32(1e-5))
    return weight * x_norm + bias


def document_001(x):
    mu = np.sum(x, -1, keepdims=True) / np.float32(x.shape[-1])
    variance = np.sum(np.square(x - mu), -1, keepdims=True) / np.float32(x.shape[-1])
    return (x - mu) / np.sqrt(variance + np.float32(1e-5))


def document_002(x):
    return (x - x.mean(-1, keepdims=True)) / ddof1(x)


def document_002_class(x, scale, shift):
    return document_000(x, scale, shift)


def document_003(x, alpha, bias):
    return alpha * (x - x.mean(-1, keepdims=True)) / (ddof1(x) + np.float32(1e-5)) + bias


def document_003_numpy(x):
    return (x - x.mean(-1, keepdims=True)) / ddof1(x) + np.float32(1e-5)


def document_004(x, weight, bias):
    x_norm = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True)
                                                        + np.float32(1e-6))
    return weight * x_norm + bias


# program, its parameters ("", "vector" or "scalar"), its convention
PROGRAMS = [
    (document_000, "vector", "torch"),
    (document_001, "", "tinyllm"),
    (document_002, "", "zscore"),
    (document_002_class, "vector", "torch"),
    (document_003, "scalar", "scalar-std"),
    (document_003_numpy, "", "ddof=1,eps=1e-05@quotient,affine=none"),
    (document_004, "vector", "manual-1e-6"),
]
