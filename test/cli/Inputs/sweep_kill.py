# SPDX-License-Identifier: Apache-2.0
# sweep_kill.py FILE COMMAND…: starts the command, waits until the file is there, kills the process that the
# command has started then, and expects the command to end with status 1.
import os
import pathlib
import signal
import subprocess
import sys
import time

file, command = pathlib.Path(sys.argv[1]), sys.argv[2:]
process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
while not file.exists():
    if process.poll() is not None:
        sys.exit(f"the command ended before '{file}' was there: {process.stdout.read()}")
    time.sleep(0.01)
children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
if len(children) != 1:
    sys.exit(f"expects one process, but got {children}")
os.kill(int(children[0]), signal.SIGKILL)
output, _ = process.communicate(timeout=120)
sys.stdout.write(output)
if process.returncode != 1:
    sys.exit(f"expects exit status 1, but got {process.returncode}")
