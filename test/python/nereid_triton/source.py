# SPDX-License-Identifier: Apache-2.0
"""One self-contained text of a jit function and of everything it refers to.

Upstream's functions refer to live objects: helpers of other modules, constants of the enclosing
function. Each object gets one name in the text, its own unless that is taken by another one, and
the references are rewritten where the name differs.
"""

import ast
import builtins
import inspect
import math
import textwrap
import types

import triton
import triton.language as tl
from triton.runtime.jit import ConstexprFunction, JITFunction

from . import NotJudged

_BUILT_IN = ("triton", "torch", "math", "numpy", "os", "sys", "typing", "dataclasses", "builtins")


class Unknown(Exception):
    """A value that has no text; its name stays undefined, and using it is the kernel's error."""


def _is_built_in(module_name):
    return module_name.split(".")[0] in _BUILT_IN


def _is_from_library(value):
    """A builtin of the language, or a class or function of Python's libraries."""
    return callable(value) and isinstance(getattr(value, "__name__", None), str) and \
        _is_built_in(getattr(value, "__module__", None) or "")


def _is_definition(value):
    is_class = isinstance(value, type)
    return is_class or isinstance(value, (JITFunction, ConstexprFunction)) or \
        _is_from_library(value)


def _stored_names(tree):
    stored = {node.id for node in ast.walk(tree)
              if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    arguments = [node for node in ast.walk(tree) if isinstance(node, ast.arg)]
    return stored | {argument.arg for argument in arguments}


def _decorators(function):
    """The lines above the function that mean something for a call of it."""
    lines = []
    if must_use := getattr(function, "_must_use_result", False):
        why = f"({must_use!r})" if isinstance(must_use, str) else ""
        lines.append(f"@triton.must_use_result{why}")
    if isinstance(function, ConstexprFunction):
        return lines + ["@triton.constexpr_function"]
    options = [f"{name}={value!r}" for name in (
        "noinline", "do_not_specialize", "do_not_specialize_on_alignment")
        if (value := getattr(function, name, None))]
    return lines + [f"@triton.jit({', '.join(options)})" if options else "@triton.jit"]


class _Edits:
    """Replacements of expressions in a text, by their place in the syntax tree."""

    def __init__(self, text):
        self.lines = [line.encode() for line in text.split("\n")]
        self.edits = []

    def replace(self, node, text):
        if node.lineno == node.end_lineno:
            self.edits.append((node.lineno - 1, node.col_offset, node.end_col_offset,
                               text.encode()))

    def text(self):
        for line, begin, end, new in sorted(self.edits, reverse=True):
            self.lines[line] = self.lines[line][:begin] + new + self.lines[line][end:]
        return b"\n".join(self.lines).decode()


class Text:
    """Grows while functions and values are added; `str()` is the module."""

    def __init__(self):
        self.imports = ["import triton", "import triton.language as tl"]
        self.blocks = []
        self.owners = {}  # of blocks that are functions: with the number of decorators
        self.names = {id(triton): "triton", id(tl): "tl"}
        self.taken = {"triton", "tl"}
        self.kept = []  # keeps ids of temporary objects from being reused

    def __str__(self):
        return "\n".join(self.imports) + "\n\n" + "\n\n".join(self.blocks) + "\n"

    def place(self, line):
        """The function of a line of the text, and the line counted from its `def`."""
        begin = len(self.imports) + 2
        for number, block in enumerate(self.blocks):
            end = begin + block.count("\n") + 1
            if begin <= line < end and number in self.owners:
                function, decorators = self.owners[number]
                return function, line - begin - decorators + 1
            begin = end + 1
        return None, line

    def unique(self, name):
        unique, number = name, 1
        while unique in self.taken:
            number += 1
            unique = f"{name}_{number}"
        self.taken.add(unique)
        return unique

    def name_of(self, value, preferred):
        """The name under which the text knows a value; adds it when it is not there yet."""
        key = id(value)
        if isinstance(value, (bool, int, float, str, tuple, list, type(None))):
            key = (type(value), repr(value), preferred)
        if key not in self.names:
            self.kept.append(value)
            self._define(key, value, preferred)
        return self.names[key]

    def _define(self, key, value, preferred):
        if isinstance(value, types.ModuleType):
            if not _is_built_in(value.__name__):
                raise Unknown
            self.names[key] = self.unique(preferred)
            self.imports.append(f"import {value.__name__} as {self.names[key]}")
        elif isinstance(value, (JITFunction, ConstexprFunction)):
            if value.__module__.startswith("triton."):
                self._import(key, value.__module__, value.__name__, preferred)
            else:
                self._function(key, value)
        elif isinstance(value, type) and not _is_built_in(value.__module__):
            self._class(key, value)
        elif isinstance(value, tl.constexpr) and isinstance(value.value, types.FunctionType):
            self._plain_function(key, value.value)
        elif isinstance(value, types.FunctionType) and not _is_built_in(value.__module__):
            self._plain_function(key, value)
        elif _is_from_library(value):
            self._import(key, value.__module__, value.__name__, preferred)
        else:
            text = self.literal(value)
            self.names[key] = self.unique(preferred)
            self.blocks.append(f"{self.names[key]} = {text}")

    def _import(self, key, module, name, preferred):
        module = "triton.language" if getattr(tl, name, None) is not None else module
        self.names[key] = self.unique(preferred)
        self.imports.append(f"from {module} import {name} as {self.names[key]}")

    def literal(self, value):
        """An expression for a constant."""
        if isinstance(value, tl.constexpr):
            return f"tl.constexpr({self.literal(value.value)})"
        if isinstance(value, tl.pointer_type):
            return f"tl.pointer_type({self.literal(value.element_ty)})"
        if isinstance(value, tl.dtype):
            name = {"int1": "int1", "fp16": "float16", "bf16": "bfloat16", "fp32": "float32",
                    "fp64": "float64", "fp8e4nv": "float8e4nv", "fp8e5": "float8e5",
                    "fp8e4b8": "float8e4b8", "fp8e5b16": "float8e5b16",
                    "fp8e4b15": "float8e4b15"}.get(value.name, value.name)
            return f"tl.{name}"
        if isinstance(value, float) and not math.isfinite(value):
            return f'float("{value}")'
        if value is None or isinstance(value, (bool, int, float, str)):
            return repr(value)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            items = ", ".join(self.literal(item) for item in value)
            return f"{self.name_of(type(value), type(value).__name__)}({items})"
        if isinstance(value, (tuple, tl.tuple)):
            items = [self.literal(item) for item in value]
            return "(" + ", ".join(items) + ("," if len(items) == 1 else "") + ")"
        if isinstance(value, list):
            return "[" + ", ".join(self.literal(item) for item in value) + "]"
        if _is_definition(value):
            return self.name_of(value, value.__name__)
        raise Unknown

    def _function(self, key, function):
        if type(function) not in (JITFunction, ConstexprFunction):
            raise NotJudged(f"a {type(function).__name__} is no function of this language")
        self.names[key] = self.unique(function.fn.__name__)
        decorators = _decorators(function)
        text = self._rewritten(function.src, function.get_capture_scope(), self.names[key])
        self.owners[len(self.blocks)] = (function, len(decorators))
        self.blocks.append("\n".join([*decorators, text]))

    def _plain_function(self, key, function):
        """One that is evaluated while compiling; `@tl.constexpr` above it is part of its text."""
        self.names[key] = self.unique(function.__name__)
        scope = function.__globals__ | inspect.getclosurevars(function).nonlocals
        text = textwrap.dedent(inspect.getsource(function))
        self.blocks.append(self._rewritten(text, scope, self.names[key]))

    def _class(self, key, value):
        self.names[key] = self.unique(value.__name__)
        scope = dict(vars(inspect.getmodule(value) or builtins))
        for member in vars(value).values():
            if hasattr(member, "get_capture_scope"):
                scope |= member.get_capture_scope()
        text = textwrap.dedent(inspect.getsource(value))
        self.blocks.append(self._rewritten(text, scope, self.names[key]))

    def _rewritten(self, text, scope, name):
        tree = ast.parse(text)
        edits = _Edits(text)
        definition = tree.body[0]
        if definition.name != name:
            word = "def" if isinstance(definition, ast.FunctionDef) else "class"
            line = definition.lineno - 1
            begin = edits.lines[line].index(definition.name.encode(), len(word))
            edits.edits.append((line, begin, begin + len(definition.name.encode()), name.encode()))
        self._visit(tree, scope, _stored_names(tree), edits)
        return edits.text()

    def _visit(self, node, scope, local, edits):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            if self._replace(node, scope, local, edits):
                return
        for child in ast.iter_child_nodes(node):
            self._visit(child, scope, local, edits)

    def _replace(self, node, scope, local, edits):
        """Whether the name, or the chain of a module's attributes, is done with."""
        path = []
        root = node
        while isinstance(root, ast.Attribute):
            path.insert(0, root.attr)
            root = root.value
        if not isinstance(root, ast.Name) or root.id in local or root.id not in scope:
            return isinstance(node, ast.Name)
        value = scope[root.id]
        is_user_module = isinstance(value, types.ModuleType) and not _is_built_in(value.__name__)
        for attribute in path:
            if not isinstance(value, types.ModuleType) or not is_user_module:
                return False
            if not hasattr(value, attribute):
                return True
            value = getattr(value, attribute)
            is_user_module = is_user_module and not isinstance(value, types.ModuleType) or \
                isinstance(value, types.ModuleType) and not _is_built_in(value.__name__)
        if value is getattr(builtins, root.id, self):
            return True
        preferred = path[-1] if path else root.id
        try:
            name = self.name_of(value, preferred)
        except Unknown:
            return not path
        if path or name != root.id:
            edits.replace(node, name)
        return True
