#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Beside PyTorch in one process: torch_tensors.py torch|nereid, which says who uses the device first and so
makes its primary context. Tensors pass without a copy in both directions, and work is queued on streams
that PyTorch has made."""

import ctypes
import sys

try:
    import torch
except ImportError:
    print("skipped  PyTorch: it is not installed")
    sys.exit(77)

from interface import (ADD, ADD_SIGNATURE, ADDRESS, Kernel, Stream, Tensor, check, expect, expect_equal,
                       launch, library, main)

DEVICE, COUNT = "nvidia:0", 1 << 20
capsules = ctypes.pythonapi
capsules.PyCapsule_GetPointer.restype = ctypes.c_void_p
capsules.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
capsules.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
capsules.PyCapsule_New.restype = ctypes.py_object
capsules.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
USED = ctypes.c_char_p(b"used_dltensor")  # capsules keep the address of their name


def taken(tensor):
    """Ours, of the same memory, which then lives until both are gone."""
    capsule = torch.utils.dlpack.to_dlpack(tensor)
    handle = ADDRESS()
    managed = capsules.PyCapsule_GetPointer(capsule, b"dltensor")
    check(library.nereid_tensor_from_dlpack(ADDRESS(managed), ctypes.byref(handle)))
    capsules.PyCapsule_SetName(capsule, USED)
    return Tensor(handle)


def given(tensor):
    """PyTorch's, of the same memory."""
    managed = ADDRESS()
    check(library.nereid_tensor_to_dlpack(tensor.handle, ctypes.byref(managed)))
    return torch.utils.dlpack.from_dlpack(capsules.PyCapsule_New(managed, b"dltensor", None))


def primary_context():
    driver, device, flags, active = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), ctypes.c_uint(), ctypes.c_int()
    expect_equal(driver.cuInit(0), 0, "cuInit")
    driver.cuDeviceGet(ctypes.byref(device), 0)
    expect_equal(driver.cuDevicePrimaryCtxGetState(device, ctypes.byref(flags), ctypes.byref(active)), 0,
                 "cuDevicePrimaryCtxGetState")
    return active.value == 1


def check_who_made_the_primary_context():
    expect(not primary_context(), "nobody has used the device yet, but its primary context is active")
    if sys.argv[1] == "torch":
        torch.ones(8, device="cuda").sum().item()
        expect(primary_context(), "PyTorch did not use the primary context")
    else:
        Tensor.of(DEVICE, (8, )).fill(1)
        expect(primary_context(), "the primary context is not used")
    return f"{sys.argv[1]} first"


def check_torch_works_beside_us():
    x = Tensor.of(DEVICE, (8, )).fill(2)
    expect_equal(torch.ones(8, device="cuda").sum().item(), 8.0, "a sum by PyTorch")
    expect_equal(x.floats(Stream(DEVICE)), (2.0, ) * 8, "a tensor of ours")


def check_tensors_of_torch_pass_without_a_copy():
    x, y = torch.randn(COUNT, device="cuda"), torch.randn(COUNT, device="cuda")
    out = torch.zeros(COUNT, device="cuda")
    ours = [taken(one) for one in (x, y, out)]
    expect_equal([one.address for one in ours], [one.data_ptr() for one in (x, y, out)], "addresses")
    expect_equal(ours[0].device, DEVICE, "device")
    torch.cuda.synchronize()
    launch(Kernel(DEVICE, ADD, ADD_SIGNATURE), (COUNT // 1024, 1, 1), *ours, COUNT)
    expect(torch.equal(out, x + y), "the sums differ from PyTorch's")


def check_every_element_type_passes():
    for name in ("float64", "float32", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8"):
        theirs = torch.ones(64, device="cuda").to(getattr(torch, name))
        ours = taken(theirs)
        expect_equal((ours.address, ours.count), (theirs.data_ptr(), 64), f"address and size of {name}")
        expect_equal(given(ours).dtype, theirs.dtype, "type on the way back")


def check_tensors_of_ours_pass_without_a_copy():
    ours = Tensor.of(DEVICE, (16, 32)).fill(3)
    theirs = given(ours)
    expect_equal(theirs.data_ptr(), ours.address, "address")
    expect_equal((tuple(theirs.shape), str(theirs.device)), ((16, 32), "cuda:0"), "shape and device")
    theirs.add_(1)
    torch.cuda.synchronize()
    expect_equal(set(ours.floats(Stream(DEVICE))), {4.0}, "what PyTorch added to")
    del ours
    expect_equal(theirs.sum().item(), 4.0 * 16 * 32, "PyTorch's after ours is gone")


def check_memory_goes_back_to_torch():
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    theirs = torch.ones(COUNT, device="cuda")
    ours = taken(theirs)
    del theirs
    expect(torch.cuda.memory_allocated() > before, "the memory went while we hold it")
    del ours
    expect_equal(torch.cuda.memory_allocated(), before, "bytes that PyTorch has lent")


def on_stream(stream, handle):
    """PyTorch, we and PyTorch again on one stream, which nobody waits for in between."""
    wrapped, kernel = Stream.of_another(DEVICE, handle), Kernel(DEVICE, ADD, ADD_SIGNATURE)
    with torch.cuda.stream(stream):
        for turn in range(20):
            x = torch.randn(8 * COUNT, device="cuda")
            y = (x.sin().cos() + turn).contiguous()
            out = torch.full_like(x, float("nan"))
            ours = [taken(one) for one in (x, y, out)]
            wrapped.launch(kernel, (8 * COUNT // 1024, 1, 1), *ours, 8 * COUNT)
            doubled = out * 2
            expected = (x + y) * 2
            expect(torch.equal(doubled, expected), f"turn {turn}: work is out of order")
    wrapped.wait()


def check_a_stream_of_torch_keeps_the_order():
    stream = torch.cuda.Stream()
    on_stream(stream, stream.cuda_stream)
    del stream


def check_the_stream_without_a_name_keeps_the_order():
    on_stream(torch.cuda.default_stream(), None)


def check_an_event_of_ours_orders_torch():
    stream, kernel = torch.cuda.Stream(), Kernel(DEVICE, ADD, ADD_SIGNATURE)
    wrapped, own = Stream.of_another(DEVICE, stream.cuda_stream), Stream(DEVICE)
    x = Tensor.of(DEVICE, (COUNT, )).fill(1)
    for _ in range(10):
        own.launch(kernel, (COUNT // 1024, 1, 1), x, x, x, COUNT)
    wrapped.wait_for(own.record())
    with torch.cuda.stream(stream):
        copy = given(x).clone()
        expect_equal(copy.unique().tolist(), [1024.0], "what was added before the event")


def check_a_graph_of_torch_takes_our_launches():
    stream, kernel = torch.cuda.Stream(), Kernel(DEVICE, ADD, ADD_SIGNATURE)
    x = torch.ones(COUNT, device="cuda")
    ours = taken(x)
    torch.cuda.synchronize()
    launch(kernel, (COUNT // 1024, 1, 1), ours, ours, ours, COUNT)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        wrapped = Stream.of_another(DEVICE, torch.cuda.current_stream().cuda_stream)
        wrapped.launch(kernel, (COUNT // 1024, 1, 1), ours, ours, ours, COUNT)
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
    expect_equal(x.unique().tolist(), [16.0], "after one launch and three replays")


def check_several_devices_of_torch():
    names = []
    for number in range(torch.cuda.device_count()):
        device = f"nvidia:{number}"
        x = torch.full((COUNT, ), float(number + 1), device=f"cuda:{number}")
        torch.cuda.synchronize(number)
        ours = taken(x)
        expect_equal(ours.device, device, "device")
        launch(Kernel(device, ADD, ADD_SIGNATURE), (COUNT // 1024, 1, 1), ours, ours, ours, COUNT)
        expect_equal(x.unique().tolist(), [2.0 * (number + 1)], f"doubled on {device}")
        names.append(device)
    expect_equal(torch.cuda.current_device(), 0, "PyTorch's current device")
    return ", ".join(names)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in ("torch", "nereid"):
        sys.exit(__doc__)
    if not torch.cuda.is_available():
        print("skipped  PyTorch: it finds no GPU")
        sys.exit(77)
    main(dict(globals()))
