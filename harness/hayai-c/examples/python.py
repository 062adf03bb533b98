#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hayai from Python by ctypes: python.py [libhayai.so]

The benchmark is a Python function; each call of the loop's step costs about a microsecond. A
function of a C library would be passed as hayai_function instead."""
import ctypes
import sys

hayai = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libhayai.so.0.2")
pointer = ctypes.c_void_p
Function = ctypes.CFUNCTYPE(None, pointer, pointer)


class Repetition(ctypes.Structure):
    """The first members of hayai_repetition, which are enough for reading."""
    _fields_ = [("name", ctypes.c_char_p), ("benchmark", ctypes.c_size_t),
                ("repetition", ctypes.c_uint), ("order", ctypes.c_uint),
                ("iterations", ctypes.c_int64), ("real_seconds", ctypes.c_double),
                ("cpu_seconds", ctypes.c_double), ("error", ctypes.c_char_p)]


OnRepetition = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Repetition), pointer)


class Interleave(ctypes.Structure):
    _fields_ = [("seed", ctypes.c_uint64), ("repetitions", ctypes.c_uint),
                ("min_seconds", ctypes.c_double), ("max_iterations", ctypes.c_int64),
                ("on_repetition", OnRepetition), ("user", pointer),
                ("filter", ctypes.c_char_p), ("struct_size", ctypes.c_size_t)]


hayai.hayai_suite_create.restype = pointer
hayai.hayai_suite_destroy.argtypes = [pointer]
hayai.hayai_suite_add.argtypes = [pointer, ctypes.c_char_p, Function, pointer,
                                  ctypes.POINTER(pointer)]
hayai.hayai_benchmark_arg.argtypes = [pointer, ctypes.c_int64]
hayai.hayai_suite_run_interleaved.argtypes = [pointer, ctypes.POINTER(Interleave)]
hayai.hayai_state_keep_running.argtypes = [pointer]
hayai.hayai_state_keep_running.restype = ctypes.c_bool
hayai.hayai_state_range.argtypes = [pointer, ctypes.c_size_t]
hayai.hayai_state_range.restype = ctypes.c_int64
hayai.hayai_last_message.restype = ctypes.c_char_p


def check(status):
    if status != 0:
        raise RuntimeError(hayai.hayai_last_message().decode())


@Function
def add_up(state, _):
    numbers = list(range(hayai.hayai_state_range(state, 0)))
    while hayai.hayai_state_keep_running(state):
        sum(numbers)


@OnRepetition
def show(repetition, _):
    one = repetition.contents
    print(one.name.decode(), "%.3f us" % (one.real_seconds * 1e6), one.iterations, "iterations")
    return 0


suite = hayai.hayai_suite_create()
benchmark = pointer()
check(hayai.hayai_suite_add(suite, b"python/sum", add_up, None, ctypes.byref(benchmark)))
check(hayai.hayai_benchmark_arg(benchmark, 8))
check(hayai.hayai_benchmark_arg(benchmark, 512))
settings = Interleave(seed=1, repetitions=3, min_seconds=0.001, on_repetition=show,
                      struct_size=ctypes.sizeof(Interleave))
check(hayai.hayai_suite_run_interleaved(suite, ctypes.byref(settings)))
hayai.hayai_suite_destroy(suite)
