# SPDX-License-Identifier: Apache-2.0
"""A pointwise body of the corpus is launched through a kernel that its library generates. Writes the
plainest such kernel: load a tile of each tensor, call the body, store what it returns."""

import ast

from signature import dotted, is_constexpr, literal

TYPES = {"bool": "i1", "int": "i32", "float": "fp32"}


def decorator_of(function):
    for decorator in function.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        name = dotted(call.func if call else decorator).split(".")[-1]
        if name == "pointwise_dynamic":
            return {k.arg: k.value for k in call.keywords} if call else {}
    return {}


def output_count(function, keywords):
    given = literal(keywords["num_outputs"]) if "num_outputs" in keywords else None
    if isinstance(given, int):
        return given
    returned = [n.value for n in ast.walk(function) if isinstance(n, ast.Return) and n.value is not None]
    counts = [len(v.elts) for v in returned if isinstance(v, ast.Tuple)]
    return max(counts, default=1)


def wrap(kernel, folder):
    """Writes the kernel's wrapper, points `kernel` at it and returns signatures to try."""
    function = kernel.function
    keywords = decorator_of(function)
    is_tensor = literal(keywords["is_tensor"]) if "is_tensor" in keywords else None
    dtypes = [ast.unparse(d) for d in keywords["dtypes"].elts] if isinstance(
        keywords.get("dtypes"), (ast.List, ast.Tuple)) else []
    arguments = function.args.args
    outputs = output_count(function, keywords)
    parameters, loads, actual, kinds = [], [], [], []
    for index, argument in enumerate(arguments):
        name = argument.arg
        if is_constexpr(argument):
            parameters.append(f"{name}: tl.constexpr")
            kinds.append((name, "constexpr"))
            actual.append(name)
        elif is_tensor is None or (index < len(is_tensor) and is_tensor[index]):
            parameters.append(f"{name}_ptr")
            loads.append(f"    {name} = tl.load({name}_ptr + offsets, mask=mask)")
            kinds.append((f"{name}_ptr", "tensor"))
            actual.append(name)
        else:
            parameters.append(name)
            given = TYPES.get(dtypes[index], "fp32") if index < len(dtypes) else "fp32"
            kinds.append((name, given))
            actual.append(name)
    names = [f"out{i}" for i in range(outputs)]
    parameters += [f"{n}_ptr" for n in names] + ["count", "BLOCK: tl.constexpr"]
    lines = ["import triton", "import triton.language as tl", "",
             f"from {kernel.file.module} import {kernel.name}", "", "", "@triton.jit",
             f"def pointwise_kernel({', '.join(parameters)}):",
             "    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)",
             "    mask = offsets < count", *loads,
             f"    {', '.join(names)} = {kernel.name}({', '.join(actual)})",
             *[f"    tl.store({n}_ptr + offsets, {n}, mask=mask)" for n in names], ""]
    path = folder / (kernel.label.replace(":", ".").replace(".", "_") + ".py")
    path.write_text("\n".join(lines))
    kernel.path, kernel.function_name = path, "pointwise_kernel"
    result = []
    for tensor, scalar in (("fp32", "fp32"), ("i32", "i32"), ("i1", "i1"), ("fp16", "fp32")):
        entries = []
        for name, kind in kinds:
            if kind == "constexpr":
                entries.append(f"{name}={constant_of(function, name)}")
            else:
                entries.append(f"{name}=*{tensor}:16" if kind == "tensor" else f"{name}={scalar if kind == 'fp32' else kind}")
        entries += [f"{n}_ptr=*{tensor}:16" for n in names] + ["count=i32", "BLOCK=64"]
        result.append(", ".join(entries))
    return result


def constant_of(function, name):
    for node in ast.walk(function):
        if isinstance(node, ast.Compare) and dotted(node.left) == name:
            value = literal(node.comparators[0])
            if value is not None:
                return repr(value)
    return "True" if name.lower().startswith(("is_", "has_", "use_")) else "1"


def tensor_parameters(function):
    """Parameters that the wrapper loads from memory."""
    keywords = decorator_of(function)
    is_tensor = literal(keywords["is_tensor"]) if "is_tensor" in keywords else None
    return [a.arg for i, a in enumerate(function.args.args) if not is_constexpr(a)
            and (is_tensor is None or (i < len(is_tensor) and is_tensor[i]))]


def constants(function):
    return [a.arg for a in function.args.args if is_constexpr(a)]
