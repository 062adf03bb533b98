"""python3 -m lnbench: the C program, with all its subcommands."""
import os
import shutil
import sys


def main():
    """Runs the program in LNBENCH_PROGRAM, else that of this package, else the installed one."""
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_native", "bin", "lnbench")
    path = os.environ.get("LNBENCH_PROGRAM") or (own if os.path.exists(own) else shutil.which("lnbench"))
    if not path:
        sys.exit("lnbench: the program was not found: install the package, or set "
                 "LNBENCH_PROGRAM to its path")
    os.execv(path, ["lnbench", *sys.argv[1:]])


if __name__ == "__main__":
    main()
