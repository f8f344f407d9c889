// SPDX-License-Identifier: Apache-2.0
// Divisions of integers of 8 and 16 bits: no routine is called for them, and the reciprocal that
// takes its place is near enough.
#include "unittests/target_nvidia/Ptx.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace nereid::nvidia;

namespace {

/// Of `out[i] = value`, where x, y are loaded from two tensors of the type.
std::string ptxOfIntegers(const std::string &value, const std::string &type) {
  return ptxOfText("@triton.jit\n"
                   "def k(a, b, out):\n"
                   "    i = tl.arange(0, 128)\n"
                   "    x = tl.load(a + i)\n"
                   "    y = tl.load(b + i)\n"
                   "    tl.store(out + i, " +
                       value + ")\n",
                   "a=*" + type + ":16, b=*" + type + ":16, out=*" + type + ":16");
}

int countOfRoutines(const std::string &ptx) { return countOf(ptx, "rem.") + countOf(ptx, "div."); }

} // namespace

TEST(NvidiaSmallDivisions, TakeOneReciprocalAndNoRoutine) {
  for (const char *type : {"i8", "u8", "i16", "u16"}) {
    for (const char *value : {"x % y", "x // y"}) {
      const std::string ptx = ptxOfIntegers(value, type);
      EXPECT_EQ(countOfRoutines(ptx), 0) << type << " " << value << ptx;
      EXPECT_EQ(countOf(ptx, "rcp.approx.ftz.f32"), 1) << type << " " << value << ptx;
      EXPECT_EQ(countOf(ptx, "fma.rm.f32"), 1) << type << " " << value << ptx;
    }
  }
}

TEST(NvidiaSmallDivisions, AreNoneOfWideIntegersAndByConstants) {
  for (const char *type : {"i32", "u32", "i64"}) {
    const std::string ptx = ptxOfIntegers("x % y", type);
    EXPECT_GE(countOfRoutines(ptx), 1) << type << ptx;
    EXPECT_EQ(countOf(ptx, "rcp."), 0) << type << ptx;
  }
  EXPECT_EQ(countOf(ptxOfIntegers("x % 7", "i8"), "rcp."), 0);
}

/// The sum of the code, with reciprocals that are off by a unit in the last place.
TEST(NvidiaSmallDivisions, AreExactWithReciprocalsThatAreOff) {
  auto quotientOf = [](int a, float inverse) {
    const double product = (a + 0.5) * static_cast<double>(inverse); // exact
    return static_cast<int>(std::floor(product));
  };
  for (int b = 1; b < 65536; b += b < 300 ? 1 : 97) {
    const auto nearest = static_cast<float>(1.0 / b);
    for (float inverse :
         {std::nextafter(nearest, 0.0f), nearest, std::nextafter(nearest, INFINITY)}) {
      int wrong = 0;
      for (int multiple = 0; multiple < 65536; multiple += b) {
        wrong += quotientOf(multiple, inverse) != multiple / b;
        wrong += multiple > 0 && quotientOf(multiple - 1, inverse) != (multiple - 1) / b;
      }
      EXPECT_EQ(wrong, 0) << "by " << b;
    }
  }
}
