"""Which function made the outputs of public reports, and what tolerance a test needs."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
except ImportError:
    sys.exit(77)
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import lnbench  # noqa: E402
from published_bugs import layernorm  # noqa: E402
from published_reports import REPORTS  # noqa: E402
import rmsnorm_functions as rms  # noqa: E402


class Functions(unittest.TestCase):
    def test_reports(self):
        for name, _, x, y, options, answer, first, words in REPORTS:
            with self.subTest(name):
                kept = np.float64 if options else np.float32  # what is printed is no float32
                found = lnbench.fingerprint(np.asarray(x, "f4"), np.asarray(y, kept), **{
                    key: np.asarray(value, "f4") if isinstance(value, list) else value
                    for key, value in options.items()})
                self.assertEqual(found.answer, answer, str(found))
                self.assertEqual([one.function for one in found.candidates[:1]],
                                 [first] * bool(first))
                for one in found.candidates:
                    self.assertRegex(one.function, words)

    def test_rmsnorms(self):
        cases = [(name, residual, y, "named", function)
                 for name, residual, y, function in rms.PROGRAMS] + rms.REPORTS
        self.assertEqual((len(rms.PROGRAMS), len(rms.REPORTS)), (16, 10))
        with tempfile.TemporaryDirectory() as folder:
            def kept(name, value):
                np.save(os.path.join(folder, name), rms.stored(value))
                return ["--" + name, os.path.join(folder, name + ".npy")]
            given = kept("x", rms.X) + kept("gamma", rms.W)
            residuals = kept("residual", rms.RESIDUAL)
            for name, residual, y, answer, function in cases:
                with self.subTest(name):
                    found = json.loads(subprocess.run(
                        [os.environ["LNBENCH_PROGRAM"], "fingerprint", "--json", *given,
                         *kept("y", y), *(residuals if residual is not None else [])],
                        capture_output=True).stdout)
                    self.assertEqual(found["answer"], answer)
                    self.assertEqual([one["function"] for one in found["candidates"][:1]],
                                     [function] * bool(function))

    def test_tolerance(self):
        x = np.random.default_rng(3).standard_normal((6, 9)).astype("f4")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.npy")
            np.save(path, x)
            wanted = json.loads(subprocess.run(
                [os.environ["LNBENCH_PROGRAM"], "eval", "--tolerance", "--x", path,
                 "--conventions", "tinyllm", "--json"], capture_output=True, check=True).stdout)
        made = lnbench.tolerance(x)
        self.assertEqual([made["rtol"], made["certain"], made["likely"], made["usual"]],
                         [wanted[0]["rtol"], *(one["atol"] for one in wanted[:3])])
        self.assertEqual(made["mistakes"], {one["implementation"]: one["atol"] or float("inf")
                                            for one in wanted[3:]})
        self.assertTrue(np.allclose(layernorm(x), lnbench.reference(x), made["rtol"],
                                    made["likely"]))
        self.assertTrue(0 < 2 * made["usual"] < made["likely"])


if __name__ == "__main__":
    unittest.main(verbosity=1)
