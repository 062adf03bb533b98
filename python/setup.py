"""Builds the C libraries and the program with CMake and puts them into the package.

LNBENCH_BUILD names a CMake build of this repository that is there already.
"""
import os
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = ("lib/liblnjudge.so.0", "lib/liblayernorm.so", "bin/lnbench", "bin/lnbench-worker")


def build(scratch):
    """The CMake build's folder, with FILES in it."""
    made = os.environ.get("LNBENCH_BUILD")
    if not made:
        made = os.path.join(os.path.abspath(scratch), "cmake")
        ninja = ["-G", "Ninja"] if shutil.which("ninja") else []
        subprocess.check_call(["cmake", "-S", os.path.dirname(HERE), "-B", made, *ninja,
                               "-DCMAKE_BUILD_TYPE=Release", "-DLNBENCH_TESTS=OFF",
                               "-DLNBENCH_PEERS=OFF"])
        subprocess.check_call(["cmake", "--build", made, "--parallel", "--target", "lnjudge",
                               "layernorm", "lnbench", "lnbench-worker"])
    return made


class BuildWithCMake(build_py):
    def run(self):
        super().run()
        made = build(self.get_finalized_command("build").build_temp)
        for file in FILES:
            to = os.path.join(self.build_lib, "lnbench", "_native", file)
            os.makedirs(os.path.dirname(to), exist_ok=True)
            shutil.copy(os.path.join(made, file), to)
            subprocess.check_call(["strip", to])
        for folder in ("plots", "reference/worst"):  # where the program looks for them
            shutil.copytree(os.path.join(os.path.dirname(HERE), folder),
                            os.path.join(self.build_lib, "lnbench", "_native", "share", "lnbench",
                                         os.path.basename(folder)), dirs_exist_ok=True)


class Wheel(bdist_wheel):
    """Of this platform, for every Python 3: nothing is compiled against Python."""

    def get_tag(self):
        return ("py3", "none", super().get_tag()[2])


class WithLibraries(Distribution):
    def has_ext_modules(self):
        return True


setup(cmdclass={"build_py": BuildWithCMake, "bdist_wheel": Wheel}, distclass=WithLibraries)
