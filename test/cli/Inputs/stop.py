# SPDX-License-Identifier: Apache-2.0
# stop.py SIGNAL WHEN COMMAND…: starts the command, sends the signal after WHEN seconds, or as soon
# as it prints a line that begins with WHEN, and succeeds when the command then ends soon with the
# status that belongs to the signal. Its messages and its output are passed on.
import os
import signal
import subprocess
import sys
import tempfile
import time

number = getattr(signal, sys.argv[1])
when, command = sys.argv[2], sys.argv[3:]
most_seconds = 4  # a second is promised; the machine may be busy
with tempfile.TemporaryFile(mode="w+") as output, tempfile.TemporaryFile(mode="w+") as messages:
    process = subprocess.Popen(command, stdout=output, stderr=messages, text=True)
    begin = time.monotonic()
    while process.poll() is None:
        messages.flush()
        said = os.pread(messages.fileno(), 1 << 20, 0).decode()
        is_time = when[0].isdigit() and time.monotonic() - begin >= float(when)
        if is_time or any(line.startswith(when) for line in said.splitlines()):
            break
        time.sleep(0.01)
    if process.poll() is not None:
        sys.exit(f"the command ended before '{when}' with status {process.returncode}: {said}")
    process.send_signal(number)
    sent = time.monotonic()
    status = process.wait(timeout=60)
    seconds = time.monotonic() - sent
    for text in (messages, output):
        text.seek(0)
        sys.stdout.write(text.read())
if status not in (128 + number, -number):
    sys.exit(f"expects exit status {128 + number}, but got {status}")
if seconds > most_seconds:
    sys.exit(f"expects an end within {most_seconds} s, but it took {seconds:.1f} s")
