// SPDX-License-Identifier: Apache-2.0
// join, split, cat, gather, histogram and umulhi: operations, types and refusals.
#include "EmitTest.h"

namespace nereid::language {
namespace {

/// The IR of the statements on x, a tile of 8 elements of the type, and i = 0 … 7.
std::string emitted(const std::string &body, const std::string &type = "i32") {
  return emitBody("p", "i = tl.arange(0, 8)\nx = tl.load(p + i)\n" + body, "*" + type).text;
}

std::string refused(const std::string &body, const std::string &code,
                    const std::string &type = "i32") {
  return refuseBody("p", "i = tl.arange(0, 8)\nx = tl.load(p + i)\n" + body, "*" + type, code);
}

void expectPart(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos) << "lacks " << part << ":\n" << text;
}

TEST(Rearrange, joinAddsALastDimension) {
  expectPart(emitted("y = tl.join(x, x + 1)\ntl.static_assert(y.shape[1] == 2)"), "tile.join %");
  emitted("y = tl.join(x, 0)\ntl.static_assert(y.dtype == tl.float16)", "fp16");
  emitted("y = tl.join(x[:, None], x[None, :])\ntl.static_assert(len(y.shape) == 3)\n"
          "tl.static_assert(y.shape[0] == 8 and y.shape[1] == 8 and y.shape[2] == 2)");
  emitted("y = tl.join(1, 2)\ntl.static_assert(len(y.shape) == 1 and y.shape[0] == 2)");
}

TEST(Rearrange, splitTakesTheLastDimensionApart) {
  expectPart(emitted("a, b = tl.split(x.reshape(4, 2))\ntl.static_assert(a.shape[0] == 4)\n"
                     "tl.static_assert(b.dtype == tl.int32)"),
             "tile.split %");
  emitted("a, b = tl.join(1.5, 2.5).split()\ntl.static_assert(len(a.shape) == 0)\n"
          "tl.store(p, a.to(tl.int32))");
  expectPart(refused("a, b = tl.split(x)", "E0215"),
             "expects a tile whose last dimension is 2, but got 8xi32 tile");
  refused("a, b = tl.split(3)", "E0215");
}

TEST(Rearrange, catPutsOneTileBehindTheOther) {
  emitted("y = tl.cat(x, x, can_reorder=True)\ntl.static_assert(y.shape[0] == 16)");
  emitted("y = tl.cat(x.reshape(2, 4), x.reshape(2, 4), dim=-1)\n"
          "tl.static_assert(y.shape[0] == 2 and y.shape[1] == 8)");
  expectPart(refused("y = tl.cat(x, tl.arange(0, 4))", "E0215"),
             "expects two tiles of one shape, but got 8xi32 tile and 4xi32 tile");
  expectPart(refused("y = tl.cat(x, i)", "E0204", "fp32"),
             "expects operands of one type, but got 8xf32 tile and 8xi32 tile");
  refused("y = tl.cat(x, x, dim=1)", "E0215");
  refused("y = tl.cat(1, 2)", "E0215");
}

TEST(Rearrange, gatherPicksAlongAnAxis) {
  expectPart(emitted("y = tl.gather(x, 7 - i, 0)\ntl.static_assert(y.dtype == tl.float16)", "fp16"),
             "tensor<8xf16>, tensor<8xi32> -> tensor<8xf16>");
  emitted("y = x.reshape(2, 4).gather(tl.zeros((2, 1), tl.int64), axis=-1)\n"
          "tl.static_assert(y.shape[0] == 2 and y.shape[1] == 1)");
  expectPart(emitted("y = tl.gather(x, x, 0)", "u8"), "arith.extui");
  expectPart(refused("y = tl.gather(x, x, 0)", "E0204", "fp32"), "'index' of 'gather' expects");
  expectPart(refused("y = tl.gather(x.reshape(2, 4), tl.zeros((4, 4), tl.int32), 1)", "E0215"),
             "expects equal sizes in all others, but got (2, 4) and (4, 4)");
  refused("y = tl.gather(x, i[None, :], 0)", "E0215");
  refused("y = tl.gather(x, i, 1)", "E0215");
  refused("y = tl.gather(3, 0, 0)", "E0215");
}

TEST(Rearrange, histogramCounts) {
  expectPart(emitted("y = tl.histogram(x, 4)\ntl.static_assert(y.dtype == tl.int32)", "i64"),
             "tile.histogram %");
  expectPart(emitted("y = x.histogram(256, mask=i < 5)", "u8"), "tensor<8xi32> -> tensor<256xi32>");
  refused("y = tl.histogram(x, 4)", "E0204", "fp32");
  refused("y = tl.histogram(x.reshape(2, 4), 4)", "E0215");
  refused("y = tl.histogram(x, 3)", "E0215");
  refused("y = tl.histogram(x, 4, mask=tl.arange(0, 4) < 2)", "E0213");
}

template <class T>
std::vector<T> highProducts(const std::string &type, DType dtype, const std::vector<T> &a,
                            const std::vector<T> &b) {
  Emitted kernel = emitBody("p, q, out",
                            "i = tl.arange(0, 4)\n"
                            "tl.store(out + i, tl.umulhi(tl.load(p + i), tl.load(q + i)))",
                            "*" + type + ", *" + type + ", *" + type);
  std::vector<T> left = a, right = b, out(4, 7);
  runtime::Tensor tensors[] = {tensorOf(left, dtype), tensorOf(right, dtype), tensorOf(out, dtype)};
  runKernel(kernel, {&tensors[0], &tensors[1], &tensors[2]});
  return out;
}

TEST(Rearrange, umulhiIsTheHighHalf) {
  using Narrow = std::vector<uint32_t>;
  using Wide = std::vector<uint64_t>;
  EXPECT_EQ(highProducts<uint32_t>("u32", DType::U32, {0xFFFFFFFF, 0x10000, 3, 0x80000000},
                                   {0xFFFFFFFF, 0x10000, 5, 6}),
            (Narrow{0xFFFFFFFE, 1, 0, 3}));
  const uint64_t top = ~uint64_t(0);
  EXPECT_EQ(highProducts<uint64_t>("u64", DType::U64, {top, uint64_t(1) << 32, 3, 1ULL << 63},
                                   {top, uint64_t(1) << 33, top, 6}),
            (Wide{top - 1, 2, 2, 3}));
  refused("y = tl.umulhi(x, x)", "E0204", "fp32");
  refused("y = tl.umulhi(x, x)", "E0204", "u16");
}

} // namespace
} // namespace nereid::language
