# SPDX-License-Identifier: Apache-2.0
"""Makes torch believe in a GPU whose tensors stay on the CPU. As a pytest plugin it runs a repository's own
tests of its kernels through test/python/nereid_triton. Each test has some seconds; the verdicts go to
--corpus-log, a line of JSON each."""

import contextlib
import json
import signal

import torch
from torch.overrides import TorchFunctionMode


def on_cpu(value):
    if isinstance(value, str) and (value == "cuda" or value.startswith("cuda:")):
        return "cpu"
    if isinstance(value, torch.device) and value.type == "cuda":
        return torch.device("cpu")
    return value


class CpuTensors(TorchFunctionMode):
    def __torch_function__(self, function, types, arguments=(), keywords=None):
        name = getattr(function, "__name__", "")
        if function is torch.Tensor.cuda:
            return arguments[0]
        if name == "__get__" and getattr(function, "__self__", None) is torch.Tensor.is_cuda:
            return True
        keywords = {k: on_cpu(v) for k, v in (keywords or {}).items() if k != "pin_memory"}
        return function(*map(on_cpu, arguments), **keywords)


class Device:
    name, major, minor, multi_processor_count, warp_size = "GPU", 8, 0, 8, 32
    total_memory, shared_memory_per_block_optin, gcnArchName = 16 << 30, 1 << 20, ""
    max_threads_per_multi_processor, L2_cache_size = 2048, 1 << 20


class DeviceContext(contextlib.nullcontext):
    idx = 0


class Stream:
    cuda_stream, device_index = 0, 0


def pretend_gpu(capability=(8, 0)):
    cuda = torch.cuda
    Device.major, Device.minor = capability
    for name, value in {"is_available": True, "device_count": 1, "current_device": 0,
                        "get_device_capability": capability, "get_device_name": Device.name,
                        "get_device_properties": Device, "is_initialized": True,
                        "synchronize": None, "empty_cache": None, "set_device": None, "_lazy_init": None,
                        "manual_seed": None, "manual_seed_all": None, "is_bf16_supported": True,
                        "memory_allocated": 0, "max_memory_allocated": 0,
                        "reset_peak_memory_stats": None, "current_stream": Stream, "mem_get_info": (16 << 30, 16 << 30)}.items():
        setattr(cuda, name, lambda *a, value=value, **k: value)
    cuda.device = lambda *a, **k: DeviceContext()
    torch.nn.Module.cuda = lambda self, *a, **k: self
    own = torch.autocast.__init__
    torch.autocast.__init__ = lambda self, device_type, *a, **k: own(self, on_cpu(device_type), *a, **k)


def pytest_addoption(parser):
    parser.addoption("--corpus-log", default=None)
    parser.addoption("--corpus-seconds", type=int, default=60)
    parser.addoption("--corpus-every", type=int, default=1, help="one of so many tests of a file")


def pytest_configure(config):
    import triton
    from nereid_triton.driver import CpuDriver
    triton.runtime.driver.set_active(CpuDriver())  # torch's GPU would make upstream's other driver active
    pretend_gpu()
    config.corpus_mode = CpuTensors()
    config.corpus_mode.__enter__()


def pytest_collection_modifyitems(config, items):
    every, seen, kept, left_out = config.getoption("--corpus-every"), {}, [], []
    for item in items:
        name = getattr(item, "originalname", item.name), str(item.path)
        seen[name] = seen.get(name, -1) + 1
        (kept if seen[name] % every == 0 else left_out).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


def log(config, test, verdict, reason=""):
    if config.getoption("--corpus-log"):
        with open(config.getoption("--corpus-log"), "a") as file:
            print(json.dumps({"test": test, "verdict": verdict, "reason": reason}), file=file)


def pytest_runtest_protocol(item):
    log(item.config, item.nodeid, "started")


def pytest_runtest_setup(item):
    def stop(*_):
        raise TimeoutError("over the test's seconds")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(item.config.getoption("--corpus-seconds"))


def pytest_runtest_teardown(item):
    signal.alarm(0)


def pytest_runtest_makereport(item, call):
    if call.excinfo is None:
        if call.when == "call":
            log(item.config, item.nodeid, "passed")
        return
    name = type(call.excinfo.value).__name__
    verdict = "skipped" if name in ("Skipped", "XFailed") else "failed"
    log(item.config, item.nodeid, verdict, f"{name}: {call.excinfo.value}"[:400])
