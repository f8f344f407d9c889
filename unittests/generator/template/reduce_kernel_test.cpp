// SPDX-License-Identifier: Apache-2.0
// Kernels of programs that reduce against the reference and the programs' evaluator, whole and
// looped, run by the interpreter with every access checked and in part on the CPU.
#include "lib/generator/normalise/Normalise.h"
#include "unittests/generator/lower/Chain.h"
#include "unittests/generator/program/Reading.h"
#include "unittests/generator/template/Expect.h"

#include <gtest/gtest.h>

#include <cmath>

namespace nereid::generator {
namespace {

constexpr const char *cube = "[inputs.x]\nshape = [\"B\", \"N\", \"M\"]\n";
constexpr double notANumber = NAN;

const std::vector<RunOptions> &interpreted() {
  static const std::vector<RunOptions> all = {{RunOn::Interpreter, true, false, false},
                                              {RunOn::Interpreter, true, true, true},
                                              {RunOn::Interpreter, false, false, true},
                                              {RunOn::Interpreter, true, false, false, true}};
  return all;
}
const std::vector<RunOptions> &compiled() {
  static const std::vector<RunOptions> all = {{RunOn::Cpu, false, false, false},
                                              {RunOn::Cpu, true, true, true},
                                              {RunOn::Cpu, false, false, false, true}};
  return all;
}

// ---- rows of the table ----

struct Reduced {
  const char *arguments, *out;
};
constexpr Reduced overDims[] = {
    {"dim=-1", "\"B\", \"N\""},
    {"dim=0", "\"N\", \"M\""},
    {"dim=1, keepdim=True", "\"B\", 1, \"M\""},
    {"dim=(0, 2)", "\"N\""},
    {"dim=(1, 2)", "\"B\""},
    {"dim=(0, 1)", "\"M\""},
    {"dim=(0, 1, 2)", ""},
};

class ReductionRow : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, ReductionRow,
                         testing::Values("sum", "mean", "prod", "amax", "amin", "var", "std"),
                         [](const auto &info) { return info.param; });

/// Calls of the row over all dimensions, for all types that take it.
void expectRow(const std::string &name, const std::vector<int64_t> &shape,
               const std::vector<DType> &dtypes, const std::vector<RunOptions> &options) {
  const bool isFloatOnly = name == "mean" || name == "var" || name == "std";
  for (const Reduced &each : overDims) {
    if (name == "prod" && std::string(each.arguments).find(", 2") != std::string::npos) {
      continue; // one dimension, as in PyTorch
    }
    if (name == "prod" && std::string(each.arguments).find("(") != std::string::npos) {
      continue;
    }
    for (DType dtype : dtypes) {
      if (isFloatOnly && !isFloat(dtype)) {
        continue;
      }
      const bool isWidened = !isFloat(dtype) && (name == "sum" || name == "prod");
      const Sample sample{
          "out = torch." + name + "(x, " + each.arguments + ")", cube, each.out, {shape}, shape};
      const definition::Operator op =
          made(sample.body, sample.inputs, each.out, "\"" + std::string(torchName(dtype)) + "\"",
               isWidened ? "int64" : "");
      for (const RunOptions &option : options) {
        SCOPED_TRACE(std::string(option.isSplit ? "split" : option.isLooped ? "looped" : "whole"));
        expectReference(op, sample, dtype, option);
      }
    }
  }
}

TEST_P(ReductionRow, IsTheReference) {
  expectRow(GetParam(), {3, 5, 7},
            {DType::F64, DType::F32, DType::F16, DType::BF16, DType::I32, DType::I64, DType::I8},
            interpreted());
}

TEST_P(ReductionRow, SizesOfOne) {
  if (GetParam() != "var" && GetParam() != "std") { // of one element: NaN
    expectRow(GetParam(), {1, 1, 9}, {DType::F32, DType::I8}, interpreted());
    expectRow(GetParam(), {2, 9, 1}, {DType::F32, DType::I32}, interpreted());
  }
}

/// Where a launch on a device finds whole blocks along a dimension, it drops that dimension's
/// masks.
TEST_P(ReductionRow, WholeBlocksOfADevice) {
  std::vector<RunOptions> options(4);
  for (size_t i = 0; i < options.size(); ++i) {
    options[i].site.isDevice = true;
    options[i].isLooped = i % 2 == 1;
    options[i].hasSmallBlocks = i < 2;
  }
  for (const std::vector<int64_t> &shape :
       {std::vector<int64_t>{4, 8, 16}, {3, 8, 7}, {4, 5, 8}, {2, 1, 3}}) {
    expectRow(GetParam() == "std" || GetParam() == "var" ? "mean" : GetParam(), shape,
              {DType::F32, DType::I8}, options);
  }
}

TEST_P(ReductionRow, IsTheReferenceOnTheCpu) {
  expectRow(GetParam(), {3, 5, 7}, {DType::F32, DType::I32}, compiled());
}

TEST(ReductionKernel, Composites) {
  const std::vector<std::string> bodies = {
      "out = F.softmax(x, dim=-1)",
      "out = F.softmax(x, dim=0)",
      "out = F.log_softmax(x, dim=1)",
      "out = F.layer_norm(x, (M,))",
      "out = F.rms_norm(x, (M,))",
      "out = x - torch.logsumexp(x, dim=0, keepdim=True)",
      "out = x - x.sum(dim=-1).unsqueeze(-1) * x.sum(dim=0).unsqueeze(0)",
      "out = x / x.sum()",
      "out = x * (x * x.sum(dim=-1, keepdim=True)).sum(dim=0, keepdim=True)",
      "out = (x - x.mean()) / x.std()",
      "out = (x > x.mean(dim=0, keepdim=True)) * x",
  };
  for (const std::string &body : bodies) {
    const Sample sample{
        body, "[inputs.x]\nshape = [\"N\", \"M\"]\n", "\"N\", \"M\"", {{3, 5}}, {3, 5}};
    for (const char *type : {"float64", "float32"}) {
      const definition::Operator op =
          made(body, sample.inputs, sample.outShape, "\"" + std::string(type) + "\"");
      const DType dtype = *parseDType(type);
      for (const RunOptions &options : interpreted()) {
        expectReference(op, sample, dtype, options);
      }
      expectReference(op, sample, dtype, compiled()[1]);
    }
  }
}

// ---- written programs ----

struct Written {
  const char *name, *text;
  EvaluationInput input;
  double tolerance = 0;
};

std::vector<double> counted(size_t count, double from = 0) {
  std::vector<double> result(count);
  for (size_t i = 0; i < count; ++i) {
    result[i] = from + static_cast<double>(i * 7 % 11);
  }
  return result;
}

std::vector<Written> writtenPrograms() {
  const std::vector<double> withNans = {3, 1, 3, 2, 0,  5, notANumber, 5, notANumber, 9,
                                        2, 2, 2, 2, -4, 4, 7,          7, 1,          0};
  return {
      {"FirstOfTheLargest",
       R"(
N = size()
M = size()
x = input(fp32, [N, M], strides=[M, 1])
y = output(fp32, [N], strides=[1])
z = output(i64, [N], strides=[1])
w = output(i64, [N], strides=[1])
m = output(fp32, [N], strides=[1])
i = iterator(N)
r = iterator(M)
stage("t")
t_1 = argmax[r](x[i, r], index(r))
t_2 = argmin[r](x[i, r], index(r))
y[i] = pick(t_1, 0)
z[i] = pick(t_1, 1)
w[i] = pick(t_2, 1)
m[i] = min[r](x[i, r])
)",
       {{4, 5}, {}, {{"x", withNans}}}},
      {"FirstOfTheLargestInOneLane", // four positions apart, as far as blocks are
       R"(
N = size()
M = size()
x = input(fp32, [N, M], strides=[M, 1])
z = output(i64, [N], strides=[1])
w = output(i64, [N], strides=[1])
i = iterator(N)
r = iterator(M)
stage("t")
z[i] = pick(argmax[r](x[i, r], index(r)), 1)
w[i] = pick(argmin[r](x[i, r], index(r)), 1)
)",
       {{2, 9},
        {},
        {{"x", {7, 1, 2, 2, 7, 1, 3, 3, 7, 1, 1, notANumber, 1, 1, 1, 1, notANumber, 1}}}}},
      {"ColumnsFirstOfTheLargest",
       R"(
N = size()
M = size()
x = input(i16, [N, M], strides=[M, 1])
z = output(i64, [M], strides=[1])
i = iterator(M)
r = iterator(N)
stage("t")
z[i] = pick(argmax[r](x[r, i], index(r)), 1)
)",
       {{4, 5}, {}, {{"x", {3, 1, 3, 2, 0, 5, 5, 5, 4, 9, 2, 2, 2, 2, -4, 4, 7, 7, 1, 0}}}}},
      {"MomentsInOnePass",
       R"(
N = size()
M = size()
x = input(fp64, [N, M], strides=[M, 1])
y = output(fp64, [N], strides=[1])
z = output(fp64, [N], strides=[1])
i = iterator(N)
r = iterator(M)
stage("t")
t_1 = welford[r](fp64(1.0), x[i, r], fp64(0.0), fp64(0.0))
y[i] = pick(t_1, 1) + pick(t_1, 2) / pick(t_1, 0)
z[i] = pick(t_1, 3) / pick(t_1, 0)
)",
       {{3, 7}, {}, {{"x", counted(21, 100)}}},
       1e-12},
      {"MomentsOfParts", // of two elements each, about the first one
       R"(
N = size()
M = size()
x = input(fp64, [N, M], strides=[M, 1])
w = input(fp64, [N, M], strides=[M, 1])
y = output(fp64, [N], strides=[1])
z = output(fp64, [N], strides=[1])
i = iterator(N)
r = iterator(M)
stage("t")
t_1 = w[i, r] - x[i, r]
t_2 = welford[r](fp64(2.0), x[i, r], t_1, t_1*t_1)
y[i] = pick(t_2, 1) + pick(t_2, 2) / pick(t_2, 0)
z[i] = pick(t_2, 3) - pick(t_2, 2)*pick(t_2, 2)/pick(t_2, 0)
)",
       {{3, 7}, {}, {{"x", counted(21, 100)}, {"w", counted(21, 3)}}},
       1e-12},
      {"SoftmaxOfNan", // whose maximum passes over it, and whose sum does not
       R"(
N = size()
M = size()
x = input(fp64, [N, M], strides=[M, 1])
y = output(fp64, [N, M], strides=[M, 1])
i = iterator(N)
r = iterator(M)
stage("t")
t_1 = exp(x[i, r] - max[r](x[i, r]))
y[i, r] = t_1 / sum[r](t_1)
)",
       {{4, 5}, {}, {{"x", {3,          1, 3, 2, 0, 5, notANumber, 5, 1, 9,
                            notANumber, 1, 1, 1, 1, 2, 1,          4, 0, notANumber}}}},
       1e-12},
      {"SumOfExponentials",
       R"(
N = size()
M = size()
x = input(fp64, [N, M], strides=[M, 1])
y = output(fp64, [N], strides=[1])
i = iterator(N)
r = iterator(M)
stage("t")
t_1 = logsumexp[r](x[i, r], fp64(1.0))
y[i] = pick(t_1, 0) + log(pick(t_1, 1))
)",
       {{2, 7}, {}, {{"x", counted(14, 1000)}}},
       1e-12},
      {"BoolsAndBits",
       R"(
N = size()
M = size()
x = input(i32, [N, M], strides=[M, 1])
y = output(i1, [N], strides=[1])
z = output(i1, [N], strides=[1])
w = output(i32, [N], strides=[1])
v = output(i64, [N], strides=[1])
i = iterator(N)
r = iterator(M)
stage("t")
y[i] = any[r](x[i, r] > i32(8))
z[i] = all[r](x[i, r] < i32(9))
w[i] = xor[r](x[i, r])
v[i] = sum[r](cast(x[i, r] > i32(4), i64)) * prod[r](cast(x[i, r], i64) + i64(1))
)",
       {{3, 5}, {}, {{"x", {1, 2, 3, 4, 5, 9, 8, 7, 6, 5, 10, 10, 1, 0, 8}}}}},
      {"NarrowIntegersWrap",
       R"(
M = size()
x = input(u8, [3, M], strides=[M, 1])
y = output(u8, [3], strides=[1])
z = output(u8, [3], strides=[1])
w = output(u8, [3], strides=[1])
i = iterator(3)
r = iterator(M)
stage("t")
y[i] = bitwise_and(sum[r](x[i, r]), u8(127))
z[i] = max[r](x[i, r])
w[i] = min[r](x[i, r])
)",
       {{4}, {}, {{"x", {10, 20, 30, 0, 5, 7, 9, 1, 255, 0, 0, 0}}}}},
      {"ConditionsAroundAReduction",
       R"(
N = size()
x = input(fp32, [N, 4], strides=[4, 1])
y = output(fp32, [N, 4], strides=[4, 1])
i = iterator(N)
j = iterator(4)
stage("t")
y[i, j] = where(index(j) >= 2, sum[j](x[i, j]) + where(index(i) >= 1, max[j](x[i - 1, j]), 7.0), x[i, j])
)",
       {{3}, {}, {{"x", counted(12)}}}},
      {"AConditionOfAnotherIteratorOfItsName", // that a promised index would rest on
       R"(
N = size()
x = input(fp32, [N, 4], strides=[4, 1])
k = input(i64, [4], strides=[1])
y = output(fp32, [N, 4], strides=[4, 1])
i = iterator(N)
j = iterator(4)
stage("t")
y[i, j] = where(index(j) >= 2, sum[j](x[i, data(k[j], 4)]), x[i, j])
)",
       {{3}, {}, {{"x", counted(12)}, {"k", {3, 0, 0, 2}}}}},
      {"ConditionsOfItsOwnAndAround",
       R"(
N = size()
x = input(fp32, [N], strides=[1])
y = output(fp32, [N, N], strides=[N, 1])
i = iterator(N)
j = iterator(N)
stage("t")
y[i, j] = where(index(j) < 2, sum[j](where(index(j) < 2, x[j + 1], x[i])), -1.0)
)",
       {{4}, {}, {{"x", {5, 6, 7, 9}}}}},
      {"RowsAtIndicesFromMemory",
       R"(
N = size()
M = size()
x = input(fp32, [6, M], strides=[M, 1])
k = input(i64, [N], strides=[1])
y = output(fp32, [N], strides=[1])
i = iterator(N)
r = iterator(M)
stage("t")
y[i] = where(k[i] >= 0, sum[r](x[data(k[i], 6), r]), -1.0)
)",
       {{4, 3}, {}, {{"x", counted(18)}, {"k", {5, -3, 0, 2}}}}},
      {"InPlace",
       R"(
N = size()
M = size()
x = inout(fp32, [N, M], strides=[M, 1])
i = iterator(N)
j = iterator(M)
stage("t")
x[i, j] = x[i, j] - max[j](x[i, j])
)",
       {{3, 5}, {}, {{"x", counted(15)}}}},
      {"RowsThatOtherRowsNeed",
       R"(
N = size()
M = size()
x = input(fp32, [N, M], strides=[M, 1])
g = output(fp32, [M], strides=[1])
i = iterator(N)
j = iterator(M)
r = iterator(M)
stage("t")
t_1 = sum[r](x[i, r])
t_2 = max[r](x[i, r] - t_1)
g[j] = sum[i](x[i, j] * t_1 + t_2)
)",
       {{3, 5}, {}, {{"x", counted(15)}}}},
      {"OverDifferentBuffers",
       R"(
N = size()
M = size()
K = size()
x = input(fp32, [N, M], strides=[M, 1])
w = input(fp32, [K], strides=[1])
b = input(fp32, [M], strides=[1])
y = output(fp32, [N], strides=[1])
z = output(fp32, [N, M], strides=[M, 1])
i = iterator(N)
j = iterator(M)
r = iterator(M)
s = iterator(M)
k = iterator(K)
stage("t")
y[i] = sum[r](x[i, r]) * sum[s](b[s]) + max[k](w[k])
stage("u")
z[i, j] = b[j] * sum[r](x[i, r]) + sum[k](w[k])
)",
       {{3, 5, 4}, {}, {{"x", counted(15)}, {"w", counted(4, 2)}, {"b", counted(5, 1)}}}},
      {"APackedRowOfTwo",
       R"(
N = size()
C = size()
P = size()
x = input(fp32, [N, C, P], strides=[C*P, P, 1])
w = input(fp32, [P], strides=[1])
y = output(fp32, [C], strides=[1])
z = output(fp32, [C], strides=[1])
c = iterator(C)
n = iterator(N)
p = iterator(P)
stage("t")
y[c] = sum[n, p](x[n, c, p] * w[p])
z[c] = max[n, p](x[n, c, p] - cast(index(p), fp32))
)",
       {{2, 3, 5}, {}, {{"x", counted(30)}, {"w", counted(5)}}}},
      {"AccumulatedSums",
       R"(
N = size()
M = size()
x = input(fp32, [N, M], strides=[M, 1])
y = inout(fp32, [1], strides=[1])
i = iterator(N)
r = iterator(M)
stage("t")
store(y[0], sum[r](x[i, r]), monoid="sum", guard=max[r](x[i, r]) > 9.0)
)",
       {{3, 5}, {}, {{"x", counted(15)}, {"y", {100}}}}},
      {"NothingIsTheIdentity",
       R"(
N = size(low=0)
x = input(fp32, [N], strides=[1])
y = output(fp32, [1], strides=[1])
z = output(i1, [1], strides=[1])
r = iterator(N)
stage("t")
y[0] = sum[r](x[r]) + prod[r](x[r]) * 2.0
z[0] = all[r](x[r] > 1.0)
)",
       {{0}, {}, {{"x", {}}}}},
  };
}

class WrittenReduction : public testing::TestWithParam<Written> {};
INSTANTIATE_TEST_SUITE_P(All, WrittenReduction, testing::ValuesIn(writtenPrograms()),
                         [](const auto &info) { return std::string(info.param.name); });

TEST_P(WrittenReduction, IsWhatTheEvaluatorSays) {
  for (bool isNormalised : {false, true}) {
    for (const std::vector<RunOptions> &list : {interpreted(), compiled()}) {
      for (const RunOptions &options : list) {
        Program written = program(GetParam().text);
        if (isNormalised) {
          normalise(written);
        }
        expectEvaluated(written, GetParam().input, options, GetParam().tolerance);
      }
    }
  }
}

// ---- random chains ----

class ReductionFuzz : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Sizes, ReductionFuzz, testing::Bool(),
                         [](const auto &info) { return info.param ? "Symbols" : "Numbers"; });

TEST_P(ReductionFuzz, ChainsComputeWhatCopiesCompute) {
  constexpr unsigned chains = 300;
  for (unsigned number = 0; number < chains; ++number) {
    SCOPED_TRACE("chain " + std::to_string(number));
    Chain chain(number, GetParam(), Steps::Reductions);
    for (unsigned step = 0; step < 2 + number % 5; ++step) {
      chain.step();
    }
    chain.finish();
    normalise(chain.program);
    const RunOn on = number % 20 == 0 ? RunOn::Cpu : RunOn::Interpreter;
    auto memory =
        run(chain.program, chain.data(), {on, number % 4 != 0, number % 3 == 0, number % 2 == 0});
    ASSERT_TRUE(bool(memory)) << memory.error().message << print(chain.program);
    ASSERT_EQ(memory->at("y"), chain.dense.elements)
        << print(chain.program) << textOf(chain.program);
  }
}

} // namespace
} // namespace nereid::generator
