// SPDX-License-Identifier: Apache-2.0
// The text of reduction kernels: which dimensions a tile has, what is masked, what stands in which
// loop, and what becomes a stage of its own.
#include "lib/generator/template/Reduce.h"

#include "lib/generator/fuse/Partition.h"
#include "lib/generator/kernel/Printer.h"
#include "lib/generator/normalise/Normalise.h"
#include "unittests/generator/program/Reading.h"

namespace nereid::generator {
namespace {

/// Everything behind the program's place in the grid.
std::string bodyOf(const std::string &text, DimForm form) {
  Program read = program(text);
  normalise(read);
  partition(read);
  const std::vector<Store> stores = groupsOf(read, read.stages.at(0)).at(0);
  auto made = emitReduce(read, "t_kernel", stores, firstReduceTile(read, stores, form));
  EXPECT_TRUE(bool(made)) << (made ? "" : render(made.error()));
  const std::string all = made ? kernel::text(made->tree) : "";
  const size_t end = all.find(".to(tl.int64)\n");
  return end == std::string::npos ? all : all.substr(all.find('\n', end) + 1);
}

constexpr const char *softmax = R"(
N = size()
M = size()
x = input(fp16, [N, M], strides=[M, 1])
y = output(fp16, [N, M], strides=[M, 1])
i = iterator(N)
j = iterator(M)
r = iterator(M)
s = iterator(M)
stage("t")
y[i, j] = exp(cast(x[i, j], fp32) - max[r](cast(x[i, r], fp32))) / sum[s](exp(cast(x[i, s], fp32) - max[r](cast(x[i, r], fp32))))
)";

TEST(ReduceKernel, AWholeRowIsReadOnce) {
  EXPECT_EQ(bodyOf(softmax, DimForm::Whole),
            R"(    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    r = tl.arange(0, BLOCK_R)[None, :]
    if WIDE:
        r = r.to(tl.int64)
    row_inside = row < N
    r_inside = r < M
    inside = row_inside & r_inside
    x = tl.load(x_ptr + row * M + r, mask=inside, other=0.0).to(tl.float32)
    lanes = tl.where(r_inside, x, -float("inf"))
    max_1 = tl.max(lanes, axis=1, keep_dims=True)
    t = tl.exp(x - max_1)
    lanes_1 = tl.where(r_inside, t, 0.0)
    sum = tl.sum(lanes_1, axis=1, keep_dims=True)
    y = t / sum
    tl.store(y_ptr + row * M + r, y.to(y_ptr.dtype.element_ty), mask=inside)
)");
}

TEST(ReduceKernel, ALoopedRowIsReadOncePerLevelAndForTheResult) {
  EXPECT_EQ(bodyOf(softmax, DimForm::Looped),
            R"(    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    max_lanes = tl.full((BLOCK_X, BLOCK_R), -float("inf"), tl.float32)
    row_inside = row < N
    for start in range(0, M, BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside = r < M
        inside = row_inside & r_inside
        x = tl.load(x_ptr + row * M + r, mask=inside, other=0.0).to(tl.float32)
        lanes = tl.where(r_inside, x, -float("inf"))
        max_lanes = tl.maximum(max_lanes, lanes)
    max_1 = tl.max(max_lanes, axis=1, keep_dims=True)
    sum_lanes = tl.full((BLOCK_X, BLOCK_R), 0.0, tl.float32)
    for start_1 in range(0, M, BLOCK_R):
        r = (start_1 + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside_1 = r < M
        inside_1 = row_inside & r_inside_1
        x_1 = tl.load(x_ptr + row * M + r, mask=inside_1, other=0.0).to(tl.float32)
        t = tl.exp(x_1 - max_1)
        lanes_1 = tl.where(r_inside_1, t, 0.0)
        sum_lanes = sum_lanes + lanes_1
    sum = tl.sum(sum_lanes, axis=1, keep_dims=True)
    for start_2 in range(0, M, BLOCK_R):
        r = (start_2 + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside_2 = r < M
        inside_2 = row_inside & r_inside_2
        x_2 = tl.load(x_ptr + row * M + r, mask=inside_2, other=0.0).to(tl.float32)
        t_1 = tl.exp(x_2 - max_1)
        y = t_1 / sum
        tl.store(y_ptr + row * M + r, y.to(y_ptr.dtype.element_ty), mask=inside_2)
)");
}

TEST(ReduceKernel, ColumnsLieInTheLastDimension) {
  EXPECT_EQ(bodyOf(R"(
N = size()
M = size()
x = input(fp32, [N, M], strides=[M, 1])
y = output(fp32, [M], strides=[1])
i = iterator(M)
r = iterator(N)
stage("t")
y[i] = sum[r](x[r, i])
)",
                   DimForm::Looped),
            R"(    col = (pid_col * BLOCK_Y + tl.arange(0, BLOCK_Y))[None, :]
    sum_lanes = tl.full((BLOCK_R, BLOCK_Y), 0.0, tl.float32)
    col_inside = col < M
    for start in range(0, N, BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R))[:, None]
        if WIDE:
            r = r.to(tl.int64)
        r_inside = r < N
        inside = r_inside & col_inside
        x = tl.load(x_ptr + col + r * M, mask=inside, other=0.0)
        sum_lanes = sum_lanes + x
    sum = tl.sum(sum_lanes, axis=0, keep_dims=True)
    tl.store(y_ptr + col, sum, mask=col_inside)
)");
}

TEST(ReduceKernel, EverythingIsOneDimension) {
  EXPECT_EQ(bodyOf(R"(
N = size()
x = input(i8, [N], strides=[1])
y = output(i64, [1], strides=[1])
z = output(i1, [1], strides=[1])
r = iterator(N)
stage("t")
y[0] = sum[r](cast(x[r], i64)) * cast(prod[r](x[r]), i64)
z[0] = any[r](x[r] > i8(3))
)",
                   DimForm::Whole),
            R"(    inside = r < N
    x = tl.load(x_ptr + r, mask=inside, other=0)
    x_1 = x.to(tl.int64)
    sum = tl.sum(x_1, axis=0, keep_dims=True)
    lanes = tl.where(inside, x, 1)
    prod = tl.reduce(lanes, axis=0, combine_fn=t_kernel_product, keep_dims=True).to(tl.int8)
    y = sum * tl.cast(prod, tl.int64)
    lanes_1 = tl.where(inside, (x > 3).to(tl.int32), 0)
    any = tl.max(lanes_1, axis=0, keep_dims=True) != 0
    tl.store(y_ptr + tl.full((1,), 0, tl.int32), y)
    tl.store(z_ptr + tl.full((1,), 0, tl.int32), any)
)");
}

// The stages that reductions become which cannot stay.
std::string parted(const std::string &stores) {
  Program read = program(R"(
N = size()
M = size()
K = size()
x = input(fp32, [N, M], strides=[M, 1])
w = input(fp32, [K], strides=[1])
b = input(fp32, [M], strides=[1])
n = input(i64, [N], strides=[1])
y = output(fp32, [N, M], strides=[M, 1])
z = output(fp32, [N, K], strides=[K, 1])
i = iterator(N)
j = iterator(M)
k = iterator(K)
r = iterator(M)
stage("t")
)" + stores + "\n");
  normalise(read);
  partition(read);
  const std::string first = stages(read);
  partition(read);
  EXPECT_EQ(stages(read), first) << "a second time";
  return first;
}

TEST(Partition, EqualAxesBecomeOne) {
  EXPECT_EQ(parted("y[i, j] = b[j] * max[r](x[i, r])"),
            "stage(\"t\")\ny[i, j] = b[j] * max[j](x[i, j])\n");
}

TEST(Partition, WhatEachRowWouldComputeAnewIsAStage) {
  EXPECT_EQ(parted("y[i, j] = x[i, j] / sum[k](w[k])"),
            "stage(\"t\")\nsaved[()] = sum[k](w[k])\nstage(\"t\")\n"
            "y_flat[i_j] = x_flat[i_j] / ref(saved[()])\n");
}

TEST(Partition, ReductionsThatVaryInOthersAreAStageWithTheirLike) {
  EXPECT_EQ(parted("t_1 = sum[r](x[i, r])\n"
                   "y[0, j] = sum[i](x[i, j] * t_1 - max[r](x[i, r] - t_1))"),
            "stage(\"t\")\nt_1 = x[i, r]\nt_2 = sum[r](t_1)\nsaved[i] = t_2\n"
            "saved_1[i] = max[r](t_1 - t_2)\nstage(\"t\")\n"
            "y[0, r] = sum[i]((t_1 * ref(saved[i])) - ref(saved_1[i]))\n");
}

TEST(Partition, WhatAnIndexFromMemoryPromisedUnderAConditionIsCompared) {
  EXPECT_EQ(parted("z[i, k] = w[k] * where(n[i] >= 0, sum[r](x[data(n[i], N), r]), 0.0)"),
            "stage(\"t\")\nt_1 = n[i]\n"
            "saved[i] = sum[r](where(logical_and(index(data(t_1, N)) >= 0, index(data(t_1, N)) < "
            "index(N)), x[data(t_1, N), r], 0.0))\n"
            "stage(\"t\")\nz[i, k] = w[k] * where(t_1 >= 0, ref(saved[i]), 0.0)\n");
}

} // namespace
} // namespace nereid::generator
