#!/usr/bin/env python3
"""Does `lnbench report --verify` find a byte that was changed, and a figure whose every hash was made again?

    results/changed_bytes.py LNBENCH FILE CHANGES [SEED]     one byte at a time, half of them digits
    results/changed_bytes.py --forge FILE FORGED run SQL
        the run, or the run within a page, changed by SQL, with new hashes
    results/changed_bytes.py --forge FILE FORGED page OLD NEW
        one text for another around the run within a page, with a new hash

The first prints a line for each change that was not found, then how many were; exit code 1 if one was not.
"""
import base64, hashlib, lzma, os, random, re, sqlite3, subprocess, sys, tempfile

OPENING, CLOSING = b'<script type="application/x-xz" id="run">\n', b"</script>\n"


def fnv(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return b"%016x" % value


def changed_run(run, sql):
    """A run's database, behind whose pages the SHA-256 of all before stands."""
    with tempfile.NamedTemporaryFile(suffix=".db") as file:
        file.write(run[:-32])
        file.flush()
        database = sqlite3.connect(file.name)
        database.executescript(sql)
        database.close()
        with open(file.name, "rb") as changed:
            pages = changed.read()
    return pages + hashlib.sha256(pages).digest()


def sealed_page(page):
    before = page[: page.rindex(b"<!-- all before")]
    return before + b"<!-- all before this line: %s -->\n" % fnv(before)


def once(data, old, new):
    if not old or old not in data:
        sys.exit(f"changed_bytes.py: {old!r} is not there")
    return data.replace(old, new, 1)


def forge(data, where, *words):
    if not data.startswith(b"<!DOCTYPE"):
        return changed_run(data, *words)
    head, rest = data.split(OPENING)
    run, tail = rest.split(CLOSING)
    if where == "page":
        head = once(head, *(word.encode() for word in words))
    else:
        run = base64.encodebytes(lzma.compress(changed_run(lzma.decompress(base64.b64decode(run)), *words)))
    return sealed_page(head + OPENING + run + CLOSING + tail)


def changes(data, count, seed):
    draw = random.Random(seed)
    digits = [m.start() for m in re.finditer(rb"[0-9]", data)]
    for i in range(count):
        at = draw.choice(digits) if digits and i % 2 else draw.randrange(len(data))
        pool = b"0123456789" if i % 2 and digits else bytes(range(256))
        yield at, draw.choice([byte for byte in pool if byte != data[at]])


def main(arguments):
    if arguments[0] == "--forge":
        source, forged, *what = arguments[1:]
        data = forge(open(source, "rb").read(), *what)
        open(forged, "wb").write(data)
        return 0
    lnbench, source, count = arguments[0], arguments[1], int(arguments[2])
    seed = int(arguments[3]) if len(arguments) > 3 else 1
    data, missed = open(source, "rb").read(), 0
    with tempfile.TemporaryDirectory() as folder:
        changed = os.path.join(folder, os.path.basename(source))
        for at, byte in changes(data, count, seed):
            with open(changed, "wb") as file:
                file.write(data[:at] + bytes([byte]) + data[at + 1 :])
            ended = subprocess.run([lnbench, "report", "--verify", changed], capture_output=True)
            if ended.returncode not in (5, 7) or b"\nholds" in b"\n" + ended.stdout:
                missed += 1
                print(f"not found: byte {at}, {data[at]} -> {byte}: exit code {ended.returncode}")
    print(f"{os.path.basename(source)}, {len(data)} bytes, seed {seed}: {count - missed} of {count} changes found")
    return int(missed > 0)


sys.exit(main(sys.argv[1:]))
