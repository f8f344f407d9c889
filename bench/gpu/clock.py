# SPDX-License-Identifier: Apache-2.0
"""Times of calls in turns, each with a cold L2 cache, and of one call alone, back to back."""

import statistics
import time

_FLUSH_BYTES = 256 << 20
# The device waits about 100 us in front of each call, so that the host has queued all of it: what
# an event pair sees is the device's time, not that of the interpreter which launches.
_WAIT_CYCLES = 180_000


class Clock:

    def __init__(self):
        import torch
        self.torch = torch
        self.memory = torch.empty(_FLUSH_BYTES // 4, dtype=torch.int32, device="cuda")

    def _sample(self, call, prepare):
        begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        if prepare:
            prepare()
        self.memory.zero_()
        self.torch.cuda._sleep(_WAIT_CYCLES)
        begin.record()
        call()
        end.record()
        return begin, end

    def race(self, calls, rounds, budget, prepare=None):
        """Seconds of each call by name, in rounds of all; fewer rounds where the budget ends.
        prepare: in front of each call, not timed."""
        for call in calls.values():
            for _ in range(2):
                if prepare:
                    prepare()
                call()
        self.torch.cuda.synchronize()
        names = list(calls)
        samples = {name: [] for name in names}
        deadline = time.monotonic() + budget
        for turn in range(rounds):
            events = []
            for i in range(len(names)):
                name = names[(turn + i) % len(names)]  # nobody is always behind the same one
                events.append((name, *self._sample(calls[name], prepare)))
            self.torch.cuda.synchronize()
            for name, begin, end in events:
                samples[name].append(begin.elapsed_time(end) * 1e-3)
            if time.monotonic() > deadline and turn >= 4:
                break
        return samples

    def sustained(self, call, seconds=0.25):
        """Seconds of one call while the device does nothing else: its clock settles."""
        def batch(count):
            begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            for _ in range(count):
                call()
            end.record()
            end.synchronize()
            return begin.elapsed_time(end) * 1e-3 / count

        one = batch(3)
        count = max(3, min(10_000, int(seconds / max(one, 1e-6))))
        batch(count)
        return batch(count)


def median(values):
    return statistics.median(values)


def paired_ratio(theirs, ours):
    """The median over the rounds: above 1 where we are faster."""
    return statistics.median(t / o for t, o in zip(theirs, ours))
