"""Builds the wheel for `pip install ./python` (PEP 517): C libraries and program by CMake, beside the package.

It uses the build in LNBENCH_BUILD, or in build/release, or else compiles. It needs only Python's standard library.
"""
import base64
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
FILES = ("lib/liblnjudge.so.0", "lib/liblayernorm.so", "bin/lnbench", "bin/lnbench-worker")
VERSION = "0.1.0"
INFO = f"lnbench-{VERSION}.dist-info/"
METADATA = f"""Metadata-Version: 2.1
Name: lnbench
Version: {VERSION}
Summary: A certified reference and a judge of LayerNorm and RMSNorm kernels
License: Apache-2.0
Requires-Python: >=3.9
Requires-Dist: numpy
Provides-Extra: bf16
Requires-Dist: ml_dtypes; extra == "bf16"
Description-Content-Type: text/markdown

"""


def _say(words):
    """Prints to the terminal, since pip hides the output of a build unless it fails."""
    try:
        with open("/dev/tty", "w", encoding="utf-8") as terminal:
            print("lnbench:", words, file=terminal)
    except OSError:
        print("lnbench:", words)


def _build(folder):
    """Returns a CMake build that has FILES: an existing one, or else a new one in `folder`."""
    there = os.environ.get("LNBENCH_BUILD", os.path.join(ROOT, "build", "release"))
    if all(os.path.exists(os.path.join(there, file)) for file in FILES):
        _say(f"uses the build in {there}")
        return there
    _say("compiling liblnjudge, liblayernorm and the program lnbench (about two minutes on two cores)")
    ninja = ["-G", "Ninja"] if shutil.which("ninja") else []
    try:
        subprocess.check_call(["cmake", "-S", ROOT, "-B", folder, *ninja, "-DCMAKE_BUILD_TYPE=Release",
                               "-DLNBENCH_TESTS=OFF", "-DLNBENCH_PEERS=OFF"])
        subprocess.check_call(["cmake", "--build", folder, "--parallel", "--target", "lnjudge",
                               "layernorm", "lnbench", "lnbench-worker"])
    except (OSError, subprocess.CalledProcessError) as failed:
        with open(os.path.join(ROOT, "cmake", "packages.txt"), encoding="utf-8") as table:
            packages = " ".join(line.split("|")[1].strip() for line in table if line.startswith("run "))
        sys.exit(f"lnbench was not compiled: {failed}\nOn Debian, install what it needs: apt-get install {packages}")
    return folder


class _Wheel:
    """A wheel for every Python 3 of this platform, since nothing is compiled against Python."""

    def __init__(self, directory):
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        self.tag = f"py3-none-{platform}"
        self.name = f"lnbench-{VERSION}-{self.tag}.whl"
        self.file = zipfile.ZipFile(os.path.join(directory, self.name), "w")
        self.record = ""

    def copy(self, path, name):
        with open(path, "rb") as file:  # from_file() keeps the mode, so that programs stay executable
            self.add(name, file.read(), zipfile.ZipInfo.from_file(path, name))

    def add(self, name, content, entry=None):
        self.file.writestr(entry or name, content, zipfile.ZIP_DEFLATED)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.record += f"{name},sha256={digest},{len(content)}\n"

    def folder(self, path, name):
        for file in sorted(os.listdir(path)):
            if os.path.isfile(os.path.join(path, file)):
                self.copy(os.path.join(path, file), f"{name}/{file}")

    def close(self):
        self.file.writestr(INFO + "RECORD", self.record + INFO + "RECORD,,\n")
        self.file.close()


def build_wheel(directory, _settings=None, _metadata=None):
    wheel = _Wheel(directory)
    with tempfile.TemporaryDirectory() as work:
        made = _build(os.path.join(work, "cmake"))
        for file in FILES:
            stripped = os.path.join(work, "stripped")
            shutil.copy(os.path.join(made, file), stripped)
            subprocess.check_call(["strip", stripped])
            wheel.copy(stripped, "lnbench/_native/" + file)
    wheel.folder(os.path.join(HERE, "lnbench"), "lnbench")
    for folder in ("plots", "reference/worst"):  # the program expects them there
        wheel.folder(os.path.join(ROOT, folder), "lnbench/_native/share/lnbench/" + os.path.basename(folder))
    with open(os.path.join(ROOT, "docs", "python.md"), encoding="utf-8") as readme:
        wheel.add(INFO + "METADATA", (METADATA + readme.read()).encode())
    wheel.add(INFO + "WHEEL", b"Wheel-Version: 1.0\nGenerator: lnbench\nRoot-Is-Purelib: false\n"
              + f"Tag: {wheel.tag}\n".encode())
    wheel.close()
    return wheel.name
