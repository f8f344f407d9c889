# SPDX-License-Identifier: Apache-2.0
"""The part of include/nereid/nereid.h that a launch needs, through ctypes."""

import ctypes
import os
import pathlib

COMPILE, LAUNCH, INTERNAL = 2, 3, 6  # of nereid_status
TENSOR, DLPACK, INTEGER, FLOAT = 0, 1, 2, 3  # of nereid_argument_kind
CUDA = 2  # of DLDeviceType


class Value(ctypes.Union):
    _fields_ = [("tensor", ctypes.c_void_p), ("dlpack", ctypes.c_void_p),
                ("integer", ctypes.c_int64), ("number", ctypes.c_double)]


class Argument(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("value", Value)]


class DlTensor(ctypes.Structure):
    """DLTensor of dlpack.h."""
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
                ("byte_offset", ctypes.c_uint64)]


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
    for name in ("nereid_tensor_free", "nereid_kernel_free", "nereid_stream_free"):
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


class Stream:
    """A stream of another library, by its handle."""

    def __init__(self, device, handle):
        self.handle = ctypes.c_void_p()
        check(
            library.nereid_stream_wrap(device.encode(), ctypes.c_void_p(handle),
                                       ctypes.byref(self.handle)))

    def __del__(self):
        library.nereid_stream_free(self.handle)


class Kernel:
    """A kernel on the CPU, or on the device that is named."""

    def __init__(self, text, name, function, signature, device=None):
        self.handle = ctypes.c_void_p()
        rest = (text.encode(), name.encode(), function.encode(), signature.encode(), None,
                ctypes.byref(self.handle))
        if device:
            check(library.nereid_kernel_load_source_on(device.encode(), *rest))
        else:
            check(library.nereid_kernel_load_source(*rest))

    def launch(self, grid, arguments):
        array = (Argument * len(arguments))(*arguments)
        check(
            library.nereid_kernel_launch(self.handle, (ctypes.c_int64 * 3)(*grid), array,
                                         ctypes.c_size_t(len(arguments))))

    def prepared(self, stream, grid, arguments):
        """A call that queues this launch again and again."""
        array = (Argument * len(arguments))(*arguments)
        sizes, count = (ctypes.c_int64 * 3)(*grid), ctypes.c_size_t(len(arguments))

        def launch(keep=(self, stream, arguments)):
            status = library.nereid_stream_launch(stream.handle, self.handle, sizes, array, count)
            if status:
                check(status)

        return launch

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


# Of DLPack: the code of an element type without its bits, where that is none of the letters'.
_DLPACK_CODES = {"bf": 4, "fp": 2, "f": 2, "i": 0, "u": 1}
_DLPACK_TYPES = {"i1": (6, 8), "fp8e4nv": (10, 8), "fp8e4b8": (11, 8), "fp8e5": (12, 8),
                 "fp8e5b16": (13, 8)}


def dlpack_type(name):
    """Code and bits of "fp16"."""
    if name in _DLPACK_TYPES:
        return _DLPACK_TYPES[name]
    letters = name.rstrip("0123456789")
    return _DLPACK_CODES[letters], int(name[len(letters):])


def device_tensor(address, shape, strides, name, number=0):
    """Memory of a GPU as an argument: elements of the type "fp16" on the device of this number."""
    rank, (code, bits) = len(shape), dlpack_type(name)
    sizes = (ctypes.c_int64 * (2 * rank))(*shape, *strides)
    steps = ctypes.addressof(sizes) + 8 * rank
    memory = DlTensor(data=address, device_type=CUDA, device_id=number, ndim=rank, code=code,
                      bits=bits, lanes=1, shape=ctypes.addressof(sizes), strides=steps)
    argument = Argument(kind=DLPACK)
    argument.value.dlpack = ctypes.addressof(memory)
    argument.owner = (memory, sizes)  # live as long as the argument
    return argument
