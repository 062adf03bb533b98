#!/bin/sh
# Installs the package into a virtual environment by pip, offline, and uses it from another folder.
# usage: run_install.sh PYTHON SOURCE BUILD
set -eu
python=$1 source=$2 build=$3
export PYTHONDONTWRITEBYTECODE=1
for module in numpy venv ensurepip pip; do
    "$python" -c "import $module" 2>/dev/null || { echo "skipped: $python has no $module"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv --system-site-packages "$work/env" >"$work/log" 2>&1 || {
    tail -3 "$work/log"
    echo "skipped: $python cannot make a virtual environment (python3-venv)"
    exit 77
}
mkdir "$work/wheels"
LNBENCH_BUILD=$build "$work/env/bin/pip" wheel --no-index --no-deps -w "$work/wheels" "$source/python" >"$work/log" 2>&1 || {
    cat "$work/log"
    exit 1
}
if LNBENCH_BUILD=/none CC=/no/compiler "$work/env/bin/pip" wheel --no-index --no-deps -w "$work/none" "$source/python" >"$work/log" 2>&1; then
    echo "compiled without a compiler" && exit 1
fi
grep -q 'lnbench was not compiled: .*' "$work/log" && grep -q 'apt-get install gcc .*libmpfr-dev' "$work/log"
"$work/env/bin/pip" install --no-index --no-deps "$work"/wheels/*.whl >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
bytes=$(wc -c <"$(find "$work/wheels" -name '*.whl')")
echo "the wheel has $bytes bytes"
[ "$bytes" -le 5000000 ]

cd "$work"
unset LNBENCH_PROGRAM LNBENCH_LNJUDGE PYTHONPATH
"$work/env/bin/python" -m lnbench list kernels >"$work/out"
grep -q two_pass "$work/out"
"$work/env/bin/python" - <<'END'
import os
import numpy as np
import lnbench
assert "site-packages" in lnbench.__file__
assert os.path.exists(os.path.join(os.path.dirname(lnbench.__file__), "py.typed"))
x = np.arange(12, dtype="f4").reshape(3, 4)
assert lnbench.judge_output(x, lnbench.reference(x)).passed
END
