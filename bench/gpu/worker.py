# SPDX-License-Identifier: Apache-2.0
"""Measures the rows that it is told on standard input and answers each with a line of JSON.

A process of its own, as a kernel that faults ends the context, and one that hangs ends nothing else.
"""

import argparse
import gc
import json
import os
import statistics
import sys
import time
import traceback

answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)  # what libraries print is no answer

import torch  # noqa: E402
import torch._inductor.config  # noqa: E402

import sides  # noqa: E402
from rows import every_row  # noqa: E402
from work import Maker, poison  # noqa: E402


def answer(record):
    answers.write(json.dumps(record) + "\n")


def outputs_of(work):
    return {name: work.arguments[name] for name in work.outputs}


def checked(work, call):
    """The error over what is allowed, from outputs that held no number before."""
    for tensor in outputs_of(work).values():
        poison(tensor)
    call()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return work.check(outputs_of(work))


def same_bits(first, second):
    width = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return all(torch.equal(first[name].view(width[first[name].element_size()]),
                           second[name].view(width[second[name].element_size()]))
               for name in first)


def short(error):
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:200] if lines else ''}"


class Measurement:

    def __init__(self, row, options):
        self.row, self.options = row, options
        self.record = {"case": row.name}
        self.calls = {}

    def fail(self, who, error):
        self.record.setdefault("failures", {})[who] = short(error)
        if self.options.verbose:
            traceback.print_exception(error)

    def run(self, clock, stream):
        maker = Maker("cuda" if stream else "cpu", self.options.seed, self.options.tiny)
        work = self.row.make(maker)
        self.record |= {"kernel": f"{work.file}:{work.function}",
                        "signature": sides.signature(work), "bytes": work.bytes,
                        "flops": work.flops}
        self.prepare(work, stream)
        if not clock or "ours" not in self.calls:
            return self.record
        self.add_peers(work)
        begin = time.monotonic()
        samples = clock.race(self.calls, self.options.rounds, self.options.race_seconds)
        self.record["race_seconds"] = round(time.monotonic() - begin, 2)
        self.summarise(samples)
        if self.row.sustained and self.options.sustained:
            self.record["sustained"] = {
                name: clock.sustained(self.calls[name])
                for name in ("ours", "upstream", "eager") if name in self.calls}
        return self.record

    def prepare(self, work, stream):
        """Compiles for both sides, and lets only calls that are right be timed."""
        seconds, results = {}, {}
        for who in ("ours", "upstream"):
            try:
                if who == "ours":
                    call, seconds[who] = sides.ours(work, stream)
                elif not stream or work.blocks > 1:
                    continue
                else:
                    call, seconds[who], self.record["upstream_code"] = sides.upstream(work)
                error = checked(work, call)
                self.record.setdefault("error_of_bound", {})[who] = error
                if error <= 1:
                    self.calls[who] = call
                    results[who] = {n: t.clone() for n, t in outputs_of(work).items()}
                else:
                    self.fail(who, ValueError(f"wrong: error {error:.3g} of what is allowed"))
            except Exception as error:
                self.fail(who, error)
        self.record["compile_seconds"] = {who: round(s, 4) for who, s in seconds.items()}
        if len(results) == 2:
            self.record["same_bits_as_upstream"] = same_bits(*results.values())

    def add_peers(self, work):
        for name, call in work.peers.items():
            try:
                call()
                self.calls[name] = call
            except Exception as error:
                self.fail(name, error)
        if work.inductor and self.row.compile and self.options.inductor:
            try:
                torch._dynamo.reset()
                torch._inductor.config.compile_threads = 1  # in this process: workers may not start
                function, arguments = work.inductor
                compiled = torch.compile(function, dynamic=False)
                compiled(*arguments)
                self.calls["compile"] = lambda: compiled(*arguments)
            except Exception as error:
                self.fail("compile", error)
        if work.copies:
            size = work.bytes // 2
            source, target = (torch.empty(size, dtype=torch.uint8, device="cuda") for _ in range(2))
            source.random_(0, 255)
            self.calls["copy"] = lambda: target.copy_(source)

    def summarise(self, samples):
        ours = samples.pop("ours")
        ordered = sorted(ours)
        self.record |= {
            "median": statistics.median(ours), "p90": ordered[int(0.9 * (len(ours) - 1))],
            "relative_deviation": statistics.pstdev(ours) / statistics.mean(ours),
            "samples": len(ours), "sample_nanos": [round(s * 1e9) for s in ours],
            "state": "verified",
            "peers": {name: {"median": statistics.median(theirs),
                             "ratio": statistics.median(t / o for t, o in zip(theirs, ours))}
                      for name, theirs in samples.items()}}


def is_lost(record):
    """Whether the context can have been ended by a fault."""
    texts = " ".join(record.get("failures", {}).values())
    return any(word in texts for word in ("illegal", "CUDA error", "CUDA driver error",
                                          "E0421", "launch failure", "misaligned address"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--race-seconds", type=float, default=15)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--no-inductor", dest="inductor", action="store_false")
    parser.add_argument("--no-sustained", dest="sustained", action="store_false")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    rows = {row.name: row for row in every_row()}
    stream = clock = None
    if not options.cpu:
        from clock import Clock
        torch.cuda.init()
        stream, clock = sides.torch_stream(), Clock()
    answer({"ready": True})
    for line in sys.stdin:
        row = rows[line.strip()]
        begin = time.monotonic()
        measurement = Measurement(row, options)
        try:
            record = measurement.run(clock, stream)
        except Exception as error:
            measurement.fail("row", error)
            record = measurement.record
        record["seconds"] = round(time.monotonic() - begin, 2)
        if stream and is_lost(record):
            record["lost"] = True
        answer(record)
        if "lost" in record:
            os._exit(1)
        del measurement, record
        gc.collect()
        if stream:
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
