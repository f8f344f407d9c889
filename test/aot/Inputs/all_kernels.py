# SPDX-License-Identifier: Apache-2.0
# all_kernels.py NEREID KERNELS OUT: compiles every kernel of the library ahead of time, in the
# signature of its first case, and links all of them with one C program's worth of headers.
import pathlib
import subprocess
import sys
import tomllib

nereid, kernels, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
out.mkdir(parents=True)
names = []
for cases in sorted(kernels.glob("*/cases.toml")):
    seen = set()
    for case in tomllib.loads(cases.read_text())["case"]:
        if case["kernel"] in seen:
            continue
        seen.add(case["kernel"])
        name = case["kernel"].split(":")[1]
        names.append(name)
        subprocess.run([nereid, "compile", cases.parent / case["kernel"], "-s", case["signature"],
                        "--emit", "static", "-o", out / f"lib{name}.a"],
                       check=True, stderr=subprocess.DEVNULL)
program = "".join(f'#include "{name}.h"\n' for name in names)
program += "typedef void (*function)(void);\nfunction all[] = {\n"
program += "".join(f"    (function){name}, (function){name}_select,\n" for name in names)
program += "};\nint main(void) { return all[0] == 0; }\n"
(out / "all.c").write_text(program)
for compiler in ["gcc", "clang"]:
    subprocess.run([compiler, "-std=c99", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", f"-I{out}",
                    out / "all.c", *(out / f"lib{name}.a" for name in names), "-lpthread", "-lm", "-o",
                    out / "all"], check=True)
    subprocess.run([out / "all"], check=True)
print(f"{len(names)} kernels")
