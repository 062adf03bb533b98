"""docs/verdicts.md has a line for each text that a verdict may have: what is said there is what the sources say."""
import glob, os, re, sys

ROOT = sys.argv[1]
SAYS = {  # in which files, and the functions that put words into a verdict
    "judge/*.c": r"judge_find|number_print", "conformance/*.c": r"judge_find|blame|verdict_say|number_print|fault",
    "worker/child/*.c": r"order_fails|call_again"}
LITERAL = r'"(?:[^"\\]|\\.)*"'


def calls(text, functions):
    """The arguments of each call, to the bracket that closes it."""
    for found in re.finditer(rf"\b(?:{functions})\(", text):
        depth, at = 1, found.end()
        while depth:
            literal = re.compile(LITERAL).match(text, at)
            at = literal.end() if literal else at + 1
            depth += {"(": 1, ")": -1}.get(text[at - 1], 0) if not literal else 0
        yield text[found.end():at]


def pieces(words):
    """What stands between the places of figures and names."""
    return [piece.strip(" :;,()") for piece in re.split(r"%[-+#0-9.*]*(?:l{1,2}|z)?[a-z]", words)]


def main():
    said = 0
    missing = set()
    with open(os.path.join(ROOT, "docs", "verdicts.md"), encoding="utf-8") as file:
        documented = file.read()
    for files, functions in SAYS.items():
        for path in glob.glob(os.path.join(ROOT, "harness", files)):
            if path.endswith("child/main.c"):  # what it says of a plugin that is none
                continue
            with open(path, encoding="utf-8") as file:
                text = file.read()
            for arguments in calls(text, functions):
                for literals in re.findall(rf"{LITERAL}(?:\s*{LITERAL})*", arguments):
                    words = "".join(part[1:-1] for part in re.findall(LITERAL, literals))
                    for piece in pieces(words):
                        if len(piece) >= 12 and " " in piece:
                            said += 1
                            if piece not in documented:
                                missing.add((os.path.relpath(path, ROOT), piece))
    for path, piece in sorted(missing):
        print(f"FAILED: {path}: '{piece}' is not in docs/verdicts.md")
    print(f"{said} texts")
    return bool(missing) or said < 30


sys.exit(main())
