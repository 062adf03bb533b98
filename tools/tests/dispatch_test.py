"""tools/dispatch: checks the library's calls in the published run, and in copies of it with known changes.

usage: dispatch_test.py LNBENCH"""
import csv, glob, os, sqlite3, subprocess, sys, tempfile

sys.dont_write_bytecode = True
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
LNBENCH = sys.argv[1]
failed = 0


def check(what, holds, shown=""):
    global failed
    if not holds:
        failed += 1
        print(f"FAILED: {what}\n{shown}")


def dispatch(*words):
    done = subprocess.run([os.path.join(ROOT, "tools/dispatch"), *words], capture_output=True, text=True,
                          env=dict(os.environ, LNBENCH=LNBENCH))
    return done.returncode, done.stdout, done.stderr


def change(database, statements):
    with sqlite3.connect(database) as store:
        store.executescript(statements)
    store.close()


def test_check():
    code, said, _ = dispatch("check", "p.db")
    check("the calls take fast kernels", code == 0 and "36 of 36 compared; 0 take over" in said, said)
    slow = "UPDATE timings SET {0} WHERE case_id IN (SELECT cases.id FROM cells JOIN cases ON cell = cells.id WHERE {1})"
    change("p.db", slow.format("copy_ratio = copy_ratio / 2, copy_ratio_lo = copy_ratio_lo / 2, copy_ratio_hi = copy_ratio_hi / 2",
                               "kernel = 'library_exact_f32' AND hidden = 768 AND regime = 'L2'"))
    code, said, _ = dispatch("check", "p.db", "1")
    check("a call that takes twice as long", code == 1 and "library_exact_f32 " in said and "; 1 take over" in said, said)
    change("p.db", "DELETE FROM timings WHERE NOT is_copy")
    code, _, said = dispatch("check", "p.db")
    check("nothing was timed", code == 7 and "no run has timed ln_layernorm()" in said, said)


def test_classes():
    """Checks that no class is slower than a stricter one, by the published times of the kernels in the table."""
    with open(os.path.join(ROOT, "results/judged/cells.tsv"), encoding="utf-8") as lines, sqlite3.connect("p.db") as store:
        store.execute("CREATE TEMP TABLE taken (call, hidden, place, kernel)")
        store.executemany("INSERT INTO taken VALUES (?, ?, ?, ?)", [
            (row["call"], row["hidden"], place, row["kernel"]) for row in csv.DictReader(lines, delimiter="\t")
            if row["isa"] == "avx512" for place in row["rows"].split(",")])
        ratios = store.execute("""
            WITH calls AS (SELECT call, timed.hidden, place, time_ns FROM taken JOIN timed USING (kernel)
                           WHERE taken.hidden = timed.hidden AND place = iif(regime = 'DRAM', 'memory', 'caches'))
            SELECT fast.time_ns / strict.time_ns AS ratio, fast.call, hidden, place
            FROM calls AS fast JOIN calls AS strict USING (hidden, place)
            WHERE (fast.call, strict.call) IN (VALUES ('library_fast_f32', 'library_accurate_f32'),
                                                      ('library_accurate_f32', 'library_exact_f32'))""").fetchall()
    # One is slower: on long rows in memory, fast takes 1.05 of the time of accurate on an Ice Lake, 0.8 on a Zen 4.
    slower = {row[1:] for row in ratios if row[0] > 1.02}
    check("the classes are in order", len(ratios) >= 14 and slower <= {("library_fast_f32", 4096, "memory")}, ratios)


def test_bad():
    for words, code, said in ((("check",), 2, "tools/dispatch check"), (("table", "p.db"), 2, "tools/dispatch check"),
                              (("check", "no.db"), 7, "no.db: "), (("check", "a.json"), 7, "a.json: "),
                              (("check", "p.db", "--operation", "batchnorm"), 2, "--operation 'batchnorm'")):
        with open("a.json", "w", encoding="utf-8") as out:
            out.write("{}")
        found, _, problem = dispatch(*words)
        check(" ".join(words), found == code and said in problem, f"{found} {problem}")


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    published = sorted(glob.glob(os.path.join(ROOT, "results/published/*/run.db.xz")))[-1]
    subprocess.run([LNBENCH, "import", published, "--db", "p.db"], check=True, stdout=subprocess.DEVNULL)
    for test in (test_classes, test_check, test_bad):
        test()
    os.chdir("/")
sys.exit(1 if failed else 0)
