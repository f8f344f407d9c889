# SPDX-License-Identifier: Apache-2.0
"""step_names.py FILE...: what the function _steps of accuracy programs asks of Steps, and Steps lacks."""

import ast
import sys


def missing(path):
    tree = ast.parse(open(path, encoding="utf-8").read())
    named = {each.name: each for each in tree.body if isinstance(each, (ast.ClassDef, ast.FunctionDef))}
    steps, user = named["Steps"], named["_steps"]
    known = {each.name for each in steps.body if isinstance(each, ast.FunctionDef)}
    known |= {each.attr for each in ast.walk(steps)
              if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store)}
    asked = {each.attr for each in ast.walk(user)
             if isinstance(each, ast.Attribute) and getattr(each.value, "id", "") == "_t"}
    assert asked, f"{path} asks nothing"
    return sorted(asked - known)


found = {path: missing(path) for path in sys.argv[1:]}
print(*(f"{path}: {' '.join(names)}" for path, names in found.items() if names), sep="\n")
sys.exit(1 if any(found.values()) else 0)
