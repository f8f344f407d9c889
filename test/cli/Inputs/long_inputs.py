# SPDX-License-Identifier: Apache-2.0
# Writes inputs that keep each command busy for many seconds: a long chain of operations, a case that
# takes long to verify, and kernels that loop or unroll.
import pathlib

tiny = (pathlib.Path(__file__).parent / "tiny.toml").read_text()
pathlib.Path("tiny.toml").write_text(tiny)
lines = ["t0 = x + bias"] + [f"t{i} = t{i - 1} * 1.5 + bias" for i in range(1, 20000)]
chain = tiny.replace("out = x + bias", "\n".join(lines) + "\nout = t19999 + x")
pathlib.Path("chain.toml").write_text(chain.replace("tiny_add", "chain"))
rounds = tiny.replace("target_speedup = 1.0", "target_speedup = 100000.0")
for rows in (64, 32, 16, 8):
    rounds = rounds.replace(f'"..." = [{rows}]', f'"..." = [{rows * 1024}]')
pathlib.Path("rounds.toml").write_text(rounds)
huge = '[accuracy]\ncases = [{ name = "huge", "..." = [32768], D = 2048 }]\n'
pathlib.Path("huge.toml").write_text(tiny + huge)
head = "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef "
pathlib.Path("loop.py").write_text(head + '''loop(x):
    value = tl.load(x + tl.program_id(0))
    for i in range(1000000000):
        value = value * 0.5 + tl.sin(value)
    tl.store(x + tl.program_id(0), value)
''')
pathlib.Path("unrolled.py").write_text(head + '''unrolled(x):
    value = tl.load(x + tl.arange(0, 64))
''' + "".join(f"    value = tl.sin(value * {i}.5) + tl.exp(value - {i})\n" for i in range(3000)) + '''
    tl.store(x + tl.arange(0, 64), value)
''')
# A folder whose case is four million programs: seconds in the interpreter on any machine.
pathlib.Path("programs").mkdir()
pathlib.Path("programs/twice.py").write_text(head + '''twice(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)
''')
pathlib.Path("programs/cases.toml").write_text('''schema = 1

[[case]]
name = "many"
kernel = "twice.py:twice"
signature = "x=*fp32, out=*fp32, n=i32, BLOCK=4"
grid = "cdiv(n, BLOCK)"
args = { x = "randn(16000000, seed=1)", out = "empty(16000000)", n = 16000000 }
reference = { out = "x * 2" }
''')
