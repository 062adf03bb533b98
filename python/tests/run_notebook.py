"""Runs the code of a notebook without Jupyter, and prints the last value of each cell: run_notebook.py FILE.ipynb"""
import ast
import json
import sys


def run(path):
    with open(path, encoding="utf-8") as file:
        cells = json.load(file)["cells"]
    names = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            body = ast.parse("".join(cell["source"])).body
            if isinstance(body[-1], ast.Expr):
                body[-1].value = ast.Call(ast.Name("print", ast.Load()), [body[-1].value], [])
            code = ast.fix_missing_locations(ast.Module(body, []))
            exec(compile(code, path, "exec"), names)


if __name__ == "__main__":
    run(sys.argv[1])
