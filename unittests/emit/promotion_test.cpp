// SPDX-License-Identifier: Apache-2.0
// Type promotion: the table is written out from the language's rules, not computed by the emitter.
// Each case asks the emitter itself with tl.static_assert on the dtype of a result.
#include "EmitTest.h"

namespace nereid::language {
namespace {

struct Case {
  const char *left, *op, *right, *result; ///< types of tiles; "" + literal for constants
};

std::string operand(const std::string &text) {
  bool isType = text.rfind("tl.", 0) == 0;
  return isType ? "tl.zeros((4,), " + text + ")" : text;
}

class Promotion : public testing::TestWithParam<Case> {};

TEST_P(Promotion, givesTheType) {
  const Case &each = GetParam();
  emitBody("p",
           "x = " + operand(each.left) + " " + each.op + " " + operand(each.right) +
               "\ntl.static_assert(x.dtype == " + each.result + ")",
           "*fp32");
}

INSTANTIATE_TEST_SUITE_P(Tiles, Promotion,
                         testing::Values(Case{"tl.int8", "+", "tl.int16", "tl.int16"},
                                         Case{"tl.int32", "+", "tl.int8", "tl.int32"},
                                         Case{"tl.uint8", "+", "tl.int8", "tl.uint8"},
                                         Case{"tl.uint8", "+", "tl.int16", "tl.int16"},
                                         Case{"tl.uint32", "*", "tl.int32", "tl.uint32"},
                                         Case{"tl.int64", "-", "tl.uint32", "tl.int64"},
                                         Case{"tl.uint64", "+", "tl.int64", "tl.uint64"},
                                         Case{"tl.int1", "+", "tl.int32", "tl.int32"},
                                         Case{"tl.int32", "+", "tl.float16", "tl.float16"},
                                         Case{"tl.int64", "*", "tl.bfloat16", "tl.float32"},
                                         Case{"tl.float16", "+", "tl.bfloat16", "tl.float16"},
                                         Case{"tl.bfloat16", "+", "tl.bfloat16", "tl.bfloat16"},
                                         Case{"tl.float16", "+", "tl.float32", "tl.float32"},
                                         Case{"tl.float32", "+", "tl.float64", "tl.float64"},
                                         Case{"tl.float16", "/", "tl.float16", "tl.float32"},
                                         Case{"tl.bfloat16", "/", "tl.bfloat16", "tl.float32"},
                                         Case{"tl.int32", "/", "tl.int32", "tl.float32"},
                                         Case{"tl.int64", "/", "tl.int64", "tl.float32"},
                                         Case{"tl.float64", "/", "tl.int32", "tl.float64"},
                                         Case{"tl.int64", "//", "tl.int32", "tl.int64"},
                                         Case{"tl.int8", "&", "tl.int16", "tl.int16"},
                                         Case{"tl.int32", "<", "tl.int64", "tl.int1"},
                                         Case{"tl.float16", "!=", "tl.float32", "tl.int1"}));

INSTANTIATE_TEST_SUITE_P(
    Literals, Promotion,
    testing::Values(
        Case{"tl.float16", "*", "0.5", "tl.float16"}, Case{"0.5", "*", "tl.float16", "tl.float16"},
        Case{"tl.bfloat16", "+", "2", "tl.bfloat16"}, Case{"tl.float16", "/", "2", "tl.float32"},
        Case{"tl.int8", "+", "1", "tl.int8"}, Case{"tl.uint8", "+", "255", "tl.uint8"},
        Case{"tl.int32", "+", "1.0", "tl.float32"}, Case{"tl.int64", "*", "2", "tl.int64"},
        Case{"tl.int1", "+", "1", "tl.int32"}, Case{"tl.float64", "+", "1e300", "tl.float64"},
        Case{"tl.float32", "+", "1e300", "tl.float32"}, Case{"tl.int8", "&", "1", "tl.int8"},
        Case{"tl.int64", "<<", "1", "tl.int64"}, Case{"tl.uint8", ">>", "4", "tl.uint8"},
        Case{"1", "<<", "tl.int16", "tl.int16"}, Case{"tl.int1", "+", "1.5", "tl.float32"}));

TEST(Promotion, variableWithANumberIsNoLiteral) {
  emitBody("p",
           "scale = 0.5\nx = tl.zeros((4,), tl.float16) * scale\n"
           "tl.static_assert(x.dtype == tl.float32)",
           "*fp32");
}

TEST(Promotion, constexprStaysALiteral) {
  emitBody("p, S: tl.constexpr",
           "scale: tl.constexpr = 0.5\nx = tl.zeros((4,), tl.float16) * scale * S\n"
           "tl.static_assert(x.dtype == tl.float16)",
           "*fp32, 2.0");
}

TEST(Promotion, literalOutsideTheTypeIsRefused) {
  std::string text = refuseBody("p", "x = tl.zeros((4,), tl.int8) + 300", "*fp32", "E0222");
  EXPECT_NE(text.find("-128 to 127"), std::string::npos) << text;
  refuseBody("p", "x = tl.zeros((4,), tl.uint8) - (-1)", "*fp32", "E0222");
  refuseBody("p", "x = tl.zeros((4,), tl.int8) & 255", "*fp32", "E0222");
  refuseBody("p", "x = tl.zeros((4,), tl.uint32) ^ -1", "*fp32", "E0222");
  refuseBody("p", "x = tl.full((4,), -1, tl.uint32)", "*fp32", "E0222");
  refuseBody("p", "x = tl.full((4,), 0.5, tl.int32)", "*fp32", "E0222");
  refuseBody("p", "x = tl.full((4,), float('-inf'), tl.int64)", "*fp32", "E0222");
  emitBody("p", "x = tl.full((4,), 0.0, tl.int32)\ny = tl.full((4,), -1, tl.int8)", "*fp32");
}

TEST(Promotion, comparisonsAndFunctionsMakeAScalarOfALiteral) {
  emitBody("p",
           "x = tl.zeros((4,), tl.int8)\ny = tl.zeros((4,), tl.float16)\n"
           "tl.static_assert((x < 300).dtype == tl.int1)\n"
           "tl.static_assert((tl.zeros((4,), tl.uint8) > -1).dtype == tl.int1)\n"
           "tl.static_assert(tl.maximum(x, 300).dtype == tl.int32)\n"
           "tl.static_assert(tl.minimum(0.5, y).dtype == tl.float32)\n"
           "tl.static_assert(tl.clamp(y, 0.0, 1.0).dtype == tl.float32)\n"
           "z = tl.zeros((4,), tl.bfloat16)\n"
           "tl.static_assert(tl.maximum(z, z).dtype == tl.float32)\n"
           "tl.static_assert(tl.where(x == 0, z, 0.0).dtype == tl.bfloat16)",
           "*fp32");
}

TEST(Promotion, signedShiftByAnUnsignedAmountCopiesTheSign) {
  Emitted kernel =
      emitBody("x, n", "tl.store(x, (tl.load(x) >> n.to(tl.uint16)).to(tl.int32))", "*i16, i32");
  EXPECT_TRUE(kernel.has("arith.shrsi")) << kernel.text;
  EXPECT_FALSE(kernel.has("arith.shrui")) << kernel.text;
}

TEST(Promotion, signedDividedByUnsignedIsRefused) {
  refuseBody("p", "x = tl.zeros((4,), tl.int32) // tl.zeros((4,), tl.uint32)", "*fp32", "E0228");
  // a truth value counts as unsigned
  refuseBody("p", "x = tl.zeros((4,), tl.int1) / tl.zeros((4,), tl.int32)", "*fp32", "E0228");
  refuseBody("p", "x = tl.zeros((4,), tl.int1) // 2", "*fp32", "E0228");
  emitBody("p",
           "x = tl.zeros((4,), tl.int1) // tl.zeros((4,), tl.uint8)\n"
           "tl.static_assert(x.dtype == tl.uint8)",
           "*fp32");
}

TEST(Promotion, largeLiteralsTakeTheirSize) {
  emitBody("p",
           "a = 3000000000\ntl.static_assert(a.dtype == tl.uint32)\n"
           "b = 0x7fffffff00000000\ntl.static_assert(b.dtype == tl.int64)\n"
           "c = 0xffffffffffffffff\ntl.static_assert(c.dtype == tl.uint64)\n"
           "d = -2147483648\ntl.static_assert(d.dtype == tl.int32)\n"
           "e = 1e-50\ntl.static_assert(e.dtype == tl.float64)",
           "*fp32");
}

} // namespace
} // namespace nereid::language
