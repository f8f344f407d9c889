# SPDX-License-Identifier: Apache-2.0
# sweep_definitions.py TINY FOLDER: writes an operator that takes long enough to be stopped in the middle
# on any machine, and a short one behind it.
import pathlib
import sys

text, folder = pathlib.Path(sys.argv[1]).read_text(), pathlib.Path(sys.argv[2])
head = text.split("cases = [")[0]


def cases(count, rows):
    return "cases = [" + ",".join(f'{{ name = "case {i}", "..." = [{rows}], D = 512 }}' for i in range(count)) + "]\n"


for name, count, rows in (("tiny_long", 12, 2048), ("tiny_short", 1, 8)):
    body = head.replace("tiny_add", name) + cases(count, rows) + "[accuracy]\n" + cases(count, rows)
    (folder / f"{name}.toml").write_text(body)
