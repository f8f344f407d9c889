# SPDX-License-Identifier: Apache-2.0
"""The part of include/nereid/nereid.h that a launch needs, through ctypes."""

import ctypes
import os
import pathlib

COMPILE, LAUNCH, INTERNAL = 2, 3, 6  # of nereid_status
TENSOR, INTEGER, FLOAT = 0, 2, 3  # of nereid_argument_kind


class Value(ctypes.Union):
    _fields_ = [("tensor", ctypes.c_void_p), ("integer", ctypes.c_int64),
                ("number", ctypes.c_double)]


class Argument(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("value", Value)]


class Failure(Exception):
    """A status other than NEREID_OK."""

    def __init__(self, status, code, text):
        super().__init__(text)
        self.status, self.code = status, code


def _open():
    root = pathlib.Path(__file__).resolve().parents[3]
    path = os.environ.get("NEREID_LIBRARY", str(root / "build" / "lib" / "libnereid.so"))
    library = ctypes.CDLL(path)
    for name in ("nereid_last_error", "nereid_last_error_code"):
        getattr(library, name).restype = ctypes.c_char_p
    for name in ("nereid_tensor_free", "nereid_kernel_free"):
        getattr(library, name).argtypes = [ctypes.c_void_p]
        getattr(library, name).restype = None
    return library


library = _open()


def check(status):
    if status != 0:
        raise Failure(status,
                      library.nereid_last_error_code().decode(),
                      library.nereid_last_error().decode(errors="replace"))


def dtype(name):
    """The number of an element type, "fp32" or "float32"."""
    number = ctypes.c_int32()
    check(library.nereid_dtype_parse(name.encode(), ctypes.byref(number)))
    return number.value


class Tensor:
    """Memory that somebody else keeps alive."""

    def __init__(self, address, shape, strides, element):
        rank = len(shape)
        self.handle = ctypes.c_void_p()
        check(
            library.nereid_tensor_borrow(ctypes.c_void_p(address), (ctypes.c_int64 * rank)(*shape),
                                         (ctypes.c_int64 * rank)(*strides), rank, element,
                                         ctypes.byref(self.handle)))

    def __del__(self):
        library.nereid_tensor_free(self.handle)


class Kernel:

    def __init__(self, text, name, function, signature):
        self.handle = ctypes.c_void_p()
        check(
            library.nereid_kernel_load_source(text.encode(), name.encode(), function.encode(),
                                              signature.encode(), None, ctypes.byref(self.handle)))

    def launch(self, grid, arguments):
        array = (Argument * len(arguments))(*arguments)
        check(
            library.nereid_kernel_launch(self.handle, (ctypes.c_int64 * 3)(*grid), array,
                                         ctypes.c_size_t(len(arguments))))

    def __del__(self):
        library.nereid_kernel_free(self.handle)


def integer(value):
    argument = Argument(kind=INTEGER)
    argument.value.integer = value - (1 << 64) if value >= 1 << 63 else value
    return argument


def number(value):
    argument = Argument(kind=FLOAT)
    argument.value.number = value
    return argument


def tensor(value):
    argument = Argument(kind=TENSOR)
    argument.value.tensor = value.handle
    argument.owner = value  # lives as long as the argument
    return argument
