"""Makes runs as databases for `lnbench import` and `lnbench compare`. A line of words separated by tabs, NAME
[KEY=VALUE...], requests NAME.db, and a line answers when it exists. The line determines the whole run. run_sql computes
the data that lnbench derives from results: judgements, times and counts.

usage: make_run.py BINARIES"""
import hashlib, json, os, random, re, sqlite3, subprocess, sys

STORE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "store")
TIMING_FACTS = ("cpu_model", "l1d_bytes", "l2_bytes", "l3_bytes", "compiler", "isa_disabled", "worker")  # runs.machine
JUDGE, TIME = 1, 2  # cases.requested


def text_of(name):
    with open(os.path.join(STORE, name)) as file:
        return file.read()


def insert(database, table, row):
    return database.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", list(row.values())).lastrowid


def reproducible(measured, declared):
    """Returns the class: measured, or (in brackets) declared."""
    classes = ("none", "run", "row", "isa")
    return measured if measured in classes else f"({declared})" if declared in classes else "-"


def put_schema(database):
    database.executescript(f"PRAGMA synchronous = OFF; PRAGMA application_id = {0x6c6e6268}; PRAGMA user_version = "
                           + re.search(r"STORE_VERSION = (\d+)", text_of("open.c")).group(1) + ";"
                           + text_of("schema.sql") + text_of("views.sql"))


def put_run(database, o, kernels, origin):
    facts = dict(cpu_model=o["cpu"], l1d_bytes="49152", l2_bytes="1048576", l3_bytes="33554432", cores="2", compiler=o["compiler"],
                 compiler_flags="-O3", build_type="Release", git_commit=o["commit"], load_1m=o["load"], time=o["started"])
    insert(database, "runs", dict(
        started=o["started"], ended=o["started"], plan=o["plan"], plan_hash="0", seed=int(o["seed"]), command_line=o["command"],
        state="complete", imported=0, command=o["command"].split()[1], request_hash=o["kernels"] or "one kernel", triples=0,
        triples_covered=0, origin=origin, requested=len(kernels) + 1 if o["lost"] else None,
        machine=" | ".join(facts.get(name, "unknown") for name in TIMING_FACTS)))
    for place, (name, value) in enumerate(facts.items()):
        insert(database, "facts", {"run": 1, "place": place, "name": name, "value": value})
    for kernel in kernels:
        measured, declared = o["class"] or None, o["declared"] or None
        insert(database, "kernels", {"run": 1, "name": kernel, "role": "", "reproducible": reproducible(measured, declared),
                                     "descriptor": json.dumps(dict(name=kernel, isa="scalar", statistics="s", reproducibility=measured,
                                                                   declared_reproducibility=declared))})


def put_case(database, o, kernel, requested):
    cell = insert(database, "cells", {"run": 1, "kernel": kernel, "types": o["dtype"], "convention": "torch", "rows": int(o["rows"]),
                                      "hidden": 768, "cache": "hot", "threads": int(o["threads"]), "operation": "layernorm",
                                      "regime": "L2"})
    return insert(database, "cases", {"cell": cell, "input_id": 1, "requested": requested})


def put_judgement(database, o, case, verdict, reason):
    insert(database, "judgements", {"case_id": case, "verdict": verdict, "reason": reason, "telling": 0, "checked": 0,
                                    "adversarial": 0, "edge_case": 0})
    if verdict != "unsupported" and o["elements"] != "0":
        bits = {"output_hash": int(o["bits"])} if o["hash"] == "yes" else {}
        insert(database, "accuracies", dict(case_id=case, row_ulp_max=float(o["ulp"]), elements=int(o["elements"]), mismatches=0,
                                            exact_zeros=0, sign_of_zero=0, worst_row=0, worst_column=0, **bits))


def make(name, *given):
    o = dict(seed="1", slow="1", drift="1", processes="6", commit="a" * 40, cpu="made up", plan="quick",
             started="2024-01-01T00:00:00Z", bits="0", ulp="2", kernel="k", verdict="pass", reason="", noise="0.002",
             compiler="cc 1", load="0", draw="1", hash="yes", elements="100", rows="85", dtype="f32", threads="1", declared="",
             kernels="", untimed="", refused="", lost="", command="lnbench run", **{"class": ""})
    o.update(g.split("=", 1) for g in given)
    draw = random.Random(int(o["draw"]))
    kernels = o["kernels"].split() or [o["kernel"]]
    layout = [1 + float(o["noise"]) * draw.gauss(0, 1) for p in range(int(o["processes"]))]
    if os.path.exists(name + ".db"):
        os.remove(name + ".db")
    database = sqlite3.connect(name + ".db")
    put_schema(database)
    put_run(database, o, kernels, hashlib.sha256(repr((name, o)).encode()).hexdigest()[:16])
    insert(database, "inputs", {"name": "normal"})
    for kernel, ns in [(kernel, 400 * float(o["slow"])) for kernel in kernels] + [("copy", 100)]:
        repetitions = [(process, r, 0, 10, ns * float(o["drift"]) * (layout[process] if ns > 100 else 1) * (1 + 0.0005 * draw.gauss(0, 1)),
                        1.0, None, None) for process in range(int(o["processes"])) for r in range(3)]
        refused, timed = kernel in o["refused"].split(), kernel not in (o["refused"] + " " + o["untimed"]).split()
        asked = JUDGE | (TIME if timed else 0)
        case = put_case(database, o, kernel, asked if o["lost"] and kernel != "copy" else None)  # only in today's version
        if timed:
            database.executemany(f"INSERT INTO repetitions VALUES ({case}, ?, ?, ?, ?, ?, ?, ?, ?)", repetitions)
        if kernel != "copy":
            put_judgement(database, o, case, *(("unsupported", "") if refused else (o["verdict"], o["reason"])))
    if o["lost"]:
        put_case(database, o, o["lost"], JUDGE | TIME)
    database.commit()
    database.close()
    subprocess.run([os.path.join(sys.argv[1], "run_sql"), name + ".db", "UPDATE cases SET requested = requested"], check=True,
                   stdout=subprocess.DEVNULL)


for line in sys.stdin:
    make(*line.rstrip("\n").split("\t"))
    print("made", flush=True)
