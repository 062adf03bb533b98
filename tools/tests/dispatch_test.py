"""tools/dispatch: the check of the library's table by the published run, a table from a synthetic store whose
answer is known, and tables in C of choices.

usage: dispatch_test.py LNBENCH C_COMPILER"""
import glob, json, os, sqlite3, subprocess, sys, tempfile

sys.dont_write_bytecode = True
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "harness/commands/tests/golden"))
import stores

LNBENCH, COMPILER = sys.argv[1:]
failed = 0
BARE = "ddof=0,eps=0,affine=vector"
INPUTS = [family["name"] for family in json.loads(subprocess.run(
    [LNBENCH, "list", "inputs", "--json"], check=True, capture_output=True, text=True).stdout) if family["name"] != "worst"]


def check(what, holds, shown=""):
    global failed
    if not holds:
        failed += 1
        print(f"FAILED: {what}\n{shown}")


def dispatch(*words):
    done = subprocess.run([os.path.join(ROOT, "tools/dispatch"), *words], capture_output=True, text=True,
                          env=dict(os.environ, LNBENCH=LNBENCH))
    return done.returncode, done.stdout, done.stderr


def imported(path, database):
    subprocess.run([LNBENCH, "import", path, "--db", database], check=True, stdout=subprocess.DEVNULL)


def change(database, statements):
    with sqlite3.connect(database) as store:
        store.executescript(statements)
    store.close()


# ---- the library's table, held against the published run ----

def test_check():
    published = sorted(glob.glob(os.path.join(ROOT, "results/published/*/run.db.xz")))[-1]
    imported(published, "p.db")
    code, said, _ = dispatch("check", "p.db")
    check("calls and table take fast kernels", code == 0 and "63 of 63 compared; 0 slower" in said, said)
    with open(os.path.join(os.path.dirname(published), "answer.md"), encoding="utf-8") as page:
        take = page.read().split("Take `")[1].split("`")[0]
    check("the take is that of the published answer", f"take at 85x768: {take}; library_accurate takes 1." in said, take + said)
    table = "shifted_folded_transposed_f32_avx512"
    slow = "UPDATE timings SET {0} WHERE case_id IN (SELECT cases.id FROM cells JOIN cases ON cell = cells.id WHERE {1})"
    change("p.db", slow.format("copy_ratio = copy_ratio / 2, copy_ratio_lo = copy_ratio_lo / 2, copy_ratio_hi = copy_ratio_hi / 2",
                               "kernel = 'library_exact_f32' AND rows = 85"))
    code, said, _ = dispatch("check", "p.db", "1")
    check("a call that takes twice as long", code == 1 and "library_exact_f32 " in said and "; 1 slower" in said, said)
    change("p.db", f"UPDATE judgements SET error = 500 WHERE case_id IN (SELECT case_id FROM judged WHERE kernel = '{table}' "
                   "AND convention = 'torch' AND input = 'spike')")
    code, said, _ = dispatch("check", "p.db", "1")
    check("a kernel of the table that breaks its promise", code == 1 and f"{table} is not of it" in said, said)
    change("p.db", "DELETE FROM repetitions WHERE case_id IN (SELECT case_id FROM timed WHERE kernel = 'library_fast_f32'); "
                   "UPDATE cases SET requested = 3 WHERE id IN (SELECT case_id FROM timed WHERE kernel = 'library_fast_f32')")
    code, said, _ = dispatch("check", "p.db")
    check("a call is lost", code == 7 and "Lost: library_fast_f32" in said, said)
    change("p.db", "DELETE FROM timings WHERE NOT is_copy")
    code, _, said = dispatch("check", "p.db")
    check("nothing was timed", code == 7 and "no run has timed ln_layernorm()" in said, said)


# ---- a table from a store ----

# Times in DRAM differ in the later run; `late`: from hidden 4096 on. An error on one family alone: (family, 1000).
KERNELS = {  # type, isa, statistics, time, late, time again, late again, row ULP, family
    "quick_f32_avx512": ("f32", "avx512", "naive", 100, 160, 145, 125, 10, None),
    "quick_f32_avx2": ("f32", "avx2", "naive", 150, 150, 135, 150, 10, None),
    "wrong_f32_avx512": ("f32", "avx512", "naive", 10, 10, 10, 10, 0.5, "spike"),
    "exact_f32_avx512": ("f32", "avx512", "two_pass", 300, 300, 300, 300, 0.5, None),
    "exact_f32_avx2": ("f32", "avx2", "two_pass", 250, 250, 250, 250, 0.5, None),
    "exact_f32_scalar": ("f32", "scalar", "two_pass", 1000, 1000, 1000, 1000, 1, None),
    "overflows_f32_avx2": ("f32", "avx2", "naive", 140, 140, 140, 130, 1, "overflow"),
    "same_f32_scalar": ("f32", "scalar", "reproducible", 2000, 2000, 2000, 2000, 5, None),
    "plugin_f32_avx512": ("f32", "avx512", "two_pass", 1, 1, 1, 1, 0.5, None),
    "short_bf16_avx512bf16": ("bf16", "avx512bf16", "naive", 100, 100, 100, 100, 0.5, None)}
ROWS = {"L1": lambda row: 24576 // row, "L2": lambda row: 524288 // row, "L3": lambda row: 8388608 // row,
        "DRAM": lambda row: 268435456 // row, "few": lambda row: 1}


def table_run(number, facts, operation="layernorm"):
    usual, bare = ("torch", BARE) if operation == "layernorm" else ("torch-rms", "operation=rmsnorm,weight=w")
    run = stores.Run(facts, number, plan="full")
    for name, (dtype, isa, statistics, time, late, again, late_again, row_ulp, family) in KERNELS.items():
        run.kernels.append(stores.kernel(name, isa, statistics, "mine" if "plugin" in name else "builtin", dtype, operation))
        for hidden in (64, 256, 768, 1024, 4096, 12288):
            for convention, inputs in (((usual, INPUTS), (bare, ("normal",))) if number == 1 else ()):
                for input in inputs:
                    own = 1000 if input == family else row_ulp
                    stores.judged(run.add(stores.case(name, 18, hidden, input, convention, dtype)), own, bound=2.0 * own)
            for regime, rows in ROWS.items():
                if number > 1 and regime != "DRAM":
                    continue
                takes = (again if number > 1 else time) if hidden < 4096 else (late_again if number > 1 else late)
                key = {"dtype": dtype, "convention": usual, "cache": "hot" if regime in ("DRAM", "few") else "read"}
                size = {"f32": 4, "bf16": 2}[dtype]
                count = max(1, rows(2 * hidden * size))
                # The copy takes 50, whatever the shape.
                stores.timed(run.add(stores.case(name, count, hidden, **key)), 2 * size * count * hidden / takes)
                if name in ("quick_f32_avx512", "short_bf16_avx512bf16"):
                    run.copies(count, hidden, 2 * size * count * hidden / 50, **key)
    for one in run.cases:
        one["operation"] = operation
    path = f"{operation}{number}.run.db"
    run.write(path, os.path.dirname(LNBENCH))
    imported(path, f"{operation}.db")


def expected(name, isa, small, large):
    for regime in ROWS:
        # Between 1024 and 4096 the other is faster: sqrt(1024 * 4096). In L1 there are no such rows, but of `few`.
        if small != large and regime != "L1":
            yield f'row({name}, f32, f32, {isa}, {regime}, 2048, "{small}")'
        yield f'row({name}, f32, f32, {isa}, {regime}, SIZE_MAX, "{small if regime == "L1" else large}")'


def test_table():
    for number in (1, 2):
        table_run(number, stores.A)
    code, said, problem = dispatch("table", "layernorm.db", "--types", "f32,bf16")
    rows = [line.strip(" \\") for line in said.splitlines() if line.startswith("    row(")]
    wanted = [row for words in (
        # Of overflowing squares `fast` promises nothing.
        ("fast", "avx512", "quick_f32_avx512", "overflows_f32_avx2"), ("fast", "avx2", "overflows_f32_avx2", "overflows_f32_avx2"), ("fast", "scalar", "exact_f32_scalar", "exact_f32_scalar"),
        # The lesser ISA's where it is faster.
        ("accurate", "avx512", "exact_f32_avx2", "exact_f32_avx2"), ("accurate", "avx2", "exact_f32_avx2", "exact_f32_avx2"),
        ("accurate", "scalar", "exact_f32_scalar", "exact_f32_scalar"),
        *(("reproducible", isa, "same_f32_scalar", "same_f32_scalar") for isa in ("avx512", "avx2", "scalar")))
        for row in expected(*words)]
    check("the rows of f32", code == 0 and [row for row in rows if ", f32, f32, " in row] == wanted,
          problem + "\n".join(rows))
    check("those of bf16, behind f32's in each class", [row for row in rows if "bf16, bf16" in row] == [
        f'row({name}, bf16, bf16, avx512bf16, {regime}, SIZE_MAX, "short_bf16_avx512bf16")'
        for name in ("fast", "accurate") for regime in ROWS], "\n".join(rows))
    check("its head", " * CPU: SYNTHETIC A, NO MACHINE\n" in said and " * run: 2, 2026-03-02T10:00:00Z, bf16\n" in said
          and "#define LAYERNORM_DISPATCH_CACHES 49152, 1048576, 33554432\n" in said, said[:2000])
    code, _, said = dispatch("table", "layernorm.db", "--types", "f16")
    check("a type that was not measured", code == 7 and "no runs for the table of f16" in said, said)
    for number in (1, 2):
        table_run(number, stores.A, "rmsnorm")
    code, said, problem = dispatch("table", "rmsnorm.db", "--types", "f32", "--operation", "rmsnorm")
    check("the rows of RMSNorm", code == 0 and [line.strip(" \\") for line in said.splitlines() if line.startswith("    row(")] == wanted
          and "#define RMSNORM_DISPATCH(row)" in said and "ln_rmsnorm_with()" in said, problem + said)
    with open("onto.h", "w", encoding="utf-8") as file:
        file.write('row(fast, f64, f64, scalar, L3, SIZE_MAX, "kept_f64")\nrow(fast, f32, f32, scalar, L3, 64, "old")\n'
                   'row(fast, f32, f32, scalar, DRAM, 64, "a")\nrow(fast, f32, f32, scalar, DRAM, SIZE_MAX, "b")\n')
    onto = os.path.abspath("onto.h")
    code, said, problem = dispatch("table", "rmsnorm.db", "--types", "f32", "--operation", "rmsnorm", "--onto", onto, "--kept", "DRAM")
    rows = [line.strip(" \\") for line in said.splitlines() if line.startswith("    row(")]
    check("onto a table: what was measured is new, of a kept regime as it was, and so is what was not measured", code == 0 and sorted(rows) == sorted(
        [row for row in wanted if ", DRAM, " not in row] + ['row(fast, f64, f64, scalar, L3, SIZE_MAX, "kept_f64")',
         'row(fast, f32, f32, scalar, DRAM, 64, "a")', 'row(fast, f32, f32, scalar, DRAM, SIZE_MAX, "b")']), problem + said)
    code, _, said = dispatch("table", "rmsnorm.db")
    check("of RMSNorm alone", code == 7 and "no runs for the table of f32" in said, said)


# ---- choices in C ----

HOSTILE = "a\"b\\c\033[2J\n??/*/<script>|`$(x)`\t=cmd\u00ff"


def choice(rows, hidden, kernel, origin, convention="torch"):
    best = kernel and {"kernel": kernel, "object_hash": "abc", "from": None if rows > 1 else {"rows": 2, "hidden": 64, "convention": "*/ #error"}}
    return {"rows": rows, "hidden": hidden, "dtype": "f32", "param": "f32", "convention": convention, "cache": "hot",
            "time_on": "normal", "threads": 1, "budget": {"max_row_ulp": 2, "proven": False}, "origin": origin, "best": best}


def test_choices():
    here = {"cpu_model": "*/\n#error x", "git_commit": "c", "compiler": "gcc", "cpu_vendor": "AuthenticAMD", "cpu_family": "25",
            "cpu_model_number": "0x61"}
    there = dict(here, cpu_vendor="GenuineIntel", cpu_family="6", cpu_model_number="143")
    every = [choice(*words, here) for words in ((100, 1024, "many"), (1, 1024, "one"), (7, 64, "small"), (1, 1024, "again"),
                                                (5000, 1024, "many"), (3, 300, None))]
    for name, found in (("a", {"choices": every}), ("b", choice(1, 1, HOSTILE, there, "*/ #error \\\n??/")), ("c", choice(1, 1, "other", here)),
                        ("none", choice(1, 1, None, here))):
        with open(name + ".json", "w", encoding="utf-8") as out:
            json.dump(found, out)
    code, said, problem = dispatch("choices", "a.json", "b.json", "c.json", "none.json")
    check("choices", code == 0, problem)
    with open("choice.c", "w", encoding="utf-8") as out:
        out.write(said + """
static int is(size_t rows, size_t hidden, const char *kernel)
{ return strcmp(layernorm_kernel_on("AuthenticAMD", 25, 97, rows, hidden), kernel) == 0; }
int main(void)
{
    static const char hostile[] = {""" + "".join(f"(char){byte}, " for byte in HOSTILE.encode()) + """0};
    if (!is(0, 0, "small") || !is(SIZE_MAX, 256, "small")) return 1;
    if (!is(1, 257, "one") || !is(10, 1024, "one")) return 2;
    if (!is(11, 1024, "many") || !is(SIZE_MAX, SIZE_MAX, "many")) return 3;
    if (sizeof layernorm_machine_0 / sizeof *layernorm_machine_0 != 3) return 4;
    if (strcmp(layernorm_kernel_on("GenuineIntel", 6, 143, 9, 9), hostile) != 0) return 5;
    if (strcmp(layernorm_kernel_on("GenuineIntel", 6, 7, 9, 9), hostile) != 0) return 6;
    if (layernorm_kernel_on("x", 1, 1, 1, 1) || sizeof layernorm_machines / sizeof *layernorm_machines != 2) return 7;
    return layernorm_kernel_for(1, 1) && 0;
}
""")
    built = subprocess.run([COMPILER, "-std=c17", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wmissing-prototypes", "-Werror",
                            "choice.c", "-o", "choice"], capture_output=True, text=True)
    check("it compiles without a warning", built.returncode == 0, built.stderr)
    if built.returncode == 0:
        code = subprocess.run(["./choice"]).returncode
        check("and finds each shape's and CPU's kernel", code == 0, f"exit code {code}\n{said}")
    code, said, problem = dispatch("choices", "none.json")
    check("nothing chosen: no C", code == 1 and not said and "no shape has a kernel" in problem, problem)


def test_bad():
    for words, code, said in ((("table",), 2, "usage|tools/dispatch measure"), (("table", "no.db"), 7, "no.db: "), (("check", "a.json"), 7, "a.json: "),
                              (("choices", "p.db"), 7, "p.db: "), (("table", "p.db", "--types", "f8"), 2, "--types f8"), (("table", "p.db", "--kept", "dram"), 2, "--kept dram: L1, L2, L3, DRAM, few"),
                              (("choices", "empty.json"), 7, "not what lnbench choose --json writes")):
        with open("empty.json", "w", encoding="utf-8") as out:
            out.write("{}")
        found, _, problem = dispatch(*words)
        check(" ".join(words), found == code and any(part in problem for part in said.split("|")), f"{found} {problem}")


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    for test in (test_check, test_table, test_choices, test_bad):
        test()
    os.chdir("/")
sys.exit(1 if failed else 0)
