// SPDX-License-Identifier: Apache-2.0
// The text of map kernels: which dimensions a tile has, what is masked, what is computed once.
#include "lib/generator/template/Map.h"

#include "lib/generator/kernel/Printer.h"
#include "lib/generator/lower/Lower.h"
#include "lib/generator/normalise/Normalise.h"
#include "unittests/generator/Making.h"
#include "unittests/generator/program/Reading.h"

namespace nereid::generator {
namespace {

/// Everything behind the program's place in the grid.
std::string bodyOf(const Program &program, size_t stage = 0) {
  const std::vector<Store> stores = groupsOf(program, program.stages.at(stage)).at(0);
  auto made = emitMap(program, "t_kernel", stores, firstTile(program, stores));
  EXPECT_TRUE(bool(made)) << (made ? "" : render(made.error()));
  const std::string text = made ? kernel::text(made->tree) : "";
  const size_t end = text.rfind(".to(tl.int64)\n");
  return end == std::string::npos ? text : text.substr(text.find('\n', end) + 1);
}

std::string bodyOf(const std::string &text) {
  Program read = program(text);
  normalise(read);
  return bodyOf(read);
}

TEST(MapKernel, WhatIsContiguousHasOneDimension) {
  auto program = lower(made("out = torch.exp(x) * 2", "[inputs.x]\nshape = [\"N\", \"M\", \"K\"]\n",
                            "\"N\", \"M\", \"K\"", "\"float16\""),
                       DType::F16);
  ASSERT_TRUE(bool(program));
  normalise(*program);
  const std::vector<Store> &stores = program->stages[0].stores;
  auto made = emitMap(*program, "double_exp_kernel", stores, firstTile(*program, stores));
  ASSERT_TRUE(bool(made));
  EXPECT_EQ(moduleText({*made}), R"(import triton
import triton.language as tl


@triton.jit
def double_exp_kernel(
    x_ptr, out_ptr, N_M_K,
    BLOCK_Y: tl.constexpr, WIDE: tl.constexpr,
):
    pid_col = tl.program_id(axis=0)
    if WIDE:
        pid_col = pid_col.to(tl.int64)
    col = pid_col * BLOCK_Y + tl.arange(0, BLOCK_Y)
    inside = col < N_M_K
    x = tl.load(x_ptr + col, mask=inside, other=0.0).to(tl.float32)
    out = tl.exp(x) * 2.0
    tl.store(out_ptr + col, out.to(out_ptr.dtype.element_ty), mask=inside)
)");
}

/// A value for each row is little beside the rows, however many of them there are.
TEST(MapKernel, ValuesOfRowsDoNotTurnTheTile) {
  EXPECT_EQ(bodyOf(R"(
N = size()
M = size()
x = input(fp32, [N, M], strides=[M, 1])
a = input(fp32, [N], strides=[1])
b = input(fp32, [N], strides=[1])
c = input(fp32, [N], strides=[1])
d = input(fp32, [N], strides=[1])
y = output(fp32, [N, M], strides=[M, 1])
i = iterator(N)
j = iterator(M)
stage("t")
y[i, j] = x[i, j] * (a[i] * b[i] * c[i] * d[i])
)"),
            R"(    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    col = (pid_col * BLOCK_Y + tl.arange(0, BLOCK_Y))[None, :]
    row_inside = row < N
    col_inside = col < M
    inside = row_inside & col_inside
    x = tl.load(x_ptr + row * M + col, mask=inside, other=0.0)
    a = tl.load(a_ptr + row, mask=row_inside, other=0.0)
    b = tl.load(b_ptr + row, mask=row_inside, other=0.0)
    c = tl.load(c_ptr + row, mask=row_inside, other=0.0)
    d = tl.load(d_ptr + row, mask=row_inside, other=0.0)
    y = x * (a * b * c * d)
    tl.store(y_ptr + row * M + col, y, mask=inside)
)");
}

TEST(MapKernel, ARowForAllIsLoadedWithoutTheRows) {
  EXPECT_EQ(bodyOf(R"(
N = size()
M = size()
x = input(fp32, [N, M], strides=[M, 1])
b = input(fp32, [M], strides=[1])
y = output(fp32, [N, M], strides=[M, 1])
i = iterator(N)
j = iterator(M)
stage("t")
y[i, j] = x[i, j] + b[j]
)"),
            R"(    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    col = (pid_col * BLOCK_Y + tl.arange(0, BLOCK_Y))[None, :]
    row_inside = row < N
    col_inside = col < M
    inside = row_inside & col_inside
    x = tl.load(x_ptr + row * M + col, mask=inside, other=0.0)
    b = tl.load(b_ptr + col, mask=col_inside, other=0.0)
    y = x + b
    tl.store(y_ptr + row * M + col, y, mask=inside)
)");
}

TEST(MapKernel, ATransposeHasATileOfBothContiguousIterators) {
  EXPECT_EQ(bodyOf(R"(
N = size()
M = size()
K = size()
x = input(fp32, [K, N, M], strides=[N*M, M, 1])
y = output(fp32, [K, M, N], strides=[N*M, N, 1])
k = iterator(K)
i = iterator(M)
j = iterator(N)
stage("t")
y[k, i, j] = x[k, j, i]
)"),
            R"(    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None, None]
    mid = (pid_mid * BLOCK_Z + tl.arange(0, BLOCK_Z))[None, :, None]
    col = (pid_col * BLOCK_Y + tl.arange(0, BLOCK_Y))[None, None, :]
    row_inside = row < K
    mid_inside = mid < M
    col_inside = col < N
    inside = row_inside & mid_inside & col_inside
    x = tl.load(x_ptr + row * N_M + mid + col * M, mask=inside, other=0.0)
    tl.store(y_ptr + row * N_M + mid * N + col, x, mask=inside)
)");
}

TEST(MapKernel, PackedIteratorsAreOneStepWhereTheyCanBe) {
  EXPECT_EQ(bodyOf(R"(
N = size()
C = size()
P = size()
x = input(fp32, [N, C, P], strides=[C*P, P, 1])
b = input(fp32, [C], strides=[1])
y = output(fp32, [N, C, P], strides=[C*P, P, 1])
n = iterator(N)
c = iterator(C)
p = iterator(P)
stage("t")
y[n, c, p] = x[n, c, p] + b[c]
)"),
            R"(    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    c = row % C
    n = row // C
    col = (pid_col * BLOCK_Y + tl.arange(0, BLOCK_Y))[None, :]
    row_inside = row < N_C
    col_inside = col < P
    inside = row_inside & col_inside
    x = tl.load(x_ptr + row * P + col, mask=inside, other=0.0)
    b = tl.load(b_ptr + c, mask=row_inside, other=0.0)
    y = x + b
    tl.store(y_ptr + row * P + col, y, mask=inside)
)");
}

TEST(MapKernel, PaddingIsTheMaskOfALoad) {
  EXPECT_EQ(bodyOf(R"(
N = size()
x = input(fp32, [N], strides=[1])
y = output(fp32, [N + 2], strides=[1])
i = iterator(N + 2)
stage("t")
y[i] = where(logical_and(index(i - 1) >= 0, index(i - 1) < index(N)), x[i - 1], -1.0) * 2.0
)"),
            R"(    col = pid_col * BLOCK_Y + tl.arange(0, BLOCK_Y)
    inside = col < N_plus_2
    x = tl.load(x_ptr + col - 1, mask=inside & (col >= 1) & (col < N_plus_1), other=-1.0)
    y = x * 2.0
    tl.store(y_ptr + col, y, mask=inside)
)");
}

TEST(MapKernel, AnOffsetIsOneSumOfAllDimensions) {
  // Every third element of the mirrored rows: sizes and strides that are numbers leave numbers.
  EXPECT_EQ(bodyOf(R"(
x = input(fp32, [4, 30], strides=[64, 2])
y = output(fp32, [4, 10], strides=[10, 1])
i = iterator(4)
j = iterator(10)
stage("t")
y[i, j] = x[-i + 3, 3*j + 1]
)"),
            R"(    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    col = (pid_col * BLOCK_Y + tl.arange(0, BLOCK_Y))[None, :]
    row_inside = row < 4
    col_inside = col < 10
    inside = row_inside & col_inside
    x = tl.load(x_ptr + col * 6 + 194 - row * 64, mask=inside, other=0.0)
    tl.store(y_ptr + row * 10 + col, x, mask=inside)
)");
}

TEST(MapKernel, OutputsOfOneShapeShareWhatTheyLoad) {
  Diagnostics diags;
  auto op = definition::parseOperator("test.toml", R"([operator]
name = "t"
summary = "s"
dtypes = ["float32"]
body = """
y = torch.relu(x)
z = y * 3
"""
[inputs.x]
shape = ["N"]
[outputs.y]
shape = ["N"]
[outputs.z]
shape = ["N"]
[performance]
cases = [{ N = 4 }]
)",
                                      diags);
  ASSERT_TRUE(op.has_value()) << diags.render();
  auto program = lower(*op, DType::F32);
  ASSERT_TRUE(bool(program));
  normalise(*program);
  EXPECT_EQ(bodyOf(*program), R"(    col = pid_col * BLOCK_Y + tl.arange(0, BLOCK_Y)
    inside = col < N
    x = tl.load(x_ptr + col, mask=inside, other=0.0)
    y = tl.where(x < 0.0, 0.0, x)
    z = y * 3.0
    tl.store(y_ptr + col, y, mask=inside)
    tl.store(z_ptr + col, z, mask=inside)
)");
}

TEST(MapKernel, WhatBindsAnIteratorIsRefused) {
  // As a value, and in the condition of a store.
  for (const char *store :
       {"y[0] = sum[i](x[i])", "store(y[0], 1.0, guard=sum[i](x[i]) > 2.0)",
        "store(y[0], 1.0, guard=logical_and(sum[i](x[i]) > 2.0, x[0] > 1.0))"}) {
    Program sums = program(std::string(R"(
x = input(fp32, [4], strides=[1])
y = output(fp32, [1], strides=[1])
i = iterator(4)
stage("t")
)") + store + "\n");
    auto made = emitMap(sums, "t", sums.stages[0].stores, firstTile(sums, sums.stages[0].stores));
    ASSERT_FALSE(bool(made)) << store;
    EXPECT_EQ(made.error().code + ": " + made.error().message,
              "E0607: a pointwise kernel has no reduction 'sum'");
  }
}

} // namespace
} // namespace nereid::generator
