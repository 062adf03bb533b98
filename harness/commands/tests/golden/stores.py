"""The stores whose outputs are frozen: SYNTHETIC runs as `lnbench export --format jsonl` writes them.
Nothing here was measured. Figures come from +, -, * and / alone, so that they are the same bits
everywhere."""
import json, zlib

TIMING_KERNELS = {  # kernel: role, statistics, GB/s, row ULP on normal rows, source, version
    "library_fast_f32": ("library", "", 70.0, 3.0, "builtin", None),
    "library_accurate_f32": ("library", "", 60.0, 0.75, "builtin", None),
    "naive_f32_scalar": ("textbook", "naive", 9.0, 2.5, "builtin", None),
    "naive_f32_avx512": ("textbook", "naive", 66.0, 2.25, "builtin", None),
    "two_pass_f32_scalar": ("textbook", "two_pass", 8.0, 1.25, "builtin", None),
    "two_pass_f32_avx2": ("textbook", "two_pass", 48.0, 1.5, "builtin", None),
    "two_pass_f32_avx512": ("textbook", "two_pass", 58.0, 1.375, "builtin", None),
    "welford_f32_avx512": ("textbook", "welford", 21.0, 2.75, "builtin", None),
    "shifted_two_mean_fused_f32_avx512": ("", "shifted_two_mean", 76.0, 1.625, "builtin", None),
    "two_pass_wide_f32_acc_f64_avx512": ("", "two_pass_wide", 52.0, 0.5625, "builtin", None),
    "onednn_f32": ("", "onednn", 51.0, 1.75, "onednn", "oneDNN 3.8.0"),
    "pytorch_f32": ("", "pytorch", 24.0, 2.0, "pytorch", "PyTorch 1.13.0"),
    "mine_f32": ("", "", 64.0, 1.875, "mine.so", None),
}
A = {"time": "2026-03-01T10:00:00Z", "lnbench_version": "0.1.0", "git_commit": "a" * 40, "git_dirty": "no",
     "compiler": "gcc 12.2.0", "compiler_flags": "-O3 -ffp-contract=off", "build_type": "Release",
     "cpu_model": "SYNTHETIC A, NO MACHINE", "cpu_vendor": "AuthenticAMD", "cpu_family": "26",
     "cpu_model_number": "2", "l1d_bytes": "49152", "l2_bytes": "1048576", "l3_bytes": "33554432",
     "cores": "2", "architecture": "x86_64", "hypervisor": "none", "governor": "performance"}
B = dict(A, cpu_model="SYNTHETIC B, NO MACHINE", cpu_family="6", cpu_vendor="GenuineIntel", cores="8",
         l2_bytes="2097152", governor="powersave")
FORMER = {"copy": "roof_copy", "copy_nt": "roof_copy_nt"}  # whose figures are drawn from these words
NOISE = ["L1", "L2", "DRAM"]  # of A, for compare


def mixed(*words):
    """0 to 1, from the words alone."""
    return (zlib.crc32(repr(words).encode()) % 1024) / 1024


def kernel(name, role="", statistics="two_pass", source="builtin", version=None, io="f32", param=None,
           supported=True, reproducibility="row"):
    isa = next((isa for isa in ("scalar", "neon", "avx2", "avx512") if name.endswith(isa)), "")
    return {"type": "kernel", "name": name, "role": role, "statistics": statistics, "apply": "direct",
            "schedule": "plain", "io": io, "param": param or io, "acc": "f64" if "acc_f64" in name else "f32",
            "isa": isa, "unroll": 4, "supported": supported, "traits": [], "source": source, "version": version,
            "unsupported_because": None if supported else "no NEON on this CPU", "object_hash": "0" * 16,
            "bound": source == "builtin", "reproducibility": reproducibility if supported else None,
            "declared_reproducibility": reproducibility, "varies_with": ["isa"]}


def case(name, rows, hidden, input="normal", convention="torch", dtype="f32", cache="hot", threads=1):
    return {"type": "case", "operation": "layernorm", "kernel": name, "convention": convention, "rows": rows,
            "hidden": hidden, "dtype": dtype, "input": input, "cache": cache, "threads": threads,
            "verdict": None, "reason": "", "detail": "", "bound_row_ulp": None, "metrics": None,
            "further_metrics": None, "infinite": [], "measurements": []}


def judged(one, row_ulp, said="pass", detail="", limit=False, bound=64.0, kappa=1.0):
    """What is said: "pass", "unsupported", "missing", "no bound", or a reason of fail. An error of None: no
    element was finite, or none came out."""
    word, reason = (said, "") if said in ("pass", "unsupported", "missing") else (
        "pass" if said == "no bound" else "type-limited" if limit else "fail", said)
    one.update(verdict=word, reason=reason, detail=detail, bound_row_ulp=bound)
    if said in ("unsupported", "missing", "crashed", "timeout"):
        return one
    elements = min(one["rows"], 18) * one["hidden"]
    known = row_ulp is not None
    one["metrics"] = {name: row_ulp * factor if known else None for name, factor in (
        ("ulp_max", 16.0), ("ulp_mean", .625), ("ulp_rms", .875), ("ulp_p50", .5), ("ulp_p90", 1.25),
        ("ulp_p99", 4.0), ("ulp_bias", -.03125), ("row_ulp_max", 1.0), ("row_ulp_mean", .25),
        ("norm_max", 2.0 ** -24), ("rel_l2", 2.0 ** -26))}
    one["metrics"].update(correctly_rounded=.625 / (1 + row_ulp) if known else None,
                          bits=24 - row_ulp / 64 if known else None, elements=elements,
                          mismatches=0 if said != "wrong-class" else one["hidden"])
    one["further_metrics"] = {
        "mean_ulp_max": row_ulp / 2 if known else None, "rstd_ulp_max": row_ulp / 4 if known else None,
        "worst_row": 3, "worst_column": 7, "worst_computed": "0x1.8p+0", "worst_exact": "0x1.800002p+0",
        "kappa_max": kappa, "ulp_counts": [elements // 4] * 3 + [elements - elements // 4 * 3]}
    one["output_hash"] = "%016x" % zlib.crc32(repr((one["kernel"], one["input"], row_ulp)).encode())
    return one


def timed(one, gbps, processes=5, seed=0):
    size = {"f32": 4, "f64": 8}.get(one["dtype"], 2)
    time = 2 * size * one["rows"] * one["hidden"] / gbps
    one["measurements"] = [
        {"process": process, "repetition": repetition, "order": repetition * 40 + process, "iterations": 1000,
         "real_ns": taken, "cpu_ns": taken, "cycles": taken * 3, "instructions": taken * 8}
        for process in range(processes) for repetition in range(3)
        for taken in [time * (1 + mixed(FORMER.get(one["kernel"], one["kernel"]), one["hidden"], process, repetition, seed) / 64)]]
    return one


def offset_rows(number, one, row_ulp, grows):
    """A sweep of kappa, whose last row is the case's worst."""
    found = [{"type": "row", "case": number, "row": row, "kappa": 10.0 ** row, "infinite": [],
              "row_ulp": row_ulp * (1 + 10.0 ** (row - 3) * grows), "norm_max": row_ulp * 2.0 ** -24,
              "bound_row_ulp": 64.0 * 10.0 ** row, "mean_error": 2.0 ** -25 * mixed(number, row),
              "rstd_error": -(2.0 ** -24) * mixed(row, number)} for row in range(7)]
    judged(one, found[-1]["row_ulp"], "pass" if found[-1]["row_ulp"] < 1e6 else "inaccurate",
           "" if found[-1]["row_ulp"] < 1e6 else "row 6: no digit is right", bound=64e6, kappa=1e6)
    return found


class Run:
    def __init__(self, facts, number=1, plan="default", command="run", seed="1"):
        started = "2026-03-%02dT10:00:00Z" % number
        self.head = {"type": "run", "run": number, "started": started, "plan": plan, "plan_hash": "5a3717e5",
                     "command_line": "lnbench run (synthetic)", "seed": seed, "state": "complete",
                     "command": command, "request_hash": "0123456789abcdef", "triples": 1000, "triples_covered": 972,
                     "machine": dict(facts, time=started, git_commit=("%x" % (9 + number)) * 40)}
        self.kernels, self.cases, self.rows, self.lost, self.tensors, self.worst = [], [], [], [], [], []

    def add(self, one):
        self.cases.append(one)
        return one

    def roofs(self, rows, hidden, gbps, **key):
        for name, share in (("copy", 1.0), ("copy_nt", .75)):
            self.add(timed(case(name, rows, hidden, **key), gbps * share))

    def write(self, path):
        parts = {"kernels": self.kernels, "cases": self.cases, "rows": self.rows, "missing": self.lost,
                 "tensors": self.tensors, "worst": self.worst}
        self.head.update({name: len(part) for name, part in parts.items()}, unsupported=sum(
            one["verdict"] == "unsupported" for one in self.cases), requested=sum(
            one["kernel"][:4] != "copy" and one["verdict"] != "missing" for one in self.cases) + len(self.lost))
        with open(path, "w") as out:
            for record in [self.head] + [record for part in parts.values() for record in part]:
                out.write(json.dumps(dict(record, schema="lnbench-record-4")) + "\n")


def errors():
    """A kernel for each way to fail, to be unsupported or missing, among some that pass."""
    run = Run(A)
    ways = {  # input: what is said, detail, whether it is a limit, row ULP
        "two_pass_f32_scalar": {},
        "welford_f32_scalar": {"offset": ("no bound", "no claim for 2 of 18 rows", False, 900.0)},
        "naive_f32_scalar": {"offset": ("inaccurate", "row 3: no digit is right", True, 2.0 ** 26),
                             "huge": ("wrong-class", "row 0, column 0: NaN where 1.5", True, None)},
        "pairwise_f32_scalar": {"normal": ("inaccurate", "row 2: 96.5 row ULP, above its bound 64", False, 96.5)},
        "compensated_f32_scalar": {"spike": ("wrong-class", "row 1, column 3: -0 where 2", False, 3.0)},
        "two_pass_f32_avx2": {"normal": ("crashed", "SIGSEGV", False, None)},
        "welford_f32_avx2": {"constant": ("overrun", "1 element behind y", False, 1.0)},
        "naive_f32_avx2": {"spike": ("timeout", "", False, None)},
        "two_pass_f32_neon": {input: ("unsupported", "no NEON on this CPU", False, None)
                              for input in ("normal", "offset", "huge", "spike", "constant", "nan", "own.npy", "worst")},
        "pairwise_f32_avx2": {"huge": ("missing", "the worker was ended", False, None)},
        "compensated_f32_avx2": {"normal": ("nondeterministic", "row 4: two calls differ", False, 1.25),
                                 "spike": ("input-modified", "x", False, 1.25),
                                 "worst": ("inaccurate", "row 0: 70 row ULP, above its bound 64", False, 70.0)},
    }
    for name, way in ways.items():
        run.kernels.append(kernel(name, "textbook", name.split("_f32")[0], supported="neon" not in name))
        for input in ("normal", "offset", "huge", "spike", "constant", "nan", "own.npy", "worst"):
            said, detail, limit, row_ulp = way.get(input, ("pass", "", False, 1 + mixed(name, input)))
            if input == "nan" and said == "pass":
                row_ulp = None
            judged(run.add(case(name, 18, 64, input)), row_ulp, said, detail, limit)
        for rows, hidden in ((64, 64), (85, 768)):
            if "neon" not in name and "crashed" not in str(way):
                timed(judged(run.add(case(name, rows, hidden)),
                             1 + mixed(name, hidden)), 10 + 40 * mixed(name))
    for rows, hidden in ((64, 64), (85, 768)):
        run.roofs(rows, hidden, 100.0)
    for name, given, asked, reason in (("pairwise_f32_avx2", "huge", 1, "the worker was ended"),
                                       ("naive_f32_avx2", "sorted", 2, "not reached")):
        run.lost.append(dict({key: value for key, value in case(name, 18, 64, given).items() if key in (
            "operation", "kernel", "convention", "rows", "hidden", "dtype", "input", "cache", "threads")},
            type="missing", requested=asked, reason=reason))
    row = "".join("%08x" % int.from_bytes(bytes([0, 0, byte, 0x3f]), "big") for byte in range(64))
    run.tensors = [{"type": "tensor", "bits": row}, {"type": "tensor", "bits": "0000803f" * 64},
                   {"type": "tensor", "bits": "00000000" * 64}]
    run.worst = [{"type": "worst", "case": number, "y_hash": "%016x" % number, "x": 0, "gamma": 1, "beta": 2}
                 for number, one in enumerate(run.cases)
                 if one["input"] == "own.npy" and one["kernel"] == "two_pass_f32_scalar"]
    return [run]


def whole(facts, number=1, seed=0):
    """All kernels with a library, peers and a plugin: four shapes, inputs, two conventions, cache states, threads."""
    run = Run(facts, number)
    for name, (role, statistics, gbps, row_ulp, source, version) in TIMING_KERNELS.items():
        run.kernels.append(kernel(name, role, statistics, source, version,
                                  reproducibility="run" if name == "library_fast_f32" else "row"))
        for input in ("uniform", "ramp", "huge", "nan", "worst"):
            one = case(name, 18, 768, input)
            if input == "huge" and statistics == "naive":
                judged(one, None, "wrong-class", "row 0, column 0: NaN where 1.5", True)
            else:
                judged(one, None if input == "nan" else row_ulp * (4 if input == "worst" else 1 + mixed(name, input) / 4))
                run.add(one)
        if role == "library" or source != "builtin":
            judged(run.add(case(name, 18, 768, "batches")), row_ulp)
        judged(run.add(case(name, 18, 768, "normal", "tinyllm")), row_ulp,
               *(("unsupported", "it takes gamma and beta alone") if version else ()))
        one = run.add(case(name, 18, 768, "offset"))
        run.rows += offset_rows(len(run.cases) - 1, one, row_ulp, 1e6 if statistics == "naive" else 1e-3)
        for rows, hidden in ((64, 64), (85, 768), (256, 1024), (8192, 1024)):
            share = (1 if rows < 8192 else .5) * (1 + mixed(name, hidden) / 8)
            timed(judged(run.add(case(name, rows, hidden)), row_ulp * (1 + mixed(hidden) / 8)), gbps * share, seed=seed)
        for key in ({"cache": "cold"}, {"threads": 2}):
            timed(judged(run.add(case(name, 85, 768, **key)), row_ulp), gbps * (.4 if "cache" in key else 1.7), seed=seed)
    for rows, hidden in ((64, 64), (85, 768), (256, 1024), (8192, 1024)):
        run.roofs(rows, hidden, 100.0 if rows < 8192 else 40.0)
    run.roofs(85, 768, 40.0, cache="cold")
    run.roofs(85, 768, 170.0, threads=2)
    return run


def half():
    """16 bits, with parameters of their own type and in f32, beside f64."""
    run = Run(A)
    for dtype, params in (("bf16", ("bf16", "f32")), ("f16", ("f16", "f32")), ("f64", ("f64",))):
        for param in params:
            for number, statistics in enumerate(("naive", "two_pass", "shifted_two_mean_fused")):
                name = f"{statistics}_{dtype}_{'' if param == dtype else 'param_f32_'}scalar"
                row_ulp = .5 + mixed(name) / 4
                run.kernels.append(kernel(name, "textbook" if number < 2 else "", statistics, io=dtype, param=param))
                for input in ("normal", "ramp", "constant"):
                    judged(run.add(case(name, 18, 256, input, dtype=dtype)), row_ulp)
                one = run.add(case(name, 18, 256, "offset", dtype=dtype))
                run.rows += offset_rows(len(run.cases) - 1, one, row_ulp, 1e3 if number == 0 else 1e-2)
                timed(judged(run.add(case(name, 512, 256, dtype=dtype)), row_ulp), 20.0 + 20 * number)
        run.roofs(512, 256, 100.0, dtype=dtype)
    return [run]


def many():
    """Of A eight runs, in which one kernel gets slower and another less accurate; of B two."""
    runs = []
    for number, facts in enumerate((A, A, A, A, B, A, A, A, A, B), 1):
        run = Run(facts, number)
        for name in ("two_pass_f32_scalar", "two_pass_f32_avx2", "welford_f32_avx2", "naive_f32_avx2"):
            changed = name == "two_pass_f32_avx2" and number >= 6
            worse = name == "welford_f32_avx2" and number >= 7
            run.kernels.append(kernel(name, "textbook", name.split("_f32")[0]))
            if name == "naive_f32_avx2" and number == 10:
                continue  # gone
            for rows, hidden in ((64, 64), (85, 768)):
                one = timed(run.add(case(name, rows, hidden)),
                            (30 + 20 * mixed(name)) * (.8 if changed else 1) * (1.5 if facts is B else 1), 6, number)
                judged(one, (1 + mixed(name, hidden)) * (3 if worse else 1), *(
                    ("crashed", "SIGSEGV") if name == "naive_f32_avx2" and number == 8 and hidden == 64 else ()))
            judged(run.add(case(name, 18, 768, "offset")), 40.0 * (2 if worse else 1))
        for rows, hidden in ((64, 64), (85, 768)):
            run.roofs(rows, hidden, 100.0)
        runs.append(run)
    return runs


STORES = {"errors": errors, "peers": lambda: [whole(A)], "half": half, "many": many}
