// SPDX-License-Identifier: Apache-2.0
// Kernels of pointwise programs against the programs' evaluator and the reference: what the emitter
// writes is run by the interpreter, with every access checked.
#include "lib/generator/normalise/Normalise.h"
#include "unittests/generator/lower/Chain.h"
#include "unittests/generator/lower/Rows.h"
#include "unittests/generator/program/Reading.h"
#include "unittests/generator/template/Expect.h"

#include <gtest/gtest.h>

namespace nereid::generator {
namespace {

class KernelRow : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, KernelRow, testing::ValuesIn(pointwiseRows()),
                         [](const auto &info) { return info.param; });

TEST_P(KernelRow, IsTheReference) {
  for (bool givesAll : {false, true}) {
    for (DType dtype :
         {DType::F64, DType::F32, DType::F16, DType::BF16, DType::I32, DType::I64, DType::I8}) {
      Sample sample = call(GetParam(), givesAll);
      if (auto op = rowOf(GetParam(), sample, dtype)) {
        expectReference(*op, sample, dtype, {RunOn::Interpreter, givesAll, !givesAll});
      }
    }
  }
}

TEST_P(KernelRow, IsTheReferenceOnTheCpu) {
  for (DType dtype : {DType::F32, DType::I32}) {
    Sample sample = call(GetParam(), true);
    if (auto op = rowOf(GetParam(), sample, dtype)) {
      expectReference(*op, sample, dtype, {RunOn::Cpu, false});
    }
  }
}

class KernelFuzz : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Sizes, KernelFuzz, testing::Bool(),
                         [](const auto &info) { return info.param ? "Symbols" : "Numbers"; });

TEST_P(KernelFuzz, ChainsComputeWhatCopiesCompute) {
  constexpr unsigned chains = 300;
  for (unsigned number = 0; number < chains; ++number) {
    SCOPED_TRACE("chain " + std::to_string(number));
    Chain chain(number, GetParam(), Steps::Pointwise);
    for (unsigned step = 0; step < 2 + number % 6; ++step) {
      chain.step();
    }
    chain.finish();
    normalise(chain.program);
    const RunOn on = number % 20 == 0 ? RunOn::Cpu : RunOn::Interpreter;
    auto memory = run(chain.program, chain.data(), {on, number % 4 != 0, number % 3 == 0});
    ASSERT_TRUE(bool(memory)) << memory.error().message << print(chain.program);
    ASSERT_EQ(memory->at("y"), chain.dense.elements) << print(chain.program);
  }
}

// X3 fails on products of three symbols, and Triton rounds towards zero. A longer run has found it.
TEST(KernelFuzz, ADivisionOfWhatMayBeNegative) {
  Chain chain(5670, true, Steps::Pointwise);
  for (unsigned step = 0; step < 8; ++step) {
    chain.step();
  }
  chain.finish();
  normalise(chain.program);
  auto memory = run(chain.program, chain.data(), {});
  ASSERT_TRUE(bool(memory)) << memory.error().message;
  EXPECT_EQ(memory->at("y"), chain.dense.elements);
}

// ---- against the evaluator ----

/// Gives each buffer strides that are symbols and leave gaps, before any pass looks at them.
void stretch(Program &program, EvaluationInput &input) {
  for (Buffer &buffer : program.buffers) {
    const std::vector<int64_t> symbols = *program.space.symbols.bind(input.sizes);
    std::vector<int64_t> sizes, from, to;
    for (size_t dim = 0; dim < buffer.sizes.size(); ++dim) {
      sizes.push_back(*buffer.sizes[dim].evaluate(symbols));
      from.push_back(*buffer.strides[dim].evaluate(symbols));
    }
    int64_t step = 2;
    for (size_t dim = 0; dim < sizes.size(); ++dim) { // the first dimension innermost
      to.push_back(step);
      step = step * sizes[dim] + 1;
      input.sizes.push_back(to.back());
      buffer.strides[dim] =
          program.space.symbols.add({buffer.name + "_stride_" + std::to_string(dim), 1});
    }
    auto given = input.memory.find(buffer.name);
    if (given == input.memory.end()) {
      continue;
    }
    std::vector<double> spread(static_cast<size_t>(step), 0);
    Dense::make(sizes, [&](const Dense::Position &at) {
      int64_t old = 0, now = 0;
      for (size_t dim = 0; dim < at.size(); ++dim) {
        old += at[dim] * from[dim];
        now += at[dim] * to[dim];
      }
      return spread[static_cast<size_t>(now)] = given->second[static_cast<size_t>(old)];
    });
    given->second = std::move(spread);
  }
}

TEST(KernelFuzz, ChainsOfAnyStrides) {
  for (unsigned number = 0; number < 150; ++number) {
    SCOPED_TRACE("chain " + std::to_string(number));
    Chain chain(number, number % 2 == 1, Steps::Pointwise);
    for (unsigned step = 0; step < 1 + number % 5; ++step) {
      chain.step();
    }
    chain.finish();
    EvaluationInput input = chain.data();
    stretch(chain.program, input);
    normalise(chain.program);
    expectEvaluated(chain.program, input, {});
    if (HasFailure()) {
      return;
    }
  }
}

struct Written {
  const char *name, *text;
  EvaluationInput input;
};

std::vector<Written> writtenPrograms() {
  return {
      {"RowsThatAreRead",
       R"(
N = size()
x = input(fp32, [5, 3], strides=[3, 1])
k = input(i32, [N], strides=[1])
y = output(fp32, [N, 3], strides=[3, 1])
i = iterator(N)
j = iterator(3)
stage("gather")
y[i, j] = x[data(k[i], 5), j] * 2.0
)",
       {{4}, {}, {{"x", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}}, {"k", {4, 0, 0, 2}}}}},
      {"RowsThatAreReadWhereTheyAre",
       R"(
x = input(fp32, [5], strides=[1])
k = input(i64, [6], strides=[1])
y = output(fp32, [6, 2], strides=[2, 1])
i = iterator(6)
j = iterator(2)
stage("gather")
t_1 = k[i]
y[i, j] = where(t_1 >= 0, where(index(j) < 1, x[data(t_1, 5)], 7.0), -1.0)
)",
       {{}, {}, {{"x", {1, 2, 3, 4, 5}}, {"k", {4, -100000000, 0, 2, -7, 1}}}}},
      {"RowsThatAreWritten",
       R"(
x = input(fp32, [4, 3], strides=[3, 1])
k = input(i64, [4], strides=[1])
y = output(fp32, [9, 3], strides=[3, 1])
i = iterator(4)
j = iterator(3)
stage("scatter")
y[data(k[i], 9), j] = x[i, j]
)",
       {{}, {}, {{"x", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}, {"k", {8, 0, 3, 1}}}}},
      {"SumsInMemory",
       R"(
x = input(fp32, [4, 3], strides=[3, 1])
y = inout(fp32, [3], strides=[1])
i = iterator(4)
j = iterator(3)
stage("accumulate")
store(y[j], x[i, j], monoid="sum")
)",
       {{}, {}, {{"x", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}, {"y", {100, 200, 300}}}}},
      {"TwoResultsAndAGuard",
       R"(
N = size()
x = inout(fp32, [N], strides=[1])
y = output(i64, [N], strides=[1])
i = iterator(N)
stage("both")
t_1 = x[i] + parameter("a", fp32)
store(x[i], t_1, guard=index(i) < 3)
y[i] = index(3*i + N) * 5
)",
       {{5}, {{"a", 0.5}}, {{"x", {0, 1, 2, 3, 4}}}}},
      {"StagesThroughMemory",
       R"(
N = size()
x = input(fp32, [N, 2], strides=[2, 1])
w = temporary(fp32, [2, N], strides=[N, 1])
y = output(fp32, [N], strides=[1])
i = iterator(N)
j = iterator(2)
k = iterator(N)
stage("turn")
w[j, i] = x[i, j] * 3.0
stage("add")
y[k] = ref(w[0, k]) + ref(w[1, -k + N - 1])
)",
       {{3}, {}, {{"x", {0, 1, 2, 3, 4, 5}}}}},
      {"SomethingOfNothing",
       R"(
x = input(fp64, [1], strides=[1])
y = output(fp64, [1], strides=[1])
z = output(fp64, [3], strides=[1])
i = iterator(3)
stage("one")
y[0] = exp(fp64(0.1)) + x[0]
stage("three")
z[i] = where(index(i) < 2, fp64(0.1), fp64(0.3))
)",
       {{}, {}, {{"x", {2}}}}},
      {"AllKindsOfBits",
       R"(
x = input(u8, [6], strides=[1])
y = output(i1, [6], strides=[1])
z = output(u8, [6], strides=[1])
i = iterator(6)
stage("bits")
t_1 = x[i]
y[i] = where(t_1 < u8(200), True, t_1 == u8(255))
z[i] = bitwise_xor(t_1, u8(255))
)",
       {{}, {}, {{"x", {0, 255, 200, 199, 254, 7}}}}},
      {"TriangleAndItsMirror",
       R"(
N = size()
x = input(fp32, [N, N], strides=[N, 1])
b = input(fp32, [N], strides=[1])
y = output(fp32, [N, N], strides=[N, 1])
i = iterator(N)
j = iterator(N)
stage("triangle")
y[i, j] = where(index(i - j) >= 0, x[i, j], x[j, i]) + where(index(i + j) < index(N - 1), b[j], -1.0)
)",
       {{3}, {}, {{"x", {0, 1, 2, 3, 4, 5, 6, 7, 8}}, {"b", {10, 20, 30}}}}},
      {"ConditionsOverOtherIterators",
       R"(
N = size()
x = input(fp32, [N], strides=[1])
y = output(fp32, [N, N], strides=[N, 1])
i = iterator(N)
j = iterator(N)
stage("t")
y[i, j] = where(index(i - j) >= 0, where(index(j) >= 1, x[i - 1], -1.0), -2.0)
)",
       {{3}, {}, {{"x", {5, 6, 7}}}}},
      {"PartOfAView",
       R"(
x = input(fp32, [4, 6], strides=[6, 1])
v = view(x, [3, 2], strides=[6, 2], offset=8)
y = output(fp32, [3, 2], strides=[2, 1])
i = iterator(3)
j = iterator(2)
stage("t")
y[i, j] = v[i, j]
)",
       {{}, {}, {{"x", {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                        12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}}}}},
  };
}

class WrittenProgram : public testing::TestWithParam<Written> {};
INSTANTIATE_TEST_SUITE_P(All, WrittenProgram, testing::ValuesIn(writtenPrograms()),
                         [](const auto &info) { return std::string(info.param.name); });

TEST_P(WrittenProgram, IsWhatTheEvaluatorSays) {
  Program written = program(GetParam().text);
  for (bool isNormalised : {false, true}) {
    if (isNormalised) {
      normalise(written);
    }
    for (bool isWide : {false, true}) {
      expectEvaluated(written, GetParam().input, {RunOn::Interpreter, true, isWide});
      expectEvaluated(written, GetParam().input, {RunOn::Cpu, isWide, isWide});
    }
  }
}

} // namespace
} // namespace nereid::generator
