# SPDX-License-Identifier: Apache-2.0
"""What of FlagGems is called, on which data: its own functions, at sizes of its own benchmarks."""

import math

from bounds import of_orders


class Data:
    """Tensors by name, made when they are first asked for; the same for every call of a process."""

    def __init__(self):
        import torch
        self.torch, self.generator = torch, torch.Generator(device="cuda").manual_seed(7)

    def normal(self, *shape, dtype=None):
        made = self.torch.randn(shape, device="cuda", generator=self.generator)
        return made.to(dtype or self.torch.float16)

    def integers(self, low, high, *shape, dtype=None):
        return self.torch.randint(low, high, shape, device="cuda", generator=self.generator,
                                  dtype=dtype or self.torch.int64)


def calls(g, d):
    """Name of a function of FlagGems, or with a suffix, to a call without arguments that makes data
    and gives another call, of which the launches count."""
    torch = d.torch
    half, single = torch.float16, torch.float32
    big = (4096, 4096)

    def unary(name, *rest, make=lambda: d.normal(*big), **named):
        def prepare():
            x = make()
            return lambda: getattr(g, name)(x, *rest, **named)
        return prepare

    def on(make, use, apart=None):
        """`apart`: of sums that programs add up in any order, how far results may be apart."""
        def prepare():
            given = make()

            def call():
                return use(*given)
            call.apart = apart(*given) if apart else None
            return call
        return prepare

    def added_rows(rows, places, count):
        """Rows of the same place are added up in their own type, the first one to 0."""
        sums = torch.zeros(count, rows.shape[-1], dtype=torch.float64, device=rows.device)
        sums.index_add_(0, places.flatten(), rows.reshape(-1, rows.shape[-1]).double().abs())
        terms = torch.bincount(places.flatten(), minlength=count)
        additions = (terms - 1).clamp(min=0)[:, None].double()
        return of_orders(additions, sums, torch.finfo(rows.dtype).eps / 2)

    def two(dtype=half):
        return d.normal(*big, dtype=dtype), d.normal(*big, dtype=dtype)

    def positive():
        return d.normal(*big).abs() + 0.5

    def bits():
        return d.integers(0, 1 << 30, *big, dtype=torch.int32), \
            d.integers(0, 1 << 30, *big, dtype=torch.int32)

    def truths():
        return d.normal(*big) > 0, d.normal(*big) > 0

    found = {}
    for name in ("abs", "neg", "exp", "exp2", "sin", "cos", "tanh", "sigmoid", "silu", "gelu", "relu",
                 "erf", "isnan", "isinf", "isfinite", "log_sigmoid", "elu", "celu", "softplus",
                 "nan_to_num", "atan", "logical_not", "angle"):
        found[name] = unary(name)
    for name in ("log", "sqrt", "rsqrt", "reciprocal"):
        found[name] = unary(name, make=positive)
    found["gelu tanh"] = unary("gelu", approximate="tanh")
    found["bitwise_not"] = unary("bitwise_not", make=lambda: bits()[0])
    for name in ("add", "sub", "mul", "true_divide", "maximum", "minimum", "eq", "ne", "lt", "le",
                 "gt", "ge", "isclose"):
        found[name] = on(two, lambda x, y, name=name: getattr(g, name)(x, y))
    for name in ("add", "mul", "sub"):
        found[name + " float32"] = on(lambda: two(single),
                                      lambda x, y, name=name: getattr(g, name)(x, y))
    for name in ("logical_and", "logical_or", "logical_xor"):
        found[name] = on(truths, lambda x, y, name=name: getattr(g, name)(x, y))
    for name in ("bitwise_and_tensor", "bitwise_or_tensor", "floor_divide", "remainder"):
        found[name] = on(bits, lambda x, y, name=name: getattr(g, name)(x, y + 1))
    found |= {
        "pow_tensor_scalar": unary("pow_tensor_scalar", 3),
        "pow_tensor_tensor": on(lambda: (positive(), d.normal(*big)), g.pow_tensor_tensor),
        "clamp": unary("clamp", -0.5, 0.5),
        "threshold": unary("threshold", 0.1, 20.0),
        "lerp_tensor": on(lambda: (*two(), d.normal(*big)), g.lerp_tensor),
        "addcmul": on(lambda: (*two(), d.normal(*big)), g.addcmul),
        "addcdiv": on(lambda: (*two(), positive()), g.addcdiv),
        "where_self": on(lambda: (truths()[0], *two()), g.where_self),
        "masked_fill": on(lambda: (d.normal(*big), truths()[0]), lambda x, m: g.masked_fill(x, m, 2.0)),
        "silu_and_mul": on(two, g.silu_and_mul),
        "gelu_and_mul": on(two, g.gelu_and_mul),
        "glu": unary("glu"),
        "polar": on(lambda: two(single), g.polar),
        "sigmoid_backward": on(two, g.sigmoid_backward),
        "tanh_backward": on(two, g.tanh_backward),
        "silu_backward": on(two, g.silu_backward),
        "gelu_backward": on(two, g.gelu_backward),
        "elu_backward": on(two, lambda dy, x: g.elu_backward(dy, 1.0, 1.0, 1.0, False, x)),
        "to_copy": unary("to_copy", dtype=single),
        "fill_scalar": unary("fill_scalar", 3.5),
        "full": on(tuple, lambda: g.full(big, 3.5, dtype=half, device="cuda")),
        "arange": on(tuple, lambda: g.arange(1 << 24, dtype=single, device="cuda")),
        "linspace": on(tuple, lambda: g.linspace(0, 1, 1 << 22, dtype=single, device="cuda")),
        "eye": on(tuple, lambda: g.eye(4096, dtype=half, device="cuda")),
        "dropout": on(lambda: (d.normal(*big),), lambda x: g.dropout(x, 0.25, True)),
        "rand": on(tuple, lambda: g.rand(big, dtype=single, device="cuda")),
        "randn": on(tuple, lambda: g.randn(big, dtype=single, device="cuda")),
    }
    for name in ("sum", "mean", "amax", "max", "min", "argmax", "argmin", "count_nonzero"):
        found[name] = unary(name)
    found["prod"] = unary("prod", make=lambda: d.normal(*big, dtype=single).sign())
    found["all"] = unary("all", make=lambda: d.normal(*big) < 100)
    found["any"] = unary("any", make=lambda: d.normal(*big) > 100)
    for name in ("sum_dim", "mean_dim"):
        found[name] = unary(name, [1])
        found[name + " of columns"] = unary(name, [0])
    for name in ("max_dim", "min_dim"):
        found[name] = unary(name, 1)
    for name in ("argmax", "argmin"):
        found[name + " of rows"] = unary(name, 1)
    found["amax of rows"] = unary("amax", [1])
    found["prod_dim"] = unary("prod_dim", 1, make=lambda: d.normal(*big, dtype=single).sign())
    found["all_dim"] = unary("all_dim", 1, make=lambda: d.normal(*big) < 100)
    found["any_dim"] = unary("any_dim", 1, make=lambda: d.normal(*big) > 100)
    found["var_mean"] = unary("var_mean", [1])
    found["std"] = unary("std", [1])
    found["vector_norm"] = unary("vector_norm", 2, [1])
    found["vector_norm whole"] = unary("vector_norm", 2)
    found["trace"] = unary("trace")

    def row(n):
        return d.normal(n)

    def statistics(x):
        wide = x.float()
        return wide.mean(-1), (wide.var(-1, unbiased=False) + 1e-5).rsqrt()

    def normalised():
        x, dy, w, b = d.normal(*big), d.normal(*big), row(4096), row(4096)
        mean, rstd = statistics(x)
        return dy, x, mean[:, None], rstd[:, None], w, b

    images = (16, 64, 64, 64)
    logits = (4096, 32000)
    found |= {
        "softmax": unary("softmax", -1),
        "softmax of columns": unary("softmax", 0),
        "softmax 1024": unary("softmax", -1, make=lambda: d.normal(16384, 1024)),
        "softmax_backward": on(lambda: (d.normal(*big), torch.softmax(d.normal(*big), -1)),
                               lambda dy, y: g.softmax_backward(dy, y, -1, half)),
        "log_softmax": unary("log_softmax", -1),
        "log_softmax_backward": on(lambda: (d.normal(*big), torch.log_softmax(d.normal(*big), -1)),
                                   lambda dy, y: g.log_softmax_backward(dy, y, -1, half)),
        "layer_norm": on(lambda: (d.normal(*big), row(4096), row(4096)),
                         lambda x, w, b: g.layer_norm(x, [4096], w, b)),
        "layer_norm_backward": on(normalised, lambda dy, x, m, r, w, b: g.layer_norm_backward(
            dy, x, [4096], m, r, w, b, [True, True, True])),
        "rms_norm": on(lambda: (d.normal(*big), row(4096)), lambda x, w: g.rms_norm(x, [4096], w)),
        "skip_layer_norm": on(lambda: (*two(), row(4096), row(4096)),
                              lambda x, r, w, b: g.skip_layer_norm(x, r, [4096], w, b)),
        "fused_add_rms_norm": on(lambda: (*two(), row(4096)),
                                 lambda x, r, w: g.fused_add_rms_norm(x, r, [4096], w)),
        "group_norm": on(lambda: (d.normal(*images), row(64), row(64)),
                         lambda x, w, b: g.group_norm(x, w, b, 16, 64, 4096, 8)),
        "batch_norm": on(lambda: (d.normal(*images, dtype=single), *(
            t.float() for t in (row(64), row(64), row(64), row(64).abs()))),
            lambda x, w, b, m, v: g.batch_norm(x, w, b, m, v, True)),
        "instance_norm": on(lambda: (d.normal(*images, dtype=single), row(64).float(),
                                     row(64).float()), lambda x, w, b: g.instance_norm(x, w, b)),
        "weight_norm_interface": on(lambda: (d.normal(4096, 4096, dtype=single),
                                             d.normal(4096, 1, dtype=single)),
                                    g.weight_norm_interface),
        "cross_entropy_loss": on(lambda: (d.normal(*logits), d.integers(0, 32000, 4096)),
                                 g.cross_entropy_loss),
        "nll_loss_forward": on(lambda: (d.normal(*logits), d.integers(0, 32000, 4096)),
                               g.nll_loss_forward),
        "mse_loss": on(two, g.mse_loss),
        "cumsum": unary("cumsum", 1),
        "cummax": unary("cummax", 1),
        "cummin": unary("cummin", 1),
        "embedding": on(lambda: (d.normal(32000, 1024), d.integers(0, 32000, 16, 1024)), g.embedding),
        "embedding_backward": on(lambda: (d.normal(16, 1024, 1024), d.integers(0, 32000, 16, 1024)),
                                 lambda dy, i: g.embedding_backward(dy, i, 32000),
                                 lambda dy, i: added_rows(dy, i, 32000)),
        "gather": on(lambda: (d.normal(*big), d.integers(0, 4096, *big)),
                     lambda x, i: g.gather(x, 1, i)),
        "scatter": on(lambda: (d.normal(*big), torch.argsort(d.normal(*big, dtype=single), 1),
                               d.normal(*big)), lambda x, i, s: g.scatter(x, 1, i, s)),
        "index_select": on(lambda: (d.normal(*big), d.integers(0, 4096, 2048)),
                           lambda x, i: g.index_select(x, 0, i)),
        "index_add": on(lambda: (d.normal(*big, dtype=single), torch.randperm(4096, device="cuda")[:2048],
                                 d.normal(2048, 4096, dtype=single)),
                        lambda x, i, s: g.index_add(x, 0, i, s)),
        "index": on(lambda: (d.normal(*big), d.integers(0, 4096, 2048)), lambda x, i: g.index(x, [i])),
        "index_put": on(lambda: (d.normal(*big), torch.randperm(4096, device="cuda")[:2048],
                                 d.normal(2048, 4096)), lambda x, i, v: g.index_put(x, [i], v)),
        "cat": on(two, lambda x, y: g.cat([x, y], 1)),
        "stack": on(two, lambda x, y: g.stack([x, y], 0)),
        "hstack": on(two, lambda x, y: g.hstack([x, y])),
        "vstack": on(two, lambda x, y: g.vstack([x, y])),
        "flip": unary("flip", [1]),
        "triu": unary("triu"),
        "diag": unary("diag"),
        "diag_embed": unary("diag_embed", make=lambda: d.normal(64, 512)),
        "repeat": unary("repeat", [2, 2]),
        "tile": unary("tile", [2, 2]),
        "repeat_interleave": unary("repeat_interleave_self_int", 2, 1),
        "pad": unary("pad", [3, 5, 2, 1]),
        "contiguous": unary("contiguous", make=lambda: d.normal(*big).T),
        "select_scatter": on(lambda: (d.normal(*big), d.normal(4096)),
                             lambda x, s: g.select_scatter(x, s, 0, 17)),
        "slice_scatter": on(lambda: (d.normal(*big), d.normal(2048, 4096)),
                            lambda x, s: g.slice_scatter(x, s, 0, 0, 4096, 2)),
        "sort": unary("sort", make=lambda: d.normal(256, 2048)),
        "topk": unary("topk", 16, make=lambda: d.normal(64, 32000)),
        "isin": on(lambda: (d.integers(0, 1000, 1 << 20), d.integers(0, 1000, 64)), g.isin),
        "nonzero": unary("nonzero", make=lambda: d.normal(*big) > 1),
        "masked_select": on(lambda: (d.normal(*big), truths()[0]), g.masked_select),
        "unique": unary("_unique2", make=lambda: d.integers(0, 1000, 1 << 20)),
        "kron": on(lambda: (d.normal(64, 64), d.normal(64, 64)), g.kron),
        "mv": on(lambda: (d.normal(*big), row(4096)), g.mv),
        "addmv": on(lambda: (row(4096), d.normal(*big), row(4096)), g.addmv),
        "dot": on(lambda: (row(1 << 22), row(1 << 22)), g.dot),
        "vdot": on(lambda: (row(1 << 22), row(1 << 22)), g.vdot),
        "outer": on(lambda: (row(4096), row(4096)), g.outer),
        "upsample_nearest2d": unary("upsample_nearest2d", (128, 128),
                                    make=lambda: d.normal(*images)),
        "upsample_bicubic2d_aa": unary("_upsample_bicubic2d_aa", (128, 128), False,
                                       make=lambda: d.normal(*images)),
        "max_pool2d": unary("max_pool2d_with_indices", 3, 2, 1, make=lambda: d.normal(*images)),
        "avg_pool2d": unary("avg_pool2d", 3, 2, 1, make=lambda: d.normal(*images)),
        "apply_rotary_pos_emb": on(
            lambda: (d.normal(4, 1024, 32, 128), d.normal(4, 1024, 8, 128), d.normal(1024, 64),
                     d.normal(1024, 64)), g.apply_rotary_pos_emb),
        "uniform_": unary("uniform_", make=lambda: d.normal(*big, dtype=single)),
        "exponential_": unary("exponential_", make=lambda: d.normal(*big, dtype=single)),
        # Products, which are judged apart.
        "mm": on(two, g.mm),
        "bmm": on(lambda: (d.normal(16, 1024, 1024), d.normal(16, 1024, 1024)), g.bmm),
        "addmm": on(lambda: (row(4096), *two()), g.addmm),
        "attention": on(lambda: tuple(d.normal(4, 16, 2048, 128) for _ in range(3)),
                        lambda q, k, v: g.scaled_dot_product_attention(
                            q, k, v, scale=1 / math.sqrt(128))),
        "conv2d": on(lambda: (d.normal(16, 64, 56, 56), d.normal(64, 64, 3, 3)),
                     lambda x, w: g.conv2d(x, w, padding=1)),
    }
    return found
