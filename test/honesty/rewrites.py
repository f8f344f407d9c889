# SPDX-License-Identifier: Apache-2.0
"""Other ways of writing a right kernel: as right as before, so none may be refused."""
import ast

from syntax import (calls, expression, kernels, keyword_added, keyword_of, replaced, statement,
                    store_statements, stored_value)


def before_stores(text):
    def edit(tree):
        found = False
        for body, at, _ in list(store_statements(tree)):
            body[at:at] = statement(text)
            found = True
        return found
    return edit


def stored_twice(tree):
    found = False
    for body, at, call in list(store_statements(tree)):
        body[at:at] = statement(ast.unparse(call))
        found = True
    return found


def stored_in_parts(tree):
    """Even programs by one store, odd ones by another."""
    found = False
    for body, at, call in list(store_statements(tree)):
        mask = keyword_of(call, "mask")
        if mask is None:
            continue
        parts = []
        for rest in ("0", "1"):
            part = ast.parse(ast.unparse(call), mode="eval").body
            keyword_of(part, "mask").value = expression(
                "{m} & (tl.program_id(0) % 2 == " + rest + ")", m=mask.value)
            parts.append(ast.Expr(part))
        body[at:at + 1] = parts
        found = True
    return found


def stored_in_a_loop(tree):
    found = False
    for body, at, call in list(store_statements(tree)):
        body[at:at + 1] = statement(f"for _once in range(0, 1):\n    {ast.unparse(call)}")
        found = True
    return found


def is_first_program(node):
    return isinstance(node, ast.Call) and ast.unparse(node) == "tl.program_id(0)"


def is_function(name):
    return lambda node: isinstance(node, ast.Call) and ast.unparse(node.func) == f"tl.{name}"


def is_one_dimensional(tree):
    return not any("program_id(1)" in ast.unparse(function) for function in kernels(tree))


def programs_reversed(tree):
    """Only where the grid has one dimension and no program asks how many there are."""
    if not is_one_dimensional(tree) or any(calls(one, "num_programs") for one in kernels(tree)):
        return False
    return replaced(is_first_program, lambda node: ast.parse(
        "(tl.num_programs(0) - 1 - tl.program_id(0))", mode="eval").body)(tree)


def is_division(node):
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)


def wider_in_between(tree):
    """float64 for float32, where no loop carries a tile whose type was fixed before it."""
    if any(isinstance(node, ast.For) for one in kernels(tree) for node in ast.walk(one)):
        return False
    return replaced(lambda node: isinstance(node, ast.Attribute) and ast.unparse(node) == "tl.float32",
                    lambda node: ast.parse("tl.float64", mode="eval").body)(tree)


REWRITES = {
    "as it is": lambda tree: True,
    "times one": stored_value("({v} * 1.0)"),
    "negated twice": stored_value("-(-{v})"),
    "chosen from two that are the same": stored_value("tl.where({v} == {v}, {v}, {v})"),
    "stored twice": stored_twice,
    "stored in two parts": stored_in_parts,
    "stored in a loop of one iteration": stored_in_a_loop,
    "a barrier in front of stores": before_stores("tl.debug_barrier()"),
    "programs in reverse order": programs_reversed,
    "loads that stay in the cache": keyword_added("load", "eviction_policy='evict_last'"),
    "loads past the cache": keyword_added("load", "cache_modifier='.cg'"),
    "volatile loads": keyword_added("load", "volatile=True"),
    "divided by way of the reciprocal": replaced(is_division, lambda node: expression(
        "{a} * (1.0 / {b})", a=node.left, b=node.right)),
    "exp by way of exp2": replaced(is_function("exp"), lambda node: expression(
        "tl.exp2({x} * 1.4426950408889634)", x=node.args[0])),
    "wider in between": wider_in_between,
}
