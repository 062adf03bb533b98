"""Compares the output of stored runs with golden/golden.tsv: tables, JSON, exports, charts, pages, views.

usage: cli_golden_test.py BINARIES

LNBENCH_GOLDEN_OUT=DIR    writes the outputs into DIR in the compared form, and compares nothing: `diff -r`
                          shows the differences of two builds
LNBENCH_GOLDEN_RENEW=1    writes golden.tsv again; explain intended changes in golden/intended.md
LNBENCH_FULL=1            includes the slow commands, which the other two modes always include

A line of golden.tsv: store, command, exit code, lines, the first 16 digits of the output's SHA-256.
Exports and lists of cases are sorted, compared by key and as doubles, and without the numbers of cases. Only the
texts of pictures are compared, not pixels and PDFs. In store `here`, which has this machine's facts, the
processor's name and the sizes of caches are replaced."""
import csv, fcntl, glob, hashlib, html, io, json, os, pty, re, select, shlex, shutil, sqlite3, struct, subprocess, sys
import tempfile, termios, xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..")
GOLDEN = os.path.join(HERE, "golden", "golden.tsv")

BINARIES = os.path.abspath(sys.argv[1])
OUT, RENEW = os.environ.get("LNBENCH_GOLDEN_OUT"), os.environ.get("LNBENCH_GOLDEN_RENEW")
ALL = bool(OUT or RENEW or os.environ.get("LNBENCH_FULL"))
ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "LNBENCH_PEERS": "0", "TERM": "xterm",
               "HOME": os.environ.get("HOME", "/")}
for name in ("LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TZ"):
    if name in os.environ:
        ENVIRONMENT[name] = os.environ[name]

TABLES = """
list runs
list runs --json
report --no-charts
report --no-charts --all
report --no-charts --format markdown
export --format json
export --format smaller
export --format csv
export --format tsv
SELECT * FROM judged
SELECT * FROM timed
SELECT * FROM missing
SELECT * FROM summary
SELECT id, state, requested, done, unsupported, missing, cases, repetitions, triples, triples_covered FROM runs
"""
PAGE = "report --out page\n"
CHOICES = """
choose --shapes 85x768 --stored
choose --shapes 85x768 --stored --json
choose --shapes 85x768 --stored --format tsv
choose --shapes 85x768 --stored --format markdown
choose --shapes 85x768 --stored --max-row-ulp 1e9
choose --shapes 85x768 --stored --max-row-ulp 50 --proven
choose --shapes 85x768 --stored --kernels two_pass*,mine*
choose --shapes 85x768 --stored --kappa 100
choose --shapes 85x768 --stored --threads 2
choose --shapes 85x768 --stored --cache cold
choose --shapes 85x768,64x64 --stored --json
choose --shapes 3x99999 --stored
"""
COMPARISONS = "".join(f"compare 1 8 {options}\n" for options in (
    "", "--all", "--json", "--format tsv", "--format csv", "--format junit", "--format github",
    "--format markdown --threshold 10%", "--accuracy exact", "--accuracy bound --only accuracy", "--only speed",
    "--allow-missing", "--also json=also.json --also markdown=also.md"))
HISTORIES = "".join(f"history {options}\n" for options in (
    "", "--all", "--json", "--format tsv", "--format markdown", "--measure row_ulp_max", "--measure time_ns --kernels two_pass*",
    "--shapes 85x768 --measure gbps", "--inputs offset --measure row_ulp_max", "--out past", "--measure nothing", "--kernels nothing", "--kernels two_pass_avx2",
    "--kernels two_pass"))
COMMANDS = {
    "errors": TABLES + PAGE + "compare 1 1\n"
    "report --no-charts --allow-missing\nreport --no-charts --run 99\nexport --run 99\n",
    "readonly": "list runs\nreport --no-charts\nexport --format tsv\nSELECT * FROM summary\n",
    "peers": TABLES + PAGE,
    "half": TABLES + PAGE,
    "many": TABLES + COMPARISONS + HISTORIES + "compare previous latest\ncompare 1 5\ncompare 1 99\ncompare eeee 9\ncompare 1 2 --json\n",
    "killed": TABLES + "report --no-charts --allow-missing\ncompare 1 1\nhistory\n",
    "empty": "list conventions\nlist conventions --json\nlist inputs\nlist inputs --json\nlist runs\nlist runs --json\nreport --no-charts\nexport\nhistory\ncompare 1 1\nreplay\nSELECT * FROM summary\n",
    "here": CHOICES,
    "here_many": "choose --shapes 85x768 --stored\nchoose --shapes 85x768 --stored --json --max-row-ulp 1000\n",
    "published": "list runs\nreport --no-charts --all\n"
    "report --out page --allow-missing\nSELECT * FROM summary\nSELECT * FROM missing\n",
}
WIDTHS = {store: "report --no-charts\nlist runs\n" for store in ("errors", "peers", "half", "killed")}
WIDTHS["many"] = "compare 1 8\nhistory\n"
WIDTHS["here"] = "choose --shapes 85x768 --stored\n"
WIDTHS["published"] = "report --no-charts\n"
SLOW = {"published": "export --format json\nexport --format smaller\nexport --format csv\n"
        "export --format tsv\nreport --no-charts --json\ncompare 1 1 --json\ncompare 1 1\n"
        "SELECT * FROM judged\nSELECT * FROM timed\n"}


# ---- the compared parts of an output ----

ID_KEYS = ("case", "case_id", "cell", "family_index", "per_family_instance_index")


def as_double(cell):
    """Reads a number, however many digits it is written with."""
    try:
        return repr(float(cell)) if len(cell) > 7 and not cell.isdigit() else cell
    except ValueError:
        return cell


def lines_of_text(text):
    return re.sub(r"--case \d+", "--case N", text)


def lines_of_table(text, separator="\t"):
    """Returns one line for each case, sorted, without columns that number cases."""
    rows = list(csv.reader(io.StringIO(text, newline=""))) if separator == "," else [line.split("\t") for line in text.splitlines()]
    kept = [number for number, name in enumerate(rows[0] if rows else []) if name not in ID_KEYS + ("replay",)]
    lines = ["\t".join([as_double(row[number]) for number in kept]) + "\n" for row in rows]
    return "".join(lines[:1] + sorted(lines[1:]))


def plain(value):
    """Removes the numbers of cases."""
    if isinstance(value, dict):
        return {key: plain(found) for key, found in value.items() if key not in ID_KEYS}
    return [plain(found) for found in value] if isinstance(value, list) else value


def dumped(value):
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def is_of_case(value):
    return isinstance(value, dict) and ("run_type" in value or {"kernel", "input", "rows"} <= set(value) or {"name", "unit", "value"} <= set(value))


def refused(word):
    raise ValueError(f"a bare {word}")


def lines_of_json(text):
    """Returns one line for each entry; lists of cases are sorted."""
    document = json.loads(text, parse_constant=refused)
    parts = document if isinstance(document, dict) else {"": document}
    lines = []
    for name, part in sorted(parts.items()):
        entries = part if isinstance(part, list) else [part]
        found = [f"{name} {lines_of_text(dumped(plain(entry)))}" for entry in entries]
        lines += sorted(found) if entries and is_of_case(entries[0]) else found or [f"{name} {dumped(part)}"]
    return "\n".join(lines) + "\n"


def lines_of_page(text):
    """Returns the words; the pictures are separate files."""
    text = re.sub(r"(?s)<(style|script|svg)\b.*?</\1>", "", text)
    words = (html.unescape(part).strip() for part in re.split(r"<[^>]*>", text))
    return lines_of_text("".join(word + "\n" for word in words if word))


def lines_of_picture(text):
    return "".join(html.unescape(re.sub(r"<[^>]*>", "", words)) + "\n"
                   for words in re.findall(r"(?s)<(?:text|title)\b[^>]*>(.*?)</(?:text|title)>", text))


def form_of(command):
    words = command.split()
    form = "json" if "--json" in words else words[words.index("--format") + 1] if "--format" in words else "text"
    if words[0] == "export":
        return "json" if "--format" not in words else form
    # The order of the rows of choose is part of its answer.
    return "text" if words[0] == "choose" and form != "json" else form


def normal(form, text):
    try:
        return {"json": lines_of_json, "smaller": lines_of_json, "tsv": lines_of_table,
                "csv": lambda text: lines_of_table(text, ","), "html": lines_of_page, "svg": lines_of_picture,
                }.get(form, lines_of_text)(text)
    except (ValueError, KeyError, IndexError) as error:
        return f"no {form}: {error}\n{text}"


# ---- drawings: each is XML, at most 1,400 pixels high, and its texts do not overlap ----

# Advance widths of Helvetica, which Liberation Sans shares, for ASCII 32 to 126 in thousandths of the font size, from
# Adobe's Core 14 AFM files. Other characters count as a digit.
ADVANCES = [int(width) for width in """278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556
    556 556 556 556 278 278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667
    611 722 667 944 667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556
    333 500 278 556 500 722 500 500 500 334 260 334 584""".split()]
flaws = []


def texts_of(svg):
    """Returns the words of each horizontal text, and its left, right, top and bottom."""
    for x, y, attributes, words in re.findall(
            r'(?s)<g transform="translate\(([-\d.]+),([-\d.]+)\)"([^>]*)>\s*<text>(.*?)</text>', svg):
        words = html.unescape(re.sub("<[^>]*>", "", words)).strip()
        size = float(re.search(r'font-size="([\d.]+)', attributes)[1])
        width = sum(ADVANCES[ord(c) - 32] if " " <= c <= "~" else 556 for c in words) * size / 1000
        left = float(x) - width * {"end": 1, "middle": 0.5}.get(re.search('text-anchor="([a-z]*)|$', attributes)[1], 0)
        if words and not (words.isdigit() and size == 11):  # the number of a point may be on the point
            yield words, left, left + width, float(y) - 0.7 * size, float(y) + 0.2 * size


def flaw_of(svg):
    if float(xml.etree.ElementTree.fromstring(svg).get("height")) > 1400:
        return "it is too high"
    if "gnuplot_svg" in svg:
        return "it has a name that two drawings of a page would share"
    texts = list(texts_of(svg))
    for number, (one, left, right, top, bottom) in enumerate(texts):
        for other, *box in texts[number + 1:]:
            if left + 1 < box[1] and box[0] + 1 < right and top + 1 < box[3] and box[2] + 1 < bottom:
                return f"'{one}' lies on '{other}'"
    return None


def check_drawing(label, svg):
    flaw = flaw_of(svg)
    if flaw:
        flaws.append(f"FAILED: {label}: {flaw}")


def check_long_names():
    """Tests kernels with the longest allowed names, and that overlapping texts are detected."""
    longer = "substr(%s || '_blocked_pipelined_nontemporal_with_a_very_long_name', 1, 60)"
    shutil.copy("peers.db", "long.db")
    sql("long", f"UPDATE kernels SET name = {longer % 'name'}; UPDATE kernels SET descriptor = json_set(descriptor, '$.name', name);"
        f"UPDATE cells SET kernel = {longer % 'kernel'} WHERE kernel NOT LIKE 'copy%'")
    lnbench("report", "--db", "long.db", "--out", "long", "--allow-missing")
    for path in sorted(glob.glob("long/*.svg")):
        with open(path) as file:
            check_drawing(path, file.read())
    text = '<g transform="translate(%d,%d)" font-size="12.00"  text-anchor="%s">\n\t\t<text>%s</text></g>'
    for y, seen in ((24, True), (40, False)):
        planted = '<svg height="9">' + text % (10, 20, "start", "two-pass") + text % (70, y, "end", "Welford") + "</svg>"
        if bool(flaw_of(planted)) != seen:
            flaws.append(f"FAILED: two texts of which one stands at {y} are taken for {'' if seen else 'not '}apart")


# ---- running lnbench ----

made, machine = {}, {}
TIMING_FACTS = ("cpu_model", "l1d_bytes", "l2_bytes", "l3_bytes", "compiler", "isa_disabled", "worker")  # runs.machine


def keep(store, command, code, text):
    text = re.sub(r"--db /\S*/", "--db ", text)  # the test's own folder
    if store.startswith("here"):
        text = text.replace("\\@", "@")  # "CPU @ 2.80GHz" in Markdown
        for value in sorted(filter(None, machine.values()), key=len, reverse=True):
            here = re.sub(r"\W", lambda sign: r"\\?" + re.escape(sign[0]), value)  # Markdown has a backslash before some
            text = re.sub(rf"(?<![\w.]){here}(?![\w.])", "HERE", text)
        text = re.sub(r"\b(L1|L2|L3|DRAM)\b", "CACHE", text)
    made[store, command] = (str(code), str(text.count("\n")), hashlib.sha256(text.encode()).hexdigest()[:16])
    if OUT:
        path = os.path.join(OUT, store, re.sub(r"[^\w.=,-]+", "_", command).strip("_")[:200])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as out:
            out.write(f"exit code {code}\n{text}")


def lnbench(*words, **environment):
    """Returns exit code, standard output and standard error."""
    done = subprocess.run([BINARIES + "/lnbench", *words], capture_output=True, env=ENVIRONMENT | environment,
                          stdin=subprocess.DEVNULL, timeout=300)
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def on_terminal(words, columns):
    outside, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    with subprocess.Popen([BINARIES + "/lnbench", *words], stdin=subprocess.DEVNULL, stdout=inside, stderr=inside,
                          env=ENVIRONMENT) as child:
        os.close(inside)
        seen = b""
        while select.select([outside], [], [], 300)[0]:
            try:
                part = os.read(outside, 1 << 16)
            except OSError:  # EIO: the child has closed it
                break
            if not part:
                break
            seen += part
    os.close(outside)
    return child.returncode, seen.decode("utf-8", "replace").replace("\r\n", "\n")


def keep_files(store, command, folder):
    if not os.path.isdir(folder):
        return
    for directory, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(directory, name)
            form = name.rsplit(".", 1)[-1]
            if form in ("tsv", "svg", "html", "md"):
                label = f"{command}: {os.path.relpath(path, folder)}"
                with open(path, encoding="utf-8", errors="replace") as file:
                    text = file.read()
                keep(store, label, 0, normal(form if form != "tsv" else "text", text))
                if form == "svg":
                    check_drawing(f"{store}: {label}", text)
    shutil.rmtree(folder)


def keep_command(store, command):
    if command.startswith("SELECT"):
        with sqlite3.connect(f"file:{store}.db?mode=ro", uri=True) as database:
            found = database.execute(command)
            text = "\n".join("\t".join(map(str, row)) for row in [[column[0] for column in found.description]] + found.fetchall())
        return keep(store, command, 0, normal("tsv", text + "\n"))
    code, out, err = lnbench(*shlex.split(command), "--db", store + ".db")
    keep(store, command, code, (normal(form_of(command), out) if out else "") + "".join(
        "! " + line + "\n" for line in lines_of_text(err).splitlines()))
    for folder in ("page", "past"):
        keep_files(store, command, folder)
    for name in ("also.json", "also.md"):
        if os.path.exists(name):
            with open(name) as file:
                keep(store, f"{command}: {name}", 0, normal(name.split(".")[1], file.read()))
            os.remove(name)


# ---- the stores ----

def write(store, script):
    with sqlite3.connect(store + ".db") as database:
        database.executescript("PRAGMA foreign_keys = ON; " + script)


def make(store):
    code, out, err = lnbench("import", os.path.join(HERE, "golden", store + ".db.xz"), "--db", store + ".db")
    keep(store, "import", code, (out + err).replace(HERE + "/golden/", ""))


def sql(store, statement):
    """Runs SQL by run_sql, which computes derived data again."""
    subprocess.run([BINARIES + "/run_sql", store + ".db", statement], check=True, stdout=subprocess.DEVNULL)


def make_all():
    for store in ("errors", "peers", "half", "many"):
        make(store)
    identity = "x86_64 | SYNTHETIC A, NO MACHINE | 49152 | 1048576 | 33554432 | 2 | none"
    write("many", "".join(
        f"INSERT INTO noise VALUES ('{identity}', '{regime}', '2026-03-01T09:00:00Z', 0.00390625);" for regime in ("L1", "L2", "DRAM")))
    shutil.copy("peers.db", "killed.db")
    sql("killed", """UPDATE inputs SET name = 'combinations' WHERE name = 'batches'; DELETE FROM repetitions WHERE process = 4 OR case_id % 5 = 1; DELETE FROM accuracies WHERE case_id % 7 = 1;
        DELETE FROM judgements WHERE case_id % 7 = 1;
        UPDATE cases SET requested = 1; UPDATE cases SET requested = 3 WHERE cell IN (SELECT id FROM cells WHERE rows <> 18);
        UPDATE cases SET requested = NULL WHERE cell IN (SELECT id FROM cells WHERE kernel LIKE 'copy%');
        UPDATE runs SET state = 'open', ended = NULL, unsupported = NULL, missing = NULL, cases = NULL, repetitions = NULL""")
    shutil.copy("errors.db", "empty.db")
    write("empty", "DELETE FROM runs")
    shutil.copy("errors.db", "readonly.db")
    os.chmod("readonly.db", 0o444)
    facts = csv.reader(io.StringIO(lnbench("doctor", "--format", "tsv")[1]), delimiter="\t")
    machine.update({row[1]: row[2] for row in facts if row[0] == "fact" and row[1] in TIMING_FACTS})
    for store, source in (("here", "peers"), ("here_many", "many")):
        shutil.copy(source + ".db", store + ".db")
        write(store, "".join(
            f"DELETE FROM facts WHERE name = '{name}'; INSERT INTO facts SELECT id, 1000 + {place}, '{name}', '{value}' FROM runs;"
            for place, (name, value) in enumerate(machine.items())) + "UPDATE runs SET machine = '%s'" % " | ".join(
                machine.get(name, "unknown") for name in TIMING_FACTS))
    for path in glob.glob(os.path.join(ROOT, "results", "published", "*", "run.db.xz"))[-1:]:
        lnbench("import", path, "--db", "published.db")


def readme_lines():
    """Returns the lines of SQL in the store's documentation."""
    with open(os.path.join(ROOT, "results", "README.md")) as file:
        return re.findall(r"\| `(SELECT [^`]*)` \|", file.read())


# ---- the list ----

def known():
    with open(GOLDEN) as file:
        return {tuple(cells[:2]): tuple(cells[2:]) for cells in (line.rstrip("\n").split("\t") for line in file)}


def is_slow(store, command):
    return command in SLOW.get(store, "").splitlines()


def compare():
    golden, drawn = known(), shutil.which("gnuplot") is not None
    check_long_names()
    print("".join(flaw + "\n" for flaw in flaws), end="")
    failures = 0
    for key in sorted(set(golden) | set(made)):
        if (is_slow(*key) and not ALL) or (not drawn and key[1].endswith(".svg")):
            continue
        was, now = golden.get(key), made.get(key)
        if was == now:
            continue
        failures += 1
        print(f"FAILED: {key[0]}: {key[1]}:", "golden.tsv does not have it" if not was else "it is not made any more" if not now
              else f"exit code {was[0]}, {was[1]} lines as {was[2]} expected; now {now[0]}, {now[1]} lines as {now[2]}")
    if failures:
        test = os.path.relpath(__file__, os.path.join(HERE, *[".."] * 3))
        print(f"\nTo see how they differ, write them with the build before the change and with this one:\n"
              f"    LNBENCH_GOLDEN_OUT=old python3 {test} BINARIES_BEFORE; LNBENCH_GOLDEN_OUT=new python3 {test} BINARIES\n"
              f"    diff -r old new\nWhere it was meant: LNBENCH_GOLDEN_RENEW=1 python3 {test} BINARIES, and a line in golden/intended.md")
    if not drawn:
        print("not checked: texts of the charts (gnuplot is not installed)")
    print(f"{len(made)} outputs, {failures} differ")
    return 1 if failures or flaws else 0


def recommends(store):
    """Returns the kernels that the terminal, the page and choose recommend for the latest run of a store."""
    with sqlite3.connect(store + ".db") as database:
        run = str(database.execute("SELECT max(id) FROM runs").fetchone()[0])
        near = database.execute("SELECT rows || 'x' || hidden FROM timed WHERE run = ? AND NOT is_copy "
                                "ORDER BY abs(hidden - 768), rows", (run,)).fetchone()[0]
    asked = ("--run", run, "--db", store + ".db", "--allow-missing")
    text = re.sub(r"\n  +", " ", lnbench("report", "--no-charts", *asked)[1]).split("\nRMSNorm ")[0]
    lnbench("report", "--out", "page", *asked, PATH="/nowhere")  # without charts
    with open("page/report.md") as file:
        page = file.read()
    shutil.rmtree("page")
    shape = (re.findall(r" at (\d+x\d+) \(", text) + [near])[0]
    types = re.search(r"^LayerNorm ([a-z0-9]+)", text, re.M).group(1)
    chosen = json.loads(lnbench("choose", "--stored", "--json", "--shapes", shape, "--dtype", types, "--db", store + ".db", "--allow-missing")[1] or "[]")
    by = {word: [kernel for kernel in re.findall(pattern, on, re.M)] for word, pattern, on in (
        ("report", r"^Recommended: ([^ ,]+)", text), ("page", r"^Recommended: `([^`]+)`", page))}
    by["choose"] = [row["kernel"] for row in chosen if row["answer"] == "recommended"]
    return by


def one_answer():
    """Tests stores that recommend a kernel, and some that recommend none."""
    failures, taken = 0, 0
    for store in ("published", "peers", "many", "errors", "half", "killed"):
        by = recommends(store)
        taken += bool(by["report"])
        if not by["report"] == by["page"] == by["choose"]:
            failures += 1
            print(f"FAILED: {store}: one answer: {by}")
    if not 3 <= taken <= 5:
        print(f"FAILED: {taken} of six stores recommend a kernel")
    return failures or not 3 <= taken <= 5


def main():
    make_all()
    for store, commands in COMMANDS.items():
        for command in filter(None, commands.splitlines() + (SLOW.get(store, "").splitlines() if ALL else [])):
            keep_command(store, command.strip())
    for store, commands in WIDTHS.items():
        for command in commands.splitlines():
            for columns in (80, 100, 160):
                code, seen = on_terminal([*command.split(), "--db", store + ".db"], columns)
                keep(store, f"{command} ({columns} columns)", code, lines_of_text(seen))
    for statement in readme_lines():
        keep_command("published", statement)
    if RENEW:
        with open(GOLDEN, "w") as file:
            for key, figures in sorted(made.items()):
                file.write("\t".join(key + figures) + "\n")
    elif not OUT:
        return compare() or one_answer()
    return 0


with tempfile.TemporaryDirectory() as scratch:
    OUT = OUT and os.path.abspath(OUT)
    os.chdir(scratch)
    code = main()
    os.chdir("/")
sys.exit(code)
