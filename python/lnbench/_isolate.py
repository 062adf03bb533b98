"""A judgement in a child process, so that a function which crashes or hangs takes nobody with it."""
import ctypes
import math
import mmap
import os
import pickle
import signal
import struct
import time

from . import _library as lib
from ._report import Case, Report

_CALL = struct.Struct("<dQQ")  # when the call in progress began (0: none did yet; infinite: all
                               # is done), rows, hidden
_SIZE = struct.Struct("<Q")    # of the result, which follows
_MOST = 1 << 28                # bytes of a result: pages that are not written take no memory
_PDEATHSIG = 1                 # of prctl(2)


def _failed(options, reason, detail, rows, hidden):
    case = Case("call", "", lib.label_of(options["wanted"]), options["type_"], rows, hidden, "fail",
                reason, detail, False, {"row_ulp_max": math.nan})
    return Report([case], False, options["subject"], options["repeat"], case)


def _result_of(work, shared):
    """(what work() returned, what it raised), in bytes that can be read again."""
    def called(rows, hidden):
        shared[:_CALL.size] = _CALL.pack(time.monotonic(), rows, hidden)
    try:
        result = (work(called), None)
    except BaseException as raised:
        result = (None, raised)
    try:
        data = pickle.dumps(result)
        pickle.loads(data)
        return data
    except BaseException:
        return pickle.dumps((None, RuntimeError(lib.said(result[1]))))


def _run_child(work, shared):
    """The result goes through memory: there is no descriptor that the function could close or leave
    open in another process, no file or folder that it could remove, and no limit of files is met."""
    os.setpgid(0, 0)
    try:
        ctypes.CDLL(None).prctl(_PDEATHSIG, signal.SIGKILL)
    except (AttributeError, OSError):  # not on Linux
        pass
    data = _result_of(work, shared)
    if len(data) > _MOST:
        data = pickle.dumps((None, RuntimeError(f"a result of more than {_MOST >> 20} MiB")))
    start = _CALL.size + _SIZE.size
    shared[start:start + len(data)] = data
    shared[_CALL.size:start] = _SIZE.pack(len(data))
    shared[:8] = struct.pack("<d", math.inf)


def _has_ended(child):
    """Whether it has, without forgetting its number, which nobody else gets until then."""
    try:
        return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:  # SIGCHLD is ignored here, or somebody else waits for all children
        return True


def _end(child):
    """Ends it and the processes that it left, and tells its status."""
    for kill in (os.killpg, os.kill):
        try:
            kill(child, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
    try:
        return os.waitpid(child, 0)[1]
    except ChildProcessError:
        return 0


def _wait(child, shared, deadline):
    """Whether it ended by itself before a call took longer than the deadline."""
    while not _has_ended(child):
        began, _, _ = _CALL.unpack(shared[:_CALL.size])
        if began and time.monotonic() - began > deadline:
            return False
        time.sleep(0.02)
    return True


def in_child(work, deadline, options):
    """work(called) in a forked process; called(rows, hidden) is to be called before each call."""
    start = _CALL.size + _SIZE.size
    shared = mmap.mmap(-1, start + _MOST)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            _run_child(work, shared)
            code = 0
        finally:
            os._exit(code)
    in_time = False
    try:
        in_time = _wait(child, shared, deadline)
    finally:
        status = _end(child)
    length = _SIZE.unpack(shared[_CALL.size:start])[0] if status == 0 else 0
    data = shared[start:start + length]
    _, rows, hidden = _CALL.unpack(shared[:_CALL.size])
    if not in_time:
        return _failed(options, "timeout", f"a call took longer than {deadline:g} s", rows, hidden)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        named = number in set(signal.Signals)  # real-time signals are not
        return _failed(options, "crashed", signal.Signals(number).name if named else
                       f"signal {number}", rows, hidden)
    if not data:
        return _failed(options, "crashed", f"it ended the process with exit code "
                       f"{os.WEXITSTATUS(status)}", rows, hidden)
    report, raised = pickle.loads(data)
    if raised is not None:
        raise raised
    return report
