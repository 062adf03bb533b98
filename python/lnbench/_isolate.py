"""A judgement in a child process, so that a function which crashes or hangs takes nobody with it."""
import math
import mmap
import os
import pickle
import signal
import struct
import time

from . import _library as lib
from ._report import Case, Report

_CALL = struct.Struct("<dQQ")  # when the call in progress began (0: none did yet), rows, hidden


def _failed(options, verdict, detail, rows, hidden):
    case = Case("call", "", lib.label_of(options["wanted"]), options["type_"], rows, hidden, verdict,
                detail, False, False, {"row_ulp_max": math.nan})
    return Report([case], False, options["subject"], options["repeat"], case)


def _run_child(work, shared, pipe):
    def called(rows, hidden):
        shared[:_CALL.size] = _CALL.pack(time.monotonic(), rows, hidden)
    try:
        result = (work(called), None)
    except BaseException as raised:
        result = (None, raised)
    try:
        data = pickle.dumps(result)
    except Exception:
        data = pickle.dumps((None, RuntimeError(repr(result[1]))))
    with os.fdopen(pipe, "wb") as file:
        file.write(data)


def _wait(child, pipe, shared, deadline):
    """What the child sent, or why it sent nothing."""
    received = []
    os.set_blocking(pipe, False)
    while True:
        try:
            part = os.read(pipe, 1 << 20)
            if not part:
                break
            received.append(part)
            continue
        except BlockingIOError:
            pass
        began, _, _ = _CALL.unpack(shared[:_CALL.size])
        if began and time.monotonic() - began > deadline:
            os.kill(child, signal.SIGKILL)
            return None, "timeout"
        time.sleep(0.02)
    return b"".join(received), None


def in_child(work, deadline, options):
    """work(called) in a forked process; called(rows, hidden) is to be called before each call."""
    shared = mmap.mmap(-1, _CALL.size)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reading)
            _run_child(work, shared, writing)
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    status = 0
    try:
        data, why = _wait(child, reading, shared, deadline)
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        os.close(reading)
        _, status = os.waitpid(child, 0)
    _, rows, hidden = _CALL.unpack(shared[:_CALL.size])
    if not options and (why or os.WIFSIGNALED(status) or not data):
        raise RuntimeError(f"a function ended its process (status {status})")
    if why:
        return _failed(options, why, f"a call took longer than {deadline:g} s", rows, hidden)
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        return _failed(options, "crashed", name, rows, hidden)
    if os.WEXITSTATUS(status) or not data:
        return _failed(options, "crashed", f"it ended the process with exit code "
                       f"{os.WEXITSTATUS(status)}", rows, hidden)
    report, raised = pickle.loads(data)
    if raised is not None:
        raise raised
    return report
