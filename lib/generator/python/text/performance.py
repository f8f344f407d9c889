MEMORY_TO_FLUSH = 256 << 20  # more than any last cache
LEAST_SAMPLES, NOISY = 20, 0.05
PATIENCE = (1, 3, 10)


class Clock:
    """Times of both sides in turns by the device's events, each call with a cold cache."""

    def __init__(self, device):
        self.flushed = torch.empty(MEMORY_TO_FLUSH, dtype=torch.int8, device=device)

    def _host_seconds(self, call):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        call()
        taken = time.perf_counter() - begin
        torch.cuda.synchronize()
        return taken

    def sample(self, call, wait):
        """The device waits until the host has queued the whole call, so that its time alone counts."""
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.flushed.zero_()
        torch.cuda._sleep(wait)
        begin.record()
        call()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end)

    def race(self, calls, samples, seconds, patience):
        """Milliseconds of each call; warmed up first, who begins changes from round to round.
        patience: how often as long as usual the device waits for the host."""
        for _ in range(3):
            for call in calls:
                call()
        host = max(self._host_seconds(call) for call in calls)
        wait = int(2e9 * patience * (1.5 * host + 2e-5))  # cycles of the fastest clock
        times = [[] for _ in calls]
        deadline = time.monotonic() + seconds
        while len(times[0]) < samples:
            turn = len(times[0])
            for place in range(len(calls)):
                at = (turn + place) % len(calls)
                times[at].append(self.sample(calls[at], wait))
            if time.monotonic() > deadline and len(times[0]) >= LEAST_SAMPLES:
                break
        return times


def _figures(times):
    mean = statistics.fmean(times)
    return {
        "median_ms": statistics.median(times),
        "relative_deviation": statistics.stdev(times) / mean if mean > 0 else 0.0,
        "samples_ms": times,
    }


def _wrong(inputs, dtype):
    """What is wrong with either side on these very tensors; "" when both are right."""
    for name, function, is_baseline in (("kernel", kernel, False), ("baseline", baseline, True)):
        verdict = accuracy.judged_call(function, inputs, dtype, "plain", is_baseline)
        if verdict.wrong:
            return f"{name}: {verdict.text()}"
    return ""


def _side(function, inputs):
    def call():
        global _timed
        _timed = function
        return _one_call(*inputs)

    return call


def measure(name, sizes, dtype, needed, options, clock, tell):
    """One case in one type: right before, timed, right behind."""
    row = {"case": name, "dtype": str(dtype)[len("torch.") :], "state": "timed"}
    inputs = accuracy.make_inputs(accuracy.Data("plain", options.seed, accuracy.DEVICE), dtype, **sizes)
    tell(f"{accuracy.shapes_text(inputs)}, {row['dtype']}: {name}")
    row["shapes"] = [list(each.shape) for each in inputs if isinstance(each, torch.Tensor)]
    if wrong := _wrong(inputs, dtype):
        tell(f"Not timed, the result is wrong: {wrong}")
        return {**row, "state": "wrong", "why": wrong}
    calls = [_side(baseline, inputs), _side(kernel, inputs)]
    for patience in PATIENCE:  # the host was late, or something else ran: once more
        times = clock.race(calls, options.samples, options.seconds, patience)
        row["baseline"], row["kernel"] = map(_figures, times)
        row["is_noisy"] = max(row[side]["relative_deviation"] for side in ("baseline", "kernel")) > NOISY
        if not row["is_noisy"]:
            break
    if wrong := _wrong(inputs, dtype):
        tell(f"Wrong behind the timed calls: {wrong}")
        return {**row, "state": "wrong", "why": wrong}
    before, now = row["baseline"]["median_ms"], row["kernel"]["median_ms"]
    row["speedup"] = before / now
    row["bytes"], row["gigabytes_per_second"] = needed, needed / now / 1e6
    tell(f"Baseline time: {before:.4f} ms (± {100 * row['baseline']['relative_deviation']:.1f} %)")
    tell(f"Triton time: {now:.4f} ms (± {100 * row['kernel']['relative_deviation']:.1f} %)")
    noisy = "  (noisy)" if row["is_noisy"] else ""
    tell(f"Speedup: {row['speedup']:.4f}x, {row['gigabytes_per_second']:.1f} GB/s{noisy}\n")
    return row


def summary(rows):
    """Means over all cases, one that failed as 0; noisy ones count, and are told."""
    timed = [row["speedup"] for row in rows if row["state"] == "timed"]
    skipped = len([row for row in rows if row["state"] == "skipped"])
    counted = len(rows) - skipped
    is_whole = bool(timed) and len(timed) == counted
    geometric = math.exp(statistics.fmean(math.log(each) for each in timed)) if is_whole else 0.0
    return {
        "cases": len(rows),
        "timed": len(timed),
        "skipped": skipped,
        "noisy": len([row for row in rows if row.get("is_noisy")]),
        "average_speedup": statistics.fmean(timed + [0.0] * (counted - len(timed))) if counted else 0.0,
        "geometric_mean": geometric,
        "target": TARGET,
        "is_reached": is_whole and geometric >= TARGET,
    }


def run(options, tell=print):
    accuracy.in_full_precision()
    clock = Clock(accuracy.DEVICE)
    rows = []
    for name, sizes, needed in CASES:
        for dtype, bytes_needed in zip(accuracy.TYPES, needed):
            if options.dtype not in ("all", str(dtype)[len("torch.") :]):
                continue
            try:
                rows.append(measure(name, sizes, dtype, bytes_needed, options, clock, tell))
            except torch.cuda.OutOfMemoryError:
                tell("Skipped: the device has not enough memory\n")
                rows.append({"case": name, "dtype": str(dtype)[len("torch.") :], "state": "skipped"})
            torch.cuda.empty_cache()
    return rows


def main():
    first = str(accuracy.TYPES[0])[len("torch.") :]
    parser = argparse.ArgumentParser(description=f"Times {OPERATOR} against its baseline.")
    parser.add_argument("--dtype", default=first, help=f"a type of the operator, or all; default {first}")
    parser.add_argument("--samples", type=int, default=50, help="for each case; default 50, at least 20")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each case at most; default 10")
    parser.add_argument("--seed", type=int, default=0, help="of the data; default 0")
    parser.add_argument("--require-target", action="store_true", help="exit 1 when it is missed")
    parser.add_argument("--json", metavar="FILE", help="write every result")
    options = parser.parse_args()
    options.samples = max(options.samples, LEAST_SAMPLES)
    sys.stdout.reconfigure(errors="replace")
    known = [str(dtype)[len("torch.") :] for dtype in accuracy.TYPES]
    if options.dtype not in ("all", *known):
        print(f"--dtype takes all, {', '.join(known)}, but got '{options.dtype}'", file=sys.stderr)
        return 2
    if not 0 < options.seconds < math.inf:  # neither is NaN
        print(f"--seconds takes a positive number, but got {options.seconds}", file=sys.stderr)
        return 2
    if missing := accuracy.missing_device():
        print(f"{OPERATOR}_performance.py needs {missing}", file=sys.stderr)
        return 2
    checked = accuracy.run(seed=options.seed, tell=lambda line: None)
    wrong = [row for row in checked if row["wrong"]]
    result = {"operator": OPERATOR, "seed": options.seed, "checks": len(checked), "wrong_checks": len(wrong)}
    rows = []
    if wrong:
        print(f"{wrong[0]['side']}, {wrong[0]['case']}, {wrong[0]['dtype']}, {wrong[0]['kind']}: {wrong[0]['first']}")
        print("Accuracy test FAILED! Performance test skipped.")
    else:
        print(f"Testing {OPERATOR} Performance...")
        rows = run(options)
    told = summary(rows) if rows else {"is_reached": False, "target": TARGET}
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({**result, **told, "rows": rows}, file, indent=1)
    if wrong:
        return 1
    failed = len([row for row in rows if row["state"] == "wrong"])
    print(f"Average speedup: {told['average_speedup']:.4f}x")
    print(f"Geometric mean: {told['geometric_mean']:.4f}x over {told['timed']} of {told['cases']} cases")
    if told["is_reached"]:
        print(f"Optimization PASSED! Target: {TARGET:.2f}x, actual: {told['geometric_mean']:.4f}x")
    else:
        print(f"Optimization NOT PASSED. Target: {TARGET:.2f}x, actual: {told['geometric_mean']:.4f}x")
    print("All performance tests completed!")
    return 1 if failed or (options.require_target and not told["is_reached"]) else 0


if __name__ == "__main__":
    sys.exit(main())
