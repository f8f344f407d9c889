#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds to a result where it was obtained: usage: add_environment.py RESULT.json DOCTOR

DOCTOR is what `nereid doctor --json` said before the run. For programs that know only the public
interface; `nereid bench` writes its environment by itself."""
import json
import pathlib
import sys

path, doctor = pathlib.Path(sys.argv[1]), json.loads(sys.argv[2])
result = json.loads(path.read_text())
result["environment"] = doctor["environment"]
path.write_text(json.dumps(result, indent=2) + "\n")
