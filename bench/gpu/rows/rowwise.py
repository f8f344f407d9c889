# SPDX-License-Identifier: Apache-2.0
"""Functions of rows, forward and backward: softmax, layer norm, RMS norm, cross entropy.

Rows that one program holds badly are walked in pieces by kernels of their own (`_long`), or held by
several programs (`_split`) or by one of several blocks, short ones share a program (`_rows`): rows of
this table with the functions' names; those of the kernels that hold a row whole in one program of one
block: `_whole`.
"""

import dataclasses
import math

from work import TYPES, Row, Work, excess, roundoff

_U32 = 2.0**-24
_BACKWARD = "bench/gpu/kernels/backward"


@dataclasses.dataclass
class _Split:
    """A kernel whose rows are held by `parts` programs each; `rows` of them by each program where
    the kernel takes several."""
    parts: int
    rows: int | None
    warps: int


@dataclasses.dataclass
class _Shared:
    """A kernel whose programs hold `rows` whole rows each."""
    rows: int
    warps: int


@dataclasses.dataclass
class _Whole:
    """The kernel whose programs hold a row each, with so many warps in each of so many blocks."""
    warps: int
    blocks: int = 1


class _Rows:
    """What all works on rows share."""

    def __init__(self, maker, type_name, columns):
        self.maker, self.torch = maker, maker.torch
        self.dtype = getattr(maker.torch, TYPES[type_name])
        # A row of 65536 columns has 2048 beside it, so that no tensor is larger than the others.
        self.rows = maker.size(min(8192, (8192 << 14) // columns), 5)
        self.columns = maker.size(columns, min(columns, 300))
        self.block = 1 << (self.columns - 1).bit_length()
        # As upstream's users choose: 16 elements for each thread, and a block of the most threads.
        self.warps = min(32, max(4, self.block // 512)) if not maker.tiny else 4
        self.functional = maker.torch.nn.functional
        # Steps of one float32 sum over a row, kept in a tree, and of the formulas around it.
        self.error = (16 + math.log2(self.block) + self.block / 1024) * _U32

    def kernel(self, file, function, pieces, lanes=False):
        """File, function, sizes and warps of the kernel that holds a row whole, or of the one that
        walks it: in pieces of so many columns, with so many held, if any are, and so many warps.
        lanes: that one has some neighbours in each lane, as many as an access of 16 bytes takes."""
        self.blocks = pieces.blocks if isinstance(pieces, _Whole) and not self.maker.tiny else 1
        if isinstance(pieces, _Split):
            rows = {"ROWS": pieces.rows} if pieces.rows else {}
            sizes = {"PARTS": pieces.parts, **rows, "BLOCK": max(16, self.block // pieces.parts)}
            return file + "_split.py", function + "_split", sizes, pieces.warps
        if isinstance(pieces, _Shared):
            return file + "_rows.py", function + "_rows", {"ROWS": pieces.rows,
                                                           "BLOCK": self.block}, pieces.warps
        if not pieces or isinstance(pieces, _Whole):
            warps = pieces.warps if pieces else self.warps
            return file + ".py", function, {"BLOCK": self.block}, warps
        block, held, warps = (64, pieces[1] and 128, 4) if self.maker.tiny else pieces
        sizes = {"BLOCK": block, **({"HELD": held} if held else {}),
                 **({"WIDTH": 16 // self.dtype.itemsize} if lanes else {})}
        return file + "_long.py", function + "_long", sizes, warps

    def launched(self, pieces):
        """Of a kernel with these pieces: memory that its programs share, rows that it is told, and
        its grid. Counters begin at 0 and only grow, so that all launches may share them."""
        memory, told = {}, {}
        programs = self.rows
        if isinstance(pieces, _Split):
            groups = -(-self.rows // (pieces.rows or 1))
            programs = groups * pieces.parts
            size = 2 * (pieces.rows or 1) * pieces.parts
            memory = {"partial": self.maker.empty(groups, size, dtype=self.torch.float32),
                      "counter": self.maker.empty(groups, dtype=self.torch.int32).zero_()}
        elif isinstance(pieces, _Shared):
            programs = -(-self.rows // pieces.rows)
        if isinstance(pieces, (_Split, _Shared)) and pieces.rows:
            told = {"n_rows": self.rows}
        return memory, told, (programs,)

    def normal(self, *shape):
        return self.maker.normal(*(shape or (self.rows, self.columns)), dtype=self.dtype)

    def by_rows(self, function, *tensors):
        """The function in float64 of some rows at a time, as whole tensors would not fit."""
        step = max(1, (1 << 26) // self.columns)
        parts = [function(*(t[i:i + step].double() for t in tensors))
                 for i in range(0, self.rows, step)]
        return self.torch.cat(parts)

    def bound(self, got, wanted, absolute):
        return excess(got, wanted, roundoff(self.dtype) + self.error, absolute)


def _softmax(type_name, columns, pieces):
    def make(maker):
        it = _Rows(maker, type_name, columns)
        file, function, sizes, warps = it.kernel("kernels/softmax/softmax", "softmax", pieces,
                                                   lanes=True)
        memory, told, grid = it.launched(pieces)
        x = it.normal()
        out, softmax = it.torch.empty_like(x), it.torch.softmax

        def check(o):
            # exp of a difference up to 12 in float32: its argument's error counts as well.
            wanted = it.by_rows(lambda part: softmax(part, -1), x)
            return it.bound(o["out"], wanted, 2.0**-25 if it.dtype == it.torch.float16 else 1e-30)

        return Work(file, function,
                    {"x": x, "out": out, **memory, "x_stride": it.columns,
                     "out_stride": it.columns, **told, "n_cols": it.columns, **sizes}, ["out"],
                    grid, check,
                    bytes=2 * x.nbytes, constants=tuple(sizes), warps=warps, blocks=it.blocks,
                    peers={"eager": lambda: softmax(x, -1)},
                    inductor=(lambda a: softmax(a, -1), (x,)))
    return make


def _softmax_backward(type_name, columns, pieces):
    def make(maker):
        it = _Rows(maker, type_name, columns)
        file, function, sizes, warps = it.kernel(_BACKWARD, "softmax_backward", pieces)
        memory, _, grid = it.launched(pieces)
        y, dy = it.torch.softmax(it.normal(), -1), it.normal()
        dx = it.torch.empty_like(y)

        def formula(a, b):
            return a * (b - (a * b).sum(-1, keepdim=True))

        def check(o):
            return it.bound(o["dx"], it.by_rows(formula, y, dy), 4 * _U32)

        backward = it.torch.ops.aten._softmax_backward_data
        return Work(file, function,
                    {"y": y, "dy": dy, "dx": dx, **memory, "n_cols": it.columns, **sizes},
                    ["dx"], grid, check, bytes=3 * y.nbytes, constants=tuple(sizes), warps=warps, blocks=it.blocks,
                    peers={"eager": lambda: backward(dy, y, -1, it.dtype)},
                    inductor=(lambda a, b: backward(b, a, -1, it.dtype), (y, dy)))
    return make


def _layer_norm(type_name, columns, pieces):
    def make(maker):
        it = _Rows(maker, type_name, columns)
        x, weight, bias = it.normal(), it.normal(it.columns), it.normal(it.columns)
        out, norm = it.torch.empty_like(x), it.functional.layer_norm
        memory, told, grid = it.launched(pieces)
        is_walked = isinstance(pieces, tuple) and not pieces[1]
        file, function, sizes, warps = it.kernel("kernels/layer_norm/layer_norm", "layer_norm",
                                                 None if is_walked else pieces)
        if function == "layer_norm":  # which walks its row as well
            block, _, warps = pieces or (min(it.block, 4096), None, min(it.warps, 8))
            sizes = {"BLOCK": 64 if maker.tiny else block}

        def check(o):
            wanted = it.by_rows(lambda part: norm(part, (it.columns,), weight.double(),
                                                  bias.double(), 1e-5), x)
            # What is left of a sum and a bias that cancel has the error of both.
            return it.bound(o["out"], wanted, 16 * it.error)

        return Work(file, function,
                    {"x": x, "weight": weight, "bias": bias, "out": out, **memory,
                     "row_stride": it.columns, **told, "n_cols": it.columns, "eps": 1e-5, **sizes},
                    ["out"], grid, check,
                    bytes=2 * x.nbytes, constants=tuple(sizes), warps=warps, blocks=it.blocks,
                    peers={"eager": lambda: norm(x, (it.columns,), weight, bias, 1e-5)},
                    inductor=(lambda a, b, c: norm(a, (it.columns,), b, c, 1e-5),
                              (x, weight, bias)))
    return make


def _layer_norm_backward(type_name, columns, pieces):
    def make(maker):
        it = _Rows(maker, type_name, columns)
        file, function, sizes, warps = it.kernel(_BACKWARD, "layer_norm_backward", pieces)
        x, dy, weight, bias = it.normal(), it.normal(), it.normal(it.columns), it.normal(it.columns)
        memory, _, grid = it.launched(pieces)
        mean = x.float().mean(-1)
        rstd = (x.float().var(-1, unbiased=False) + 1e-5).rsqrt()
        dx = it.torch.empty_like(x)

        def formula(a, b, m, r):
            normal, gradient = (a - m[:, None]) * r[:, None], b * weight.double()
            along = (normal * gradient).mean(-1, keepdim=True)
            return (gradient - gradient.mean(-1, keepdim=True) - normal * along) * r[:, None]

        def check(o):
            return it.bound(o["dx"], it.by_rows(formula, x, dy, mean, rstd), 16 * it.error)

        backward = it.torch.ops.aten.native_layer_norm_backward
        means, rstds = mean[:, None], rstd[:, None]

        def whole(a, b, m, r, w, c):
            return backward(b, a, (it.columns,), m, r, w, c, [True, False, False])[0]

        given = (x, dy, means, rstds, weight, bias)
        return Work(file, function,
                    {"x": x, "weight": weight, "mean": mean, "rstd": rstd, "dy": dy, "dx": dx,
                     **memory, "n_cols": it.columns, **sizes}, ["dx"], grid, check,
                    bytes=3 * x.nbytes, constants=tuple(sizes), warps=warps, blocks=it.blocks,
                    peers={"eager": lambda: whole(*given)}, inductor=(whole, given))
    return make


def _rms(x, weight, eps):
    """RMS norm as a program that has no such operation writes it."""
    wide = x.float()
    return (wide * (wide.square().mean(-1, keepdim=True) + eps).rsqrt() * weight.float()).to(x.dtype)


def _rms_norm(type_name, columns, pieces):
    def make(maker):
        it = _Rows(maker, type_name, columns)
        file, function, sizes, warps = it.kernel("kernels/rms_norm/rms_norm", "rms_norm", pieces)
        memory, told, grid = it.launched(pieces)
        x, weight, eps = it.normal(), it.normal(it.columns), 1e-6
        out, norm = it.torch.empty_like(x), it.functional.rms_norm

        def formula(part):
            scale = (part.square().mean(-1, keepdim=True) + eps).rsqrt()
            return part * scale * weight.double()

        return Work(file, function,
                    {"x": x, "weight": weight, "out": out, **memory, "row_stride": it.columns,
                     **told, "n_cols": it.columns, "eps": eps, **sizes}, ["out"], grid,
                    lambda o: it.bound(o["out"], it.by_rows(formula, x), 2.0**-24),
                    bytes=2 * x.nbytes, constants=tuple(sizes), warps=warps, blocks=it.blocks,
                    peers={"eager": lambda: norm(x, (it.columns,), weight, eps)},
                    inductor=(lambda a, b: _rms(a, b, eps), (x, weight)))
    return make


def _rms_norm_backward(type_name, columns, pieces):
    def make(maker):
        it = _Rows(maker, type_name, columns)
        file, function, sizes, warps = it.kernel(_BACKWARD, "rms_norm_backward", pieces)
        memory, _, grid = it.launched(pieces)
        x, dy, weight = it.normal(), it.normal(), it.normal(it.columns)
        rstd = (x.float().square().mean(-1) + 1e-6).rsqrt()
        dx = it.torch.empty_like(x)

        def formula(a, b, r):
            normal, gradient = a * r[:, None], b * weight.to(b.dtype)
            along = (normal * gradient).mean(-1, keepdim=True)
            return (gradient - normal * along) * r[:, None]

        def eager(a, b, r):
            return formula(a.float(), b.float(), r).to(a.dtype)

        return Work(file, function,
                    {"x": x, "weight": weight, "rstd": rstd, "dy": dy, "dx": dx, **memory,
                     "n_cols": it.columns, **sizes}, ["dx"], grid,
                    lambda o: it.bound(o["dx"], it.by_rows(formula, x, dy, rstd), 16 * it.error),
                    bytes=3 * x.nbytes, constants=tuple(sizes), warps=warps, blocks=it.blocks,
                    peers={"eager": lambda: eager(x, dy, rstd)}, inductor=(eager, (x, dy, rstd)))
    return make


def _cross_entropy(type_name, columns, pieces):
    def make(maker):
        it = _Rows(maker, type_name, columns)
        file, function, sizes, warps = it.kernel("kernels/cross_entropy/cross_entropy",
                                                   "cross_entropy", pieces, lanes=True)
        if not pieces and not maker.tiny:
            # It only reads: more of a row in each thread.
            warps = min(32, max(2, it.block // 1024))
        x = it.normal()
        memory, _, grid = it.launched(pieces)
        target = maker.integers(0, it.columns, it.rows, dtype=it.torch.int64)
        loss = maker.empty(it.rows, dtype=it.torch.float32)

        def eager(a, t):
            return it.functional.cross_entropy(a, t, reduction="none")

        def check(o):
            step = max(1, (1 << 26) // it.columns)
            wanted = it.torch.cat([eager(x[i:i + step].double(), target[i:i + step])
                                   for i in range(0, it.rows, step)])
            # Logits of normal data are below 8, and so is what the difference is taken of.
            return excess(o["loss"], wanted, it.error, 32 * _U32)

        return Work(file, function,
                    {"x": x, "target": target, "loss": loss, **memory, "x_stride": it.columns,
                     "n_cols": it.columns, "ignore_index": -100, **sizes}, ["loss"],
                    grid, check, bytes=x.nbytes, constants=tuple(sizes), warps=warps, blocks=it.blocks,
                    peers={"eager": lambda: eager(x, target)}, inductor=(eager, (x, target)))
    return make


def _cross_entropy_backward(type_name, columns, pieces):
    def make(maker):
        it = _Rows(maker, type_name, columns)
        file, function, sizes, warps = it.kernel(_BACKWARD, "cross_entropy_backward", pieces,
                                                   lanes=True)
        memory, _, grid = it.launched(pieces)
        x, dloss = it.normal(), maker.normal(it.rows, dtype=it.torch.float32)
        target = maker.integers(0, it.columns, it.rows, dtype=it.torch.int64)
        dx = it.torch.empty_like(x)

        def formula(a, t, d):
            hit = it.functional.one_hot(t.long(), it.columns)
            return (it.torch.softmax(a, -1) - hit) * d[:, None]

        def eager(a, t, d):
            share = it.torch.softmax(a.float(), -1)
            share.scatter_add_(1, t[:, None], share.new_full((1, 1), -1.0).expand(a.shape[0], 1))
            return (share * d[:, None]).to(a.dtype)

        return Work(file, function,
                    {"x": x, "target": target, "dloss": dloss, "dx": dx, **memory,
                     "n_cols": it.columns, **sizes}, ["dx"], grid,
                    lambda o: it.bound(o["dx"], it.by_rows(formula, x, target, dloss), 2.0**-23),
                    bytes=2 * x.nbytes, constants=tuple(sizes), warps=warps, blocks=it.blocks,
                    peers={"eager": lambda: eager(x, target, dloss)},
                    inductor=(eager, (x, target, dloss)))
    return make


# Columns of a piece, columns held, warps, of rows of 65536: for types of 16 bits, then for float32.
_LONGEST = {"softmax": ((16384, 16384, 32), (8192, 32768, 32)),
            "softmax_backward": ((16384, 16384, 32), (8192, 16384, 16)),
            "layer_norm": ((16384, 32768, 32), (8192, 16384, 32)),
            "layer_norm_backward": ((16384, 16384, 32), (8192, 16384, 16)),
            "rms_norm": ((16384, 32768, 32), (8192, 32768, 32)),
            "rms_norm_backward": ((16384, 16384, 16), (8192, 16384, 16)),
            "cross_entropy": ((8192, None, 16), (16384, None, 32)),
            "cross_entropy_backward": ((16384, 16384, 32), (8192, 32768, 32))}


# Rows of 65536 that are held, by several programs or by one, of one block or of a cluster of blocks,
# where that is quicker than to walk them: programs to a row, rows to a program, warps; or warps and
# blocks. For types of 16 bits, then for float32.
_HELD = {"softmax": (None, _Whole(8, 4)), "softmax_backward": (_Whole(8, 4), _Whole(16, 4)),
         "layer_norm": (None, _Split(16, 2, 4)),
         "layer_norm_backward": (_Split(8, None, 4), _Split(16, None, 4)),
         "rms_norm": (_Whole(32), _Whole(32, 2)),
         "rms_norm_backward": (_Whole(8, 8), _Whole(8, 8)),
         "cross_entropy": (None, _Split(8, None, 4)),
         "cross_entropy_backward": (None, _Split(8, None, 4))}

# Other rows, by function and columns: for 16 bits, for float32. None: as users choose by themselves.
_SHORTER = {("softmax", 1024): (_Whole(1), _Whole(2)), ("softmax", 4096): (_Whole(4), None),
            ("softmax", 16384): (_Whole(8), None), ("softmax_backward", 16384): (_Whole(8), None),
            ("layer_norm", 1024): (_Shared(2, 4), _Shared(4, 4)),
            ("layer_norm", 4096): (_Shared(2, 8), _Shared(1, 16)),
            ("layer_norm", 16384): (_Shared(1, 16), _Shared(1, 16)),
            ("rms_norm", 4096): (_Whole(2), None), ("rms_norm", 16384): (None, _Whole(16)),
            ("rms_norm_backward", 16384): (_Whole(8, 2), None),
            ("cross_entropy", 16384): (_Whole(8), None),
            ("cross_entropy_backward", 1024): (_Whole(1), None),
            ("cross_entropy_backward", 4096): (_Whole(4), None),
            ("cross_entropy_backward", 16384): ((8192, 8192, 16), _Whole(8))}


def _pieces(name, type_name, columns):
    """How a row is held or walked, by measurement on an H200. Walked: as few programs at a time as
    keep memory busy, so that what is read again of their rows stays in the L2 cache."""
    is_wide = type_name == "fp32"
    if columns == 65536:
        return _HELD[name][is_wide] or _LONGEST[name][is_wide]
    return _SHORTER.get((name, columns), (None, None))[is_wide]


def rows():
    works = {"softmax": _softmax, "softmax_backward": _softmax_backward, "layer_norm": _layer_norm,
             "layer_norm_backward": _layer_norm_backward, "rms_norm": _rms_norm,
             "rms_norm_backward": _rms_norm_backward, "cross_entropy": _cross_entropy,
             "cross_entropy_backward": _cross_entropy_backward}
    result = []
    for name, make in works.items():
        for type_name in TYPES:
            for columns in (1024, 4096, 16384, 65536):
                pieces = _pieces(name, type_name, columns)
                result.append(Row(f"{name} {type_name} {columns}",
                                  make(type_name, columns, pieces), compile=type_name == "fp16"))
                if columns == 65536 and not isinstance(pieces, tuple):
                    walked = _LONGEST[name][type_name == "fp32"]
                    result.append(Row(f"{name}_long {type_name} {columns}",
                                      make(type_name, columns, walked)))
                if pieces and not isinstance(pieces, _Whole) and name != "layer_norm":
                    result.append(Row(f"{name}_whole {type_name} {columns}",
                                      make(type_name, columns, None)))
    return result
