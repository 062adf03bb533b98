#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A careless caller by dlopen: hostile.py libhayai.so. Every function gets zeros for all arguments,
and garbage where an enum is asked for; the process must live."""
import ctypes
import subprocess
import sys

hayai = ctypes.CDLL(sys.argv[1])
hayai.hayai_last_message.restype = ctypes.c_char_p
hayai.hayai_suite_create.restype = hayai.hayai_default_suite.restype = ctypes.c_void_p
names = subprocess.run(["nm", "-D", "--defined-only", sys.argv[1]], capture_output=True, text=True,
                       check=True).stdout
functions = sorted({line.split()[2].split("@")[0] for line in names.splitlines()
                    if " T " in line and " hayai_" in line})
assert len(functions) > 90, functions
zero = ctypes.c_void_p(0)
for name in functions:
    if name not in ("hayai_main", "hayai_default_suite"):
        getattr(hayai, name)(zero, zero, zero, zero, zero, zero)

# hayai_main() with nothing: it runs the default suite, which is empty.
assert hayai.hayai_main(0, zero) == 1
for garbage in (-1, 99, 2**31 - 1):
    hayai.hayai_status_string(garbage)
    hayai.hayai_unit_string(garbage)

# Two suites from two loads of the library; one is destroyed twice by way of the default.
suite = ctypes.c_void_p(hayai.hayai_default_suite())
hayai.hayai_suite_destroy(suite)
hayai.hayai_suite_destroy(suite)
assert hayai.hayai_suite_run(suite, zero, zero) != 0
assert b"no benchmark" in hayai.hayai_last_message()
