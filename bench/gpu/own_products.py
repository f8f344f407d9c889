#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Convolutions and attention of kernels/, as their own functions `launch` call them: by our compiler and by
upstream's, compared and timed in turns. Needs a GPU, torch and triton; the matrix products are rows of duel.py.

usage: own_products.py [--only REGEX] [--rounds N] [--json OUT]
"""

import argparse
import gc
import importlib.util
import json
import pathlib
import re
import sys
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import torch  # noqa: E402

import sides  # noqa: E402
from clock import Clock  # noqa: E402
from corpus import summary, told  # noqa: E402
from replay import Replay, short  # noqa: E402
from work import ROOT  # noqa: E402

TYPES = {"fp16": torch.float16, "bf16": torch.bfloat16}
# Images, height and width, channels, features, window, stride; the first, a middle and a late layer of a ResNet-50.
LAYERS = {"56x56x64 3x3": (32, 56, 64, 64, 3, 1), "14x14x256 3x3": (32, 14, 256, 256, 3, 1),
          "56x56x256 1x1": (32, 56, 256, 64, 1, 1), "28x28x128 3x3 stride 2": (32, 28, 128, 128, 3, 2)}


def launch_of(folder, name):
    path = ROOT / "kernels" / folder / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"own_{name}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.launch


def normal(*shape, dtype):
    return torch.randn(shape, device="cuda").to(dtype)


def convolution(name, layer, dtype):
    images, size, channels, features, window, stride = layer
    image, weights = (size, size, channels), (window, window, channels, features)
    if name == "conv2d_nchw":
        image, weights = (channels, size, size), (features, channels, window, window)
    x, w, bias = (normal(*shape, dtype=dtype) for shape in ((images, *image), weights, (features, )))
    launch = launch_of("conv2d", name)
    return lambda: launch(x, w, bias, stride=stride, padding=window // 2, relu=True)


def backward(dtype, length, depth, causal):
    q, k, v, dout = (normal(16, length, depth, dtype=dtype) for _ in range(4))
    score = depth**-0.5 * (q.float() @ k.float().mT)
    if causal:
        score.masked_fill_(torch.ones_like(score[0], dtype=torch.bool).triu(1), -float("inf"))
    lse, out = torch.logsumexp(score, -1), (torch.softmax(score, -1) @ v.float()).to(dtype)
    launch = launch_of("attention", "attention_backward")
    return lambda: launch(q, k, v, out, lse, dout, causal=causal, block_m=64, block_n=64, splits=16)


def two(name, dtype):
    q, k = (normal(16, 2048, 64, dtype=dtype) for _ in range(2))
    launch = launch_of("attention", name)
    return lambda: launch(q, k)


def masked(dtype, **options):
    q, k, v = (normal(2, 16, 2048, 64, dtype=dtype) for _ in range(3))
    launch = launch_of("attention", "attention_masked")
    return lambda: launch(q, k, v, **options)


def calls():
    """Names to functions that make data and give the call whose launches count."""
    found = {}
    for short_type, dtype in TYPES.items():
        for name in ("conv2d_nhwc", "conv2d_nchw"):
            for text, layer in LAYERS.items():
                found[f"{name} {short_type} {text}"] = lambda n=name, l=layer, t=dtype: convolution(n, l, t)
        for length, depth, causal in ((2048, 64, False), (2048, 64, True), (1024, 128, False)):
            text = f"attention_backward {short_type} {length}x{depth}{' causal' if causal else ''}"
            found[text] = lambda t=dtype, l=length, d=depth, c=causal: backward(t, l, d, c)
        for name in ("attention_scores", "attention_weights"):
            found[f"{name} {short_type}"] = lambda n=name, t=dtype: two(n, t)
        for text, options in (("causal", {"causal": True}), ("window", {"left": 256, "right": 256}),
                              ("dropout", {"p": 0.1, "seed": 7})):
            found[f"attention_masked {short_type} {text}"] = lambda t=dtype, o=options: masked(t, **o)
    return found


def replayed(replay, make):
    replay.records = []
    record = {}
    try:
        call = make()
        torch.cuda.synchronize()
        replay.isWatching = True
        call()
        torch.cuda.synchronize()
    except Exception as error:
        traceback.print_exc()
        record["failures"] = {"call": short(error)}
    replay.isWatching = False
    gc.collect()
    torch.cuda.empty_cache()
    return record | {"launches": replay.records}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--json", metavar="OUT")
    parser.add_argument("--revision")
    options = parser.parse_args()
    replay = Replay(Clock(), sides.torch_stream(), options.rounds, budget=2)
    replay.install()
    records = []
    for name, make in calls().items():
        if re.search(options.only, name):
            records.append({"case": name} | replayed(replay, make))
            told(records[-1])
    if options.json:
        import environment
        result = {"schema": 1, "subject": "products of kernels/ beside upstream's compiler",
                  "environment": environment.describe(options.revision), "rows": records}
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1) + "\n")
    summary(records)


if __name__ == "__main__":
    main()
