# SPDX-License-Identifier: Apache-2.0
"""The parameters of one specialisation: the signature that is asked for, and the values of a launch."""

import torch
import triton
import triton.language as tl

from . import capi
from .source import Unknown

_NAMES = {"u1": "i1", "B": "i1"}


def _element(name):
    return _NAMES.get(name, name)


class _Kind:
    """Of a run-time argument."""

    def type_for(self, argument):
        return self.type


def _tensor(base, address, shape, strides, element):
    """On the device of `base`: a torch tensor, or an object of which only the address is sure."""
    device = getattr(base, "device", None) or torch.device("cpu")
    if device.type == "cuda":
        return capi.device_tensor(address, shape, strides, element, device.index or 0)
    if device.type != "cpu":
        raise ValueError(f"expects a tensor on the CPU or a GPU, but got one on {device}")
    return capi.tensor(capi.Tensor(address, shape, strides, capi.dtype(element)))


class _Pointer(_Kind):

    def __init__(self, element):
        capi.dtype(element)  # one that the library knows
        self.element, self.type = element, "*" + element

    def value(self, argument):
        base = argument.base if isinstance(argument, triton.runtime.jit.TensorWrapper) else argument
        if isinstance(base, torch.Tensor):
            size = 1 + sum((n - 1) * abs(s) for n, s in zip(base.shape, base.stride()))
            size = max(size, 1) if base.numel() else 1
            address = base.data_ptr() or torch.empty(16, dtype=torch.int8,
                                                     device=base.device).data_ptr()
        else:
            address, size = argument.data_ptr(), 1
        return _tensor(base, address, (size, ), (1, ), self.element)


class _Descriptor(_Kind):

    def __init__(self, text):
        self.type = text
        self.element = text[len("tensordesc<"):text.index("[")]
        capi.dtype(self.element)

    def type_for(self, argument):
        return self.type.replace("]", "],nan") if argument.padding == "nan" else self.type

    def value(self, argument):
        base = argument.base
        base = base.base if isinstance(base, triton.runtime.jit.TensorWrapper) else base
        return _tensor(base, base.data_ptr(), tuple(argument.shape), tuple(argument.strides),
                       self.element)


class _Scalar(_Kind):

    def __init__(self, name):
        self.type = name
        self.is_float = name.startswith(("fp", "bf"))

    def value(self, argument):
        if self.type == "i1":
            return capi.integer(int(argument) & 1)
        return capi.number(float(argument)) if self.is_float else capi.integer(int(argument))


class _Constant:

    def __init__(self, value):
        self.constant = value


class _Tuple:

    def __init__(self, items, value):
        self.items, self.python_type = items, type(value) if hasattr(value, "_fields") else tuple


def _kind(type_text, value, divisibility):
    if type_text == "constexpr":
        return _Constant(value)
    if type_text.startswith("tensordesc"):
        return _Descriptor(type_text)
    if type_text.startswith("*"):
        pointer = _Pointer(_element(type_text[1:].removeprefix("k")))
        pointer.type += divisibility
        return pointer
    scalar = _Scalar(_element(type_text))
    scalar.type += divisibility if scalar.type[0] in "iu" and scalar.type != "i1" else ""
    return scalar


class Parameters:

    def __init__(self, source):
        # In the function's order, which a signature given by name need not have; it may leave out
        # constants.
        places = [(i, name) for i, name in enumerate(source.fn.arg_names)
                  if name in source.signature or (i, ) in source.constants]
        self.names = [name for _, name in places]
        self.source = source
        self.kinds = [self._read(source.signature.get(name, "constexpr"), (i, ))
                      for i, name in places]

    def _read(self, text, path):
        if isinstance(text, (tuple, list)):
            return _Tuple([self._read(item, path + (i, )) for i, item in enumerate(text)], text)
        attributes = self.source.attrs.get(path) or []
        is_divisible = any(name == "tt.divisibility" for name, _ in attributes)
        return _kind(text, self.source.constants.get(path), ":16" if is_divisible else "")

    def complete(self, text, entry):
        """The entry function. A tuple takes a wrapper that makes it of its parts."""
        if not any(isinstance(kind, _Tuple) for kind in self.kinds):
            self.parts = [(name, self._entry(text, name, kind))
                          for name, kind in zip(self.names, self.kinds)]
            return entry
        self.parts = []
        passed = [self._expression(text, name, kind)
                  for name, kind in zip(self.names, self.kinds)]
        wrapper = text.unique(entry + "_of_parts")
        parameters = ", ".join(name for name, _ in self.parts)
        text.blocks.append(f"@triton.jit\ndef {wrapper}({parameters}):\n"
                           f"    {entry}({', '.join(passed)})")
        return wrapper

    def signature(self, arguments=None):
        """For these arguments: what a descriptor pads with is no part of upstream's types."""
        given = iter(arguments or [])
        types = []
        for name, part in self.parts:
            if not isinstance(part, str):
                value = next(given, None)
                part = part.type if value is None else part.type_for(value)
            types.append(f"{name}={part}")
        return ", ".join(types)

    def _entry(self, text, name, kind):
        if not isinstance(kind, _Constant):
            return kind
        value = kind.constant
        value = value.value if isinstance(value, tl.constexpr) else value
        is_plain = value is None or isinstance(value, (bool, int, str, tl.dtype)) or \
            isinstance(value, float) and value - value == 0
        if is_plain and not isinstance(value, tl.pointer_type):
            return text.literal(value)
        try:
            return text.name_of(value, name + "_value")
        except Unknown:  # an object that a kernel can only hand on: what identifies it
            return repr(str(value))

    def _expression(self, text, name, kind):
        if isinstance(kind, _Constant):
            return text.literal(kind.constant)
        if isinstance(kind, _Tuple):
            items = [self._expression(text, f"{name}_{i}", item)
                     for i, item in enumerate(kind.items)]
            if kind.python_type is not tuple:
                made = text.name_of(kind.python_type, kind.python_type.__name__)
                return f"{made}({', '.join(items)})"
            return "(" + ", ".join(items) + ("," if len(items) == 1 else "") + ")"
        self.parts.append((name, kind))
        return name

    def flat(self, arguments):
        """The run-time arguments, in the order of the signature."""
        values = []
        for kind, argument in zip(self.kinds, arguments):
            self._flatten(kind, argument, values)
        return values

    def _flatten(self, kind, argument, values):
        if isinstance(kind, _Tuple):
            for inner, item in zip(kind.items, argument):
                self._flatten(inner, item, values)
        elif not isinstance(kind, _Constant):
            values.append(argument)

    def values(self, arguments):
        """What the launch is given for `flat` arguments."""
        kinds = [part for _, part in self.parts if not isinstance(part, str)]
        return [kind.value(argument) for kind, argument in zip(kinds, arguments)]
