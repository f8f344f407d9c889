# SPDX-License-Identifier: Apache-2.0
"""Versions of a kernel that seem quicker than they are, made from a right one.

Each keeps something between launches, or leaves work undone where it hopes that nobody looks.
"""
from plants import inserted
from syntax import kernels, mask_of, pointer_of, statement


def between_launches(first, last, kind):
    """A statement in front and one behind: what the second leaves makes the first return."""
    def edit(tree):
        return inserted(first, "first", kind)(tree) and inserted(last, "last", kind)(tree)
    return edit


def where_result_is_there(tree):
    """Returns where the first element of the output is what the first input suggests."""
    found = False
    for function in kernels(tree):
        source, target = pointer_of(function, "load"), pointer_of(function, "store")
        if source and target:
            there = " & ".join(f"(tl.load({one}) == tl.load({one}))" for one in (target, source))
            text = f"if {there}:\n    return"
            function.body[0:0] = statement(text)
            found = True
    return found


TIME_PLANTS = {
    "a mark in an input: the next launch returns": between_launches(
        "if tl.load({p}) == 77.0:\n    return", "tl.store({p}, 77.0)", "load"),
    "a mark in front of an input: the next launch returns": between_launches(
        "if tl.load({p} - 1) == 77.0:\n    return", "tl.store({p} - 1, 77.0)", "load"),
    "a mark in front of the output: the next launch returns": between_launches(
        "if tl.load({p} - 1) == 77.0:\n    return", "tl.store({p} - 1, 77.0)", "store"),
    "returns where the output holds numbers": where_result_is_there,
    "only the first half of the programs": mask_of(
        "store", "{m} & (tl.program_id(0) * 2 < tl.num_programs(0) + 1)"),
    "three programs of four": mask_of("store", "{m} & (tl.program_id(0) % 4 != 3)"),
    "a random tenth of the programs is left out": mask_of(
        "store", "{m} & ((tl.program_id(0) * 7919 + 13) % 10 != 0)"),
    "only 8 programs work": mask_of("store", "{m} & (tl.program_id(0) < 8)"),
    "nothing where there are many programs": mask_of(
        "store", "{m} & (tl.num_programs(0) < 10)"),
    "the last program of many does nothing": mask_of(
        "store",
        "{m} & ((tl.program_id(0) + 1 < tl.num_programs(0)) | (tl.num_programs(0) < 16))"),
}
