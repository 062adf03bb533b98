"""Sends SIGKILL at random moments of each command of a list:

    kill_soak.py LIST LNBENCH MOMENTS SEED        # MOMENTS: number for each command

to lnbench, or to a process that it started (its worker, gnuplot), in a directory that has the files that the
commands need (prepare.sh). A line of the list is NAME and the arguments of lnbench, which runs in try/, with a copy of
base.db as work.db. Afterwards
- no process is left;
- databases pass SQLite's integrity check, keep their runs, and lnbench can export them;
- each other file is as an undisturbed run leaves it, or absent, or has a name that ends in .part;
- `run --resume` completes the run, if there is one to complete;
- if lnbench survived, its exit code is that of an undisturbed run, and so are its output and files; or the
  exit code is 6 or 7, and standard error says why. TMPDIR is empty.
Prints how many moments it tried, and how many processes it killed."""

import ctypes
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
PATIENCE, LONGEST = 10, 120  # seconds
TRY, REFERENCE, SECOND = Path("try"), Path("reference"), Path("second")
lnbench = sys.argv[2]


def start(arguments, output="stdout"):
    with open(TRY / output, "wb") as out, open(TRY / "stderr", "wb") as errors:
        return subprocess.Popen([lnbench, *arguments], cwd=TRY, stdin=subprocess.DEVNULL, stdout=out, stderr=errors,
                                start_new_session=True)


def prepare():
    shutil.rmtree(TRY, ignore_errors=True)
    TRY.mkdir()
    shutil.copy("base.db", TRY / "work.db")


def run_as(arguments, folder):
    """Runs the command undisturbed, and keeps its files as `folder`."""
    prepare()
    status = start(arguments).wait(LONGEST)
    shutil.rmtree(folder, ignore_errors=True)
    TRY.rename(folder)
    return status


def descendants(process):
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return []
    return [int(child) for child in children] + [inner for child in children for inner in descendants(child)]


def all_end():
    """Waits for all remaining processes, and kills those that do not end."""
    deadline, late = time.monotonic() + PATIENCE, False
    while True:
        try:
            ended, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return not late
        if not ended:
            time.sleep(0.001)
            if time.monotonic() > deadline:
                late = True
                for process in descendants(os.getpid()):
                    os.kill(process, signal.SIGKILL)


def content(path):
    return path.read_bytes() if path.is_file() else None


def mask(text):
    """Returns the common text of two runs that measure time: without numbers, the faster copy and words about noise."""
    text = re.sub(rb"(?m)^(Quiet|! Noisy): .*\n( .*\n)*", b"", text)
    text = re.sub(rb" (rep|nt)(?=[ \n])|\s\xc2\xb1[.\d]+ %|\s\[[.\d]+,\s[.\d]+\]|,\s+the\s+fastest\s+kernel|\bperhaps |;\s+\xe2\x89\x88[^)]*|\xe2\x89\x88", b"", text)
    text = re.sub(rb"[-+.!\d]+(e[-+.\d]+)?", b"#", text)
    return re.sub(rb"\s+", b" ", text)


def same_output(exactly):
    one, other = content(TRY / "stdout"), content(REFERENCE / "stdout")
    return one == other if exactly else mask(one) == mask(other)


def is_whole(name):
    """Returns whether a file is as in the reference, or about as long if undisturbed runs differ too."""
    made, twin = content(TRY / name), content(REFERENCE / name)
    if twin is None:
        return False
    return made == twin if twin == content(SECOND / name) else len(made) > 0.9 * len(twin)


def judge_database(path, least):
    try:
        with sqlite3.connect(path) as database:
            whole = database.execute("PRAGMA integrity_check").fetchone()[0]
            if whole != "ok" or database.execute("PRAGMA foreign_key_check").fetchone():
                return f"{path}: {whole}"
            if least and database.execute("SELECT count(*) FROM runs").fetchone()[0] < least:
                return f"{path}: a run is gone"
    except sqlite3.Error as error:
        return f"{path}: {error}"
    return None


def judge_files(finished):
    names = {str(path.relative_to(TRY)) for path in TRY.rglob("*") if path.is_file()}
    for name in names:
        if name.endswith(".db"):
            why = judge_database(TRY / name, int(name == "work.db"))
            if why:
                return why
        elif name in ("stdout", "stderr") or ".db" in name or name.endswith(".part"):
            continue
        elif not finished and re.search(rb"(?m)^# (running|interrupted): ", content(TRY / name)):
            continue  # the file that a failed hunt continues from
        elif not is_whole(name):
            return f"{name}: neither whole nor absent"
    for path in REFERENCE.rglob("*") if finished else ():
        name = str(path.relative_to(REFERENCE))
        if path.is_file() and name not in names and ".db-" not in name:
            return f"{name}: missing, with the exit code of success"
    return None


def judge_survivor(arguments, status, reference, exactly):
    """Checks lnbench if it was not killed itself."""
    said = content(TRY / "stderr")
    finished = status == reference or arguments[0] == "doctor" and status in (0, 3)
    if b"cannot link the objects" in said or b"gnuplot failed" in said:
        return None  # it says what is missing; so does the page
    if finished and not same_output(exactly):
        run_as_before = TRY.rename("failed")
        run_as(arguments, REFERENCE)  # the facts of the machine may have changed
        run_as_before.rename(TRY)
        if not same_output(exactly):
            return "the exit code of success, and other output"
    if not finished and status not in (6, 7):
        return f"exit code {status}"
    if not finished and not said and b"crashed" not in content(TRY / "stdout"):
        return f"exit code {status} without a line on standard error"
    if list(Path("tmp").iterdir()):
        return "left over in TMPDIR"
    return judge_files(finished)


def judge_rest(arguments):
    """Checks by lnbench that run 1 is unchanged, and that --resume does the rest."""
    start(["export", "--db", "work.db", "--run", "1"], "export").wait(LONGEST)
    if content(TRY / "export") != content(Path("run.json")):
        return "run 1 is not what it was"
    if arguments[0] == "run" and start([*arguments, "--resume"]).wait(LONGEST) not in (0, 5) and \
            b"no unfinished run" not in content(TRY / "stderr"):
        return "--resume failed"
    return None


def try_moment(arguments, seconds, reference, exactly):
    """Returns whether a process was killed, and the faults."""
    prepare()
    first = start(arguments)
    time.sleep(seconds)
    others = descendants(first.pid) if random.random() < 0.5 else []
    hit = first.poll() is None
    if hit:
        try:
            os.kill(random.choice(others or [first.pid]), signal.SIGKILL)
        except ProcessLookupError:
            hit = False
    try:
        status = first.wait(LONGEST)
    except subprocess.TimeoutExpired:
        first.kill()
        return hit, "did not end"
    if not all_end():
        why = "a process is left"
    elif status == -signal.SIGKILL:
        why = judge_files(False)
    else:
        why = judge_survivor(arguments, status, reference, exactly)
    shutil.rmtree("tmp")
    os.mkdir("tmp", 0o700)
    return hit, why or judge_rest(arguments)


def main():
    moments = killed = wrong = 0
    most = int(sys.argv[3])
    random.seed(int(sys.argv[4]))
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)  # so that orphans become our children
    for line in Path(sys.argv[1]).read_text().splitlines():
        name, *arguments = line.split()
        begun = time.monotonic()
        reference = run_as(arguments, REFERENCE)
        longest = time.monotonic() - begun
        time.sleep(1)  # outputs that contain the time must differ
        run_as(arguments, SECOND)
        exactly = arguments[0] != "doctor" and content(SECOND / "stdout") == content(REFERENCE / "stdout")
        for _ in range(most):
            seconds = longest * random.random()
            hit, why = try_moment(arguments, seconds, reference, exactly)
            longest *= 1.005 if hit else 0.95  # one in ten comes too late
            moments += 1
            killed += hit
            if why:
                wrong += 1
                print(f"WRONG '{name}' after {1000 * seconds:.1f} ms: {why}\n{content(TRY / 'stderr').decode()[:600]}")
        print(f"{name}: {1000 * longest:.0f} ms; so far {moments} moments, {killed} processes killed, "
              f"{wrong} wrong outcomes", flush=True)
    return int(wrong > 0 or killed == 0)


sys.exit(main())
