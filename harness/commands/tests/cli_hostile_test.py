"""Prints hostile texts in every field of a stranger's store and plugin, by every command in every format: none of
them is interpreted by a terminal, a browser, Markdown, XML or gnuplot.

usage: cli_hostile_test.py BINARIES KERNELS_INCLUDE"""
import csv, html.parser, json, os, re, shutil, sqlite3, subprocess, sys, tempfile
import xml.etree.ElementTree as tree

TEXTS = [
    b"\x1b[31mred", b"\x1b]0;title\x07", b"\xc2\x9b2J", b"\xe2\x80\xaegnp.exe", b"\xe2\x81\xa6a\xe2\x80\xa8b",
    b"<script>alert(1)</script>", b"</title><img src=x onerror=alert(1)>", b"![x](http://y.example/z.png)",
    b"[x](javascript:alert(1))", b"x`<script>alert(2)</script>", b"<!-- & &lt; &#27;", b"]]><a/>",
    b"=cmd|' /C calc'!A1", b"+1+1", b"-2+3", b"@SUM(A1)", b"\t=1+1", b"a\nfine: bit-identical", b"a\rb",
    b"a\0b", b"\xff\xfe\xc0\xaf\xed\xa0\x80", "é".encode() * 300, b"\xf0\x9f\x98", b"'\";|, \\", b"`touch pwned` $(touch pwned) @x",
    b"');system('touch pwned')#", b"%s%n%1000000d", b"::error::x", b"| a | b |", b"<details><summary>x", b"** _ # $y$ ~z~",
]
ORDERS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
faults = []


def fault(label, what):
    faults.append(f"{label}: {what}")


def check_cells(label, rows):
    for row in rows:
        if len(row) != len(rows[0]):
            fault(label, f"a row of {len(row)} cells, not {len(rows[0])}: {row}")


class Page(html.parser.HTMLParser):
    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name.startswith("on") or (name in ("href", "src") and re.match(r"(?i)javascript:|https?:", value or "")):
                fault("HTML", f"{tag} {name}={value}")
        if tag in ("img", "a", "script") and "alert" in str(attrs):
            fault("HTML", f"{tag} {attrs}")

    def handle_data(self, data):
        if self.lasttag == "script" and "alert(" in data:
            fault("HTML", data[:80])


def check(label, form, data):
    try:
        check_form(label, form, data.decode("utf-8"))
    except (ValueError, tree.ParseError) as error:
        fault(label, f"no {form}: {error}")


def check_form(label, form, text):
    if not text:
        return
    order = ORDERS.search(text)
    if order:
        fault(label, f"an order: {text[max(0, order.start() - 40):order.end() + 20]!r}")
    if form == "markdown":
        bare = re.sub(r"^    .*$|\\.|`[^`]*`", "", text, flags=re.M)  # code and escaped characters
        order = re.search(r"<[a-z/!]|\]\((?!\w+\.|#|data/)|!\[.{0,9}\]\(http|://", bare)
        if order:
            fault(label, f"not escaped: {bare[max(0, order.start() - 40):order.end() + 20]!r}")
    elif form == "json":
        json.loads(text, parse_constant=lambda word: fault(label, word))
    elif form == "csv":
        check_cells(label, list(csv.reader(text.splitlines(keepends=True))))
    elif form == "tsv":
        check_cells(label, [line.split("\t") for line in text.split("\n") if line])
    elif form == "junit" or form == "svg":
        if any("script" in element.tag and "alert" in (element.text or "") for element in tree.fromstring(text).iter()):
            fault(label, "a script")
    elif form == "html":
        Page().feed(text)
    elif form == "gnuplot" and re.search(r"[`\"'\\]", text):
        fault(label, "a quote")
    elif form == "github":
        for line in text.splitlines():
            if not re.match(r"::(error|warning|notice) title=[^:,]*::", line):
                fault(label, line)


def run(words, form="text", codes=(0, 1, 3, 4, 5, 6), env=None):
    done = subprocess.run([LNBENCH, *words], capture_output=True, stdin=subprocess.DEVNULL, timeout=300,
                          env={**os.environ, "LNBENCH_PEERS": "0", **(env or {})})
    label = " ".join(words)
    if done.returncode not in codes:
        fault(label, f"exit code {done.returncode}: {done.stderr[:300]}")
    check(label, form, done.stdout)
    check(label, "text", done.stderr)


def copy_row(store, table, row, **changes):
    names = [column[1].decode() for column in store.execute(f"PRAGMA table_info({table})")]
    values = {name: value for name, value in zip(names, row) if name not in ("id", "done")}
    values.update(changes)
    marks = ["CAST(? AS TEXT)" if isinstance(value, bytes) else "?" for value in values.values()]
    return store.execute(f"INSERT INTO {table} ({','.join(values)}) VALUES ({','.join(marks)})",
                         list(values.values())).lastrowid


def json_of(text):
    return text.decode("utf-8", "replace").replace("\0", " ")


def spoil(path, facts):
    """Replaces every text of every row of the store by one of TEXTS, in rotation."""
    store = sqlite3.connect(path)
    store.text_factory = bytes
    verdicts = [(b"pass", b""), (b"fail", b"inaccurate"), (b"fail", b"crashed"), (b"unsupported", b""), (b"fail", b"wrong-class"), (b"missing", b"")]
    for run_id, in store.execute("SELECT id FROM runs").fetchall():
        for i, (name,) in enumerate(store.execute("SELECT name FROM facts WHERE run = ?", (run_id,)).fetchall()):
            if facts and not re.search(b"bytes|^cores$|time$|mhz|load", name):
                store.execute("UPDATE facts SET value = CAST(? AS TEXT) WHERE run = ? AND name = ?",
                              (TEXTS[i % len(TEXTS)], run_id, name.decode()))
        kernel = store.execute("SELECT * FROM kernels WHERE run = ? AND name = 'two_pass_f32_scalar'", (run_id,)).fetchone()
        cells = store.execute("SELECT * FROM cells WHERE run = ? AND kernel = 'two_pass_f32_scalar'", (run_id,)).fetchall()
        cases = [(cell, case) for cell in cells
                 for case in store.execute("SELECT * FROM cases WHERE cell = ?", (cell[0],)).fetchall()]
        for i, text in enumerate(TEXTS):
            other = TEXTS[(i + 7) % len(TEXTS)]
            told = {name: value if not isinstance(value, str) else json_of(TEXTS[(i + n) % len(TEXTS)])
                    for n, (name, value) in enumerate(json.loads(kernel[3]).items())}
            told.update(name=json_of(text).encode()[:63].decode("utf-8", "ignore"), io="f32", param="f32", acc="f32")
            copy_row(store, "kernels", kernel, name=told["name"].encode(), descriptor=json.dumps(told).encode())
            store.execute("INSERT INTO facts VALUES (?, ?, CAST(? AS TEXT), CAST(? AS TEXT))", (run_id, 1000 + i, text, other))
            copies = {cell[0]: copy_row(store, "cells", cell, kernel=told["name"].encode(),
                                        **({} if i % 5 else {"convention": other[:95]})) for cell in cells}
            for cell, case in cases:
                verdict, reason = verdicts[i % len(verdicts)]
                input_id = case[2] if i % 3 else store.execute("INSERT INTO inputs (name) VALUES (CAST(? AS TEXT)) ON CONFLICT DO UPDATE SET name = name RETURNING id", (other[:255],)).fetchone()[0]
                case_id = copy_row(store, "cases", case, cell=copies[cell[0]], input_id=input_id)
                for table in ("accuracies", "judgements", "repetitions", "judged_rows"):
                    for row in store.execute(f"SELECT * FROM {table} WHERE case_id = ?", (case[0],)).fetchall():
                        copy_row(store, table, row, case_id=case_id,
                                 **({"verdict": verdict, "reason": reason, "detail": other} if table == "judgements" else {}))
        store.execute("UPDATE runs SET command_line = CAST(? AS TEXT) WHERE id = ?", (b"lnbench " + b" ".join(TEXTS), run_id))
    store.commit()
    store.close()
    # Derived columns are computed again from the measurements.
    subprocess.run([os.path.dirname(LNBENCH) + "/run_sql", path, "UPDATE judgements SET telling = telling"], check=True)


def build_plugin(include):
    def quoted(text):
        return '"' + "".join(f"\\{byte:03o}" for byte in text.replace(b"\0", b" ")) + '"'
    fields = ("statistics", "apply", "schedule", "role")
    kernels = ",".join("{.name = \"loud.%d\", .isa = \"scalar\", .run = run%s, %s}" % (
        i, f", .supports = refuse{i}" if i % 4 == 0 else "",
        ", ".join(f".{field} = {quoted(TEXTS[(i + n) % len(TEXTS)])}" for n, field in enumerate(fields))) for i in range(len(TEXTS)))
    refusals = "".join("static const char *refuse%d(const ln_problem *p) { (void)p; return %s; }\n" % (i, quoted(TEXTS[i]))
                       for i in range(0, len(TEXTS), 4))
    with open("loud.c", "w") as source:
        source.write(f"""#include "layernorm_plugin.h"
#include <string.h>
{refusals}static void run(const void *state, const ln_tensors *t)
{{ const ln_problem *p = state; memcpy(t->y, t->x, p->rows * p->hidden * 4); }}
static const ln_kernel kernels[] = {{{kernels}}};
static const ln_plugin_table plugin = {{.abi_version = LN_PLUGIN_ABI, .struct_size = sizeof(ln_plugin_table), .kernel_size = sizeof(ln_kernel),
    .name = "loud", .count = {len(TEXTS)}, .kernels = kernels,
    .version = {quoted(b" ".join(TEXTS[:21]))}}};
LN_API const ln_plugin_table *ln_plugin(void) {{ return &plugin; }}
""")
    subprocess.run(["cc", "-shared", "-fPIC", "-I", include, "loud.c", "-o", "loud.so"], check=True)


LNBENCH = os.path.realpath(sys.argv[1]) + "/lnbench"
include = os.path.realpath(sys.argv[2])
FORMS = ("text", "markdown", "tsv", "csv", "json")
with tempfile.TemporaryDirectory() as folder:
    folder = os.environ.get("KEEP", folder)
    os.chdir(folder)
    small = ["--plan", "quick", "--shapes", "4x64", "--conventions", "torch", "--inputs", "normal", "--processes", "2",
             "--repetitions", "3", "--no-charts"]
    for _ in range(2):
        run(["run", *small, "--conformance", "no", "--kernels", "two_pass_f32_scalar,naive_f32_scalar", "--db", "s.db"])
    shutil.copy("s.db", "own.db")
    spoil("s.db", True)
    spoil("own.db", False)
    build_plugin(include)
    db = ["--db", "s.db"]
    plugin = ["--plugin", "./loud.so"]
    for number, form in enumerate(FORMS):
        loud = f"loud.{number or ''}*"  # all of them once, which takes ten seconds
        for words in (["report", "--no-charts", "--all", *db], ["list", "runs", *db], ["history", "--all", *db],
                      ["history", "--measure", "row_ulp_max", "--all", *db], ["compare", "1", "2", "--all", *db],
                      ["choose", "--shape", "4x64", "--stored", "--allow-missing", "--db", "own.db"], ["report", "--verify", "--sample", "1", *db],
                      ["list", "kernels", *plugin],
                      ["run", *small, *plugin, "--kernels", loud, "--only", "accuracy", "--conformance", "no", "--all", "--db", "p.db"],
                      ["report", "--no-charts", "--all", "--run", "1", "--db", "p.db"]):
            run([*words, "--format", form], form)
    for form in ("junit", "github"):
        run(["compare", "1", "2", *db, "--format", form], form)
    for form in ("json", "tsv", "csv", "smaller"):
        run(["export", *db, "--format", form], "json" if form == "smaller" else form)
    run(["export", *db, "--format", "db", "--out", "e.db"])
    run(["import", "e.db", "--db", "i.db"])
    run(["report", *db, "--out", "charts"])
    run(["history", "--all", *db, "--out", "trend"])
    for place, _, names in os.walk("."):
        for name in names:
            if name == "pwned":
                fault(place, "a command ran")
            kind = {"md": "markdown", "html": "html", "svg": "svg", "tsv": "gnuplot" if place.endswith("data") else "tsv"}
            form = kind.get(name.rsplit(".", 1)[-1])
            if form:
                check(f"{place}/{name}", form, open(f"{place}/{name}", "rb").read())
print("\n".join(faults[:40]))
print(f"{len(TEXTS)} texts, {len(faults)} faults")
sys.exit(len(faults) > 0)
