# SPDX-License-Identifier: Apache-2.0
"""judge_programs.py DIR: accuracy programs of DIR's folders on a processor, with functions of PyTorch as kernels and
as baselines, and what they say of each."""

import importlib
import pathlib
import sys

import torch

root = pathlib.Path(sys.argv[1])


def program(folder, operator):
    """The operator's accuracy program, with its small cases, and baseline."""
    for file in (root / folder).glob("*.py"):
        text = file.read_text(encoding="utf-8")
        for before, behind in (('DEVICE = "cuda"', 'DEVICE = "cpu"'), ('DEVICES = ("cuda",)', 'DEVICES = ("cpu",)'),
                               ('device="cuda"', 'device="cpu"')):
            text = text.replace(before, behind)
        file.write_text(text, encoding="utf-8")
    sys.path.insert(0, str(root / folder))
    module = importlib.import_module(f"{operator}_accuracy")
    module.CASES = [case for case in module.CASES if case[0].startswith(("3 columns", "17 columns", "no rows"))]
    module.KINDS = module.KINDS[:1]
    return module


def checked(title, module, types, side, lines=None, **functions):
    """A line that tells what came of one side's checks."""
    functions = {"kernel": module.baseline, "baseline": module.baseline, **functions}
    module.TYPES = types
    rows = [row for row in module.run(tell=(lines or []).append, device="cpu", **functions) if row["side"] == side]
    wrong = sum(row["wrong"] > 0 for row in rows)
    told = ", told" if any(row["told"] for row in rows) else ""
    print(f"{title}: {wrong and 'wrong' or '0 wrong'}{told if not wrong else ''}")
    return rows


HALVES = (torch.float16, torch.bfloat16)


def summed(x, scale=1.0):
    """As PyTorch does on a GPU, each sum rounded to the type of the elements."""
    result = torch.empty_like(x)
    total = torch.zeros_like(x[..., 0]) if x.shape[-1] else None
    for at in range(x.shape[-1]):
        total = total + x[..., at] * scale
        result[..., at] = total
    return result


eye = program("eye", "eye")
lines = []
eye.run(kernel=eye.baseline, tell=lines.append, device="cpu")
print("a call without tensors:", next(line for line in lines if "= 3" in line))

cumsum = program("cumsum", "cumsum")
checked("sums in 16 bits", cumsum, HALVES, "baseline", baseline=summed)
index_add = program("index_add", "index_add")


def added(x, index, source):
    result = x.clone()
    for at, place in enumerate(index.tolist()):
        result[place] += source[at]
    return result


checked("sums in 16 bits at indices", index_add, HALVES, "baseline", baseline=added)
checked("sums in 16 bits in a kernel", cumsum, HALVES, "kernel", kernel=summed)
checked("another function in 16 bits", cumsum, HALVES, "baseline", baseline=lambda x: summed(x) - x)
checked("a slightly other function in 16 bits", cumsum, HALVES, "baseline", baseline=lambda x: summed(x, 1.05))

pad = program("pad_reflect", "pad_reflect")


def refusing(function, of):
    def call(*inputs):
        if of(inputs[0].numel()):
            raise RuntimeError("refused")
        return function(*inputs)

    return call


padded = pad.baseline


def whole(x):
    """Of no elements, too, which PyTorch refuses to pad."""
    filled = padded(x if x.numel() else x.new_zeros((1, 1, *x.shape[-2:])))
    return filled if x.numel() else filled.new_empty((*x.shape[:-2], *filled.shape[-2:]))


FLOATS = (torch.float32,)
checked("a baseline that refuses nothing to compute", pad, FLOATS, "baseline", kernel=whole)
checked("a kernel that refuses nothing to compute", pad, FLOATS, "kernel")
checked("a baseline that refuses elements", pad, FLOATS, "baseline", kernel=whole,
        baseline=refusing(whole, lambda count: count > 0))

bicubic = program("bicubic", "interpolate_bicubic_size")
x, like = torch.zeros(1, 1, 3, 3), torch.zeros(3, 3)
x[0, 0, 0, 0] = torch.inf
bicubic._OtherDevice.place = "cpu:0"  # no other device here
definition, copied = bicubic._exact_definition, lambda x, like: x.clone()
for title, others in (("two kinds", [definition]), ("one kind", [copied])):
    answers = iter([copied, *others])
    bicubic._exact_definition = lambda *inputs: next(answers)(*inputs)
    verdict = bicubic.judge((x, like), definition(x, like), torch.float32)
    print(f"PyTorch's own of {title}:", "wrong" if verdict.wrong else "open" if verdict.open else "right")

backward = program("linear", "upsample_linear1d_backward")
grad, x = torch.ones(1, 1, 12), torch.zeros(1, 1, 3)
grad[0, 0, 0] = torch.inf  # of which the second pixel gets 0 times
found = backward.baseline(grad, x)
assert found[0, 0, 1].isnan()
for title, number in (("that it has without them", 4.0), ("of others", 5.0), ("of no infinity", torch.inf)):
    found[0, 0, 1] = number
    verdict = backward.judge((grad, x), found, torch.float32)
    print(f"0 times an infinity, the number {title}:", "wrong" if verdict.wrong else "right")
scan = torch.cumsum(torch.tensor([[1.0, torch.nan, 2.0]]), -1)
scan[0, 2] = 3.0
print("a number for NaN:", "wrong" if cumsum.judge((torch.tensor([[1.0, torch.nan, 2.0]]),), scan, torch.float32).wrong else "right")

normal = program("normal", "normal_")
checked("random numbers in float64", normal, (torch.float64,), "baseline")
