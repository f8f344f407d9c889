# SPDX-License-Identifier: Apache-2.0
"""Launches of upstream's as they happen, each repeated by our compiler: what both leave in memory is
compared, and both are timed in turns."""

import re
import time

import torch
import triton

import sides  # noqa: F401  (makes nereid_triton known, behind triton)
from nereid_triton import capi
from nereid_triton.arguments import Parameters
from nereid_triton.source import Text

# Sums in another order: so many roundings of a result's size.
_ALLOWED = {torch.float16: 4, torch.bfloat16: 4, torch.float32: 256, torch.float64: 256}


def _within_checkout(path):
    """From the folder src on: where the checkout lies is nobody's business."""
    return path[path.rfind("/src/") + 1:] if "/src/" in path else path


def short(error):
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:160] if lines else ''}"


def _tensors(arguments):
    for argument in arguments:
        if isinstance(argument, (tuple, list)):
            yield from _tensors(argument)
        else:
            while hasattr(argument, "base") and not hasattr(argument, "untyped_storage"):
                argument = argument.base  # of a descriptor, or of a tensor taken for another type
            # A library's own stand-ins for tensors have these as well.
            if hasattr(argument, "untyped_storage") and argument.device.type == "cuda":
                yield argument


class Memory:
    """All bytes that a launch can reach."""

    def __init__(self, arguments):
        self.bytes, self.types = {}, {}
        for tensor in _tensors(arguments):
            storage = tensor.untyped_storage()
            if storage.nbytes():
                whole = torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(storage)
                self.bytes[storage.data_ptr()] = whole
                self.types[storage.data_ptr()] = tensor.dtype

    def taken(self):
        return {address: whole.clone() for address, whole in self.bytes.items()}

    def put(self, kept):
        for address, whole in self.bytes.items():
            whole.copy_(kept[address])

    def difference(self, ours, theirs, apart=None):
        """0 for equal bits, else the largest difference in roundings over what is allowed. `apart`: how
        far the elements of the result with as many of them may be apart."""
        return max((_difference(ours[a], theirs[a], self.types[a], apart) for a in self.bytes), default=0)


def _difference(ours, theirs, dtype, apart):
    if torch.equal(ours, theirs):
        return 0.0
    if dtype not in _ALLOWED:
        return float("inf")
    size = torch.finfo(dtype).bits // 8
    count = ours.numel() // size * size
    a, b = (t[:count].view(dtype).double() for t in (ours, theirs))
    same = (a == b) | (a.isnan() & b.isnan())
    if same.all():
        return 0.0
    if apart is not None and apart.numel() == count // size:
        share = torch.where(same, 0.0, (a - b).abs() / apart.flatten())
        return torch.where(share.isnan(), float("inf"), share).max().item()
    finite = b[b.isfinite()]
    scale = finite.square().mean().sqrt() if finite.numel() else torch.zeros((), device=b.device)
    unit = torch.finfo(dtype).eps * torch.maximum(b.abs(), scale)
    error = torch.where(same, 0.0, (a - b).abs() / unit)
    error = torch.where(error.isnan(), float("inf"), error)
    return error.max().item() / _ALLOWED[dtype]


def _options(source, metadata):
    """What upstream compiled with, beside the types."""
    wanted = {name: getattr(metadata, name, None)
              for name in ("num_warps", "num_stages", "num_ctas", "maxnreg")}
    return "".join(f", {name}={value}" for name, value in wanted.items()
                   if value is not None and name not in source.fn.arg_names)


def build(source, metadata, grid, arguments, stream, device):
    """Our call of the same launch, and the seconds to compile."""
    parameters, text = Parameters(source), Text()
    entry = parameters.complete(text, text.name_of(source.fn, source.fn.__name__))
    given = parameters.flat(arguments)
    signature = parameters.signature(given) + _options(source, metadata)
    name = source.fn.fn.__code__.co_filename
    begin = time.perf_counter()
    kernel = capi.Kernel(str(text), name, entry, signature.removeprefix(", "), device)
    seconds = time.perf_counter() - begin
    return kernel.prepared(stream, grid, parameters.values(given)), seconds


class Replay:

    def __init__(self, clock, stream, rounds, budget=4.0, device="nvidia:0"):
        self.clock, self.stream, self.device = clock, stream, device
        self.rounds, self.budget = rounds, budget
        self.isWatching, self.seen, self.records = False, set(), []
        self.apart = None  # of the call that is watched, see corpus_calls.py

    def install(self):
        from triton.backends.nvidia.driver import CudaLauncher
        make, call = CudaLauncher.__init__, CudaLauncher.__call__

        def made(launcher, source, metadata):
            make(launcher, source, metadata)
            launcher.watched = (source, metadata)

        def called(launcher, x, y, z, stream, function, *rest):
            def launch():
                return call(launcher, x, y, z, stream, function, *rest)
            if self.isWatching and x * y * z > 0:
                self.isWatching = False  # what is done meanwhile is nobody's launch
                try:
                    self.watched(*launcher.watched, (x, y, z), rest[4:], launch)
                finally:
                    self.isWatching = True
            else:
                launch()

        CudaLauncher.__init__, CudaLauncher.__call__ = made, called

    def watched(self, source, metadata, grid, arguments, launch):
        key = (source.hash(), metadata.num_warps, metadata.num_stages, grid)
        if key in self.seen:
            launch()
            return
        self.seen.add(key)
        text = source.fn.src
        record = {"kernel": source.fn.__name__, "file": _within_checkout(source.fn.fn.__code__.co_filename),
                  "grid": list(grid), "num_warps": metadata.num_warps,
                  "num_stages": metadata.num_stages, "product": bool(re.search(r"tl\.dot", text))}
        self.records.append(record)
        memory = Memory(arguments)
        before = memory.taken()
        launch()
        torch.cuda.synchronize()
        theirs = memory.taken()
        try:
            memory.put(before)
            ours, record["compile_seconds"] = build(source, metadata, grid, arguments, self.stream,
                                                    self.device)
            ours()
            torch.cuda.synchronize()
            record["difference"] = memory.difference(memory.taken(), theirs, self.apart)
            if record["difference"] <= 1:
                # A counter or lock that a launch leaves behind would stop the next one.
                isAtomic = "atomic" in text
                self.time(record, ours, launch, (lambda: memory.put(before)) if isAtomic else None)
            else:
                record["failure"] = f"differs: {record['difference']:.3g} of what is allowed"
        except Exception as error:
            record["failure"] = short(error)
        memory.put(theirs)

    def time(self, record, ours, theirs, prepare):
        samples = self.clock.race({"ours": ours, "upstream": theirs}, self.rounds, self.budget,
                                  prepare)
        ratios = sorted(t / o for t, o in zip(samples["upstream"], samples["ours"]))
        for who, found in samples.items():
            record[who] = sorted(found)[len(found) // 2]
        record |= {"ratio": ratios[len(ratios) // 2], "samples": len(ratios)}


def release():
    return triton.__version__
