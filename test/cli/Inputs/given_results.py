# SPDX-License-Identifier: Apache-2.0
"""Calls generated wrappers with tensors that are lists, and kernels that write 5 to what they store to: which memory a
result has, which calls are refused. Needs neither PyTorch nor Triton.

    given_results.py FOLDER NAME MODE     MODE: out, or written
"""

import importlib
import inspect
import itertools
import math
import re
import sys
import types

ADDRESSES = itertools.count(1 << 20, 1 << 16)
WRITTEN = 5.0


class Storage:
    def __init__(self, count):
        self.values, self.address = [0.0] * count, next(ADDRESSES)

    def data_ptr(self):
        return self.address


class DType(str):
    """Of the types that the tests call with."""

    itemsize = property(lambda self: 2 if self.endswith("16") else 4)


class Tensor:
    device = types.SimpleNamespace(type="cuda")

    def __init__(self, shape, dtype="float32", strides=None, storage=None, offset=0):
        self.shape, self.dtype = tuple(shape), DType(dtype)
        self.strides = tuple(strides or [math.prod(self.shape[i + 1 :]) for i in range(len(self.shape))])
        self.storage, self.offset = storage or Storage(math.prod(self.shape)), offset

    def places(self):
        for index in itertools.product(*map(range, self.shape)):
            yield self.offset + sum(i * step for i, step in zip(index, self.strides))

    def read(self):
        return [self.storage.values[place] for place in self.places()]

    def fill_(self, value):
        for place in self.places():
            self.storage.values[place] = value
        return self

    def copy_(self, other):
        assert self.shape == other.shape
        for place, value in zip(self.places(), other.read()):
            self.storage.values[place] = value
        return self

    def clone(self, memory_format=None):
        return Tensor(self.shape, self.dtype).copy_(self)

    def contiguous(self):
        return self if self.is_contiguous() else self.clone()

    def is_contiguous(self):
        return self.strides == Tensor(self.shape, storage=self.storage).strides

    def stride(self, dim=None):
        return self.strides if dim is None else self.strides[dim]

    def numel(self):
        return math.prod(self.shape)

    def element_size(self):
        return self.dtype.itemsize

    def data_ptr(self):
        return self.storage.address + self.offset * self.element_size()

    def untyped_storage(self):
        return self.storage

    def dim(self):
        return len(self.shape)

    nbytes = property(lambda self: self.numel() * self.element_size())


def stored_names(function):
    return set(re.findall(r"tl\.store\(\s*(\w+?_ptr)\b", inspect.getsource(function)))


class Kernel:
    def __init__(self, function):
        self.function = function

    def __getitem__(self, grid):
        def launch(*given, **constants):
            names = list(inspect.signature(self.function).parameters)
            for name, tensor in zip(names, given):
                if name in stored_names(self.function):
                    assert tensor.is_contiguous()
                    tensor.fill_(WRITTEN)

        return launch


def install():
    torch, triton = types.ModuleType("torch"), types.ModuleType("triton")
    torch.Tensor, torch.Size = Tensor, tuple
    torch.contiguous_format = None
    for name in ("float32", "float16", "bfloat16", "float64", "int32", "int64", "int8", "int16", "uint8", "bool"):
        setattr(torch, name, name)
    torch.empty = lambda *shape, dtype="float32", device=None: Tensor(
        shape[0] if isinstance(shape[0], tuple) else shape, dtype
    )
    triton.jit = Kernel
    triton.cdiv = lambda a, b: -(-a // b)
    triton.next_power_of_2 = lambda n: 1 << max(n - 1, 0).bit_length()
    language, extra = types.ModuleType("triton.language"), types.ModuleType("triton.language.extra")
    language.constexpr, extra.libdevice = int, None
    triton.language = language
    for name, module in (("torch", torch), ("triton", triton), ("triton.language", language)):
        sys.modules[name] = module
    sys.modules["triton.language.extra"] = extra


def refused(call):
    try:
        call()
    except AssertionError as error:
        return str(error)
    raise SystemExit("a call that should be refused was taken")


def strided(shape, strides, values=64):
    return Tensor(shape, strides=strides, storage=Storage(values))


def check_out(function):
    """A function of two tensors of one shape."""
    x, y = Tensor((3, 5)), Tensor((3, 5))
    made = function(x, y)
    assert made.read() == [WRITTEN] * 15 and made.storage not in (x.storage, y.storage)
    for given in (Tensor((3, 5)), strided((3, 5), (8, 1)), strided((3, 5), (1, 3)), strided((3, 5), (10, 2))):
        assert function(x, y, out=given) is given
        assert given.read() == [WRITTEN] * 15
        assert given.storage.values.count(WRITTEN) == 15, "between its elements"
    assert x.read() == y.read() == [0.0] * 15
    assert function(x, y, out=x) is x and x.read() == [WRITTEN] * 15
    whole = Storage(64)
    x, y = Tensor((3, 5), storage=whole), Tensor((3, 5), storage=whole, offset=15)
    beside = Tensor((3, 5), storage=whole, offset=30)
    assert function(x, y, out=beside) is beside
    print("type:", refused(lambda: function(x, y, out=Tensor((3, 5), "float16"))))
    print("shape:", refused(lambda: function(x, y, out=Tensor((5, 3)))))
    print("rank:", refused(lambda: function(x, y, out=Tensor((1, 3, 5)))))
    print("part:", refused(lambda: function(x, y, out=Tensor((3, 5), storage=whole, offset=16))))
    try:
        function(x, y, Tensor((3, 5)))
    except TypeError:
        print("out is a keyword")


def check_written(function):
    """A function of two tensors that writes into the first."""
    for x in (Tensor((3, 5)), strided((3, 5), (8, 1)), strided((3, 5), (1, 3))):
        y = Tensor((3, 5))
        assert function(x, y) is x
        assert x.read() == [WRITTEN] * 15 and y.read() == [0.0] * 15
        assert x.storage.values.count(WRITTEN) == 15
        assert function(x, x) is x
    whole = Storage(64)
    x, y = Tensor((3, 5), storage=whole), Tensor((3, 5), storage=whole, offset=15)
    assert function(x, y) is x and y.read() == [0.0] * 15
    for strides in ((8, 1), (0, 1), (1, 3)):
        y = strided((3, 5), strides)
        assert function(Tensor((3, 5)), y).read() == [WRITTEN] * 15 and y.read() == [0.0] * 15
    x, y = (Tensor((3, 5), strides=(16, 1), storage=Storage(64)) for _ in range(2))
    y.storage, y.offset = x.storage, 8
    assert function(x, y) is x and x.read() == [WRITTEN] * 15 and y.read() == [0.0] * 15
    print("written")


def check_states(function):
    """A function that writes into its first and third tensor."""
    tensors = [Tensor((3, 5)) for _ in range(3)]
    first, third = function(*tensors)
    assert first is tensors[0] and third is tensors[2] and tensors[1].read() == [0.0] * 15
    assert first.read() == third.read() == [WRITTEN] * 15
    print("states:", refused(lambda: function(tensors[0], tensors[1], tensors[0])))


def main():
    folder, name, mode = sys.argv[1:]
    install()
    sys.path.insert(0, folder)
    function = getattr(importlib.import_module(name + "_triton"), name)
    {"out": check_out, "written": check_written, "states": check_states}[mode](function)


main()
