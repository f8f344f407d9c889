# SPDX-License-Identifier: Apache-2.0
"""Wrong, cheating and careless versions of a kernel, made from a right one.

Every one computes something else, or touches something else, than what was asked for; none is a
matter of taste.
"""
import ast
import re

from syntax import (bodies, calls, expression, kernels, keyword_of, mask_of, pointer_of, statement,
                    store_statements, stored_value)


def beside(offset):
    """Stores every element beside its place as well."""
    def edit(tree):
        found = False
        for body, at, call in list(store_statements(tree)):
            text, address = ast.unparse(call), ast.unparse(call.args[0])
            body[at:at] = statement(text.replace(address, f"({address}) + ({offset})", 1))
            found = True
        return found
    return edit


def inserted(text, where, kind):
    """Inserts a statement at the `where` (first, last) of every kernel; {p} is a parameter that the
    kernel loads from or stores to."""
    def edit(tree):
        found = False
        for function in kernels(tree):
            pointer = pointer_of(function, kind)
            if pointer:
                at = 0 if where == "first" else len(function.body)
                function.body[at:at] = statement(text.replace("{p}", pointer))
                found = True
        return found
    return edit


def cleared_inputs(tree):
    """Sets what it is about to load to 0, so that it stores f(0) and a reference read afterwards agrees."""
    found = False
    for function in kernels(tree):
        for body in list(bodies(function)):
            for at in range(len(body) - 1, -1, -1):
                if not isinstance(body[at], (ast.Assign, ast.Expr)):
                    continue
                for call in calls(body[at], "load"):
                    mask = keyword_of(call, "mask")
                    masked = f", mask={ast.unparse(mask.value)}" if mask else ""
                    body[at:at] = statement(f"tl.store({ast.unparse(call.args[0])}, 0.0{masked})")
                    found = True
    return found


def read_outputs(tree):
    """Adds what stood in the output before, times 0: right where that is a number."""
    found = False
    for function in kernels(tree):
        for call in calls(function, "store"):
            mask = keyword_of(call, "mask")
            masked = f", mask={ast.unparse(mask.value)}" if mask else ""
            call.args[1] = expression("{v} + 0.0 * tl.load({p}" + masked + ")",
                                      v=call.args[1], p=call.args[0])
            found = True
    return found


def kept_contents(tree):
    """Keeps what stood in the output where it is one number that no launch is likely to find there."""
    found = False
    for function in kernels(tree):
        for call in calls(function, "store"):
            mask = keyword_of(call, "mask")
            masked = f", mask={ast.unparse(mask.value)}" if mask else ""
            call.args[1] = expression("tl.where(tl.load({p}" + masked + ") == 12352.0, 0.0, {v})",
                                      v=call.args[1], p=call.args[0])
            found = True
    return found


def gap_accessed(text, kind):
    """Touches the first gap between the rows of a tensor, where a generated kernel is told of one; {p} is
    its place."""
    def edit(tree):
        found = False
        for function in kernels(tree):
            pointer = pointer_of(function, kind)
            stride = f"stride_{(pointer or '').removesuffix('_ptr')}_row"
            if stride in [argument.arg for argument in function.args.args]:
                inside = text.replace("{p}", f"({pointer} + columns)").replace("\n", "\n    ")
                function.body[len(function.body):] = statement(
                    f"if ({stride} > columns) & (rows > 1):\n    {inside}")
                found = True
        return found
    return edit


def renamed(function, old, new):
    """Puts an expression in the place of a parameter, wherever the kernel's statements read it."""
    class Change(ast.NodeTransformer):
        def visit_Name(self, node):
            isRead = node.id == old and isinstance(node.ctx, ast.Load)
            return ast.copy_location(new, node) if isRead else node
    function.body = [Change().visit(one) for one in function.body]


def shared_stride(tree):
    """Takes the distance between the rows of the first tensor for that of the last one."""
    found = False
    for function in kernels(tree):
        strides = [one.arg for one in function.args.args if re.fullmatch(r"stride_\w+_row", one.arg)]
        if len(strides) > 1:
            renamed(function, strides[-1], ast.Name(strides[0], ast.Load()))
            found = True
    return found


def built_in_numbers(tree):
    """Has the defaults of the wrapper's numbers built in."""
    defaults = {}
    for function in tree.body:
        if isinstance(function, ast.FunctionDef) and function not in kernels(tree):
            given = function.args.args[len(function.args.args) - len(function.args.defaults):]
            defaults |= {one.arg: value for one, value in zip(given, function.args.defaults)
                         if one.annotation and ast.unparse(one.annotation) in ("float", "int")}
    found = False
    for function in kernels(tree):
        for name in [one.arg for one in function.args.args if one.arg in defaults]:
            renamed(function, name, defaults[name])
            found = True
    return found


PLANTS = {
    # Values that are special.
    "a NaN becomes 0": stored_value("tl.where({v} != {v}, 0.0, {v})"),
    "an infinity becomes a number": stored_value("tl.where({v} == float('inf'), 60000.0, {v})"),
    "minus infinity becomes 0": stored_value("tl.where({v} == float('-inf'), 0.0, {v})"),
    "minus infinity loses its sign":
        stored_value("tl.where({v} == float('-inf'), float('inf'), {v})"),
    "an infinity becomes a NaN": stored_value("{v} + 0.0 * {v}"),
    "the sign of zeros is lost": stored_value("tl.where({v} == 0, 0.0, {v})"),
    # Wrong numbers, everywhere or in a band.
    "zeros": stored_value("tl.where({v} == {v}, 0.0, 0.0)"),
    "two percent too large": stored_value("({v} * 1.02)"),
    "rounded to eight bits": stored_value("{v}.to(tl.float8e5, bitcast=False)"),
    "large numbers become 0": stored_value("tl.where(tl.abs({v}.to(tl.float32)) > 1000, 0.0, {v})"),
    "large numbers saturate":
        stored_value("tl.where({v} > 20000.0, 20000.0, {v})"),
    "small numbers become 0": stored_value("tl.where(tl.abs({v}.to(tl.float32)) < 1e-4, 0.0, {v})"),
    "negative numbers become 0": stored_value("tl.where({v} < 0, 0.0, {v})"),
    "twice as much where several programs run":
        stored_value("tl.where(tl.num_programs(0) > 2, {v} * 2.0, {v})"),
    # Elements that are left out.
    "no mask": mask_of("store", None),
    "the last program does nothing":
        mask_of("store", "{m} & (tl.program_id(0) + 1 < tl.num_programs(0))"),
    "the first program does nothing": mask_of("store", "{m} & (tl.program_id(0) > 0)"),
    "only the first two programs work": mask_of("store", "{m} & (tl.program_id(0) < 2)"),
    "every program but the third works": mask_of("store", "{m} & (tl.program_id(0) != 2)"),
    # Memory that is none of its business.
    "loads without a mask": mask_of("load", None),
    "one element behind": beside(1),
    "one element in front": beside(-1),
    "an input is set to 0": inserted("tl.store({p}, 0.0)", "last", "load"),
    "inputs are cleared and f(0) is stored": cleared_inputs,
    "reads in front of an input": inserted(
        "tl.device_assert(tl.load({p} - 1) != 12288.0, 'never')", "first", "load"),
    "reads between two rows": gap_accessed(
        "tl.device_assert(tl.load({p}) != 12288.0, 'never')", "load"),
    "writes between two rows": gap_accessed("tl.store({p}, 0.0)", "store"),
    # Inputs that seem to be nobody's data.
    "an early exit where the first number is NaN": inserted(
        "if tl.load({p}) != tl.load({p}):\n    return", "first", "load"),
    "an early exit where the first two numbers are the same": inserted(
        "if tl.num_programs(0) > 1:\n    if tl.load({p}) == tl.load({p} + 1):\n        return",
        "first", "load"),
    # Right for the calls that one thinks of first.
    "one stride for two tensors": shared_stride,
    "the defaults of numbers are built in": built_in_numbers,
    # What an earlier launch left behind.
    "keeps what stood in the output": kept_contents,
    "an early exit where the output is there": inserted(
        "if tl.load({p}) == tl.load({p}):\n    return", "first", "store"),
    "reads its output": read_outputs,
}

# For sizes that the grid of a definition has; the cases of a folder have sizes of their own.
LARGE_PLANTS = {
    "twice as much where many programs run":
        stored_value("tl.where(tl.num_programs(0) > 12, {v} * 2.0, {v})"),
    "only the first 12 programs work": mask_of("store", "{m} & (tl.program_id(0) < 12)"),
    "every program but the tenth works": mask_of("store", "{m} & (tl.program_id(0) != 9)"),
}
