# SPDX-License-Identifier: Apache-2.0
"""Functions of rows, forward and backward: softmax, layer norm, RMS norm, cross entropy."""

import math

from work import TYPES, Row, Work, excess, roundoff

_U32 = 2.0**-24
_BACKWARD = "bench/gpu/kernels/backward.py"


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


def _softmax(type_name, columns):
    def make(maker):
        it = _Rows(maker, type_name, columns)
        x = it.normal()
        out, softmax = it.torch.empty_like(x), it.torch.softmax

        def check(o):
            # exp of a difference up to 12 in float32: its argument's error counts as well.
            wanted = it.by_rows(lambda part: softmax(part, -1), x)
            return it.bound(o["out"], wanted, 2.0**-25 if it.dtype == it.torch.float16 else 1e-30)

        return Work("kernels/softmax/softmax.py", "softmax",
                    {"x": x, "out": out, "x_stride": it.columns, "out_stride": it.columns,
                     "n_cols": it.columns, "BLOCK": it.block}, ["out"], (it.rows,), check,
                    bytes=2 * x.nbytes, constants=("BLOCK",), warps=it.warps,
                    peers={"eager": lambda: softmax(x, -1)},
                    inductor=(lambda a: softmax(a, -1), (x,)))
    return make


def _softmax_backward(type_name, columns):
    def make(maker):
        it = _Rows(maker, type_name, columns)
        y, dy = it.torch.softmax(it.normal(), -1), it.normal()
        dx = it.torch.empty_like(y)

        def formula(a, b):
            return a * (b - (a * b).sum(-1, keepdim=True))

        def check(o):
            return it.bound(o["dx"], it.by_rows(formula, y, dy), 4 * _U32)

        backward = it.torch.ops.aten._softmax_backward_data
        return Work(_BACKWARD, "softmax_backward",
                    {"y": y, "dy": dy, "dx": dx, "n_cols": it.columns, "BLOCK": it.block}, ["dx"],
                    (it.rows,), check, bytes=3 * y.nbytes, constants=("BLOCK",), warps=it.warps,
                    peers={"eager": lambda: backward(dy, y, -1, it.dtype)},
                    inductor=(lambda a, b: backward(b, a, -1, it.dtype), (y, dy)))
    return make


def _layer_norm(type_name, columns):
    def make(maker):
        it = _Rows(maker, type_name, columns)
        x, weight, bias = it.normal(), it.normal(it.columns), it.normal(it.columns)
        out, norm, block = it.torch.empty_like(x), it.functional.layer_norm, min(it.block, 4096)

        def check(o):
            wanted = it.by_rows(lambda part: norm(part, (it.columns,), weight.double(),
                                                  bias.double(), 1e-5), x)
            # What is left of a sum and a bias that cancel has the error of both.
            return it.bound(o["out"], wanted, 16 * it.error)

        return Work("kernels/layer_norm/layer_norm.py", "layer_norm",
                    {"x": x, "weight": weight, "bias": bias, "out": out, "row_stride": it.columns,
                     "n_cols": it.columns, "eps": 1e-5, "BLOCK": block}, ["out"], (it.rows,), check,
                    bytes=2 * x.nbytes, constants=("BLOCK",), warps=min(it.warps, 8),
                    peers={"eager": lambda: norm(x, (it.columns,), weight, bias, 1e-5)},
                    inductor=(lambda a, b, c: norm(a, (it.columns,), b, c, 1e-5),
                              (x, weight, bias)))
    return make


def _layer_norm_backward(type_name, columns):
    def make(maker):
        it = _Rows(maker, type_name, columns)
        x, dy, weight, bias = it.normal(), it.normal(), it.normal(it.columns), it.normal(it.columns)
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
        return Work(_BACKWARD, "layer_norm_backward",
                    {"x": x, "weight": weight, "mean": mean, "rstd": rstd, "dy": dy, "dx": dx,
                     "n_cols": it.columns, "BLOCK": it.block}, ["dx"], (it.rows,), check,
                    bytes=3 * x.nbytes, constants=("BLOCK",), warps=it.warps,
                    peers={"eager": lambda: whole(*given)}, inductor=(whole, given))
    return make


def _rms(x, weight, eps):
    """RMS norm as a program that has no such operation writes it."""
    wide = x.float()
    return (wide * (wide.square().mean(-1, keepdim=True) + eps).rsqrt() * weight.float()).to(x.dtype)


def _rms_norm(type_name, columns):
    def make(maker):
        it = _Rows(maker, type_name, columns)
        x, weight, eps = it.normal(), it.normal(it.columns), 1e-6
        out, norm = it.torch.empty_like(x), it.functional.rms_norm

        def formula(part):
            scale = (part.square().mean(-1, keepdim=True) + eps).rsqrt()
            return part * scale * weight.double()

        return Work("kernels/rms_norm/rms_norm.py", "rms_norm",
                    {"x": x, "weight": weight, "out": out, "row_stride": it.columns,
                     "n_cols": it.columns, "eps": eps, "BLOCK": it.block}, ["out"], (it.rows,),
                    lambda o: it.bound(o["out"], it.by_rows(formula, x), 2.0**-24),
                    bytes=2 * x.nbytes, constants=("BLOCK",), warps=it.warps,
                    peers={"eager": lambda: norm(x, (it.columns,), weight, eps)},
                    inductor=(lambda a, b: _rms(a, b, eps), (x, weight)))
    return make


def _rms_norm_backward(type_name, columns):
    def make(maker):
        it = _Rows(maker, type_name, columns)
        x, dy, weight = it.normal(), it.normal(), it.normal(it.columns)
        rstd = (x.float().square().mean(-1) + 1e-6).rsqrt()
        dx = it.torch.empty_like(x)

        def formula(a, b, r):
            normal, gradient = a * r[:, None], b * weight.to(b.dtype)
            along = (normal * gradient).mean(-1, keepdim=True)
            return (gradient - normal * along) * r[:, None]

        def eager(a, b, r):
            return formula(a.float(), b.float(), r).to(a.dtype)

        return Work(_BACKWARD, "rms_norm_backward",
                    {"x": x, "weight": weight, "rstd": rstd, "dy": dy, "dx": dx,
                     "n_cols": it.columns, "BLOCK": it.block}, ["dx"], (it.rows,),
                    lambda o: it.bound(o["dx"], it.by_rows(formula, x, dy, rstd), 16 * it.error),
                    bytes=3 * x.nbytes, constants=("BLOCK",), warps=it.warps,
                    peers={"eager": lambda: eager(x, dy, rstd)}, inductor=(eager, (x, dy, rstd)))
    return make


def _cross_entropy(type_name, columns):
    def make(maker):
        it = _Rows(maker, type_name, columns)
        x = it.normal()
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

        return Work("kernels/cross_entropy/cross_entropy.py", "cross_entropy",
                    {"x": x, "target": target, "loss": loss, "x_stride": it.columns,
                     "n_cols": it.columns, "ignore_index": -100, "BLOCK": it.block}, ["loss"],
                    (it.rows,), check, bytes=x.nbytes, constants=("BLOCK",), warps=it.warps,
                    peers={"eager": lambda: eager(x, target)}, inductor=(eager, (x, target)))
    return make


def _cross_entropy_backward(type_name, columns):
    def make(maker):
        it = _Rows(maker, type_name, columns)
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

        return Work(_BACKWARD, "cross_entropy_backward",
                    {"x": x, "target": target, "dloss": dloss, "dx": dx, "n_cols": it.columns,
                     "BLOCK": it.block}, ["dx"], (it.rows,),
                    lambda o: it.bound(o["dx"], it.by_rows(formula, x, target, dloss), 2.0**-23),
                    bytes=2 * x.nbytes, constants=("BLOCK",), warps=it.warps,
                    peers={"eager": lambda: eager(x, target, dloss)},
                    inductor=(eager, (x, target, dloss)))
    return make


def rows():
    works = {"softmax": _softmax, "softmax_backward": _softmax_backward, "layer_norm": _layer_norm,
             "layer_norm_backward": _layer_norm_backward, "rms_norm": _rms_norm,
             "rms_norm_backward": _rms_norm_backward, "cross_entropy": _cross_entropy,
             "cross_entropy_backward": _cross_entropy_backward}
    return [Row(f"{name} {type_name} {columns}", make(type_name, columns),
                compile=type_name == "fp16")
            for name, make in works.items() for type_name in TYPES
            for columns in (1024, 4096, 16384, 65536)]
