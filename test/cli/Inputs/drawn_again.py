# SPDX-License-Identifier: Apache-2.0
# drawn_again.py FOLDER: every drawn case of a seed can be run alone, and its inputs are the same
# bytes each time.
import json
import pathlib
import subprocess
import sys

folder = sys.argv[1]
verify = ["nereid", "verify", folder, "--dtype", "float16", "--seed", "77"]
rows = json.loads(subprocess.run(verify + ["--json"], capture_output=True, check=True).stdout)
names = [row["case"].split(", taken as ")[0] for row in rows["accuracy"]]
drawn = [name for name in names if name.startswith("drawn")]
assert len(drawn) == 8 and len(set(names)) == len(names), names
for name in drawn[:3]:
    kept = []
    for turn in range(2):
        to = f"{folder}-{turn}"
        subprocess.run(verify + ["--case", name, "--dump", to], capture_output=True, check=True)
        kept.append((pathlib.Path(to) / "x.npy").read_bytes())
    assert kept[0] == kept[1], name
