# SPDX-License-Identifier: Apache-2.0
# function_forms.py NEREID NAME…: what `nereid ops --json` says of each function of one tensor is what
# `nereid generate` does with a definition that calls it.
import json
import subprocess
import sys

nereid, names = sys.argv[1], sys.argv[2:]
listed = {entry["function"]: entry for entry in json.loads(
    subprocess.run([nereid, "ops", "--json"], capture_output=True, text=True, check=True).stdout)["functions"]}
for name in names:
    entry = listed[name]
    reduces = entry["kind"] == "reduction"
    shape = '["R"]' if reduces else '["D", "R"]' if name == "permute" else '["R", "D"]'
    further = ", dim=-1" if reduces else ", dims=(1, 0)" if name == "permute" else ""
    open(f"{name}.toml", "w").write(f"""[operator]
name = "only_{name}"
summary = "Calls one function."
dtypes = ["float32"]
body = "out = torch.{name}(x{further})"
[inputs.x]
shape = ["R", "D"]
[outputs.out]
shape = {shape}
[performance]
cases = [{{ R = 4, D = 8 }}]
""")
    done = subprocess.run([nereid, "generate", f"{name}.toml", "--out", name], capture_output=True, text=True)
    code = "[" + entry.get("code", "") + "]"
    agrees = done.returncode == 0 if entry["in_kernel"] else done.returncode == 2 and code in done.stderr
    assert agrees, f"{name}: listed as {entry}, generate says {done.returncode}\n{done.stderr}"
