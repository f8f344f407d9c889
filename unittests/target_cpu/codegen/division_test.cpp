// SPDX-License-Identifier: Apache-2.0
// Integer division by the divisors at which a processor stops: elements beside a zero, and a scalar
// zero, keep the launch going; the smallest number divided by -1 wraps.
#include "lib/pipeline/Compiler.h"
#include "lib/targets/cpu/CpuTarget.h"
#include "runtime/ThreadPool.h"
#include "unittests/target_cpu/LowerHarness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

using namespace nereid;
using namespace nereid::cpu::test;

using runtime::Tensor;

namespace {

const char *divide = R"(
@triton.jit
def kernel(x, y, quotient, remainder, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    a = tl.load(x + at, mask=at < n)
    b = tl.load(y + at, mask=at < n)
    tl.store(quotient + at, a // b, mask=at < n)
    tl.store(remainder + at, a % b, mask=at < n)
)";

/// What is wrong, empty when the kernel ran.
std::string launchOn(const std::string &target, const char *source, const std::string &signature,
                     const Arguments &arguments) {
  cpu::registerCpuTarget();
  Diagnostics diags;
  pipeline::CompileOptions options;
  options.target = target;
  options.useCache = false;
  auto kernel = pipeline::compileKernel({"k.py", "kernel", signature, source}, options, diags);
  if (!kernel) {
    return diags.render();
  }
  return runtime::launch(*kernel, {1, 1, 1}, arguments, runtime::defaultPool()).message;
}

/// Elements 0 … 9 are computed; what is masked off loads as 0 and is divided by 0.
template <class T> void checkDivision(DType type, const std::string &name) {
  constexpr T smallest = std::numeric_limits<T>::min(), largest = std::numeric_limits<T>::max();
  const T minusOne = static_cast<T>(-1);
  const std::vector<T> dividends = {7, smallest, largest, 5, smallest, 1, largest, 9, 0, 6};
  const std::vector<T> divisors = {2, minusOne, minusOne, 0, 0, 1, 3, minusOne, 0, smallest};
  Tensor x = Tensor::empty({16}, type), y = Tensor::empty({16}, type);
  Tensor quotient = randomTensor({16}, type, 1), remainder = randomTensor({16}, type, 2);
  for (size_t i = 0; i < 16; ++i) {
    x.as<T>()[i] = i < 10 ? dividends[i] : T(1);
    y.as<T>()[i] = i < 10 ? divisors[i] : T(0);
  }
  std::string p = "*" + name + ", ";
  for (const std::string &architecture : runnableArchitectures()) {
    std::string problem = launchOn("cpu:" + architecture, divide, p + p + p + p + "i32, 16",
                                   {&x, &y, &quotient, &remainder, int64_t{10}});
    ASSERT_EQ(problem, "") << architecture;
    for (size_t i = 0; i < 10; ++i) {
      if (divisors[i] == 0) {
        continue; // some number
      }
      // Wide enough that nothing overflows; cut back to the type, as integers wrap.
      __int128 q = static_cast<__int128>(dividends[i]) / divisors[i];
      __int128 r = static_cast<__int128>(dividends[i]) % divisors[i];
      EXPECT_EQ(quotient.as<T>()[i], static_cast<T>(q)) << name << " at " << i;
      EXPECT_EQ(remainder.as<T>()[i], static_cast<T>(r)) << name << " at " << i;
    }
  }
}

TEST(Division, NoDivisorStopsATile) {
  checkDivision<int8_t>(DType::I8, "i8");
  checkDivision<int16_t>(DType::I16, "i16");
  checkDivision<int32_t>(DType::I32, "i32");
  checkDivision<int64_t>(DType::I64, "i64");
  checkDivision<uint8_t>(DType::U8, "u8");
  checkDivision<uint32_t>(DType::U32, "u32");
  checkDivision<uint64_t>(DType::U64, "u64");
}

/// Quotients next to an integer: multiples of the divisor, and one less and more, over all sizes of
/// both; vectors of signed 32-bit numbers may be divided in float64.
TEST(Division, QuotientsNextToIntegersAreExact) {
  constexpr int64_t count = 4096;
  Tensor x = Tensor::empty({count}, DType::I32), y = Tensor::empty({count}, DType::I32);
  Tensor quotient = Tensor::empty({count}, DType::I32),
         remainder = Tensor::empty({count}, DType::I32);
  uint64_t state = 7;
  auto next = [&state] { // a linear congruential generator's upper bits
    state = state * 6364136223846793005 + 1442695040888963407;
    return static_cast<int64_t>(state >> 33);
  };
  for (int64_t i = 0; i < count; ++i) {
    const int64_t divisor = (next() >> (next() % 31)) + 1;
    const int64_t multiple = (next() / divisor) * divisor + next() % 3 - 1;
    const int64_t largest = std::numeric_limits<int32_t>::max();
    const int64_t dividend = std::min(multiple, largest);
    x.as<int32_t>()[i] = static_cast<int32_t>(i % 2 == 0 ? dividend : -dividend - 1);
    y.as<int32_t>()[i] = static_cast<int32_t>(i % 3 == 0 ? -divisor : divisor);
  }
  for (const std::string &architecture : runnableArchitectures()) {
    ASSERT_EQ(launchOn("cpu:" + architecture, divide, "*i32, *i32, *i32, *i32, i32, 4096",
                       {&x, &y, &quotient, &remainder, count}),
              "");
    for (int64_t i = 0; i < count; ++i) {
      const int64_t a = x.as<int32_t>()[i], b = y.as<int32_t>()[i];
      ASSERT_EQ(quotient.as<int32_t>()[i], static_cast<int32_t>(a / b)) << a << " / " << b;
      ASSERT_EQ(remainder.as<int32_t>()[i], static_cast<int32_t>(a % b)) << a << " % " << b;
    }
  }
}

TEST(Division, NoDivisorStopsAScalar) {
  const char *scalar = R"(
@triton.jit
def kernel(out, a, b):
    tl.store(out, a // b)
    tl.store(out + 1, a % b)
)";
  Tensor out = Tensor::empty({2}, DType::I32);
  int64_t smallest = std::numeric_limits<int32_t>::min();
  EXPECT_EQ(launchOn("cpu", scalar, "*i32, i32, i32", {&out, int64_t{5}, int64_t{0}}), "");
  EXPECT_EQ(launchOn("cpu", scalar, "*i32, i32, i32", {&out, smallest, int64_t{-1}}), "");
  EXPECT_EQ(out.as<int32_t>()[0], smallest);
  EXPECT_EQ(out.as<int32_t>()[1], 0);
}

} // namespace
