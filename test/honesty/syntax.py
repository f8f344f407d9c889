# SPDX-License-Identifier: Apache-2.0
"""Finds and changes parts of a kernel's syntax tree.

An edit is a function of the tree that changes it in place and says whether it could.
"""
import ast


def calls(tree, name):
    """The calls of tl.<name>."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute) and node.func.attr == name
            and isinstance(node.func.value, ast.Name) and node.func.value.id == "tl"]


def kernels(tree):
    return [node for node in tree.body if isinstance(node, ast.FunctionDef)
            and any("jit" in ast.unparse(one) for one in node.decorator_list)]


def _leftmost(expression):
    """The name that an address starts from: of `x + row * stride + cols` it is x."""
    while not isinstance(expression, ast.Name):
        parts = list(ast.iter_child_nodes(expression))
        expression = next((one for one in parts if isinstance(one, ast.expr)), None)
        if expression is None:
            return None
    return expression.id


def pointer_of(function, kind):
    """The parameter that the first load, or store, of a kernel starts from."""
    parameters = {argument.arg for argument in function.args.args}
    assigned = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            assigned.setdefault(node.targets[0].id, node.value)
    for call in calls(function, kind):
        name, steps = _leftmost(call.args[0]), 0
        while name in assigned and name not in parameters and steps < 10:
            name, steps = _leftmost(assigned[name]), steps + 1
        if name in parameters:
            return name
    return None


def expression(template, **parts):
    """The expression that a template stands for, its {parts} filled in."""
    text = template
    for name, node in parts.items():
        text = text.replace("{" + name + "}", "(" + ast.unparse(node) + ")")
    return ast.parse(text, mode="eval").body


def stored_value(template):
    """Replaces {v}, what is stored."""
    def edit(tree):
        stores = [call for function in kernels(tree) for call in calls(function, "store")]
        for call in stores:
            call.args[1] = expression(template, v=call.args[1])
        return bool(stores)
    return edit


def keyword_of(call, name):
    return next((one for one in call.keywords if one.arg == name), None)


def mask_of(kind, template):
    """Replaces {m}, the mask of what is stored or loaded; None takes it away."""
    def edit(tree):
        found = False
        for function in kernels(tree):
            for call in calls(function, kind):
                mask = keyword_of(call, "mask")
                if not mask:
                    continue
                found = True
                if template is None:
                    call.keywords = [one for one in call.keywords
                                     if one.arg not in ("mask", "other")]
                else:
                    mask.value = expression(template, m=mask.value)
        return found
    return edit


def keyword_added(kind, text):
    """Adds a keyword argument to every call of tl.<kind> that has none of that name."""
    name, value = text.split("=", 1)

    def edit(tree):
        found = False
        for function in kernels(tree):
            for call in calls(function, kind):
                if not keyword_of(call, name):
                    call.keywords.append(ast.keyword(name, ast.parse(value, mode="eval").body))
                    found = True
        return found
    return edit


def bodies(function):
    """Every list of statements in a function."""
    for parent in ast.walk(function):
        for body in (getattr(parent, "body", None), getattr(parent, "orelse", None)):
            if isinstance(body, list):
                yield body


def store_statements(tree):
    """(list of statements, index, call) of every statement that is a store, last ones first."""
    for function in kernels(tree):
        for body in list(bodies(function)):
            for at in range(len(body) - 1, -1, -1):
                statement = body[at]
                if isinstance(statement, ast.Expr) and statement.value in calls(statement, "store"):
                    yield body, at, statement.value


def statement(text):
    return ast.parse(text).body


def replaced(match, make):
    """Replaces every node that `match` names by what `make` makes of it."""
    def edit(tree):
        class Change(ast.NodeTransformer):
            found = False

            def visit(self, node):
                node = self.generic_visit(node)
                if match(node):
                    self.found = True
                    return make(node)
                return node
        change = Change()
        for function in kernels(tree):
            function.body = [change.visit(one) for one in function.body]
        return change.found
    return edit


def edited(source, edit):
    """The source after an edit, or None where it does not apply."""
    tree = ast.parse(source)
    if not edit(tree):
        return None
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
