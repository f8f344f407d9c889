# SPDX-License-Identifier: Apache-2.0
# exits.py STATUS COMMAND…: passes the command's output through and succeeds when it ended with this
# exit status. A command ended by a signal never does.
import subprocess
import sys

expected, command = int(sys.argv[1]), sys.argv[2:]
status = subprocess.run(command, timeout=120, check=False).returncode
if status != expected:
    sys.exit(f"expects exit status {expected}, but got {status}: {' '.join(command)}")
