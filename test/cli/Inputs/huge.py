# SPDX-License-Identifier: Apache-2.0
# Writes the kernels of huge-input.test.
HEAD = "import triton\nimport triton.language as tl\n\n"


def kernel(name, *lines):
    return f"@triton.jit\ndef {name}(x_ptr, n):\n" + "".join(f"    {line}\n" for line in lines) + "\n"


def write(name, *texts):
    with open(name, "w") as file:
        file.write(HEAD + "".join(texts))


with open("large.py", "w") as file:
    file.write("# " + "x" * (100 * 1024 * 1024 - 3) + "\n")

write(
    "tile.py",
    kernel("range", "y = tl.arange(0, 2147483648)", "tl.store(x_ptr + y, y)"),
    kernel("product", "y = tl.zeros((1048576,), tl.int32)", "tl.store(x_ptr, tl.max(tl.max(y[:, None] + y[None, :], 0), 0))"),
)
write(
    "constant.py",
    kernel("power", "x: tl.constexpr = 2 ** 100000", "tl.store(x_ptr, x)"),
    kernel("elements", "x = [1] * 1000000000", "tl.store(x_ptr, n)"),
)
write(
    "unroll.py",
    kernel("k", "for i in tl.static_range(2000):", "    for j in tl.static_range(2000):", "        tl.store(x_ptr + i, j)"),
)
# Every helper calls the next one twice.
helpers = [f"@triton.jit\ndef f{i}(n):\n    return f{i + 1}(n) + f{i + 1}(n)\n\n" for i in range(40)]
write("helpers.py", *helpers, "@triton.jit\ndef f40(n):\n    return n + 1\n\n", kernel("k", "tl.store(x_ptr, f0(n))"))
write("recursion.py", "@triton.jit\ndef f(n):\n    return f(n) + 1\n\n", kernel("k", "tl.store(x_ptr, f(n))"))
write("straight.py", kernel("k", "y = n", *["y = y + 1"] * 20000, "tl.store(x_ptr, y)"))
