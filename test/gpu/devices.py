#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All GPUs of the machine in one process: each alone, all at once from threads of their own, and what may
not be mixed."""

import threading

from interface import (ADD, ADD_SIGNATURE, Kernel, Skip, Stream, Tensor, devices, expect, expect_code,
                       expect_equal, launch, main)

COUNT = 1 << 20
DEVICES = devices()


def add_on(device, seed):
    """Ten additions on a stream of the device, compared with sums made here."""
    stream, kernel = Stream(device), Kernel(device, ADD, ADD_SIGNATURE)
    x, y = (Tensor.of(device, (COUNT, )).fill_normal(seed + i) for i in range(2))
    out = Tensor.of(device, (COUNT, ))
    expect_equal(out.device, device, "device of a tensor")
    for _ in range(10):
        out.fill(0)
        stream.launch(kernel, (COUNT // 1024, 1, 1), x, y, out, COUNT)
        stream.wait()
    a, b, sums = x.floats(stream), y.floats(stream), out.floats(stream)
    for i in range(0, COUNT, 997):
        expect(abs(sums[i] - (a[i] + b[i])) <= 1e-6 * (abs(a[i]) + abs(b[i])),
               f"element {i} on {device} is {sums[i]}, but expects {a[i] + b[i]}")


def two():
    if len(DEVICES) < 2:
        raise Skip("this machine has one GPU")
    return DEVICES[:2]


def check_each_alone():
    for number, device in enumerate(DEVICES):
        add_on(device, 100 * number)
    return ", ".join(DEVICES)


def check_all_at_once():
    problems = []

    def work(device, seed):
        try:
            add_on(device, seed)
        except Exception as error:  # told by the thread that waits
            problems.append(f"{device}: {error}")

    threads = [threading.Thread(target=work, args=(device, 10 * i + k))
               for i, device in enumerate(DEVICES) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect_equal(problems, [], "what the threads met")
    return f"{len(threads)} threads"


def check_a_tensor_in_host_memory_is_refused():
    kernel = Kernel(DEVICES[0], ADD, ADD_SIGNATURE)
    here, there = Tensor.of("cpu", (1024, )), Tensor.of(DEVICES[0], (1024, ))
    return expect_code("E0416", lambda: launch(kernel, (1, 1, 1), there, here, there, 1024))


def check_a_tensor_of_the_device_is_refused_by_the_host():
    kernel = Kernel("cpu", ADD, ADD_SIGNATURE)
    here, there = Tensor.of("cpu", (1024, )), Tensor.of(DEVICES[0], (1024, ))
    return expect_code("E0416", lambda: launch(kernel, (1, 1, 1), there, here, here, 1024))


def check_tensors_of_two_devices_are_refused():
    first, second = two()
    kernel = Kernel(first, ADD, ADD_SIGNATURE)
    x, y = Tensor.of(first, (1024, )), Tensor.of(second, (1024, ))
    return expect_code("E0416", lambda: launch(kernel, (1, 1, 1), x, y, x, 1024))


def check_a_stream_of_another_device_is_refused():
    first, second = two()
    kernel, x = Kernel(first, ADD, ADD_SIGNATURE), Tensor.of(first, (1024, ))
    stream = Stream(second)
    return expect_code("E0416", lambda: stream.launch(kernel, (1, 1, 1), x, x, x, 1024))


def check_an_event_orders_streams_of_two_devices():
    first, second = two()
    one, other, kernel = Stream(first), Stream(second), Kernel(first, ADD, ADD_SIGNATURE)
    x = Tensor.of(first, (COUNT, )).fill(1)
    one.launch(kernel, (COUNT // 1024, 1, 1), x, x, x, COUNT)
    other.wait_for(one.record())
    other.wait()
    expect_equal(x.view(COUNT - 1, (1, )).floats(one), (2.0, ), "what was added before the event")


if __name__ == "__main__":
    main(dict(globals()))
