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
import sys

import pytest

from . import NotJudged
from .compile import install

# Lines are printed in the form that GPUs print, which tools read; the tests know a second form, of
# upstream's fork for CPUs.
_JUDGED_AS_ON_GPU = ("test_subprocess", )

_GPU_ONLY = ("Torch not compiled with CUDA", "Found no NVIDIA driver", "No CUDA GPUs",
             "No HIP GPUs", "Cannot access accelerator device", "not linked with support for cuda")


def pytest_addoption(parser):
    parser.addoption("--nereid-log", help="where verdicts are appended, one line of JSON each")
    parser.addoption("--nereid-timeout", type=float, default=60, help="seconds for one test")
    parser.addoption("--nereid-helpers", help="upstream's _internal_testing.py, of the tests' version")


def _take_helpers(path):
    """The tests' own helper module comes with the tests, whatever the package contains."""
    import triton
    spec = importlib.util.spec_from_file_location("triton._internal_testing", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = triton._internal_testing = module
    spec.loader.exec_module(module)


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
        for module in {getattr(item, "module", None) for item in items}:
            if getattr(module, "__name__", None) in _JUDGED_AS_ON_GPU:
                module.is_cpu = lambda: False

    def pytest_collectreport(self, report):
        if report.failed or report.skipped:
            verdict = "not judged" if report.skipped else "failed"
            self.write(test=report.nodeid, verdict=verdict, reason=str(report.longrepr)[-2000:])

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
                "needs a GPU" if any(text in str(error) for text in _GPU_ONLY) else None
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
