#!/usr/bin/env python3
"""Does `lnbench report --verify` find a byte that was changed, and a figure whose every hash was made again?

    results/changed_bytes.py LNBENCH FILE CHANGES [SEED]     one byte at a time, half of them digits
    results/changed_bytes.py --forge FILE FORGED WHERE OLD NEW
        one text for another, with new hashes; WHERE: run (the run within a page, or a run), page (around it)

The first prints a line for each change that was not found, then how many were; exit code 1 if one was not.
"""
import base64, lzma, os, random, re, subprocess, sys, tempfile

OPENING, CLOSING = b'<script type="application/x-xz" id="run">\n', b"</script>\n"


def fnv(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return b"%016x" % value


def sealed_run(lines):
    """Of a run's lines, the last one a hash of those before."""
    before = lines[: lines.rindex(b'{"hash":')]
    return before + b'{"hash":"%s","schema":"lnbench-record-4","type":"end"}\n' % fnv(before)


def sealed_page(page):
    before = page[: page.rindex(b"<!-- all before")]
    return before + b"<!-- all before this line: %s -->\n" % fnv(before)


def once(data, old, new):
    if not old or old not in data:
        sys.exit(f"changed_bytes.py: {old!r} is not there")
    return data.replace(old, new, 1)


def forge(data, where, old, new):
    if not data.startswith(b"<!DOCTYPE"):
        return sealed_run(once(data, old, new))
    head, rest = data.split(OPENING)
    run, tail = rest.split(CLOSING)
    if where == "page":
        head = once(head, old, new)
    else:
        lines = sealed_run(once(lzma.decompress(base64.b64decode(run)), old, new))
        run = base64.encodebytes(lzma.compress(lines))
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
        source, forged, where, old, new = arguments[1:]
        data = forge(open(source, "rb").read(), where, old.encode(), new.encode())
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
            ended = subprocess.run([lnbench, "report", "--verify", "--errors", changed], capture_output=True)
            if ended.returncode not in (5, 7) or b"\nholds" in b"\n" + ended.stdout:
                missed += 1
                print(f"not found: byte {at}, {data[at]} -> {byte}: exit code {ended.returncode}")
    print(f"{os.path.basename(source)}, {len(data)} bytes, seed {seed}: {count - missed} of {count} changes found")
    return int(missed > 0)


sys.exit(main(sys.argv[1:]))
