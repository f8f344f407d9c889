# SPDX-License-Identifier: Apache-2.0
# installed_files.py BUILD < INPUTS: every file of a build folder that its install scripts copy,
# and whether it is among the inputs that `ninja -t query TARGET` lists.
import pathlib
import re
import sys

build = pathlib.Path(sys.argv[1])
inputs = {line.split()[-1] for line in sys.stdin}
files = set()
for script in build.rglob("cmake_install.cmake"):
    if "lit" in script.relative_to(build).parts or "cross" in script.relative_to(build).parts:
        continue
    for copied in re.findall(r"file\(INSTALL [^)]*?FILES\s([^)]*)\)", script.read_text()):
        files.update(re.findall(r'"([^"]*)"', copied))
for file in sorted(pathlib.Path(name) for name in files):
    if not file.is_relative_to(build) or file.suffix == ".cmake": # sources; made by CMake itself
        continue
    name = str(file.relative_to(build))
    print("built" if name in inputs else "missing", name)
