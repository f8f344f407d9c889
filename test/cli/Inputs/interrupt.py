# SPDX-License-Identifier: Apache-2.0
# interrupt.py MARKER COMMAND…: starts the command, sends SIGINT as soon as it prints a line that
# begins with this text, and succeeds when the command then ends with status 130 by itself.
import signal
import subprocess
import sys
import tempfile

marker, command = sys.argv[1], sys.argv[2:]
sent = False
with tempfile.TemporaryFile(mode="w+") as output:
    process = subprocess.Popen(command, stdout=output, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        sys.stdout.write(line)
        if not sent and line.startswith(marker):
            process.send_signal(signal.SIGINT)
            sent = True
    status = process.wait(timeout=120)
    output.seek(0)
    sys.stdout.write(output.read())
if not sent:
    sys.exit(f"the command never printed '{marker}'")
if status != 130:
    sys.exit(f"expects exit status 130, but got {status}")
