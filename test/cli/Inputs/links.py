# SPDX-License-Identifier: Apache-2.0
# links.py NEREID DEFINITION KERNELS: plants a link in the place of each file that a command writes
# into a folder, one at a time, and looks at what the link leads to afterwards.
import os
import pathlib
import shutil
import subprocess
import sys

nereid, definition, kernels = sys.argv[1:]
kernel = [f"{kernels}/vector_add/vector_add.py", "-s", "*fp32, *fp32, *fp32, i32, 64"]
develop = [nereid, "develop", definition, "--rounds", "0", "--seconds-per-case", "0.001", "--out"]
commands = {
    "develop": develop + ["out"],
    "dump": [nereid, "verify", f"{kernels}/vector_add", "--case", "small", "--dump", "out"],
    "phases": [nereid, "compile", *kernel, "--dump-to", "out"],
    "library": [nereid, "compile", *kernel, "--emit", "object", "-o", "out/add.o", "--target", "cpu"],
}


def run(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def refuse(name, command, planted):
    """The link named `planted` stays, what it leads to is as it was, and the command says so."""
    for kind in ("file", "nowhere", "folder"):
        shutil.rmtree("out", ignore_errors=True)
        shutil.rmtree("victim", ignore_errors=True)
        os.makedirs("victim/folder")
        pathlib.Path("victim/file").write_text("precious")
        link = pathlib.Path("out") / planted
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(pathlib.Path(f"victim/{kind}").absolute())
        done = run(command)
        where = f"{name}: {planted} leads to a {kind}\n{done.stdout}{done.stderr}"
        assert done.returncode == 2 and "[E0005]" in done.stderr, where
        assert link.is_symlink(), where
        assert pathlib.Path("victim/file").read_text() == "precious", where
        assert sorted(os.listdir("victim")) == ["file", "folder"], where
        assert not os.listdir("victim/folder"), where


for name, command in commands.items():
    shutil.rmtree("out", ignore_errors=True)
    done = run(command)
    assert done.returncode == 0, done.stderr
    written = [path.relative_to("out") for path in pathlib.Path("out").rglob("*") if path.is_file()]
    assert len(written) > 2, written
    own = [path for path in written if path.name not in ("add.o", "patterns.json.lock")]
    for path in own:
        refuse(name, command, path)
    if name == "library":
        refuse(name, command, pathlib.Path("nereid"))
    shutil.rmtree("out", ignore_errors=True)

# The lock beside patterns.json and the backup of an edited file are not made through a link either.
os.makedirs("out")
os.symlink("victim/lock", "out/patterns.json.lock")
assert run(commands["develop"]).returncode == 0 and not os.path.exists("victim/lock")
source = pathlib.Path("out/tiny_add_triton.py")
source.write_text(source.read_text() + "# mine\n")
os.symlink("victim/backup", "out/tiny_add_triton.py.bak")
done = run([nereid, "generate", definition, "--out", "out"])
assert done.returncode == 0 and "'tiny_add_triton.py.bak.2'" in done.stderr, done.stderr
assert not os.path.exists("victim/backup")
assert pathlib.Path("out/tiny_add_triton.py.bak.2").read_text().endswith("# mine\n")
