"""Compares tensor_tool's reading of every format in tensor.h with NumPy's; and tests files that are made to do harm.
usage: tensor_forms_test.py TENSOR_TOOL"""
import io, itertools, json, os, re, struct, subprocess, sys, tempfile, zipfile, zlib

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy for Python 3 is not there (python3-numpy)")
    sys.exit(77)

TOOL = os.path.abspath(sys.argv[1])
TYPES = {"f2": "f16", "f4": "f32", "f8": "f64", "u2": "bf16", "V2": "bf16"}
failures = []


def read(paths, bits="-", axis="-"):
    done = subprocess.run([TOOL, bits, axis, *paths], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == len(paths) and not done.stderr, done.stderr or "an error of two lines"
    return lines


def line_of(array, last=1):
    hidden = int(np.prod(array.shape[array.ndim - last:])) if array.ndim else 1
    plain = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<")))
    return f"{TYPES[array.dtype.str[1:]]} {array.shape} {hidden} {plain.tobytes().hex()}"


def expect(label, found, wanted):
    if not (re.search(wanted[1:], found) if wanted.startswith("~") else found == wanted.rstrip()):
        failures.append(f"{label}: {found[:300]}\n    expected {wanted[:300]}")


def check(label, wanted, path, **how):
    expect(label, read([path], **how)[0].rstrip(), wanted)


def write(path, content):
    if os.path.exists(path):
        os.unlink(path)  # some file systems flush a file that is truncated and rewritten, which is slow
    with open(path, "wb") as file:
        file.write(content)


def npy(array, version=(1, 0)):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=version)
    return file.getvalue()


def safetensors(tensors, header=None):
    places, data = {}, b""
    for name, (dtype, array) in tensors.items():
        raw = array.tobytes()
        places[name] = {"dtype": dtype, "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = header(places) if header else json.dumps({"__metadata__": {"by": "test"}, **places})
    return struct.pack("<Q", len(text)) + text.encode() + data


def bits(array):
    return array.astype("f4").view("u4") >> 16


def forms():
    draw = np.random.default_rng(1).standard_normal
    cases, wanted = [], []
    for i, (shape, dtype, order, version) in enumerate(itertools.product(
            ((), (1,), (5,), (3, 0), (2, 3, 4), (1, 3, 1, 2), (40, 50, 7)),
            ("<f2", "<f4", "<f8", ">f2", ">f4", ">f8"), "CF", ((1, 0), (2, 0), (3, 0)))):
        array = np.asarray(draw(shape), dtype, order=order)
        write(f"{i}.npy", npy(array, version))
        cases.append(f"{i}.npy")
        wanted.append(line_of(array))
    for case, found, line in zip(cases, read(cases), wanted):
        expect(case, found.rstrip(), line)
    x, short = draw((2, 3, 4)).astype("f4"), bits(draw((3, 4))).astype("u2")
    np.save("v.npy", short.view("V2"))  # as ml_dtypes' bfloat16 is saved
    np.save("u.npy", short)
    np.save("b.npy", short.astype(">u2"))
    check("V2", line_of(short), "v.npy")
    check("u2", line_of(short), "u.npy", bits="bf16")
    check("u2, big endian", line_of(short), "b.npy", bits="bf16")
    check("u2, unsaid", "~error 2 u.npy: .*--dtypes bf16", "u.npy")
    for save in np.savez, np.savez_compressed:
        save("two.npz", x=x, gamma=np.asfortranarray(x[0].astype(">f8")), **{"a:b ü.npz:c": short})
        check(save.__name__, line_of(x), "two.npz:x")
        check(save.__name__ + ", Fortran", line_of(x[0].astype("f8")), "two.npz:gamma")
        check(save.__name__ + ", a name", line_of(short), "two.npz:a:b ü.npz:c", bits="bf16")
        check(save.__name__ + ", which", "~error 2 two.npz: holds 3 tensors.*x, gamma", "two.npz")
        check(save.__name__ + ", none", "~error 2 .*no tensor 'y': it has x, gamma", "two.npz:y")
        save("one.npz", np.zeros(70000, "f4"))
        check(save.__name__ + ", of one", line_of(np.zeros(70000, "f4")), "one.npz")
    zipfile.ZIP64_LIMIT, usual = 100, zipfile.ZIP64_LIMIT  # every size and place is written as zip64
    np.savez_compressed("large.npz", x=x, h=short)
    zipfile.ZIP64_LIMIT = usual
    check("zip64", line_of(short), "large.npz:h", bits="bf16")
    write("s.safetensors", safetensors({"x": ("F32", x), "h": ("F16", x.astype("f2")), "n": ("F32", x[:0]),
                                        "b.c": ("BF16", short), "d": ("F64", x.astype("f8")), "i": ("I64", x)}))
    for name, line in (("x", line_of(x)), ("h", line_of(x.astype("f2"))), ("b.c", line_of(short)),
                       ("n", line_of(x[:0])), ("d", line_of(x.astype("f8"))),
                       ("i", "~error 2 .*dtype 'I64': expected f4, f8, f2 or bf16"),
                       ("__metadata__", "~error 2 .*no tensor '__metadata__': it has x, h, n")):
        check("safetensors " + name, line, "s.safetensors:" + name)
    for name, header in (("list", b"[]"), ("empty", b"{}")):
        write(name + ".safetensors", struct.pack("<Q", len(header)) + header)
        check("safetensors, " + name, "~error 2 .*: holds no tensors: expected", name + ".safetensors")
    if os.path.exists("/sys/kernel/mm/transparent_hugepage/enabled"):  # the reported size exceeds its contents
        check("shorter than it was", "~error 7 .*became shorter", "/sys/kernel/mm/transparent_hugepage/enabled")
    four = np.asfortranarray(draw((2, 3, 4, 5)).astype(">f4"))
    np.save("four.npy", four)
    for axes in ((1,), (-1,), (0, 2), (2, 3), (0, 1, 2, 3)):
        rest = [i for i in range(4) if i not in [axis % 4 for axis in axes]]
        moved = line_of(four.transpose(rest + [axis % 4 for axis in axes]), len(axes)).split(")")[1]
        check(f"axes {axes}", "f32 (2, 3, 4, 5)" + moved, "four.npy", axis=",".join(map(str, axes)))
    check("an axis that is none", "~error 2 .*has no axis 4", "four.npy", axis="4")
    check("an axis twice", "~error 2 .*axis -3 twice", "four.npy", axis="1,-3")

def headers():
    """Tests valid .npy headers as other programs write them, and invalid ones; the array has six f4."""
    def put(version, header):
        size = struct.pack("<H" if version == 1 else "<I", len(header))
        write("h.npy", b"\x93NUMPY" + bytes([version, 0]) + size + header.encode() + bytes(range(24)))
    whole = "{'descr': %s, 'fortran_order': %s, 'shape': %s, }"
    for version in 1, 2, 3:
        for header, line in (
                (whole % ("'<f4'", "False", "(2, 3)") + "   \n", "f32 (2, 3) 3"),
                ("{'shape':(2,3),'fortran_order':False,'descr':'<f4'}", "f32 (2, 3) 3"),
                ('{"shape": (2L, 3L), "descr": "<f4", "fortran_order": False}\n', "f32 (2, 3) 3"),
                ("  { 'descr' : '<f4' ,\t'fortran_order' : False , 'shape' : ( 6 , ) } ", "f32 (6,) 6"),
                (whole % ("'<f4'", "False", "(1, 2, 3, )"), "f32 (1, 2, 3) 3"),
                (whole % ("'<f8'", "False", "(3,)"), "f64 (3,) 3")):
            put(version, header)
            check(f"{header}, version {version}", f"{line} {bytes(range(24)).hex()}", "h.npy")
    for descr in "'<i4'", "'|O'", "'<c8'":
        put(1, whole % (descr, "False", "(6,)"))
        check(descr, "~^error 2 h.npy: dtype " + re.escape(descr) + ": expected f4, f8, f2 or bf16", "h.npy")
    for shape, says in (
            ("(2, 3", "header"), ("(-6,)", "shape: expected"), ("(6.0,)", "shape: expected"), ("6", "shape: expected"),
            ("(9" + "9" * 22 + ",)", "too big integer"), ("(4294967296, 4294967296)", "more elements than this machine"),
            ("(1000000, 1000000)", "need 4000000000000: the file is truncated"),
            ("(7,)", "holds 24 bytes of elements, but dtype and shape need 28"), ("(5,)", "need 20: the file is too long"),
            ("(0,)", "need 0: the file is too long"), ("()", "need 4: the file is too long"),
            ("(" + "1," * 32 + "6)", "at most 32 sizes")):
        put(1, whole % ("'<f4'", "False", shape))
        check(shape, "~^error 2 h.npy: .*" + re.escape(says), "h.npy")
    for header in (
            whole % ("[('a', '<f4')]", "False", "(6,)"), whole % ("'<f4'", "Maybe", "(2, 3)"),
            "{'descr': '<f4', 'fortran_order': False, }", "{'descr': '<f4', 'shape': (6,), }",
            "{'fortran_order': False, 'shape': (6,), }", "{}", "", "hello", "{'descr': '<f4', 'descr': '<f4'}",
            "{'descr' '<f4'}", "{'descr': '<f4' 'shape': (6,)}", "{'descr': '<f4", whole % ("'<f4'", "False", "(6,)") + " x"):
        put(1, header)
        check(header, "~^error 2 h.npy: its header is damaged: .", "h.npy")
    check("a missing file", "~^error 7 none.npy: .*No such file", "none.npy")
    for content, says in ((b"", "not an npy, npz or safetensors file"), (b"hello, world", "not an npy, npz or safetensors file"),
                          (b"\x93NUMPY\x04\0    ", "version 1, 2 or 3"),
                          (b"\x93NUMPY\2\0\xff\xff\xff\xff{", "truncated")):
        write("n.npy", content)
        check(str(content), "~^error 2 n.npy: .*" + says, "n.npy")
    os.mkdir("folder.npy")
    os.mkfifo("pipe.npy")
    for path in "folder.npy", "pipe.npy":
        check(path, f"~^error . {path}: .*not a regular file", path)


def harm():
    """A file that is truncated or damaged anywhere is refused in one line, or read like the whole file."""
    x = np.arange(6, dtype="f4").reshape(2, 3)
    np.savez("z.npz", x=x)
    np.savez_compressed("c.npz", x=x, y=x)
    write("s.safetensors", safetensors({"x": ("F32", x), "y": ("F32", x + 1)}))
    line = line_of(x)
    for version in 1, 2, 3:
        whole = npy(x, (version, 0))
        os.makedirs("npy", exist_ok=True)
        paths = [f"npy/{i}.npy" for i in range(len(whole))]
        for i, path in enumerate(paths):
            write(path, whole[:i])
        for i, found in enumerate(read(paths)):
            expect(f"npy, {i} bytes of it", found, "~^error 2 npy/.*" + ("truncated" if i > 7 else "not an npy"))
        for value in b"\0\n'\"(),09L\xff":
            for i, path in enumerate(paths):
                write(path, whole[:i] + bytes([value]) + whole[i + 1:])
            for i, found in enumerate(read(paths)):
                expect(f"npy, byte {i} is {value}", found, r"~^error 2 npy/|^f(16|32|64) \(.*\) \d+ [0-9a-f]{48}$")
    for name in "z.npz", "c.npz", "s.safetensors":
        with open(name, "rb") as file:
            whole = file.read()
        os.makedirs("cut", exist_ok=True)
        paths = [f"cut/{i}{name[1:]}:x" for i in range(len(whole))]
        for i, path in enumerate(paths):
            write(path[:-2], whole[:i])
        for i, found in enumerate(read(paths)):
            expect(f"{name}, {i} bytes of it", found, "~^error 2 cut/")
        for i, path in enumerate(paths):
            write(path[:-2], whole[:i] + bytes([whole[i] ^ 0x21]) + whole[i + 1:])
        for i, found in enumerate(read(paths) if name != "s.safetensors" else []):
            if found != line:
                expect(f"{name}, byte {i} another", found, "~^error 2 cut/")

    def archive(label, wanted, change=lambda whole: whole, names=("x",),
                method=zipfile.ZIP_STORED, more=b""):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", method) as made:
            for name in names:
                made.writestr(name + ".npy", npy(x) + more)
        write("h.npz", change(file.getvalue()))
        check(label, "~^error 2 h.npz:x: .*" + wanted, "h.npz:x")

    def directory(whole):
        return whole.index(b"PK\1\2")

    def put(whole, at, form, value):
        return whole[:at] + struct.pack(form, value) + whole[at + struct.calcsize(form):]
    one = ("x",)
    archive("no arrays", "holds no tensor", names=())
    archive("LZMA", r"packed by method 14: expected stored \(0\) or deflated", names=one, method=zipfile.ZIP_LZMA)
    archive("outside", "truncated or damaged", lambda w: put(w, directory(w) + 42, "<I", 1 << 30), one)
    archive("too long", "truncated or damaged", lambda w: put(w, directory(w) + 20, "<I", 1 << 20), one)
    archive("a directory outside", "truncated or damaged", lambda w: put(w, len(w) - 6, "<I", 1 << 30), one)
    archive("more entries", "truncated or damaged", lambda w: put(w, len(w) - 12, "<H", 9), one)
    archive("more than deflate can", "packed size differs from its header", lambda w: put(w, directory(w) + 24, "<I", 1 << 31), one,
            zipfile.ZIP_DEFLATED)
    archive("one byte more", "packed size differs from its header", lambda w: put(put(w, directory(w) + 16, "<I", zlib.crc32(npy(x))),
                                                              directory(w) + 24, "<I", 152), one, zipfile.ZIP_DEFLATED, b"1")
    archive("a long comment", "truncated or damaged", lambda w: put(w, directory(w) + 32, "<H", 0xffff), one)
    archive("more behind", "does not end as a zip", lambda w: w + b"more", one)
    archive("unpacks to more", "packed size differs from its header", lambda w: put(w, directory(w) + 24, "<I", 148), one, zipfile.ZIP_DEFLATED)

    def headed(label, wanted, header, tensors=None):
        write("h.safetensors", safetensors(tensors or {"x": ("F32", x), "y": ("F32", x)}, header))
        check(label, "~^error 2 h.safetensors:x: .*" + wanted, "h.safetensors:x")

    def with_x(**changes):
        return lambda places: json.dumps({**places, "x": {**places["x"], **changes}})
    headed("a name twice", "duplicate object key", lambda p: json.dumps(p).replace('"y"', '"x"'))
    headed("too few bytes", "holds 20 bytes of elements, but dtype and shape need 24", with_x(data_offsets=[0, 20]))
    headed("outside", "does not match its tensors", with_x(data_offsets=[0, 1 << 40]))
    headed("backwards", "does not match its tensors", with_x(data_offsets=[24, 0]))
    headed("another size", "holds 24 bytes of elements, but dtype and shape need 36", with_x(shape=[3, 3]))
    headed("a huge shape", "more elements than this machine", with_x(shape=[1 << 62, 1 << 62]))
    headed("a negative size", "shape: expected", with_x(shape=[-2, -3]))
    headed("no shape", "shape: expected", with_x(shape=None))
    headed("no dtype", "header is damaged: Expected string", with_x(dtype=3))
    headed("a list", "holds no tensor", lambda p: "[1]")
    headed("deep", "header is damaged: ", lambda p: "[" * 100000)
    headed("more behind", "does not match its tensors", lambda p: json.dumps({"x": p["x"]}))
    write("h.safetensors", struct.pack("<Q", 1 << 62) + b"{}")
    check("a header of 2^62 bytes", "~^error 2 .*truncated", "h.safetensors:x")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    forms()
    headers()
    harm()
    os.chdir("/")
print("\n".join(failures))
sys.exit(bool(failures))
