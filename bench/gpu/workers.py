# SPDX-License-Identifier: Apache-2.0
"""Hands rows to a worker process, and starts another one when that ends or takes too long."""

import json
import pathlib
import select
import subprocess
import sys
import time

_START_SECONDS = 180
_WORKER = pathlib.Path(__file__).with_name("worker.py")


class Worker:

    def __init__(self, arguments, script=_WORKER):
        self.process = subprocess.Popen([sys.executable, str(script), *arguments],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        bufsize=1)
        ready, _ = self.read(_START_SECONDS)
        if not ready:
            self.stop()
            raise RuntimeError("the worker did not start")

    def read(self, seconds):
        """The next answer, or none and why."""
        found, _, _ = select.select([self.process.stdout], [], [], seconds)
        if not found:
            return None, f"took longer than {seconds:g} s"
        line = self.process.stdout.readline()
        if not line:
            return None, f"the process ended with {self.process.wait()}"
        return json.loads(line), None

    def ask(self, text, seconds):
        try:
            self.process.stdin.write(text + "\n")
        except BrokenPipeError:
            return None, "the process has ended"
        return self.read(seconds)

    def stop(self):
        self.process.kill()
        self.process.wait()


def measure_all(names, arguments, limit, budget, report, script=_WORKER):
    """The record of each row that the budget of seconds lets begin, in order."""
    worker, records, deadline = None, [], time.monotonic() + budget
    for name in names:
        if time.monotonic() > deadline:
            records.append({"case": name, "failures": {"row": "not begun: out of time"}})
            continue
        if worker is None:
            worker = Worker(arguments, script)
        record, problem = worker.ask(name, limit)
        if record is None:
            record = {"case": name, "failures": {"row": problem}}
        if problem or record.get("lost"):
            worker.stop()
            worker = None
        records.append(record)
        report(record)
    if worker:
        worker.stop()
    return records
