# SPDX-License-Identifier: Apache-2.0
"""An operator of operators/ by name or by text, called on tensors of PyTorch through the C interface."""

import ctypes
import os
import pathlib

from torch_tensors import given, taken, torch  # ends with 77 where there is no PyTorch
from interface import ADDRESS, Tensor, arguments_of, check, library

os.environ["NEREID_OPERATOR_PATH"] = str(pathlib.Path(__file__).resolve().parents[2] / "operators")
NAME = ctypes.c_char_p
library.nereid_operator_output_count.restype = ctypes.c_int
library.nereid_operator_free.argtypes = [ADDRESS]
library.nereid_operator_free.restype = None


class Operator:

    def __init__(self, name=None, handle=None):
        self.handle = handle or ADDRESS()
        if not handle:
            check(library.nereid_operator_load(name.encode(), ctypes.byref(self.handle)))

    @classmethod
    def of_text(cls, text):
        handle = ADDRESS()
        check(library.nereid_operator_load_source(text.encode(), b"text", ctypes.byref(handle)))
        return cls(handle=handle)

    def backward(self, *inputs):
        handle = ADDRESS()
        names = (NAME * len(inputs))(*[one.encode() for one in inputs])
        check(library.nereid_operator_backward(self.handle, names, ctypes.c_size_t(len(inputs)),
                                               ctypes.byref(handle)))
        return Operator(handle=handle)

    def __call__(self, *inputs, into=None, stream=None):
        """Tensors of PyTorch in and out; `into`: those to write, one for each output."""
        count = library.nereid_operator_output_count(self.handle)
        values = [taken(one) if isinstance(one, torch.Tensor) else one for one in inputs]
        targets = [taken(one) for one in into or []]
        outputs = (ADDRESS * count)(*[one.handle for one in targets])
        check(library.nereid_operator_call(self.handle, *arguments_of(values), outputs,
                                           ctypes.c_size_t(count), stream.handle if stream else None))
        if into:
            return into
        return [given(Tensor(ADDRESS(one))) for one in outputs]

    def __del__(self):
        if self.handle:
            library.nereid_operator_free(self.handle)
