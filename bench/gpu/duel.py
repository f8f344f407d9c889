#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels of this project beside upstream's compiler, eager torch, torch.compile and a copy.

On a machine with a GPU, torch and triton: same source, same options, in turns in one process, with a
cold L2 cache. Only launches whose results were right are timed. `duel.py --list` names the rows.
"""

import argparse
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import report  # noqa: E402
import workers  # noqa: E402
from rows import every_row  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="REGEX", help="rows whose name it is found in")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--limit", type=float, default=90, help="seconds of one row")
    parser.add_argument("--budget", type=float, default=1e9, help="seconds of all")
    parser.add_argument("--json", metavar="OUT", help="where the result goes")
    parser.add_argument("--table", metavar="OUT", help="where a line for each row goes as well")
    parser.add_argument("--revision", help="of the library, where git does not know it")
    parser.add_argument("--no-inductor", action="store_true", help="without torch.compile")
    parser.add_argument("--no-sustained", action="store_true")
    parser.add_argument("--cpu", action="store_true",
                        help="no times: tiny sizes on the CPU target, to try the rows")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--quiet", action="store_true", help="only the summary")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    names = [row.name for row in every_row() if re.search(options.only, row.name)]
    if options.list:
        print("\n".join(names))
        return 0
    arguments = ["--rounds", str(options.rounds)]
    arguments += ["--cpu", "--tiny"] if options.cpu else []
    for flag in ("no_inductor", "no_sustained", "verbose"):
        arguments += ["--" + flag.replace("_", "-")] if getattr(options, flag) else []
    lines = [report.HEAD]

    def told(record):
        lines.append(report.line(record))
        print(lines[-1] if not options.quiet else record["case"], file=sys.stderr, flush=True)

    records = workers.measure_all(names, arguments, options.limit, options.budget, told)
    if options.table:
        pathlib.Path(options.table).write_text("\n".join(lines) + "\n")
    if options.json:
        import environment
        result = {"schema": 1, "subject": "gpu", "environment": environment.describe(options.revision),
                  "rows": records}
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1) + "\n")
    if options.cpu:
        print(f"{len(records)} rows tried, "
              f"{sum('failures' in r for r in records)} failed")
    else:
        print("\n".join(report.summary(records)))
    return any("failures" in record for record in records)


if __name__ == "__main__":
    sys.exit(main())
