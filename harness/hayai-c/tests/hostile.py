#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A careless caller by dlopen: hostile.py libhayai.so. Every function gets zeros for all arguments,
and garbage for an enum; the process must survive. Functions with a handle refuse NULL with
HAYAI_ERROR_ARGUMENT, or 0, false or "", and a message."""
import ctypes
import glob
import os
import re
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
folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
headers = "".join(open(path).read() for path in glob.glob(os.path.join(folder, "hayai*.h")))
# The functions whose first argument is a handle: {function: type of the result}.
of_handles = {name: kind for kind, name in re.findall(
    r"^(const char|\w+) \*?(hayai_\w+)\((?:const )?hayai_(?:state|benchmark|suite) \*\w", headers, re.M)}
assert len(of_handles) > 65, sorted(of_handles)
zero = ctypes.c_void_p(0)
for name in functions:
    if name in ("hayai_main", "hayai_default_suite"):
        continue
    function, kind = getattr(hayai, name), of_handles.get(name, "void")
    if kind != "void":
        hayai.hayai_fail(0, zero)
        function.restype = {"const char": ctypes.c_char_p, "bool": ctypes.c_bool}.get(kind, ctypes.c_int)
    result = function(zero, zero, zero, zero, zero, zero)
    refused = 1 if kind == "hayai_status" else b"" if kind == "const char" else 0
    assert kind == "void" or result in (refused, None), (name, result)
    assert kind != "hayai_status" or hayai.hayai_last_message(), name

# hayai_main() without arguments runs the default suite, which is empty.
assert hayai.hayai_main(0, zero) == 1
for garbage in (-1, 99, 2**31 - 1):
    hayai.hayai_status_string(garbage)
    hayai.hayai_unit_string(garbage)

# Destroy the default suite twice.
suite = ctypes.c_void_p(hayai.hayai_default_suite())
hayai.hayai_suite_destroy(suite)
hayai.hayai_suite_destroy(suite)
assert hayai.hayai_suite_run(suite, zero, zero) != 0
assert b"no benchmark" in hayai.hayai_last_message()
