# SPDX-License-Identifier: Apache-2.0
# check_kernels.py NEREID KERNELS: `nereid check` on every folder of kernels that has cases. Shows
# the findings and ends with 1 when there are some, or when there is no folder.
import pathlib
import subprocess
import sys

nereid, kernels = sys.argv[1], pathlib.Path(sys.argv[2])
folders = sorted(cases.parent for cases in kernels.glob("*/cases.toml"))
failed = not folders
for folder in folders:
    done = subprocess.run([nereid, "check", str(folder)], capture_output=True, text=True)
    if done.returncode != 0:
        print(folder, done.returncode, done.stdout, done.stderr)
        failed = True
sys.exit(1 if failed else 0)
