# SPDX-License-Identifier: Apache-2.0
"""Wrong, cheating and careless versions of a kernel, made from a right one.

A plant is a function of the kernel's syntax tree that changes it in place and says whether it could.
Every one computes something else, or touches something else, than what was asked for; none is a
matter of taste.
"""
import ast
import re


def _calls(tree, name):
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute) and node.func.attr == name
            and isinstance(node.func.value, ast.Name) and node.func.value.id == "tl"]


def _kernels(tree):
    return [node for node in tree.body if isinstance(node, ast.FunctionDef)
            and any("jit" in ast.unparse(one) for one in node.decorator_list)]


def _root(expression):
    """The parameter that an address starts from."""
    names = [node.id for node in ast.walk(expression) if isinstance(node, ast.Name)]
    return names[0] if names else None


def _pointer_of(function, kind):
    """The first parameter that the kernel loads from, or stores to."""
    parameters = [argument.arg for argument in function.args.args]
    for call in _calls(function, kind):
        text = ast.unparse(call.args[0])
        for name in parameters:
            if re.search(rf"\b{name}\b", text) and ("ptr" in name or len(name) <= 4):
                return name
    # The address was computed before: whatever a parameter of that name begins with.
    for call in _calls(function, kind):
        stem = (_root(call.args[0]) or "").split("_")[0]
        for name in parameters:
            if stem and name.split("_")[0] == stem:
                return name
    return None


def _value(template):
    """Replaces what is stored."""
    def plant(tree):
        found = False
        for function in _kernels(tree):
            for call in _calls(function, "store"):
                text = template.replace("{v}", "(" + ast.unparse(call.args[1]) + ")")
                call.args[1] = ast.parse(text, mode="eval").body
                found = True
        return found
    return plant


def _mask(template):
    """Replaces the mask of what is stored."""
    def plant(tree):
        found = False
        for function in _kernels(tree):
            for call in _calls(function, "store"):
                masks = [one for one in call.keywords if one.arg == "mask"]
                if not masks:
                    continue
                if template is None:
                    call.keywords.remove(masks[0])
                else:
                    text = template.replace("{m}", "(" + ast.unparse(masks[0].value) + ")")
                    masks[0].value = ast.parse(text, mode="eval").body
                found = True
        return found
    return plant


def _store_beside(body, offset):
    found = False
    for i in range(len(body) - 1, -1, -1):
        statement = body[i]
        if isinstance(statement, ast.Expr) and statement.value in _calls(statement, "store"):
            text, address = ast.unparse(statement), ast.unparse(statement.value.args[0])
            body.insert(i, ast.parse(text.replace(
                address, f"({address}) + ({offset})", 1)).body[0])
            found = True
    return found


def _beside(offset):
    """Stores every element beside its place as well."""
    def plant(tree):
        found = False
        for function in _kernels(tree):
            for parent in ast.walk(function):
                for body in (getattr(parent, "body", None), getattr(parent, "orelse", None)):
                    found |= isinstance(body, list) and _store_beside(body, offset)
        return found
    return plant


def _statement(text, where, kind):
    """Inserts a statement at the `where` (first, last) of every kernel; {p} is a parameter that the
    kernel loads from or stores to."""
    def plant(tree):
        found = False
        for function in _kernels(tree):
            pointer = _pointer_of(function, kind)
            if pointer:
                statements = ast.parse(text.replace("{p}", pointer)).body
                at = 0 if where == "first" else len(function.body)
                function.body[at:at] = statements
                found = True
        return found
    return plant


PLANTS = {
    "a NaN becomes 0": _value("tl.where({v} != {v}, 0.0, {v})"),
    "an infinity becomes a number": _value("tl.where({v} == float('inf'), 60000.0, {v})"),
    "minus infinity becomes 0": _value("tl.where({v} == float('-inf'), 0.0, {v})"),
    "an infinity becomes a NaN": _value("{v} + 0.0 * {v}"),
    "the sign of zeros is lost": _value("tl.where({v} == 0, 0.0, {v})"),
    "zeros": _value("tl.where({v} == {v}, 0.0, 0.0)"),
    "two percent too large": _value("({v} * 1.02)"),
    "rounded to eight bits": _value("{v}.to(tl.float8e5, bitcast=False)"),
    "large numbers become 0": _value("tl.where(tl.abs({v}.to(tl.float32)) > 1000, 0.0, {v})"),
    "small numbers become 0": _value("tl.where(tl.abs({v}.to(tl.float32)) < 1e-4, 0.0, {v})"),
    "negative numbers become 0": _value("tl.where({v} < 0, 0.0, {v})"),
    "no mask": _mask(None),
    "the last program does nothing": _mask("{m} & (tl.program_id(0) + 1 < tl.num_programs(0))"),
    "one element behind": _beside(1),
    "one element in front": _beside(-1),
    "an input is set to 0": _statement("tl.store({p}, 0.0)", "last", "load"),
    "reads in front of an input": _statement(
        "tl.device_assert(tl.load({p} - 1) != 12345.678, 'never')", "first", "load"),
    "an early exit where the output is there": _statement(
        "if tl.load({p}) == tl.load({p}):\n    return", "first", "store"),
}


def planted(source, name):
    """The source with the plant, or None where it does not apply."""
    tree = ast.parse(source)
    if not PLANTS[name](tree):
        return None
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
