"""A BenchReport drawn by plots/field.gp, which also draws lnbench's own charts."""
import ctypes
import math
import os
import shutil
import signal
import subprocess
import tempfile

from . import _library as lib

_HERE = os.path.dirname(os.path.abspath(__file__))
_NO_DIGIT = {"f32": 2.0 ** 23, "f64": 2.0 ** 52, "f16": 2.0 ** 10, "bf16": 2.0 ** 7}

_QUOTES = {ord("'"): "\u2019", ord('"'): "\u201d"}  # gnuplot's own, in a table and in a tip


def _script():
    """plots/field.gp: where LNBENCH_PLOTS says, this package's, the source tree's, the installed."""
    folders = [os.environ.get("LNBENCH_PLOTS"), os.path.join(_HERE, "_native/share/lnbench/plots"),
               os.path.join(_HERE, "../../plots"), "/usr/local/share/lnbench/plots",
               "/usr/share/lnbench/plots"]
    for folder in folders:
        if folder and os.path.exists(os.path.join(folder, "field.gp")):
            return os.path.join(os.path.abspath(folder), "field.gp")
    raise RuntimeError("plots/field.gp was not found: name its folder in LNBENCH_PLOTS")


def _class_of(row_ulp, dtype):
    """The error classes of harness/report/data/data.h."""
    limits = (1, 4, min(1000, _NO_DIGIT[dtype] / 8))
    return 5 if math.isnan(row_ulp) else 1 + sum(row_ulp > limit for limit in limits)


def _words(row_ulp, dtype):
    if math.isnan(row_ulp):
        return "no right result"
    return "no correct digit" if row_ulp >= _NO_DIGIT[dtype] else f"{row_ulp:.2g}"


def _write(path, *lines):
    with open(path, "w", encoding="utf-8") as file:
        for line in lines:
            file.write("\t".join(" ".join(str(cell).split()) for cell in line)
                       .translate(_QUOTES) + "\n")


def _end_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _run_gnuplot(script, form, folder):
    """As harness/base/program.h: an environment of ours, a deadline, and the end of all it started."""
    kept = ("PATH", "HOME", "LD_LIBRARY_PATH")
    own = {name: os.environ[name] for name in kept if name in os.environ}
    seconds = float(os.environ.get("LNBENCH_CHILD_SECONDS") or 60)
    with open(os.path.join(folder, "errors"), "w+b") as errors, \
            subprocess.Popen(["gnuplot", "-d", "-c", script, "bench", form], cwd=folder,
                             env={**own, "LC_ALL": "C.UTF-8", "TMPDIR": folder},
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors,
                             start_new_session=True, preexec_fn=_end_with_parent) as gnuplot:
        try:
            status = gnuplot.wait(seconds)
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"gnuplot failed: it took longer than {seconds:g} s") from None
        finally:
            try:
                os.killpg(gnuplot.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if status:
            errors.seek(max(0, errors.seek(0, os.SEEK_END) - 300))
            words = " ".join(errors.read().decode(errors="replace").split())
            raise RuntimeError(f"gnuplot failed: {words or f'status {status}'}")


def draw(report, path):
    """Writes the chart; the file's name ends in .svg, .png or .pdf."""
    form = os.path.splitext(path)[1][1:].lower()
    if form not in ("svg", "png", "pdf"):
        raise lib.ArgumentError(f"{path}: a name that ends in .svg, .png or .pdf was expected")
    script = _script()
    if not shutil.which("gnuplot"):
        raise RuntimeError("gnuplot was not found: install it (Debian: gnuplot-nox)")
    timed = [one for one in report.timed if one.name != "copy"]
    bars = [(i + 1, 0, one.name + (" (overhead)" if one.is_overhead else ""), one.name, "-",
             one.gbps, one.gbps * one.time_ns / one.time_hi_ns,
             one.gbps * one.time_ns / one.time_lo_ns, one.roof_ratio,
             _class_of(one.row_ulp_max, report.dtype), _words(one.row_ulp_max, report.dtype))
            for i, one in enumerate(timed)]
    settings = (("roof", next(one.gbps for one in report.timed if one.name == "copy"), "-"),
                ("fastest", max(one.gbps for one in timed), "-"),
                ("rough", min(1000, _NO_DIGIT[report.dtype] / 8), "-"),
                ("title", 0, f"LayerNorm of {report.rows} x {report.hidden} from Python: how fast, "
                 "how wrong"),
                ("subtitle", 0, f"{report.dtype}, {report.convention}, normal rows; beside each bar "
                 "GB/s and share of copy speed; overhead: most of it is the call"),
                ("footer", 0, "lnbench.bench"))
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "data"))
        _write(os.path.join(folder, "data/bench.tsv"),
               "place heading label kernel inside gbps lo hi share class error".split(), *bars)
        _write(os.path.join(folder, "data/bench_settings.tsv"), ("key", "number", "text"), *settings)
        _run_gnuplot(script, form, folder)
        made, draft = os.path.join(folder, f"bench.{form}.part"), f"{path}.{os.getpid()}.part"
        if not os.path.exists(made):
            raise RuntimeError("gnuplot failed: it left no drawing")
        shutil.copyfile(made, draft)
        os.replace(draft, path)
