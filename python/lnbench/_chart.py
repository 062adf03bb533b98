"""A BenchReport as the chart `field`, which lnbench draws."""
import math
import os
import shutil
import subprocess
import tempfile

from . import _library as lib
from .__main__ import program

_NO_DIGIT = {"f32": 2.0 ** 23, "f64": 2.0 ** 52, "f16": 2.0 ** 10, "bf16": 2.0 ** 7}

_QUOTES = {ord("'"): "\u2019", ord('"'): "\u201d"}  # gnuplot's own, in a table and in a tip


def _class_of(row_ulp, dtype):
    """The error classes of harness/store/standing.h."""
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


def _run_program(folder):
    """lnbench draws its own charts so: an environment for gnuplot, a deadline, whole files or none."""
    path = program()
    if not path:
        raise RuntimeError("the program lnbench, which draws charts, was not found: install the package, "
                           "or name the program in LNBENCH_PROGRAM")
    done = subprocess.run([path, "report", "--draw", "field", "--out", folder], capture_output=True,
                          stdin=subprocess.DEVNULL, check=False)
    words = " ".join(done.stderr.decode(errors="replace").split())
    if done.returncode or words:
        raise RuntimeError(words or f"lnbench report --draw ended with {done.returncode}")


def draw(report, path):
    """Writes the chart; the file's name ends in .svg, .png or .pdf."""
    form = os.path.splitext(path)[1][1:].lower()
    if form not in ("svg", "png", "pdf"):
        raise lib.ArgumentError(f"{path}: a name that ends in .svg, .png or .pdf was expected")
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
        _write(os.path.join(folder, "data/field.tsv"),
               "place heading label kernel inside gbps lo hi share class error".split(), *bars)
        _write(os.path.join(folder, "data/field_settings.tsv"), ("key", "number", "text"), *settings)
        _run_program(folder)
        draft = f"{path}.{os.getpid()}.part"
        shutil.copyfile(os.path.join(folder, f"field.{form}"), draft)
        os.replace(draft, path)
