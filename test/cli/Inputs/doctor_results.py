# SPDX-License-Identifier: Apache-2.0
"""Makes a result file of another: usage: doctor_results.py FROM TO [times=F] [machine=F] [noise=F]
[seed=N] [key.key.0=JSON…].

All samples become draws around their median: times the given factors (machine slows the yardsticks
too), spread by noise. Keys are set afterwards."""
import json
import random
import statistics
import sys

source, target, *changes = sys.argv[1:]
options = {"times": 1.0, "machine": 1.0, "noise": 0.005, "seed": 1}
sets = []
for change in changes:
    name, value = change.split("=", 1)
    if name in options:
        options[name] = float(value)
    else:
        sets.append((name.split("."), json.loads(value)))
draw = random.Random(options["seed"])


def doctored(samples, factor):
    middle = statistics.median(samples) * factor * options["machine"]
    return [middle * (1 + abs(draw.gauss(0, options["noise"]))) for _ in range(40)]


with open(source) as file:
    content = json.load(file)
for row in content.get("rows", content.get("performance")):
    for key, timing in [("", row)] + [(key, row.get(key)) for key in ("kernel", "yardstick")]:
        if isinstance(timing, dict) and "sample_nanos" in timing:
            factor = 1 if key == "yardstick" else options["times"]
            timing["sample_nanos"] = doctored(timing["sample_nanos"], factor)
for path, value in sets:
    inner = content
    for key in path[:-1]:
        inner = inner[int(key) if key.isdigit() else key]
    inner[int(path[-1]) if path[-1].isdigit() else path[-1]] = value
with open(target, "w") as file:
    json.dump(content, file)
