"""Compares the bits of the package with the C program's; tests its messages about wrong functions and arguments.

usage: test_lnbench.py [TEST...], with the tested files in LNBENCH_LNJUDGE, LNBENCH_LIBRARY and
LNBENCH_PROGRAM
"""
import functools
import json
import os
import pickle
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]
try:
    import numpy as np
except ImportError:
    print("skipped: NumPy for Python 3 is not there (python3-numpy)")
    sys.exit(77)
import lnbench
import run_notebook
from published_bugs import BUGS, EPS, layernorm
from seed_programs import PROGRAMS
from wrong_layernorms import RIGHT, STATE, WRONG

PROGRAM = os.environ["LNBENCH_PROGRAM"]
os.environ["LNBENCH_PEERS"] = "0"


def tensors(rows=9, hidden=40, dtype="f4", scale=1.0):
    draw = np.random.default_rng(5).standard_normal
    return tuple((draw(shape) * size).astype(dtype) for shape, size in
                 (((rows, hidden), scale), (hidden, 1), (hidden, 1)))


class WithProgram(unittest.TestCase):
    """Numbers equal the C program's."""

    def run_program(self, command, expected=(0,), **options):
        with tempfile.TemporaryDirectory() as folder:
            arguments = [PROGRAM, command]
            for name, value in options.items():
                if isinstance(value, np.ndarray):
                    path = os.path.join(folder, name + ".npy")
                    np.save(path, value)
                    value = path
                arguments += ["--" + name.replace("_", "-")] + ([] if value is True
                                                               else [str(value)])
            out = os.path.join(folder, "out.npy")
            if options.get("reference"):
                arguments += ["--out", out]
            done = subprocess.run(arguments + ["--format", "json"], capture_output=True, text=True)
            self.assertIn(done.returncode, expected, done.stderr)
            made = np.load(out) if os.path.exists(out) else None
            return json.loads(done.stdout), made

    def test_reference(self):
        for type_, dtype, scale in (("f32", "f4", 1), ("f64", "f8", 1e-3), ("f16", "f2", 1),
                                    ("bf16", "u2", 1)):
            x, gamma, beta = tensors(dtype="f4" if type_ == "bf16" else dtype, scale=scale)
            if type_ == "bf16":
                x = (x.view(np.uint32) >> 16).astype(np.uint16)
            parameters = [p.astype("f8" if type_ == "f64" else "f4") for p in (gamma, beta)]
            for convention, roles in (("torch", ("gamma", "beta")), ("llama", ("gamma",)), ("candle", ("gamma",)),
                                      ("ddof=1,eps=1e-3@std,affine=vector", ("gamma", "beta"))):
                given = dict(zip(roles, parameters))
                _, wanted = self.run_program("eval", x=x, **given, reference=True, dtype=type_,
                                             conventions=convention)
                made = lnbench.reference(x, *given.values(), convention=convention,
                                         dtype=type_).view(wanted.dtype)
                np.testing.assert_array_equal(made, wanted)

    def test_residual_and_no_parameters(self):
        x, residual = tensors()[0], tensors(scale=3.0)[0]
        _, wanted = self.run_program("eval", x=x, residual=residual, reference=True,
                                     conventions="tinyllm")
        np.testing.assert_array_equal(lnbench.reference(x, residual=residual), wanted)

    def test_metrics_and_verdict(self):
        x, gamma, beta = tensors(30, 300)
        right = layernorm(x, gamma, beta)
        wrong = right.copy()
        wrong[7, 11] += 1
        quotient = lnbench.reference(x, gamma, beta, convention="ddof=0,eps=1e-5@quotient,affine=vector")
        for y in (right, quotient, wrong):
            wanted, _ = self.run_program("eval", expected=(0, 5), x=x, gamma=gamma, beta=beta, y=y)
            report = lnbench.judge_output(x, y, gamma, beta)
            made = report.cases[0].to_dict()
            for key in ("operation", "kernel", "convention", "rows", "hidden", "dtype", "verdict",
                        "reason", "detail"):
                self.assertEqual(made[key], wanted[key], key)
            for key, value in wanted["metrics"].items():
                self.assertEqual(made["metrics"][key], value, key)
            self.assertGreater(len(wanted["metrics"]), 15)
            self.assertEqual(report.to_dict()["function"], wanted["function"])
            self.assertEqual("function  named: ddof" in str(report), y is quotient)
        self.assertFalse(report.passed)
        self.assertEqual(report.worst.number, 7)
        np.testing.assert_array_equal(report.worst.x, x[7])
        self.assertEqual(json.loads(report.to_json())["passed"], False)

    def test_fingerprint(self):
        x, gamma, beta = tensors(6, 9, scale=0.01)
        cases = [({"gamma": gamma, "beta": beta}, layernorm(x, gamma, beta), {}),
                 ({}, np.round(layernorm(np.round(x, 4)).astype("f8"), 4), {"digits": 4})]
        for parameters, y, options in cases:
            given = np.round(x, 4) if options else x
            wanted, _ = self.run_program("fingerprint", x=given, y=y, **parameters, **options)
            self.assertIn(wanted["candidates"][0]["function"], ("torch", "tinyllm"))
            made = json.loads(lnbench.fingerprint(given, y, **parameters, **options).to_json())
            self.assertEqual(made, wanted)

    def test_program_through_python(self):
        done = subprocess.run([sys.executable, "-m", "lnbench", "--version"], capture_output=True,
                              text=True, env={**os.environ, "PYTHONPATH": os.path.dirname(HERE)})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(lnbench.__version__, done.stdout)


def wrong_dtype(x, gamma, beta):
    return layernorm(x, gamma, beta).astype("f2")


def writes_input(x, gamma, beta):
    x -= x.mean(-1, keepdims=True)
    return layernorm(x, gamma, beta)


def leaves(x, gamma, beta):
    sys.exit(3)


def random(x, gamma, beta):
    return layernorm(x, gamma, beta) + np.random.random(x.shape).astype("f4")


def crashes(x, gamma, beta):
    os.abort()


def hangs(x, gamma, beta):
    time.sleep(3600)


def boom(*_):
    raise RuntimeError("boom")


def raiser(made):
    """Returns a function that raises the result of made()."""
    def fn(x, gamma, beta):
        raise made()
    return fn


def strange(base=object, called="Strange", **members):
    return type(called, (base,), members)


def opens_no_more(x, gamma, beta):
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
    return layernorm(x, gamma, beta, 1e-5)


def closes_and_sleeps(x, gamma, beta):
    os.closerange(3, 4096)
    time.sleep(3600)


left = []


def leaves_a_child(x, gamma, beta):
    if not left:
        left.append(os.fork())
        if left[0] == 0:
            time.sleep(3600)
            os._exit(0)
        with open(os.environ["LNBENCH_CHILD"], "w", encoding="ascii") as file:
            file.write(str(left[0]))
    return layernorm(x, gamma, beta)


kept = []


def keeps(x, gamma, beta):
    kept.append(x)
    return layernorm(x, gamma, beta)


class Verdicts(unittest.TestCase):
    def test_right(self):
        report = lnbench.judge(layernorm_2d, hidden=64, only=True)
        self.assertTrue(report.passed, str(report))
        self.assertIn("layernorm_2d: pass", str(report))
        self.assertEqual(report.to_dict()["verdict"], "pass")
        self.assertEqual(pickle.loads(pickle.dumps(report)).verdict, "pass")

    def test_wrong(self):
        for fn, reason, sentence in (
                (lambda x, g, b: x[:, :1], "wrong-shape", "the result must have the input's shape"),
                (wrong_dtype, "wrong-dtype", "it returned f16 where f32 was given"),
                (writes_input, "input-modified", "wrote to its input x"),
                (boom, "raised", "RuntimeError: boom"),
                (leaves, "raised", "SystemExit: 3"),
                (lambda *_: None, "wrong-type", "dtype object"),
                (random, "nondeterministic", "")):
            report = lnbench.judge(fn, hidden=64, only=True)
            self.assertFalse(report.passed, fn.__name__)
            self.assertEqual((report.verdict, report.reason), ("fail", reason))
            self.assertIn(sentence, report.says())

    def test_isolated(self):
        for fn, said in ((crashes, "fail (crashed: SIGABRT)"), (hangs, "fail (timeout: ")):
            report = lnbench.judge(fn, hidden=64, isolate=True, deadline=0.5)
            self.assertTrue(report.says().startswith(said), report.says())
        self.assertEqual("nondeterministic", lnbench.judge(random, hidden=64, only=True, isolate=True).reason)

    def test_never_raises(self):
        """judge() never raises, even if an exception, a callable or an answer raises when it is inspected."""
        escape = "\x1b]0;x\x07\x9b31m\u202e\u2066\ud800"
        made = [strange(BaseException, __str__=what) for what in
                (boom, lambda self: None, lambda self: escape)]
        made += [strange(Exception, "E" + escape[:-1]), SystemExit, GeneratorExit,
                 lambda: ValueError("x" * (1 << 24))]
        for one in made:
            for isolate in (False, True):
                report = lnbench.judge(raiser(one), hidden=8, only=True, isolate=isolate)
                self.assertEqual(report.reason, "raised")
                self.assertTrue(report.says().isprintable(), ascii(report.says()))
                self.assertLess(len(report.says()), 200)
        for name in ("__class__", "__name__", "__module__", "name", "framework", "__signature__",
                     "__repr__", "__getattribute__", "__bool__", "__eq__", "__hash__"):
            kind = strange(__call__=lambda self, x, gamma, beta: layernorm(x, gamma, beta),
                           **{name: boom if name in dir(object) and name != "__class__"
                              else property(boom)})
            report = lnbench.judge(kind(), hidden=256, only=True, step=60)
            self.assertTrue(report.passed, f"{name}: {report.says()}")
        kind = strange(__call__=boom, __repr__=lambda self: escape)
        self.assertTrue(all(line.isprintable() for line in str(
            lnbench.judge(kind(), hidden=8, only=True)).split("\n")))
        for answer in (strange(__class__=property(boom)), strange(__array__=boom),
                       strange(__dlpack__=boom), strange(__getattribute__=boom), mock.MagicMock):
            report = lnbench.judge(lambda x, g, b, answer=answer: answer(), hidden=8, only=True)
            self.assertFalse(report.passed)

    def test_isolated_from_its_process(self):
        for fn, reason in ((closes_and_sleeps, "timeout"), (opens_no_more, "")):
            report = lnbench.judge(fn, hidden=8, only=True, isolate=True, deadline=1)
            self.assertEqual(report.reason, reason, report.says())
        with tempfile.TemporaryDirectory() as folder:
            os.environ["LNBENCH_CHILD"] = os.path.join(folder, "child")
            report = lnbench.judge(leaves_a_child, hidden=8, only=True, isolate=True, deadline=30)
            self.assertTrue(report.passed, report.says())
            with open(os.environ["LNBENCH_CHILD"], encoding="ascii") as file:
                child = int(file.read())
        for _ in range(200):  # it is killed, but reaped by another process
            state = subprocess.run(["ps", "-o", "stat=", "-p", str(child)], capture_output=True,
                                   text=True).stdout
            if state[:1] in ("", "Z"):
                break
            time.sleep(0.02)
        self.assertIn(state[:1], ("", "Z"), "the child that it left is still there")

    def test_what_it_keeps_stays_its_own(self):
        first = lnbench.judge(keeps, hidden=8, only=True).worst.x
        self.assertTrue(any(np.array_equal(row, first) for x in kept for row in x))

    def test_signatures(self):
        """Arguments are bound by the names of parameters, and the report describes it."""
        def shape(x, normalized_shape, weight=None, bias=None, eps=1e-5):
            return layernorm(x, weight, bias, np.float32(eps)) if normalized_shape == x.shape[-1:] else x

        def eps_first(x, eps=EPS, *, gamma=1, beta=0):
            return layernorm(x, gamma, beta, eps)

        @functools.wraps(shape)
        def wrapped(*arguments):
            return shape(*arguments)

        class Object:
            def __call__(self, hidden_states, bias=0, weight=1):
                return layernorm(hidden_states, weight, bias)
        shaped = r"normalized_shape gets \(hidden,\)"
        for number, (fn, fact) in enumerate((
                (shape, shaped), (wrapped, shaped), (eps_first, ""), (Object(), ""),
                (functools.partial(shape, normalized_shape=(257,)), ""), (lambda x: layernorm(x), ""),
                (lambda x, *, weight, bias: layernorm(x, weight, bias), ""),
                (lambda x, bias, weight: layernorm(x, weight, bias), ""),
                (lambda x, shift, /, scale: layernorm(x, scale, shift), ""),
                (lambda weight, bias, input: layernorm(input, weight, bias), ""),
                (lambda x, eps, w, b: layernorm(x, w, b, np.float32(eps)), "eps gets 1e-05"),
                (lambda x, axis=-1, g=1, b=0: layernorm(x, g, b), ""), (lambda x, w: layernorm(x, w), ""),
                (lambda *all_: layernorm(*all_), ""), (lambda x, *more: layernorm(x, *more), ""),
                (lambda a, c, d: layernorm(a, c, d), ""), (lambda x, eps=EPS: layernorm(x, eps=eps), ""),
                (lambda x, p=1, q=0: layernorm(x, p, q), "gets no gamma and no beta: p, q keep their defaults"),
                (lambda x, weight, residual=None: layernorm(x, weight), ""),
                (lambda x, g, b: (layernorm(x, g, b), 0), "returns a tuple of 2: its first element was judged"))):
            report = lnbench.judge(fn, hidden=257, only=True, step=60)
            self.assertTrue(report.passed, f"{number}: {report}")
            self.assertRegex("; ".join(report.facts), f"^{fact}$", number)
        for fn, words in ((lambda x, **more: x, "unknown which arguments are gamma and beta"), (lambda x, b: x, "no parameter for gamma"),
                          (lambda weight, bias: bias, "no parameter for x"), (lambda *, eps: 0, "no parameter for x"),
                          (lambda x, weight, bias, residual: x, "the meaning of residual is unknown"), (lambda x, p, q, r: x, "the meaning of r is unknown")):
            with self.assertRaisesRegex(lnbench.ArgumentError, words + ".* wrap it, for example lambda x, gamma, beta"):
                lnbench.judge(fn)
        # 1e-5 rounded to f32 is another eps, which is detected in f64.
        for eps, passed in ((EPS, False), (1e-5, True)):
            self.assertEqual(lnbench.judge(lambda x, g: layernorm(x, g, 0, eps), hidden=257, dtype="f64",
                                           only=True, step=60).passed, passed)

    def test_wants_torch(self):
        """A function of torch tensors gets a hint, and its exception is printed once."""
        for fn in (lambda x: x.mean(dim=-1), lambda x: x.pow(2), lambda x: x.mean(-1, keepdim=True)):
            report = lnbench.judge(fn, hidden=8, only=True)
            self.assertEqual(report.reason, "raised")
            self.assertEqual(str(report).count('use framework="torch"'), 1)
            self.assertEqual(str(report), report.explain())
            self.assertLessEqual(len(str(report).split("\n")), 6)

    def test_interrupt(self):
        calls = []

        def fn(x, gamma, beta):
            calls.append(1)
            if len(calls) == 50:
                signal.raise_signal(signal.SIGINT)
            return layernorm(x, gamma, beta)
        with self.assertRaises(KeyboardInterrupt):
            lnbench.judge(fn, hidden=64)
        self.assertEqual(len(calls), 50)

    def test_interrupt_outside_of_the_function(self):
        calls = []

        def called(rows, hidden):
            calls.append(rows)
            if len(calls) == 30:
                signal.raise_signal(signal.SIGINT)
        with self.assertRaises(KeyboardInterrupt):
            lnbench.judge(layernorm_2d, hidden=64, only=True, on_call=called)
        self.assertEqual(len(calls), 30)
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_failures_end_the_judgement(self):
        wrong, right = [], []
        self.assertFalse(lnbench.judge(lambda x, g, b: 0 * x, hidden=8, only=True, on_call=lambda *shape: wrong.append(shape)).passed)
        lnbench.judge(layernorm_2d, hidden=8, only=True, on_call=lambda *shape: right.append(shape))
        self.assertLess(4 * len(wrong), len(right))

    def test_interrupt_of_the_reference(self):
        calls, call = [], lnbench._library.call

        def interrupts(*arguments):
            calls.append(1)
            if len(calls) == 2:
                signal.raise_signal(signal.SIGINT)
            return call(*arguments)
        with mock.patch.object(lnbench._library, "call", interrupts):
            with self.assertRaises(KeyboardInterrupt):
                lnbench.reference(np.ones((1 << 8, 1024), "f4") * np.arange(1024, dtype="f4"))


def layernorm_2d(x, gamma, beta):
    return layernorm(x, gamma, beta)


class Arguments(unittest.TestCase):
    def refused(self, pattern, fn, *arguments, **options):
        with self.assertRaisesRegex(lnbench.ArgumentError, pattern):
            fn(*arguments, **options)

    def test_refused(self):
        x, gamma, beta = tensors(3, 4)
        self.refused("dtype int64: use float32", lnbench.reference, x.astype(int))
        self.refused(r"shape \(0, 4\): it needs at least one row", lnbench.reference, x[:0])
        self.refused(r"shape \(\): it needs at least one row", lnbench.reference, x[0, 0])
        self.refused(r"gamma has shape \(3,\): it must have shape \(4,\)", lnbench.reference, x, gamma[:3], beta)
        self.refused("beta has dtype f64, but gamma has f32", lnbench.reference, x, gamma, beta.astype("f8"))
        self.refused(r"y has shape \(2, 4\), but x has \(3, 4\)", lnbench.judge_output, x, x[:2])
        self.refused("y has dtype f64, but x has f32", lnbench.judge_output, x, x.astype("f8"))
        self.refused("unknown convention 'trch'", lnbench.reference, x, convention="trch")
        self.refused("affine=none: give no gamma", lnbench.reference, x, gamma, beta,
                     convention="tinyllm")
        self.refused("fn is of type int: it must be callable", lnbench.judge, 3)
        self.refused("hidden is 0: it must be a whole number", lnbench.judge, layernorm_2d, hidden=0)
        self.refused("dtype i4", lnbench.judge, layernorm_2d, dtype="i4")
        self.refused("takes no argument", lnbench.judge, lambda: 0)
        self.refused("x is a masked array", lnbench.reference, np.ma.masked_greater(x, 0))
        self.refused(r"gamma has shape \(2, 2\)", lnbench.reference, x, gamma.reshape(2, 2), beta)
        self.refused("x has dtype f32, but dtype='f64' was given", lnbench.reference, x, dtype="f64")
        self.refused("dtype None", lnbench.judge, layernorm_2d, dtype=None)
        for name, wrong in (("hidden", 3.5), ("hidden", 1 << 70), ("hidden", True), ("seed", -1),
                            ("max_row_ulp", "a"), ("max_row_ulp", np.nan), ("deadline", -1)):
            self.refused(f"^{name} ", lnbench.judge, layernorm_2d, **{name: wrong})
        self.refused("framework 'tf'", lnbench.judge, layernorm_2d, framework="tf")
        self.refused("digits is 99: it must be a whole number from 0 to 17", lnbench.fingerprint, x, x, digits=99)

    def test_any_layout(self):
        x, gamma, beta = tensors(6, 8)
        wanted = lnbench.reference(np.ascontiguousarray(x[::2, ::-1]), gamma, beta)
        frozen = x.copy()
        frozen.flags.writeable = False
        np.testing.assert_array_equal(lnbench.reference(frozen[::2, ::-1], gamma, beta), wanted)
        np.testing.assert_array_equal(lnbench.reference(np.asfortranarray(x)[::2, ::-1], gamma,
                                                        beta), wanted)
        swapped = (a.astype(">f4") for a in (np.ascontiguousarray(x[::2, ::-1]), gamma, beta))
        np.testing.assert_array_equal(lnbench.reference(*swapped), wanted)
        self.assertEqual(lnbench.reference(memoryview(x.reshape(2, 3, 8))).shape, (2, 3, 8))

    def test_nan(self):
        x, gamma, beta = tensors(2, 4)
        x[1, 2] = np.nan
        y = lnbench.reference(x, gamma, beta)
        self.assertTrue(np.isfinite(y[0]).all() and np.isnan(y[1]).all())

    def test_other_types(self):
        try:
            import ml_dtypes
        except ImportError:
            self.refused("bf16 in NumPy needs ml_dtypes", lnbench.judge, layernorm_2d,
                         dtype="bf16")
        else:
            x = tensors()[0].astype(ml_dtypes.bfloat16)
            self.assertEqual(lnbench.reference(x).dtype, ml_dtypes.bfloat16)

    def test_rmsnorm(self):
        def rms(x, weight, offset=0, eps=2.0**-23, fewer=0, centred=False):
            wide = x.astype("f8")
            if centred:
                wide = wide - wide.mean(-1, keepdims=True)
            root = np.sqrt((wide ** 2).sum(-1, keepdims=True) / (x.shape[-1] - fewer) + eps)
            return (wide / root * (offset + weight.astype("f8"))).astype(x.dtype)
        report = lnbench.judge(rms, operation="rmsnorm", hidden=96, only=True)
        self.assertTrue(report.passed, report)
        self.assertEqual(report.cases[0].to_dict()["operation"], "rmsnorm")
        lnbench.assert_rmsnorm(lambda x, w: rms(x, w, 1, 1e-6), convention="gemma", hidden=96, only=True)
        for wrong, words in (({"centred": True}, "subtracts the mean"), ({"offset": 1}, "1 [+] weight"),
                             ({"eps": 0}, "leaves eps out"), ({"fewer": 1}, "N - 1")):
            with self.assertRaisesRegex(AssertionError, words):
                lnbench.assert_rmsnorm(lambda x, w: rms(x, w, **wrong), hidden=(64, 96), only=True)
        self.refused("is one of layernorm, but operation is rmsnorm", lnbench.judge, rms, operation="rmsnorm", convention="torch")
        self.refused("choose layernorm or rmsnorm", lnbench.judge, rms, operation="rms")
        self.refused("RMSNorm has no beta", lnbench.reference, *tensors(), convention="llama")

    def test_modules_of_rmsnorm(self):
        """The conventions for modules with these names and attributes, without torch."""
        from lnbench._judge import Subject
        weight = mock.Mock(shape=(96,), data=None)
        weight.numel.return_value = 96
        for name, home, attributes, wanted in (
                ("RMSNorm", "torch.nn.modules.normalization", {"eps": None}, "torch-rms"),
                ("RMSNorm", "torch.nn.modules.normalization", {"eps": 1e-5}, "ggml"),
                ("LlamaRMSNorm", "transformers", {"variance_epsilon": 1e-5}, "llama"),
                ("Gemma2RMSNorm", "transformers", {"eps": 1e-6}, "gemma"),
                ("LayerNorm", "torch.nn.modules.normalization", {"eps": 1e-5}, "torch-nobias")):
            base = type("Module", (), {"__module__": "torch.nn.modules.module", "__call__": lambda self, x: x,
                                       "named_parameters": lambda self: [("weight", weight)]})
            module = type(name, (base,), {"__module__": home, "normalized_shape": (96,), **attributes})()
            self.assertEqual(lnbench._library.label_of(Subject(module, None, None).wanted), wanted)

        plain = type("RMSNorm", (), {"__call__": lambda self, x, weight: x})()
        self.assertEqual(lnbench._library.label_of(Subject(plain, None, None).wanted), "torch-rms")

    def test_torch(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not there")
        class Scalars(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.alpha = torch.nn.Parameter(torch.ones(1))
                self.bias = torch.nn.Parameter(torch.zeros(1))

            def forward(self, x):
                mean, std = x.mean(dim=-1, keepdim=True), x.std(dim=-1, keepdim=True)
                return self.alpha * (x - mean) / (std + 1e-5) + self.bias

        class Other(Scalars):
            def __init__(self):
                super().__init__()
                self.more = torch.nn.Parameter(torch.ones(1))
        module = torch.nn.LayerNorm(96, eps=1e-6)
        weight = module.weight
        self.assertTrue(lnbench.judge(module).passed)
        self.assertFalse(lnbench.judge(module, convention="torch").passed)
        self.assertTrue(module.weight is weight and bool((weight == 1).all()))
        self.assertTrue(lnbench.judge(torch.nn.LayerNorm(96, elementwise_affine=False)).passed)
        self.assertTrue(lnbench.judge(Scalars(), convention="scalar-std", hidden=96,
                                      only=True).passed)
        self.refused("parameters alpha, bias, more", lnbench.judge, Other())
        if hasattr(torch.nn, "RMSNorm"):  # from 2.4 on
            self.assertTrue(lnbench.judge(torch.nn.RMSNorm(96)).passed)
            self.assertTrue(lnbench.judge(torch.nn.RMSNorm(96, eps=1e-6, elementwise_affine=False)).passed)
        x = torch.from_numpy(tensors()[0])
        self.assertEqual(lnbench.reference(x.bfloat16()).dtype, torch.bfloat16)


class Published(unittest.TestCase):
    def options(self, name):
        """Two sizes are enough to name a mistake; some faults need others, and the last two need all."""
        sizes = {"no tail": (61, 86), "the axis by shape": (128, 256), "rows beyond 2100": (16, 24)}
        return {"hidden": sizes.get(name, (64, 96)), "only": name not in ("hidden 4097 to 8191, even", "tt-metal#27126")}

    def test_bugs(self):
        for name, (bug, own_test_passes, options, words) in BUGS.items():
            with self.subTest(name):
                self.assertTrue(own_test_passes(bug), "its own test would have found it")
                with self.assertRaisesRegex(AssertionError, words) as caught:
                    lnbench.assert_layernorm(bug, **self.options(name), **options)
                self.assertIn("repeat    lnbench.judge(", str(caught.exception))

    def test_wrong(self):
        for name, (fn, words) in WRONG.items():
            with self.subTest(name):
                STATE.clear()
                with self.assertRaisesRegex(AssertionError, words) as caught:
                    lnbench.assert_layernorm(fn, **self.options(name))
                lines = str(caught.exception).split("\n")
                self.assertLessEqual(len(lines), 6)
                repeat = lines[-1].replace(lines[-1].split("(")[1].split(",")[0], "fn", 1)
                self.assertRegex(repeat, r"^repeat    lnbench.judge\(fn, .*, step=\d+\)$")
                again = eval(repeat.split("    ")[1])  # pylint: disable=eval-used
                self.assertFalse(again.passed and name not in ("seldom", "gamma of the first call"))

    def test_right(self):
        for name, (fn, fact) in RIGHT.items():
            with self.subTest(name):
                report = lnbench.judge(fn, hidden=64, only=True)
                self.assertTrue(report.passed, str(report))
                self.assertRegex("; ".join(report.facts), f"^{fact}$")
        lnbench.assert_layernorm(layernorm, hidden=128, only=True)
        self.assertRaises(AssertionError, lnbench.assert_layernorm, layernorm, 4, hidden=128, only=True)
        report = lnbench.judge(layernorm, max_row_ulp=4, hidden=128, only=True)
        self.assertTrue("exceeds max_row_ulp 4" in report.says() and report.worst, report)

    def test_seeds(self):
        x, gamma, beta = tensors(8, 16, scale=0.003)
        parameters = {"": (), "vector": (gamma, beta), "scalar": (gamma[:1], beta[:1])}
        for program, form, convention in PROGRAMS:
            found = lnbench.fingerprint(x, program(x, *parameters[form]), *parameters[form])
            self.assertIn(convention, [one.function for one in found.candidates], program.__name__)

    def test_notebook(self):
        run_notebook.run(os.path.join(HERE, "..", "..", "docs", "lnbench.ipynb"))


if __name__ == "__main__":
    unittest.main(verbosity=1)
