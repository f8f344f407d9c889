# SPDX-License-Identifier: Apache-2.0
"""Infers the types a kernel of the corpus is launched with: from the way its body uses a parameter,
from the launch sites, the defaults, the autotune tables and, last, the parameter's name."""

import ast
import functools
import re

from source import dotted, is_jit  # noqa: F401

TORCH_TYPES = {
    "float32": "fp32", "float": "fp32", "float16": "fp16", "half": "fp16", "bfloat16": "bf16",
    "float64": "fp64", "double": "fp64", "int64": "i64", "long": "i64", "int32": "i32", "int": "i32",
    "int16": "i16", "int8": "i8", "uint8": "u8", "bool": "i1", "uint32": "u32", "uint16": "u16",
    "uint64": "u64", "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5",
}
INDEX_NAME = re.compile(
    r"(^|_)(idx|idxs|index|indexes|indices|inds|offset|offsets|cu_seqlens|seqlens?|lens?|lengths?|table|"
    r"tables|slot|slots|ids|id|mapping|cnt|cnts|count|counts|counter|lock|locks|num|cumsum|target|"
    r"targets|token|tokens|ranks?|starts?|ends?|pos|positions|labels?|perm|order|sem|flag|flags)(_|$)", re.I)
MASK_NAME = re.compile(r"(^|_)(mask|masks|bool|cond|condition|keep|found)(_|$)", re.I)
REAL_NAME = re.compile(
    r"(^|_)(eps|epsilon|alpha|beta|gamma|scale|sm_scale|softmax_scale|p|lambd|lambda|momentum|lr|value|"
    r"slope|rate|negative_slope|min_val|max_val|factor|weight_decay|threshold|delta|std|mean|low|high|"
    r"prob|probs|temperature|softcap|cap|fill|val|inv|scalar|margin|ratio|dropout|sigma|ord|rcond|"
    r"tol|atol|rtol|weight|mu|limit|smoothing|upper|lower)(_|$)|_p$|^p$|^v\d?$|norm_type|qk_scale", re.I)
ALLOCATORS = {"empty", "zeros", "ones", "full", "empty_like", "zeros_like", "ones_like", "full_like",
              "tensor", "arange", "empty_strided", "new_empty", "new_zeros", "new_full", "to"}


def is_constexpr(argument):
    return argument.annotation is not None and "constexpr" in ast.unparse(argument.annotation)


def literal(node):
    """The value of a literal expression, or None when it is none."""
    try:
        return ast.literal_eval(node)
    except (ValueError, SyntaxError, TypeError, MemoryError):
        return None


class Uses:
    """What a jit function does with each of its parameters: {name: set of words}."""

    def __init__(self, corpus, depth=0):
        self.corpus, self.depth = corpus, depth

    @functools.lru_cache(maxsize=None)
    def of(self, file, function):
        uses = {a.arg: set() for a in function.args.args + function.args.kwonlyargs}
        assigned = {}
        for node in ast.walk(function):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        assigned.setdefault(target.id, []).append(node.value)
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                assigned.setdefault(node.target.id, []).append(node.value)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
                assigned.setdefault(node.target.id, []).append(node.value)
        for node in ast.walk(function):
            if isinstance(node, ast.Call):
                self._call(file, function, node, uses, assigned)
            elif isinstance(node, ast.Attribute) and node.attr == "element_ty":
                for name in self._names(node.value):
                    self._mark(uses, name, "pointer")
            elif isinstance(node, (ast.If, ast.IfExp, ast.While)):
                self._condition(node.test, uses)
            elif isinstance(node, ast.Compare):
                self._compare(node, uses)
            elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitAnd, ast.BitOr, ast.BitXor,
                                                                     ast.LShift, ast.RShift, ast.FloorDiv)):
                for side in (node.left, node.right):
                    if isinstance(side, ast.Name):
                        self._mark(uses, side.id, "bits")
            elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
                parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                if not any(isinstance(p, ast.Slice) or literal(p) is None and isinstance(p, ast.Constant)
                           for p in parts):
                    self._mark(uses, node.value.id, "tuple")
        self._loaded_types(function, uses, assigned)
        return uses

    def _loaded_types(self, function, uses, assigned):
        """Marks a pointer whose elements serve as integers, or are read as bits of a given width."""
        integers, widths = set(), {}
        for node in ast.walk(function):
            if isinstance(node, ast.BinOp) and isinstance(
                    node.op, (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift, ast.FloorDiv,
                              ast.Mod)):
                integers |= set(self._terms(node.left)) | set(self._terms(node.right))
            elif isinstance(node, ast.AugAssign) and isinstance(node.op, (ast.BitAnd, ast.BitOr,
                                                                          ast.RShift, ast.LShift)):
                integers |= set(self._terms(node.value))
            elif isinstance(node, ast.Call):
                last = dotted(node.func).split(".")[-1] or getattr(node.func, "attr", "")
                if last in ("range", "arange", "static_range"):
                    for argument in node.args:
                        integers |= set(self._names(argument))
                elif last in ("load", "store") or last.startswith("atomic_"):
                    if node.args:
                        integers |= set(self._offsets(node.args[0], assigned))
                elif last == "to" and any(k.arg == "bitcast" for k in node.keywords) and node.args:
                    width = re.search(r"\d+", dotted(node.args[0]))
                    if width:
                        bits = "8" if "float8" in dotted(node.args[0]) else width[0]
                        for name in self._terms(node.func.value):
                            widths[name] = bits
                elif last == "to" and node.args and "pointer_type" in ast.unparse(node.args[0]):
                    integers |= {"<address>"}
        for name, values in list(assigned.items()) + [("<address>", [
                n.func.value for n in ast.walk(function) if isinstance(n, ast.Call)
                and isinstance(n.func, ast.Attribute) and n.func.attr == "to" and n.args
                and "pointer_type" in ast.unparse(n.args[0])])]:
            for value in values:
                for load in ast.walk(value):
                    if isinstance(load, ast.Call) and dotted(load.func).split(".")[-1] == "load" and load.args:
                        roots = self._roots(load.args[0], assigned, uses)[:1]
                        for root in roots:
                            if name in widths:
                                self._mark(uses, root, "width:" + widths[name])
                            elif name in integers:
                                self._mark(uses, root, "integers")

    def _offsets(self, node, assigned, seen=()):
        """Names that an address adds to its base, through local variables."""
        names = []
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name):
                names.append(inner.id)
                for value in assigned.get(inner.id, []) if inner.id not in seen else []:
                    if not any(isinstance(c, ast.Call) and dotted(c.func).split(".")[-1] == "load"
                               for c in ast.walk(value)):
                        names += self._offsets(value, assigned, seen + (inner.id,))
        return names

    @staticmethod
    def _mark(uses, name, word):
        if name in uses:
            uses[name].add(word)

    @staticmethod
    def _names(node):
        return [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]

    def _terms(self, node):
        """The names that stand in a sum, without those inside products and calls."""
        if isinstance(node, ast.Name):
            return [node.id]
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            return self._terms(node.left) + self._terms(node.right)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in (
                "to", "cast") and dotted(node.func.value) not in ("tl", "triton.language"):
            return self._terms(node.func.value)
        if isinstance(node, ast.Call) and dotted(node.func).split(".")[-1] in (
                "multiple_of", "max_contiguous", "cast", "broadcast_to", "advance", "make_block_ptr",
                "make_tensor_descriptor"):
            return self._terms(node.args[0]) if node.args else [
                t for k in node.keywords if k.arg == "base" for t in self._terms(k.value)]
        if isinstance(node, ast.Subscript):
            return self._terms(node.value)
        if isinstance(node, ast.IfExp):
            return self._terms(node.body) + self._terms(node.orelse)
        return []

    def _roots(self, node, assigned, uses, seen=()):
        roots = []
        for name in self._terms(node):
            if name in uses:
                roots.append(name)
            if name in assigned and name not in seen:
                for value in assigned[name]:
                    roots += self._roots(value, assigned, uses, seen + (name,))
        return roots

    def _address(self, node, assigned, uses, word):
        roots = self._roots(node, assigned, uses)
        pointers = [r for r in roots if re.search(r"ptr|pointer|desc", r)] or roots[:1]
        for name in dict.fromkeys(pointers):
            self._mark(uses, name, "pointer")
            self._mark(uses, name, word)

    def _call(self, file, function, node, uses, assigned):
        name = dotted(node.func)
        last = name.split(".")[-1]
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and last in (
                "load", "store", "gather", "scatter") and node.func.value.id in uses:
            self._mark(uses, node.func.value.id, "descriptor")
            return
        is_language = name.startswith(("tl.", "triton.", "tle."))
        keywords = {k.arg: k.value for k in node.keywords}
        if last in ("load", "store") or last.startswith("atomic_"):
            target = node.args[0] if node.args else keywords.get("pointer")
            if target is not None:
                self._address(target, assigned, uses, last)
            mask = keywords.get("mask") or (node.args[1 if last == "load" else 2]
                                            if len(node.args) > (1 if last == "load" else 2) else None)
            if mask is not None and isinstance(mask, ast.Name):
                self._mark(uses, mask.id, "mask")
            return
        if last in ("make_block_ptr", "make_tensor_descriptor"):
            target = node.args[0] if node.args else keywords.get("base")
            if target is not None:
                self._address(target, assigned, uses, "load")
            return
        if last == "arange" and is_language:
            for argument in node.args:
                for n in self._names(argument):
                    self._mark(uses, n, "arange")
        elif last in ("zeros", "full", "reshape", "view", "broadcast_to") and (is_language or node.args):
            shape = node.args[0] if is_language and node.args else None
            if last in ("reshape", "broadcast_to") and len(node.args) > 1:
                shape = node.args[1]
            for n in self._names(keywords.get("shape", shape)) if keywords.get("shape", shape) is not None else []:
                self._mark(uses, n, "arange")
        elif last in ("range", "static_range"):
            for argument in node.args:
                for n in self._names(argument):
                    self._mark(uses, n, "count")
        elif last in ("to", "cast"):
            for argument in node.args[-1:] + [v for k, v in keywords.items() if k == "dtype"]:
                if isinstance(argument, ast.Name):
                    self._mark(uses, argument.id, "dtype")
        if last in ("device_assert", "static_assert") and len(node.args) > 1:
            for n in self._names(node.args[1]):
                self._mark(uses, n, "text:message")
        for keyword in node.keywords:
            if keyword.arg in ("dtype", "out_dtype") and isinstance(keyword.value, ast.Name):
                self._mark(uses, keyword.value.id, "dtype")
            if keyword.arg == "input_precision" and isinstance(keyword.value, ast.Name):
                self._mark(uses, keyword.value.id, "precision")
        if isinstance(node.func, ast.Name) and node.func.id in uses:
            self._mark(uses, node.func.id, "called")
        found = self.corpus.resolve(file, name) if name and self.depth < 6 else None
        if found and is_jit(found[1]) and found[1] is not function:
            inner = Uses(self.corpus, self.depth + 1).of(*found)
            names = [a.arg for a in found[1].args.args]
            bound = list(zip(names, node.args)) + [(k.arg, k.value) for k in node.keywords]
            for parameter, value in bound:
                for word in inner.get(parameter, ()):
                    if word in ("pointer", "load", "store") or word.startswith("atomic"):
                        roots = self._roots(value, assigned, uses)
                        for root in roots[:1]:
                            self._mark(uses, root, word)
                    elif isinstance(value, ast.Name):
                        self._mark(uses, value.id, word)

    def _condition(self, test, uses):
        nodes = test.values if isinstance(test, ast.BoolOp) else [test]
        for node in nodes:
            while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
                node = node.operand
            if isinstance(node, ast.Name):
                self._mark(uses, node.id, "truth")
            elif isinstance(node, ast.BoolOp):
                self._condition(node, uses)

    def _compare(self, node, uses):
        if not isinstance(node.left, ast.Name) or node.left.id not in uses:
            return
        for op, right in zip(node.ops, node.comparators):
            value = literal(right)
            if isinstance(op, (ast.Is, ast.IsNot)) and value is None:
                uses[node.left.id].add("optional")
            elif isinstance(value, str):
                uses[node.left.id].add("text:" + value)
            elif isinstance(value, bool):
                uses[node.left.id].add("truth")
            elif isinstance(value, int) and isinstance(op, ast.Eq):
                uses[node.left.id].add(f"equals:{value}")
            elif dotted(right).startswith("tl.") and isinstance(op, (ast.Eq, ast.NotEq)):
                uses[node.left.id].add("dtype")


class Launch:
    """The arguments that the host code gives a kernel, by parameter."""

    def __init__(self, corpus, kernel):
        self.corpus, self.kernel = corpus, kernel
        self.sites = []
        for file in [kernel.file] + [f for f in corpus.files if f is not kernel.file]:
            for call, function in file.launches.get(kernel.name, []):
                found = corpus.resolve(file, kernel.name)
                if found and found[1] is kernel.function:
                    self.sites.append((file, call, function))

    def values(self, parameter):
        """[(expression, host function, file)] of every launch that gives the parameter."""
        names = [a.arg for a in self.kernel.function.args.args]
        result = []
        for file, call, function in self.sites:
            for name, value in list(zip(names, call.args)) + [(k.arg, k.value) for k in call.keywords]:
                if name == parameter and not isinstance(value, ast.Starred):
                    result.append((value, function, file))
        return result


def host_value(node, function, file, depth=0):
    """What is known of a host expression: ("const", v), ("dtype", t), ("tensor", t), ("int",), …"""
    if node is None or depth > 6:
        return None
    value = literal(node)
    if value is not None or (isinstance(node, ast.Constant) and node.value is None):
        return ("const", value)
    if isinstance(node, ast.Attribute):
        name = dotted(node)
        if name.startswith("torch.") and node.attr in TORCH_TYPES:
            return ("dtype", TORCH_TYPES[node.attr])
        if name.startswith("tl.") and node.attr in TORCH_TYPES:
            return ("const_type", node.attr)
        return None
    if isinstance(node, ast.Call):
        name = dotted(node.func)
        last = name.split(".")[-1] or (node.func.attr if isinstance(node.func, ast.Attribute) else "")
        keywords = {k.arg: k.value for k in node.keywords}
        if last in ("stride", "numel", "size", "cdiv", "next_power_of_2", "len", "dim", "int"):
            return ("int",) if last != "next_power_of_2" else ("power",)
        if last in ("bool", "is_contiguous"):
            return ("bool",)
        if last == "float":
            return ("real",)
        if last in ("min", "max", "prod"):
            return ("power",) if any("next_power_of_2" in ast.unparse(a) for a in node.args) else ("int",)
        if last in ALLOCATORS:
            dtype = keywords.get("dtype")
            if last == "to" and node.args:
                dtype = node.args[0]
            found = host_value(dtype, function, file, depth + 1) if dtype is not None else None
            if found and found[0] == "dtype":
                return ("tensor", found[1])
            return ("tensor", "i64" if last == "arange" and dtype is None else None)
        if last == "contiguous" or last in ("view", "reshape", "flatten"):
            return host_value(node.func.value, function, file, depth + 1) or ("tensor", None)
        if last == "sum" or last == "argmax":
            return None
        return None
    if isinstance(node, ast.Compare):
        return ("bool",)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return ("bool",)
    if isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith(".shape"):
        return ("int",)
    if isinstance(node, ast.BinOp):
        sides = [host_value(s, function, file, depth + 1) for s in (node.left, node.right)]
        if any(s and (s[0] == "real" or (s[0] == "const" and isinstance(s[1], float))) for s in sides):
            return ("real",)
        if isinstance(node.op, ast.Div):
            return ("real",)
        if all(s and (s[0] in ("int", "power") or (s[0] == "const" and isinstance(s[1], int)))
               for s in sides):
            return ("int",)
        return None
    if isinstance(node, ast.IfExp):
        sides = [host_value(s, function, file, depth + 1) for s in (node.body, node.orelse)]
        for side in sides:
            if side and side != ("const", None):
                return side
        return sides[0]
    if isinstance(node, ast.Name):
        found = None
        for inner in ast.walk(function) if function is not None else []:
            if isinstance(inner, ast.Assign) and any(
                    isinstance(t, ast.Name) and t.id == node.id for t in inner.targets):
                if not any(isinstance(n, ast.Name) and n.id == node.id for n in ast.walk(inner.value)):
                    candidate = host_value(inner.value, function, file, depth + 1)
                    if candidate and (found is None or found == ("const", None)):
                        found = candidate
            elif isinstance(inner, ast.Assign) and any(
                    isinstance(t, ast.Tuple) and any(isinstance(e, ast.Name) and e.id == node.id
                                                     for e in t.elts) for t in inner.targets):
                if ast.unparse(inner.value).endswith((".shape", ".size()", ".stride()")):
                    found = found or ("int",)
        if found is None and node.id in file.constants:
            found = host_value(file.constants[node.id], None, file, depth + 1)
        return found
    return None


def autotune_values(file, function):
    """Constants of the first `triton.Config` in the decorators or in what they name."""
    for decorator in function.decorator_list:
        nodes = [decorator]
        names = [n.id for n in ast.walk(decorator) if isinstance(n, ast.Name)]
        nodes += [file.constants[n] for n in names if n in file.constants]
        nodes += [file.functions[n] for n in names if n in file.functions]
        for root in nodes:
            for node in ast.walk(root):
                if isinstance(node, ast.Call) and dotted(node.func).split(".")[-1] == "Config" and node.args:
                    if isinstance(node.args[0], ast.Dict):
                        values = {}
                        for key, value in zip(node.args[0].keys, node.args[0].values):
                            if literal(key) and literal(value) is not None:
                                values[literal(key)] = literal(value)
                        return values
    return {}


def tuned_names(function):
    """The names under which decorators look up tables: get_tuned_config("x")."""
    return [literal(n.args[0]) for d in function.decorator_list for n in ast.walk(d)
            if isinstance(n, ast.Call) and dotted(n.func).split(".")[-1].startswith("get_") and n.args
            and isinstance(literal(n.args[0]), str)]


@functools.lru_cache(maxsize=None)
def tuning_table(path):
    """First configuration per name of a YAML table `name: - META: {KEY: value}`."""
    table, name, in_meta = {}, None, False
    for line in open(path, encoding="utf-8") if path else []:
        if re.match(r"\S+:\s*$", line):
            name, in_meta = line.strip()[:-1], False
            table.setdefault(name, None)
        elif re.match(r"\s*-?\s*META:\s*$", line) and name and table[name] is None:
            table[name], in_meta = {}, True
        elif in_meta and (match := re.match(r"\s{4,}(\w+):\s*(\d+)\s*$", line)):
            table[name].setdefault(match[1], int(match[2]))
        elif in_meta:
            in_meta = False
    return table
