"""lnbench's certified reference and judge of LayerNorm and RMSNorm for Python.

    import lnbench
    print(lnbench.judge(my_layernorm))                      # the verdict, the worst row, the call that repeats it
    lnbench.reference(x, gamma, beta, convention="bert")    # every element correctly rounded
    lnbench.fingerprint(x, y)                               # which function made y?
    lnbench.tolerance(x)                                    # rtol and atol for allclose
    lnbench.assert_layernorm(my_layernorm)                  # in a test
    lnbench.assert_rmsnorm(my_rmsnorm, convention="llama")
"""
from ._exact import fingerprint, judge_output, reference, tolerance
from ._judge import assert_layernorm, assert_rmsnorm, judge
from . import _library
from ._library import ArgumentError
from ._report import Case, FingerprintReport, Report, WorstRow

__version__ = _library.library.lnjudge_version().decode()
__all__ = ["ArgumentError", "Case", "FingerprintReport", "Report", "WorstRow", "assert_layernorm",
           "assert_rmsnorm", "fingerprint", "judge", "judge_output", "reference", "tolerance"]
