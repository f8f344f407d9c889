# SPDX-License-Identifier: Apache-2.0
"""Puts a signature together from what signature.py found. Several candidates come out, best first:
host code decides between variants of a kernel at run time, and a table of the corpus would be needed
to know which one a constexpr belongs to."""

import re

from signature import (INDEX_NAME, MASK_NAME, REAL_NAME, Launch, Uses, autotune_values, host_value,
                       is_constexpr, literal, tuned_names, tuning_table)


def spelled(value):
    """A constant as the signature spells it."""
    if isinstance(value, str):
        return "'" + value.replace("'", "\\'") + "'"
    return repr(value)


def pointer_type(name, words, facts):
    for fact in facts:
        if fact[0] == "tensor" and fact[1]:
            return fact[1]
    atomics = {w for w in words if w.startswith("atomic_")}
    for word in words:
        if word.startswith("width:"):
            return {"8": "u8", "16": "fp16", "32": "fp32", "64": "fp64"}.get(word[6:], "fp32")
    if MASK_NAME.search(name):
        return "i1"
    if "integers" in words:
        return "i64"
    if INDEX_NAME.search(re.sub(r"_?ptrs?$", "", name)):
        return "i32" if atomics else "i64"
    if atomics & {"atomic_cas", "atomic_xchg", "atomic_or", "atomic_and", "atomic_xor"}:
        return "i32"
    return "fp32"


COUNT_NAME = re.compile(r"height|width|stride|size|dim|len|num|count|channels|_[cnhwkd]$|^[A-Z]+$|heads?$", re.I)


def constexpr_value(name, words, facts, variant):
    known = [f for f in facts if f[0] == "const" and f[1] is not None]
    if known:
        values = list(dict.fromkeys(repr(f[1]) for f in known))
        return values[variant % len(values)]
    types = [f for f in facts if f[0] in ("const_type", "dtype")]
    texts = sorted(w[5:] for w in words if w.startswith("text:"))
    equals = sorted(w[7:] for w in words if w.startswith("equals:"))
    if types:
        return "tl.float32" if types[0][0] == "dtype" else "tl." + types[0][1]
    if texts:
        return spelled(texts[variant % len(texts)])
    if "tuple" in words:
        return "(4, 4, 4, 4)"
    if "precision" in words:
        return "'ieee'"
    if "dtype" in words or re.search(r"dtype|_type$|_ty$|^COMPUTE$", name, re.I):
        return "tl.float32"
    if any(f[0] == "bool" for f in facts) or re.match(
            r"(IS|HAS|USE|DO|NEED|WITH|ENABLE|APPLY|RETURN|STORE|SAVE|EVEN|FUSE)_|.*_FLAG$|^(is|has|use|do)_",
            name):
        return "True" if variant % 2 == 0 else "False"
    if "arange" in words or re.search(r"BLOCK|TILE|^B[A-Z]{1,2}$|_BS$|pow(er)?_?(of_)?2|padded|^BLK", name, re.I):
        return ("64" if variant < 2 else "16") if "SIZE" in name.upper() and "_" not in name[-2:] else (
            "32" if variant < 2 else "16")
    if equals:
        return equals[variant % len(equals)]
    if "truth" in words and not any(f[0] == "int" for f in facts):
        return "True" if variant % 2 == 0 else "False"
    if any(f[0] == "real" for f in facts) or (
            REAL_NAME.search(name) and not facts and not COUNT_NAME.search(name)
            and not words & {"bits", "count", "arange"}):
        return "0.5"
    if re.search(r"num_stages|stages", name, re.I):
        return "1"
    return ["4", "16", "2", "1"][variant % 4] if "count" in words else ["16", "4", "64", "1"][variant % 4]


def runtime_type(name, words, facts):
    kinds = [f for f in facts if f != ("const", None)]
    if "pointer" in words or any(f[0] == "tensor" for f in kinds):
        return "*" + pointer_type(name, words, facts) + ":16"
    for fact in kinds:
        if fact[0] == "real" or (fact[0] == "const" and isinstance(fact[1], float)):
            return "fp32"
        if fact[0] in ("int", "power"):
            return "i32"
        if fact[0] == "bool" or (fact[0] == "const" and isinstance(fact[1], bool)):
            return "i1"
        if fact[0] == "const" and isinstance(fact[1], int) and not REAL_NAME.search(name):
            return "i32"
    if re.search(r"ptr", name):
        return "*" + pointer_type(name, words, facts) + ":16"
    if re.search(r"seed|philox", name):
        return "i64"
    if "bits" in words or "count" in words or "arange" in words:
        return "i32"
    return "fp32" if REAL_NAME.search(name) and not re.search(r"stride|size|dim", name) else "i32"


def candidates(corpus, kernel, tables):
    """Signatures to try, best first, without repetitions."""
    uses = Uses(corpus).of(kernel.file, kernel.function)
    launch = Launch(corpus, kernel)
    tuned = dict(autotune_values(kernel.file, kernel.function))
    for name in tuned_names(kernel.function):
        for table in tables:
            tuned.update(tuning_table(table).get(name) or {})
    arguments = kernel.function.args.args
    defaults = dict(zip([a.arg for a in arguments][len(arguments) - len(kernel.function.args.defaults):],
                        kernel.function.args.defaults))
    arguments = arguments + kernel.function.args.kwonlyargs
    defaults.update({a.arg: d for a, d in zip(kernel.function.args.kwonlyargs,
                                              kernel.function.args.kw_defaults) if d is not None})
    result = []
    for variant in range(4):
        entries = []
        for argument in arguments:
            name, words = argument.arg, uses.get(argument.arg, set())
            facts = [f for value, function, file in launch.values(name)
                     if (f := host_value(value, function, file))]
            if is_constexpr(argument):
                if name in tuned and literal_number(tuned[name]):
                    value = spelled(tuned[name])
                elif name in defaults and not facts and literal(defaults[name]) is not None:
                    value = spelled(literal(defaults[name]))
                else:
                    value = constexpr_value(name, words, facts, variant)
                entries.append(f"{name}={value}")
                continue
            if name in defaults and not facts:
                continue  # the default serves
            if "truth" in words and not ("pointer" in words) and facts and all(
                    f[0] in ("bool", "const") for f in facts):
                entries.append(f"{name}={'True' if variant % 2 == 0 else 'False'}")
                continue
            if "tuple" in words and not words & {"pointer", "load", "store"}:
                count = 4 if variant % 2 == 0 else 2
                entries.append(f"{name}=({', '.join(['*fp32:16'] * count)})")
                continue
            if "descriptor" in words:
                entries.append(f"{name}=tensordesc<fp32[32,32]>")
                continue
            entries.append(f"{name}={runtime_type(name, words, facts)}")
        text = ", ".join(entries)
        if text not in result:
            result.append(text)
    for old, new in (("*fp32:", "*bf16:"), ("*fp32:", "*fp16:"), ("*i64:", "*i32:"), ("*fp32:", "*i32:"),
                     ("*fp32:", "*i64:"), ("*fp32:", "*u8:"), ("*fp32:", "*fp64:"), ("*fp32:", "*i1:"),
                     ("=i32", "=i64"), ("=fp32", "=i32"), ("*i64:", "*fp32:"), ("*i64:", "*fp16:"),
                     ("*i64:", "*fp64:"), ("*i64:", "*bf16:")):
        text = result[0].replace(old, new)
        if text not in result:
            result.append(text)
    return result


def literal_number(value):
    return isinstance(value, (int, float, bool, str))
