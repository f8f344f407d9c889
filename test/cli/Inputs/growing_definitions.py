# SPDX-License-Identifier: Apache-2.0
"""Writes definitions into the folder that is named: ranked.toml with nine dimensions, chain.toml
with 3,000 operations."""
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])


def write(name, body, inputs, shape, sizes):
    text = f'[operator]\nname = "{name}"\nsummary = "Grows."\ndtypes = ["float32"]\n'
    text += f'body = """\n{body}\n"""\n'
    for tensor, dims in inputs.items():
        text += f"[inputs.{tensor}]\nshape = [{dims}]\n"
    text += f"[outputs.out]\nshape = [{shape}]\n[performance]\ncases = [{{ {sizes} }}]\n"
    (folder / f"{name}.toml").write_text(text)


letters = "ABCDEFGHI"
dims = ", ".join(f'"{letter}"' for letter in letters)
write("ranked", "out = x * scale + torch.exp(shift)",
      {"x": dims, "scale": '"A", 1, "C", 1, "E", 1, "G", 1, "I"', "shift": '"I"'}, dims,
      ", ".join(f"{letter} = 2" for letter in letters))

steps = ["t = x + 1.0"]
for number in range(1500):
    steps.append("t = torch.maximum(t * 0.999, x)" if number % 2 else "t = t * 0.5 + x")
write("chain", "\n".join(steps + ["out = t + x"]), {"x": '"...", "D"'}, '"...", "D"',
      '"..." = [8], D = 65')
