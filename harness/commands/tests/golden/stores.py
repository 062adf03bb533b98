"""Made-up runs as databases, for tests: `lnbench import` takes them. Figures come from +, -, * and / alone, so that they are
the same bits everywhere. run_sql works out what lnbench works out from results: judgements, times and counts.

    run = Run(A)
    timed(judged(run.add(case("two_pass_f32_scalar", 64, 768)), 2.5), 10.0)
    run.write("run.db", BINARIES)

The stores of the golden test were made so, once: errors.db.xz (a kernel for each way to fail, to be unsupported or missing),
peers.db.xz (the library, peers and a plugin), half.db.xz (16 bits and f64), many.db.xz (ten runs, in which one kernel gets
slower and one less accurate)."""
import hashlib, json, os, re, sqlite3, subprocess, zlib

STORE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "store")
A = {"git_commit": "a" * 40, "git_dirty": "no", "compiler": "gcc 12.2.0", "cpu_model": "SYNTHETIC A, NO MACHINE",
     "l1d_bytes": "49152", "l2_bytes": "1048576", "l3_bytes": "33554432", "cores": "2", "architecture": "x86_64"}
TIMING_FACTS = ("cpu_model", "l1d_bytes", "l2_bytes", "l3_bytes", "compiler", "isa_disabled", "worker")  # runs.machine
JUDGE, TIME = 1, 2  # cases.requested


def mixed(*words):
    """0 to 1, from the words alone."""
    return (zlib.crc32(repr(words).encode()) % 1024) / 1024


def kernel(name, isa, statistics="two_pass", source="builtin", dtype="f32", operation="layernorm"):
    return {"name": name, "operation": operation, "role": "", "statistics": statistics, "apply": "direct", "schedule": "plain",
            "io": dtype, "param": dtype, "acc": "f32", "isa": isa, "unroll": 4, "supported": True, "traits": [],
            "source": source, "version": None, "bound": source == "builtin", "reproducibility": "row",
            "declared_reproducibility": "row", "varies_with": ["isa"]}


def case(name, rows, hidden, input="normal", convention="torch", dtype="f32", cache="hot", threads=1, operation="layernorm"):
    return {"kernel": name, "types": dtype, "convention": convention, "rows": rows, "hidden": hidden, "cache": cache,
            "threads": threads, "operation": operation, "input": input, "figures": {}, "repetitions": []}


def judged(one, row_ulp, bound=64.0, verdict="pass", reason="", **figures):
    """row_ulp of None: the kernel crashed, or did not take the problem."""
    elements = min(one["rows"], 18) * one["hidden"]
    one.update(verdict=verdict, reason=reason)
    if row_ulp is not None:
        one["figures"] = dict({"row_ulp_max": row_ulp, "ulp_max": row_ulp * 16, "elements": elements, "bound_row_ulp": bound}, **figures)
    return one


def timed(one, gbps):
    time = 2 * {"f32": 4, "f64": 8}.get(one["types"], 2) * one["rows"] * one["hidden"] / gbps
    one["repetitions"] = [
        (process, repetition, repetition * 40 + process, 1000, taken, taken, None, None)
        for process in range(5) for repetition in range(3)
        for taken in [time * (1 + mixed(one["kernel"], one["hidden"], process, repetition) / 64)]]
    return one


class Run:
    def __init__(self, facts, number=1, **columns):
        started = "2026-03-%02dT10:00:00Z" % number
        self.facts = facts
        self.columns = dict({"started": started, "ended": started, "plan": "default", "plan_hash": "5a3717e5", "seed": 1,
                             "command_line": "lnbench run (synthetic)", "state": "complete", "imported": 0, "command": "run",
                             "request_hash": "0123456789abcdef", "triples": 1000, "triples_covered": 972}, **columns)
        self.kernels, self.cases, self.missing, self.is_known = [], [], [], True  # missing: (case, what was requested)

    def add(self, one):
        self.cases.append(one)
        return one

    def copies(self, rows, hidden, gbps, **key):
        for name, share in (("copy", 1.0), ("copy_nt", .75)):
            self.add(timed(case(name, rows, hidden, **key), gbps * share))

    def write(self, path, binaries):
        database = sqlite3.connect(path)
        database.executescript(f"PRAGMA synchronous = OFF; PRAGMA application_id = {0x6c6e6268}; PRAGMA user_version = "
                               + re.search(r"STORE_VERSION = (\d+)", text_of("open.c")).group(1) + ";"
                               + text_of("schema.sql") + text_of("views.sql"))
        self.put_run(database)
        for one in self.cases:
            parts = (JUDGE if "verdict" in one else 0) | (TIME if one["repetitions"] else 0)
            put_case(database, one, parts if self.is_known and not one["kernel"].startswith("copy") else None, self.facts)
        for one, parts in self.missing:
            put_case(database, {key: value for key, value in one.items() if key != "verdict"}, parts, self.facts)
        database.commit()
        database.close()
        subprocess.run([os.path.join(binaries, "run_sql"), path, "UPDATE cases SET requested = requested"],
                       check=True, stdout=subprocess.DEVNULL)

    def put_run(self, database):
        asked = sum(not one["kernel"].startswith("copy") for one in self.cases) + len(self.missing)
        insert(database, "runs", dict(
            self.columns, origin=hashlib.sha256(repr(vars(self)).encode()).hexdigest()[:16], requested=asked if self.is_known else None,
            machine=" | ".join(self.facts.get(name, "unknown") for name in TIMING_FACTS)))
        for place, (name, value) in enumerate(dict(self.facts, time=self.columns["started"]).items()):
            insert(database, "facts", {"run": 1, "place": place, "name": name, "value": value})
        for one in self.kernels:
            role = "peer" if one.get("version") else "plugin" if one.get("source", "builtin") != "builtin" else (
                one.get("role") if one.get("role") in ("library", "textbook") else "")
            insert(database, "kernels", {"run": 1, "name": one["name"], "role": role, "reproducible": reproducible(one),
                                         "descriptor": json.dumps(one, separators=(",", ":"))})


def text_of(name):
    with open(os.path.join(STORE, name)) as file:
        return file.read()


def insert(database, table, row):
    return database.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", list(row.values())).lastrowid


def reproducible(kernel):
    """Measured, or (in brackets) declared."""
    classes = ("none", "run", "row", "isa")
    measured, declared = kernel.get("reproducibility"), kernel.get("declared_reproducibility")
    return measured if measured in classes else f"({declared})" if declared in classes else "-"


def regime_of(one, facts):
    """What two tensors of a call fit into, as domain/case.c says."""
    size = 2 * one["rows"] * one["hidden"] * {"f32": 4, "f64": 8}.get(one["types"], 2)
    l1, l2, l3 = (int(facts.get(name, 0)) for name in ("l1d_bytes", "l2_bytes", "l3_bytes"))
    return "L1" if size <= l1 else "L2" if size <= l2 else "L3" if size <= l3 else "DRAM"


def put_case(database, one, parts, facts):
    key = {name: one[name] for name in ("kernel", "types", "convention", "rows", "hidden", "cache", "threads", "operation")}
    found = database.execute(f"SELECT id FROM cells WHERE ({', '.join(key)}) = ({', '.join('?' * len(key))})", list(key.values())).fetchone()
    cell = found[0] if found else insert(database, "cells", dict(key, run=1, regime=regime_of(one, facts)))
    database.execute("INSERT OR IGNORE INTO inputs (name) VALUES (?)", [one["input"]])
    input, = database.execute("SELECT id FROM inputs WHERE name = ?", [one["input"]]).fetchone()
    number = insert(database, "cases", {"cell": cell, "input_id": input, "requested": parts})
    if "verdict" in one:
        insert(database, "judgements", {"case_id": number, "verdict": one["verdict"], "reason": one["reason"], "telling": 0,
                                        "checked": 0, "adversarial": 0, "edge_case": 0})
    if "verdict" in one and one["figures"]:
        none = dict.fromkeys(("mismatches", "exact_zeros", "sign_of_zero", "worst_row", "worst_column"), 0)
        insert(database, "accuracies", dict(none, case_id=number, **one["figures"]))
    database.executemany(f"INSERT INTO repetitions VALUES ({number}, ?, ?, ?, ?, ?, ?, ?, ?)", one["repetitions"])
