#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program with contexts of its own: what is current on a thread stays so whatever we are asked for, our
work is right beside that of other contexts, and streams of theirs are refused."""

import ctypes
import threading

from interface import (ADD, ADD_SIGNATURE, Kernel, Stream, Tensor, expect_code, expect_equal, launch, main)

DEVICE, COUNT = "nvidia:0", 1 << 16
driver = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    expect_equal(getattr(driver, name)(*arguments), 0, f"result of {name}")


def current():
    context = ctypes.c_void_p()
    call("cuCtxGetCurrent", ctypes.byref(context))
    return context.value


class Context:
    """Another than the primary one, current until it is popped."""

    def __init__(self):
        device = ctypes.c_int()
        self.handle = ctypes.c_void_p()
        call("cuInit", 0)
        call("cuDeviceGet", ctypes.byref(device), 0)
        call("cuCtxCreate_v2", ctypes.byref(self.handle), 0, device)

    def pop(self):
        call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))

    def destroy(self):
        call("cuCtxDestroy_v2", self.handle)


def work():
    """All that makes a context current for a time."""
    stream, kernel = Stream(DEVICE), Kernel(DEVICE, ADD, ADD_SIGNATURE)
    x, y = Tensor.of(DEVICE, (COUNT, )).fill(1), Tensor.of(DEVICE, (COUNT, )).fill(2)
    out = Tensor.of(DEVICE, (COUNT, ))
    launch(kernel, (COUNT // 1024, 1, 1), x, y, out, COUNT)
    stream.launch(kernel, (COUNT // 1024, 1, 1), x, out, out, COUNT)
    event = stream.record()
    stream.wait_for(event)
    expect_equal(set(out.floats(stream)), {4.0}, "sums")


def check_no_context_stays_current_on_a_thread_that_had_none():
    seen = []

    def run():
        try:
            seen.append(current())
            work()
            seen.append(current())
        except Exception as error:  # told by the thread that waits
            seen.append(str(error))

    call("cuInit", 0)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    expect_equal(seen, [None, None], "the current context before and after")


def check_a_context_of_the_program_stays_current():
    context = Context()
    work()
    expect_equal(current(), context.handle.value, "the current context")
    expect_code("E0415", lambda: Tensor.of("nvidia:999", (1, )))
    expect_equal(current(), context.handle.value, "the current context after a failure")
    context.pop()
    context.destroy()
    work()


def check_several_contexts_and_their_memory():
    contexts = [Context() for _ in range(3)]
    address = ctypes.c_uint64()
    for number in (2, 1, 0):  # from the top of the stack
        expect_equal(current(), contexts[number].handle.value, "the current context")
        call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(4 * COUNT))
        call("cuMemsetD32_v2", address, number + 7, ctypes.c_size_t(COUNT))
        work()
        found = (ctypes.c_uint32 * COUNT)()
        call("cuMemcpyDtoH_v2", found, address, ctypes.c_size_t(4 * COUNT))
        expect_equal(set(found), {number + 7}, f"memory of context {number}")
        contexts[number].pop()
    for context in contexts:
        context.destroy()
    work()


def check_a_stream_of_another_context_is_refused():
    work()  # so that there is a primary one
    context, stream = Context(), ctypes.c_void_p()
    call("cuStreamCreate", ctypes.byref(stream), 1)
    text = expect_code("E0416", lambda: Stream.of_another(DEVICE, stream.value))
    call("cuStreamDestroy_v2", stream)
    context.pop()
    context.destroy()
    return text


if __name__ == "__main__":
    main(dict(globals()))
