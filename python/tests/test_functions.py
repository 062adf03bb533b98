"""Finds the functions that made the outputs of public reports, and the tolerance that a test needs."""
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
                kept = np.float64 if options else np.float32  # printed decimals are no float32 numbers
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

    def test_rounded_elsewhere(self):
        """Outputs within the error that bf16 allows for the assumed convention have all bits of another one."""
        with tempfile.TemporaryDirectory() as folder:
            given = []
            for name, value in (("x", rms.X), ("gamma", rms.W), ("y", rms.r16(rms.once(rms.X, rms.W, 1e-5)))):
                np.save(os.path.join(folder, name + ".npy"), rms.stored(value))
                given += ["--" + name, os.path.join(folder, name + ".npy")]
            for requested, other in (("llama", "ggml"), ("ggml", None),
                                 ("operation=rmsnorm,eps=1.00001e-5@square,weight=w", None)):
                said = subprocess.run(
                    [os.environ["LNBENCH_PROGRAM"], "eval", *given, "--dtypes", "bf16", "--conventions", requested],
                    capture_output=True, text=True, check=True).stdout
                self.assertEqual("function" in said, bool(other), said)
                self.assertIn("%s, not %s" % (other, requested) if other else "pass", said)

    def test_reference_of_a_rounded_weight(self):
        random = np.random.default_rng(4)
        x, w = random.standard_normal((8, 64)).astype("f2"), random.normal(0, .1, 64).astype("f2")
        weight = {"1+w": 1 + w.astype("f8"), "1+w-rounded": (1 + w.astype("f8")).astype("f2").astype("f8")}
        root = np.sqrt(np.mean(x.astype("f8") ** 2, axis=1, keepdims=True) + 1e-5)
        with tempfile.TemporaryDirectory() as folder:
            x_file, w_file, y_file = (os.path.join(folder, name + ".npy") for name in "xwy")
            np.save(x_file, x)
            np.save(w_file, w)
            for form, factor in weight.items():
                subprocess.run([os.environ["LNBENCH_PROGRAM"], "eval", "--reference", "--x", x_file, "--gamma",
                                w_file, "--conventions", "operation=rmsnorm,eps=1e-5@square,weight=" + form,
                                "--out", y_file], capture_output=True, check=True)
                self.assertEqual(np.mean(np.load(y_file) != (x / root * factor).astype("f2")), 0, form)

    # Computed once; the C program gave the same figures while it had such an option.
    TOLERANCES = {
        "llama": (1.3898271334789824e-05, 1.3898271334789824e-05, 1.954800371994379e-06, {
            "sums in bf16": 0.05416941961751772,
            "operation=rmsnorm,eps=1e-05@root,weight=w,cast=yes": 1.9538335877200552e-05,
            "no eps: operation=rmsnorm,weight=w,cast=yes": 2.975659635495731e-05,
            "operation=rmsnorm,eps=1e-05@square,weight=1+w,cast=yes": 2.733705747060853}),
        "tinyllm": (2.703793824494211e-05, 2.7037938433565606e-05, 5.14468092192141e-06, {
            "sums in bf16": 0.36711539462741377,
            "another divisor: ddof=1,eps=1e-05@var,affine=none": 0.1515750842887113,
            "ddof=0,eps=1e-05@std,affine=none": 1.2536547192745306e-05,
            "ddof=0,eps=1e-05@quotient,affine=none": 2.8408094841463004e-05,
            "no eps: ddof=0,eps=0,affine=none": 2.3395985275290848e-05})}

    def test_tolerance(self):
        x = np.random.default_rng(3).standard_normal((6, 9)).astype("f4")
        w = np.full(9, 1.5, "f4")
        for convention, given in (("llama", {"gamma": w}), ("tinyllm", {})):
            made = lnbench.tolerance(x, **given, convention=convention)
            *wanted, mistakes = self.TOLERANCES[convention]
            self.assertEqual(made["rtol"], 2.0 ** -23)
            for name, value in zip(("certain", "likely", "usual"), wanted):
                self.assertAlmostEqual(made[name] / value, 1, 9, (convention, name))
            self.assertEqual(set(made["mistakes"]), set(mistakes))
            for name, value in mistakes.items():
                self.assertAlmostEqual(made["mistakes"][name] / value, 1, 9, name)
        self.assertTrue(np.allclose(layernorm(x), lnbench.reference(x), made["rtol"],
                                    made["likely"]))
        self.assertTrue(0 < 2 * made["usual"] < made["likely"])


if __name__ == "__main__":
    unittest.main(verbosity=1)
