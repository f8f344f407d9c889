#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kernels of a FlagGems checkout, unmodified, as its own functions launch them: compiled by us and
by upstream, compared and timed in turns. Needs a GPU, torch, triton and the checkout's folder src.

usage: corpus.py CHECKOUT [--only REGEX] [--rounds N] [--budget SECONDS] [--json OUT]
"""

import argparse
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import workers  # noqa: E402
from report import geometric  # noqa: E402


def names():
    """Of all calls, without a GPU or the checkout: the functions are looked up when they are called."""
    class Nothing:
        def __getattr__(self, name):
            return None

    import corpus_calls
    data = corpus_calls.Data.__new__(corpus_calls.Data)
    data.torch = Nothing()
    return list(corpus_calls.calls(Nothing(), data))


def told(record):
    for one in record.get("launches", []):
        state = one.get("failure") or f"x up {one['ratio']:.2f}" + \
            ("" if one["difference"] == 0 else " ~")
        print(f"{record['case']:24} {one['kernel'][:44]:44} {state[:120]}", file=sys.stderr, flush=True)
    for why in record.get("failures", {}).values():
        print(f"{record['case']:24} {why[:160]}", file=sys.stderr, flush=True)
    if not record.get("launches") and not record.get("failures"):
        print(f"{record['case']:24} launches nothing", file=sys.stderr, flush=True)


def summary(records):
    launches = [one | {"case": r["case"]} for r in records for one in r.get("launches", [])]
    for kind, those in (("other kernels", [one for one in launches if not one["product"]]),
                        ("products", [one for one in launches if one["product"]])):
        timed = [one for one in those if "ratio" in one]
        kernels = {(one["file"].rsplit("/", 1)[-1], one["kernel"]) for one in timed}
        ratios = sorted((one["ratio"], one["case"], one["kernel"]) for one in timed)
        if not those:
            continue
        mean = geometric([ratio for ratio, *_ in ratios])
        print(f"{kind}: {len(those)} launches, {len(timed)} right and timed, of {len(kernels)} kernels; "
              f"geometric mean {mean:.3f}, below 0.8: {sum(r < 0.8 for r, *_ in ratios)}, "
              f"the same bits: {sum(one['difference'] == 0 for one in timed)}"
              if timed else f"{kind}: {len(those)} launches, none right")
        for ratio, case, kernel in ratios[:15]:
            print(f"  {ratio:.2f} {case}: {kernel}")
    failed = [(one["case"], one["kernel"], one["failure"]) for one in launches if "failure" in one]
    print(f"{len(failed)} launches failed:" if failed else "no launch failed")
    for case, kernel, why in failed[:25]:
        print(f"  {case}: {kernel}: {why[:150]}")
    lost = [(r["case"], why) for r in records for why in r.get("failures", {}).values()]
    if lost:
        print(f"{len(lost)} calls failed:")
        for case, why in lost[:25]:
            print(f"  {case}: {why[:130]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout")
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--limit", type=float, default=90, help="seconds of one call")
    parser.add_argument("--budget", type=float, default=1e9, help="seconds of all")
    parser.add_argument("--json", metavar="OUT")
    parser.add_argument("--revision")
    options = parser.parse_args()
    if not (pathlib.Path(options.checkout) / "src" / "flag_gems").is_dir():
        sys.exit(f"corpus: expects a checkout of FlagGems, but '{options.checkout}' has no src/flag_gems")
    chosen = [name for name in names() if re.search(options.only, name)]
    arguments = [options.checkout, "--rounds", str(options.rounds)]
    script = pathlib.Path(__file__).with_name("corpus_worker.py")
    records = workers.measure_all(chosen, arguments, options.limit, options.budget, told, script)
    if options.json:
        import environment
        result = {"schema": 1, "subject": "FlagGems on the GPU",
                  "environment": environment.describe(options.revision), "rows": records}
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1) + "\n")
    summary(records)


if __name__ == "__main__":
    main()
