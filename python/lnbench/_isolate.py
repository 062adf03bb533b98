"""Judges a function in a child process, so that a crash or hang does not affect the caller."""
import contextlib
import ctypes
import math
import multiprocessing
import os
import pickle
import signal
import time

from . import _library as lib
from ._report import Case, Report

_PDEATHSIG = 1  # PR_SET_PDEATHSIG of prctl(2)


def _failed(options, reason, detail, rows, hidden):
    case = Case("call", "", lib.label_of(options["wanted"]), options["type_"], rows, hidden, "fail",
                reason, detail, False, {"row_ulp_max": math.nan})
    return Report([case], False, options["subject"], options["repeat"], case)


def _run_child(work, pipe):
    """Sends (rows, hidden) before each call, and finally the result or exception of work()."""
    os.setpgid(0, 0)
    with contextlib.suppress(AttributeError, OSError):  # not on Linux
        ctypes.CDLL(None).prctl(_PDEATHSIG, signal.SIGKILL)
    try:
        result = work(lambda rows, hidden: pipe.send((rows, hidden)))
    except BaseException as raised:
        result = raised
    pipe.send(pickle.dumps(result))  # send() would share the memory of torch tensors


def _end(child):
    """Kills the child and the processes that it started, and returns its status."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)
    try:
        return os.waitpid(child, 0)[1]
    except ChildProcessError:
        return 0


def _receive(child, pipe, deadline):
    """Returns (result or None, (rows, hidden) of the last call). The result is None if the process ended
    without one. Raises TimeoutError if a call takes longer than the deadline."""
    call, began = (0, 0), math.inf
    while True:
        try:  # WNOWAIT: the child's number stays reserved until waitpid()
            ended = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:  # SIGCHLD is ignored, or another thread waits for all children
            ended = True
        try:
            message = pipe.recv() if pipe.poll(0.02) else None
        except EOFError:  # the process is about to end, or the function closed the pipe
            message = None
            time.sleep(0.02)
        if isinstance(message, tuple):
            call, began = message, time.monotonic()
        elif message is not None or ended:
            return message and pickle.loads(message), call
        elif time.monotonic() - began > deadline:
            raise TimeoutError(call)


def in_child(work, deadline, options):
    """Runs work(called) in a forked process; work calls called(rows, hidden) before each call of the function."""
    receiving, sending = multiprocessing.Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            _run_child(work, sending)
            code = 0
        finally:
            os._exit(code)
    sending.close()
    try:
        result, call = _receive(child, receiving, deadline)
    except TimeoutError as late:
        return _failed(options, "timeout", f"a call took longer than {deadline:g} s", *late.args[0])
    finally:
        status = _end(child)
        receiving.close()
    if os.WIFSIGNALED(status) and result is None:
        number = os.WTERMSIG(status)
        named = number in set(signal.Signals)  # real-time signals are not
        return _failed(options, "crashed", signal.Signals(number).name if named else
                       f"signal {number}", *call)
    if result is None:
        return _failed(options, "crashed", f"it ended its process with exit code "
                       f"{os.WEXITSTATUS(status)}", *call)
    if isinstance(result, BaseException):
        raise result
    return result
