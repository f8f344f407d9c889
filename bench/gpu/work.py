# SPDX-License-Identifier: Apache-2.0
"""One launch of a kernel that two compilers are given: the same source, arguments and options."""

import dataclasses
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass
class Work:
    file: str  # below the root of the project
    function: str
    arguments: dict  # by name, in the kernel's order: tensors, numbers, and those of `constants`
    outputs: list  # names of tensors
    grid: tuple
    check: object  # given the outputs by name, the largest error over what is allowed: at most 1
    bytes: int = 0  # read and written once each
    flops: int = 0
    constants: tuple = ()  # names of constexpr parameters
    warps: int = 4  # of each block
    blocks: int = 1  # of a program: more are a cluster, which upstream cannot reduce in
    stages: int = 3
    peers: dict = dataclasses.field(default_factory=dict)  # name to a call of the same function
    inductor: object = None  # what torch.compile is given: a function and its arguments
    copies: bool = True  # whether a copy of the same size bounds it

    def tensors(self):
        return {name: value for name, value in self.arguments.items() if hasattr(value, "data_ptr")}

    def source(self):
        return (ROOT / self.file).read_text()


@dataclasses.dataclass
class Row:
    name: str
    make: object  # given a Maker: the Work
    compile: bool = False  # whether torch.compile, which takes seconds, is asked as well
    sustained: bool = False  # whether each is timed alone as well, back to back


class Maker:
    """Makes data; `tiny` shrinks every size, to try a row where there is no GPU."""

    def __init__(self, device, seed, tiny=False):
        import torch
        self.torch, self.device, self.tiny = torch, device, tiny
        self.generator = torch.Generator(device=device)
        self.generator.manual_seed(seed)

    def size(self, full, small):
        return small if self.tiny else full

    def normal(self, *shape, dtype):
        torch = self.torch
        made = torch.empty(shape, dtype=dtype, device=self.device)
        flat = made.view(-1)
        for begin in range(0, flat.numel(), 1 << 26):  # no copy in float32 of a whole large tensor
            part = flat[begin:begin + (1 << 26)]
            part.copy_(torch.randn(part.shape, device=self.device, generator=self.generator))
        return made

    def integers(self, low, high, *shape, dtype):
        return self.torch.randint(low, high, shape, dtype=dtype, device=self.device,
                                  generator=self.generator)

    def empty(self, *shape, dtype):
        return self.torch.empty(shape, dtype=dtype, device=self.device)


TYPES = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32"}


def poison(tensor):
    """No element keeps a value that could be right."""
    if tensor.is_floating_point():
        tensor.fill_(float("nan"))
    else:
        tensor.fill_(-0x33 if tensor.element_size() == 1 else -0x33333333)


def roundoff(dtype):
    """Half of the distance between 1 and the number above it."""
    import torch
    return torch.finfo(dtype).eps / 2


def excess(got, expected, relative, absolute):
    """The largest error over relative * |expected| + absolute, a number or one for each element;
    infinite where something is no number. Expected in float64."""
    import torch
    if got.shape != expected.shape:
        raise ValueError(f"expects {tuple(expected.shape)}, but got {tuple(got.shape)}")
    worst = 0.0
    got, expected = got.reshape(-1), expected.reshape(-1)
    bound = absolute.reshape(-1) if hasattr(absolute, "reshape") else None
    for begin in range(0, got.numel(), 1 << 26):
        part = slice(begin, begin + (1 << 26))
        wanted = expected[part]
        allowed = wanted.abs() * relative + (absolute if bound is None else bound[part])
        error = (got[part].double() - wanted).abs()
        ratio = torch.where(error == 0, 0.0, error / allowed)
        ratio = torch.where(torch.isnan(ratio), float("inf"), ratio)
        worst = max(worst, ratio.max().item())
    return worst
