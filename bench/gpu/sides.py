# SPDX-License-Identifier: Apache-2.0
"""The two compilers under comparison: each gives a call that queues the launch on torch's stream."""

import importlib.util
import pathlib
import sys
import time

from work import ROOT

# After upstream's package is imported: it would take the folder's stand-in for a back end of its own.
import triton  # noqa: F401

sys.path.insert(0, str(ROOT / "test" / "python"))
from nereid_triton import capi  # noqa: E402

_NAMES = {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64",
          "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "bool": "i1"}


def _element(tensor):
    return _NAMES[str(tensor.dtype).removeprefix("torch.")]


def _type(name, value, constants):
    """As upstream specialises: multiples of 16, and 1 as a constant."""
    if name in constants:
        return repr(value)
    if hasattr(value, "data_ptr"):
        return f"*{_element(value)}" + (":16" if value.data_ptr() % 16 == 0 else "")
    if isinstance(value, float):
        return "fp32"
    if value == 1:
        return "1"
    wide = "i32" if -2**31 <= value < 2**31 else "i64"
    return wide + (":16" if value % 16 == 0 else "")


def signature(work):
    parts = [f"{name}={_type(name, value, work.constants)}"
             for name, value in work.arguments.items()]
    blocks = [f"num_ctas={work.blocks}"] if work.blocks > 1 else []
    return ", ".join([*parts, f"num_warps={work.warps}", f"num_stages={work.stages}", *blocks])


def _extent(tensor):
    return 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride())) \
        if tensor.numel() else 0


def _argument(value):
    if not hasattr(value, "data_ptr"):
        return capi.number(value) if isinstance(value, float) else capi.integer(value)
    name, extent = _element(value), _extent(value)
    if value.device.type == "cpu":
        return capi.tensor(capi.Tensor(value.data_ptr(), (extent,), (1,), capi.dtype(name)))
    return capi.device_tensor(value.data_ptr(), (extent,), (1,), name, value.device.index or 0)


def ours(work, stream):
    """A call, and how long compilation and loading took."""
    given = [_argument(value) for name, value in work.arguments.items()
             if name not in work.constants and not (type(value) is int and value == 1)]
    grid = tuple(work.grid) + (1,) * (3 - len(work.grid))
    begin = time.perf_counter()
    device = "nvidia:0" if stream else None
    kernel = capi.Kernel(work.source(), work.file, work.function, signature(work), device)
    seconds = time.perf_counter() - begin
    if not stream:
        return (lambda: kernel.launch(grid, given)), seconds
    return kernel.prepared(stream, grid, given), seconds


def torch_stream():
    import torch
    return capi.Stream("nvidia:0", torch.cuda.current_stream().cuda_stream)


_modules = {}


def _module(path):
    if path not in _modules:
        name = "bench_" + pathlib.Path(path).stem
        spec = importlib.util.spec_from_file_location(name, ROOT / path)
        _modules[path] = importlib.util.module_from_spec(spec)
        sys.modules[name] = _modules[path]
        spec.loader.exec_module(_modules[path])
    return _modules[path]


def upstream(work):
    """The same by upstream's compiler, with what it says of registers and spills."""
    function = getattr(_module(work.file), work.function)
    options = {"num_warps": work.warps, "num_stages": work.stages}
    given = dict(work.arguments)

    def launch():
        return function[work.grid](**given, **options)

    begin = time.perf_counter()
    compiled = launch()
    seconds = time.perf_counter() - begin
    facts = {"registers": getattr(compiled, "n_regs", None),
             "spills": getattr(compiled, "n_spills", None)}
    return launch, seconds, facts
