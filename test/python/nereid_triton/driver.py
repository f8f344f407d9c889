# SPDX-License-Identifier: Apache-2.0
"""The driver that upstream asks which machine is there: this one's CPU."""

import time

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase


class CpuUtilities:
    """What tests ask for before they choose a size."""

    @staticmethod
    def get_device_properties(device):
        return {"max_shared_mem": 1 << 40, "multiprocessor_count": 1}


class CpuDriver(DriverBase):
    utils = CpuUtilities()

    def __init__(self):
        # Upstream is imported completely only now.
        from . import compile
        compile.install()

    @staticmethod
    def is_active():
        return True

    def get_current_target(self):
        return GPUTarget("cpu", "host", 1)

    def get_current_device(self):
        return 0

    def set_current_device(self, device):
        pass

    def get_current_stream(self, device):
        return 0

    def get_active_torch_device(self):
        import torch
        return torch.device("cpu")

    def map_python_to_cpp_type(self, ty):
        raise NotImplementedError

    def get_benchmarker(self):
        return time_calls


def time_calls(call, *, quantiles=None, **_):
    """Milliseconds of five calls after one; the autotuner takes the smallest."""
    call()
    times = []
    for _ in range(5):
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e3)
    times.sort()
    if quantiles is None:
        return times[len(times) // 2]
    return [times[round(q * (len(times) - 1))] for q in quantiles]
