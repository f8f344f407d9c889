# SPDX-License-Identifier: Apache-2.0
"""libnereid.so on devices, through ctypes: what the checks of this folder stand on.

Beside the part of the C interface that test/python/nereid_triton/capi.py has: tensors of devices,
streams, events, DLPack. NEREID_LIBRARY names the library, NEREID_GPU_CACHE may name a cache folder.
A check is a function whose name begins with check_; `main` runs them all in the order of the file,
prints a line for each and ends with 1 where one failed."""

import ctypes
import pathlib
import struct
import sys
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))

from nereid_triton import capi  # noqa: E402
from nereid_triton.capi import Failure, check, dtype, integer, library, number  # noqa: E402,F401

ADDRESS, NUMBER = ctypes.c_void_p, ctypes.c_int64
library.nereid_tensor_data.restype = ADDRESS
library.nereid_tensor_device.restype = ctypes.c_char_p
library.nereid_tensor_element_count.restype = NUMBER
for _name in ("nereid_stream_free", "nereid_event_free"):
    getattr(library, _name).argtypes = [ADDRESS]
    getattr(library, _name).restype = None


class Skip(Exception):
    """What a check needs is not here."""


def expect(holds, text):
    if not holds:
        raise AssertionError(text)


def expect_equal(given, wanted, what):
    expect(given == wanted, f"{what}: expects {wanted!r}, but got {given!r}")


def expect_code(code, call):
    """The first line of the error with this code that the call ends with."""
    try:
        call()
    except Failure as failure:
        expect_equal(failure.code, code, f"code of '{failure}'")
        return str(failure).splitlines()[0]
    raise AssertionError(f"expects {code}, but the call went well")


class Tensor:
    """Of a device, or one that was taken over from elsewhere."""

    def __init__(self, handle):
        self.handle = handle

    @classmethod
    def of(cls, device, shape, element="fp32"):
        handle = ADDRESS()
        check(library.nereid_tensor_create_on(device.encode(), (NUMBER * len(shape))(*shape),
                                              len(shape), dtype(element), ctypes.byref(handle)))
        return cls(handle)

    @classmethod
    def borrowed(cls, address, shape, element="fp32"):
        """Host memory that the caller keeps."""
        handle = ADDRESS()
        check(library.nereid_tensor_borrow(ADDRESS(address), (NUMBER * len(shape))(*shape), None,
                                           len(shape), dtype(element), ctypes.byref(handle)))
        return cls(handle)

    @property
    def address(self):
        return library.nereid_tensor_data(self.handle)

    @property
    def device(self):
        return library.nereid_tensor_device(self.handle).decode()

    @property
    def count(self):
        return library.nereid_tensor_element_count(self.handle)

    def fill_normal(self, seed):
        check(library.nereid_tensor_fill_normal(self.handle, ctypes.c_uint64(seed)))
        return self

    def fill(self, value):
        check(library.nereid_tensor_fill(self.handle, ctypes.c_double(value)))
        return self

    def view(self, offset, shape):
        handle = ADDRESS()
        check(library.nereid_tensor_view(self.handle, NUMBER(offset), (NUMBER * len(shape))(*shape),
                                         None, len(shape), ctypes.byref(handle)))
        view = Tensor(handle)
        view.owner = self
        return view

    def bytes(self, stream, size=4):
        """Its elements' bytes, when the stream has come so far."""
        place = ctypes.create_string_buffer(self.count * size)
        stream.copy_out(self, place)
        stream.wait()
        return place.raw

    def floats(self, stream):
        return struct.unpack(f"{self.count}f", self.bytes(stream))

    def __del__(self):
        if self.handle:
            library.nereid_tensor_free(self.handle)


class Kernel:

    def __init__(self, device, text, signature, function=None, target=None):
        self.handle = ADDRESS()
        given = [part.encode() if part else None
                 for part in (device, text, "check.py", function, signature, target)]
        check(library.nereid_kernel_load_source_on(*given, ctypes.byref(self.handle)))

    def __del__(self):
        if self.handle:
            library.nereid_kernel_free(self.handle)


def arguments_of(values):
    listed = []
    for value in values:
        if isinstance(value, Tensor):
            argument = capi.Argument(kind=capi.TENSOR)
            argument.value.tensor = value.handle
        else:
            argument = number(value) if isinstance(value, float) else integer(value)
        listed.append(argument)
    return (capi.Argument * len(listed))(*listed), ctypes.c_size_t(len(listed))


def launch(kernel, grid, *values):
    """Waits for it."""
    check(library.nereid_kernel_launch(kernel.handle, (NUMBER * 3)(*grid), *arguments_of(values)))


class Stream:

    def __init__(self, device, wrapped=None, is_wrapped=False):
        self.handle = ADDRESS()
        if is_wrapped:
            check(library.nereid_stream_wrap(device.encode(), ADDRESS(wrapped),
                                             ctypes.byref(self.handle)))
        else:
            check(library.nereid_stream_create(device.encode(), ctypes.byref(self.handle)))

    @classmethod
    def of_another(cls, device, handle):
        return cls(device, handle, True)

    def launch(self, kernel, grid, *values):
        check(library.nereid_stream_launch(self.handle, kernel.handle, (NUMBER * 3)(*grid),
                                           *arguments_of(values)))

    def copy_in(self, tensor, data):
        check(library.nereid_stream_copy_in(self.handle, tensor.handle, data,
                                            ctypes.c_size_t(len(data))))

    def copy_out(self, tensor, place):
        check(library.nereid_stream_copy_out(self.handle, tensor.handle, place,
                                             ctypes.c_size_t(len(place))))

    def record(self):
        event = ADDRESS()
        check(library.nereid_stream_record(self.handle, ctypes.byref(event)))
        return event

    def wait_for(self, event):
        check(library.nereid_stream_wait(self.handle, event))

    def wait(self):
        check(library.nereid_stream_synchronize(self.handle))

    def __del__(self):
        if self.handle:
            library.nereid_stream_free(self.handle)


def devices():
    """Names of the GPUs that there are."""
    found = []
    while True:
        try:
            Tensor.of(f"nvidia:{len(found)}", (1, ))
        except Failure as failure:
            if not found:
                raise
            expect_equal(failure.code, "E0415", "code for a device that is not there")
            return found
        found.append(f"nvidia:{len(found)}")


ADD = """
import triton, triton.language as tl

@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n)
    b = tl.load(y + i, mask=i < n)
    tl.store(out + i, a + b, mask=i < n)
"""
ADD_SIGNATURE = "*fp32, *fp32, *fp32, i32, 1024"


def main(checks):
    """`checks`: globals() of the file."""
    failed = 0
    for name, run in [(name, one) for name, one in checks.items() if name.startswith("check_")]:
        text = name.removeprefix("check_").replace("_", " ")
        try:
            said = run()
            print(f"passed   {text}" + (f": {said}" if said else ""), flush=True)
        except Skip as reason:
            print(f"skipped  {text}: {reason}", flush=True)
        except Exception as error:  # the other checks shall run
            failed += 1
            print(f"FAILED   {text}: {type(error).__name__}: {error}", flush=True)
            if not isinstance(error, (AssertionError, Failure)):
                traceback.print_exc()
    sys.exit(1 if failed else 0)
