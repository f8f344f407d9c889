# SPDX-License-Identifier: Apache-2.0
# run_again.py FOLDER: the command that case.txt names, in a shell; ends with its status.
import subprocess
import sys

text = open(f"{sys.argv[1]}/case.txt", encoding="utf-8").read()
command = next(line[7:] for line in text.splitlines() if line.startswith("again: "))
sys.exit(subprocess.run(command, shell=True, check=False).returncode)
