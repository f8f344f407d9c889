# SPDX-License-Identifier: Apache-2.0
"""Reads the Python files of a kernel corpus: which functions are kernels, which are helpers, where
they are launched, and what features of the language they reach. Works on syntax trees alone; nothing
of the corpus is executed."""

import ast
import copy
import functools
import pathlib
import re


def dotted(node):
    """`a.b.c` of a name or attribute chain, otherwise the empty text."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = dotted(node.value)
        return f"{base}.{node.attr}" if base else ""
    return ""


def decorator_name(node):
    return dotted(node.func if isinstance(node, ast.Call) else node)


def is_jit(function):
    return any(decorator_name(d).split(".")[-1] == "jit" for d in function.decorator_list)


WRAPPERS = {"jit", "autotune", "heuristics"}


def wrapped_function(node):
    """"f" of `triton.autotune(…)(triton.jit(f))` and the like, otherwise the empty text."""
    if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
        return ""
    if dotted(node.func.func if isinstance(node.func, ast.Call) else node.func).split(".")[-1] not in WRAPPERS:
        return ""
    inner = node.args[0]
    return inner.id if isinstance(inner, ast.Name) else wrapped_function(inner)


def is_pointwise(function):
    return any(decorator_name(d).split(".")[-1] == "pointwise_dynamic" for d in function.decorator_list)


SOURCE_FOLDERS = ("src", "python")


def import_root(path, top):
    """The folder that Python would have to know to import the file: above the outermost package, or
    the checkout's own folder of sources for packages without an __init__.py."""
    folder = path.parent
    while (folder / "__init__.py").is_file() and folder != top:
        folder = folder.parent
    if folder == path.parent and not (folder / "__init__.py").is_file():
        for root in [top / name for name in SOURCE_FOLDERS] + [top]:
            if path.is_relative_to(root):
                return root
    return folder


class File:
    """One file: its functions, imports and launches."""

    def __init__(self, path, top):
        self.path = path
        self.root = import_root(path, top)
        parts = path.relative_to(self.root).with_suffix("").parts
        self.module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        self.is_package = parts[-1] == "__init__"
        parts = path.relative_to(top).with_suffix("").parts
        self.label = ".".join(parts[1:] if parts[0] in SOURCE_FOLDERS else parts)
        self.text = path.read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)
        self.functions = {}  # top-level name -> FunctionDef, the last definition wins
        self.imports = {}  # local name -> (module, name or None)
        self.constants = {}  # top-level name -> expression
        self._scan(self.tree.body)
        self.launches = {}  # kernel name -> [(Call, enclosing function)]
        self._find_launches()

    def _scan(self, body):
        for node in body:
            if isinstance(node, ast.FunctionDef):
                self.functions[node.name] = node
            elif isinstance(node, ast.ImportFrom):
                module = node.module or ""
                if node.level:
                    parts = self.module.split(".") + ["__init__"] * self.is_package
                    parts = parts[: -node.level]
                    module = ".".join(parts + ([module] if module else []))
                for alias in node.names:
                    self.imports[alias.asname or alias.name] = (module, alias.name)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    self.imports[alias.asname or alias.name.split(".")[0]] = (alias.name, None)
            elif isinstance(node, ast.Assign) and len(node.targets) == 1:
                if isinstance(node.targets[0], ast.Name):
                    self.constants[node.targets[0].id] = node.value
                    self._wrap(node.targets[0].id, node.value)
            elif isinstance(node, (ast.If, ast.Try)):
                self._scan(getattr(node, "orelse", []))
                self._scan(node.body)

    def _wrap(self, name, value):
        """`kernel = triton.jit(function)`: a kernel of that name with the function's body."""
        inner = self.functions.get(wrapped_function(value))
        if inner:
            wrapped = copy.copy(inner)
            call, decorators = value, []
            while isinstance(call, ast.Call):
                decorators.append(call.func)
                call = call.args[0]
            wrapped.name, wrapped.decorator_list = name, decorators + inner.decorator_list
            self.functions[name] = wrapped

    def _find_launches(self):
        stack = [(self.tree, None)]
        while stack:
            node, function = stack.pop()
            if isinstance(node, ast.FunctionDef):
                function = node if function is None or not is_jit(node) else function
            for child in ast.iter_child_nodes(node):
                stack.append((child, function))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript):
                name = dotted(node.func.value).split(".")[-1]
                for kernel in self._possible_kernels(name, function):
                    self.launches.setdefault(kernel, []).append((node, function))

    def _possible_kernels(self, name, function):
        """The kernel itself, or those that a local variable of this name may hold."""
        if not name:
            return []
        found = [name]
        for node in ast.walk(function) if function else []:
            if isinstance(node, ast.Assign) and any(
                isinstance(t, ast.Name) and t.id == name for t in node.targets
            ):
                found += [n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)]
        return found


class Kernel:
    def __init__(self, file, function, pointwise):
        self.file, self.function, self.pointwise = file, function, pointwise
        self.name = function.name
        self.tier, self.features = "T0", {}

    @property
    def label(self):
        return f"{self.file.label}:{self.name}"


class Corpus:
    """The files with kernels below the folders of a checkout, and every module they import from it."""

    def __init__(self, top, folders=(".",)):
        self.top = pathlib.Path(top).resolve()
        self.unreadable, self.known = [], {}
        paths = {p: None for f in folders for p in sorted((self.top / f).rglob("*.py"))}
        found = [self._file(p) for p in paths if "triton" in p.read_text(errors="replace")]
        self.files = [f for f in found if f]
        self.kernels = self._kernels()

    def _file(self, path):
        if path not in self.known:
            self.known[path] = None
            try:
                self.known[path] = File(path, self.top)
            except (SyntaxError, ValueError) as error:
                self.unreadable.append((str(path), str(error)))
        return self.known[path]

    def import_roots(self):
        """Folders to import from, for the compiler and for upstream."""
        roots = [self.top / name for name in SOURCE_FOLDERS if (self.top / name).is_dir()] + [self.top]
        return list(dict.fromkeys(roots + [f.root for f in self.files]))

    @functools.lru_cache(maxsize=None)
    def module(self, name, importer):
        for root in [importer.root, importer.path.parent] + self.import_roots()[:3]:
            base = root / pathlib.Path(*name.split("."))
            for path in (base.with_suffix(".py") if base.name else base, base / "__init__.py"):
                if path.is_file():
                    return self._file(path)
        return None

    def resolve(self, file, name, depth=0):
        """The function that `name` (dotted) means in `file`: (file, FunctionDef) or None."""
        first, _, rest = name.partition(".")
        if depth > 8 or file is None:
            return None
        if not rest and first in file.functions:
            return file, file.functions[first]
        if first in file.imports:
            module, imported = file.imports[first]
            if imported is None:
                return None
            if not rest:
                return self.resolve(self.module(module, file), imported, depth + 1)
            inner = self.module(f"{module}.{imported}", file)
            return self.resolve(inner, rest, depth + 1) if inner else None
        if not rest and first in file.constants:
            return self.resolve(file, dotted(file.constants[first]), depth + 1) if dotted(
                file.constants[first]) else None
        return None

    def _kernels(self):
        called, launched = set(), set()
        for file in self.files:
            for launch in file.launches:
                found = self.resolve(file, launch)
                if found:
                    launched.add(found[1])
        for file in self.files:
            for function in file.functions.values():
                if not is_jit(function):
                    continue
                for node in ast.walk(function):
                    name = dotted(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""
                    found = self.resolve(file, name) if name and name != function.name else None
                    if found and found[1] is not function:
                        called.add(found[1])
        kernels = []
        for file in self.files:
            for function in file.functions.values():
                if not is_jit(function):
                    continue
                pointwise = is_pointwise(function)
                returns = any(
                    isinstance(n, ast.Return) and n.value is not None for n in ast.walk(function))
                if function in launched or pointwise or (function not in called and not returns):
                    kernels.append(Kernel(file, function, pointwise))
        return kernels

    def reachable(self, file, function):
        """The function and every corpus function it may call: [(file, FunctionDef)]."""
        seen, queue = [], [(file, function)]
        while queue:
            where, node = queue.pop()
            if any(node is f for _, f in seen):
                continue
            seen.append((where, node))
            for inner in ast.walk(node):
                name = dotted(inner) if isinstance(inner, (ast.Name, ast.Attribute)) else ""
                found = self.resolve(where, name) if name else None
                if found and (is_jit(found[1]) or "constexpr" in " ".join(
                        decorator_name(d) for d in found[1].decorator_list)):
                    queue.append(found)
        return seen


CALLS = {
    "T5": "inline_asm_elementwise dot_scaled map_elementwise",
    "T4": """make_block_ptr advance make_tensor_descriptor load_tensor_descriptor _experimental_make_tensor_descriptor
        store_tensor_descriptor isinstance len""",
    "T3": """cumsum cumprod associative_scan reduce sort topk flip histogram gather philox philox_impl rand
        randn randint rand4x randn4x randint4x uint_to_uniform_float""",
    "T2": """dot trans reshape view permute ravel join split interleave cat atomic_add atomic_max
        atomic_min atomic_and atomic_or atomic_xor atomic_xchg atomic_cas""",
    "T1": "sum max min argmax argmin xor_sum reduce_or softmax broadcast_to expand_dims static_range range",
}
TIER_OF_CALL = {name: tier for tier, names in CALLS.items() for name in names.split()}


def features_of(function):
    """{feature: tier} of one function."""
    found = {}

    def add(feature, tier):
        found[feature] = max(tier, found.get(feature, tier))

    constexprs = {a.arg for a in function.args.args + function.args.kwonlyargs
                  if a.annotation is not None and "constexpr" in ast.unparse(a.annotation)}
    if function.args.vararg:
        add("*args", "T5")
    if any("constexpr" in decorator_name(d) for d in function.decorator_list):
        add("constexpr helper", "T4")
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            name = dotted(node.func)
            last = name.split(".")[-1]
            if "extra.cuda" in name and "libdevice" not in name:
                add(name, "T5")
            elif "libdevice" in name or "tl_extra" in name:
                add("libdevice", "T2")
            elif last in TIER_OF_CALL:
                add(last, TIER_OF_CALL[last])
            if isinstance(node.func, ast.Name) and node.func.id in constexprs:
                add("function argument", "T5")
            if any(k.arg == "fp_downcast_rounding" for k in node.keywords):
                add("fp_downcast_rounding", "T4")
            if last == "dtype" and node.args:
                add("computed dtype", "T4")
        elif isinstance(node, ast.Attribute):
            if node.attr.startswith("float8"):
                add("fp8", "T4")
            elif node.attr == "T":
                add(".T", "T2")
        elif isinstance(node, ast.JoinedStr):
            add("f-string", "T4")
        elif isinstance(node, (ast.For, ast.While)):
            add("loop", "T1")
        elif isinstance(node, ast.Subscript):
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            if len(parts) > 2:
                add("rank >= 3", "T2")
            elif any(isinstance(p, ast.Constant) and p.value is None for p in parts):
                add("[:, None]", "T1")
            if isinstance(node.slice, ast.Slice) and (node.slice.lower or node.slice.upper):
                add("slice of a shape", "T4")
        elif isinstance(node, ast.If):
            names = {n.id for n in ast.walk(node.test) if isinstance(n, ast.Name)}
            if not names <= constexprs:
                add("if on a value", "T1")
    return found


PRIVATE = "triton.experimental"  # one vendor's extensions, in no release of the language


def classify(corpus, kernel):
    for file, function in corpus.reachable(kernel.file, kernel.function):
        for node in ast.walk(function):
            name = node.id if isinstance(node, ast.Name) else ""
            if file.imports.get(name, ("", None))[0].startswith(PRIVATE):
                kernel.features["private extension"] = "other"
        for feature, tier in features_of(function).items():
            kernel.features[feature] = tier
    tiers = set(kernel.features.values())
    kernel.tier = "other" if "other" in tiers else max(tiers, default="T0")


COMMIT = re.compile(r"^[0-9a-f]{40}$")


def commit_of(folder):
    """The commit a checkout stands at, when it has its git folder."""
    head = pathlib.Path(folder) / ".git" / "HEAD"
    if not head.is_file():
        return ""
    text = head.read_text().strip()
    if COMMIT.match(text):
        return text
    ref = head.parent / text.partition(" ")[2]
    return ref.read_text().strip() if ref.is_file() else ""
