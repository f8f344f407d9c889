// SPDX-License-Identifier: Apache-2.0
// Tuples of arguments, shapes asked of types, and scalars indexed like tiles, by their results.
#include "unittests/emit/EmitTest.h"

namespace nereid::language {
namespace {

TEST(TupleParameter, PointersAreIndexedAndUnpacked) {
  Emitted kernel = emitBody("out, xs, n",
                            "a, b, c = xs\n"
                            "tl.static_assert(len(xs) == 3)\n"
                            "tl.static_assert(xs[1].dtype.element_ty == tl.int32)\n"
                            "i = tl.arange(0, 4)\n"
                            "s = tl.zeros((4,), tl.float32)\n"
                            "for k in tl.static_range(2):\n"
                            "    s += tl.load(xs[k] + i, mask=i < n)\n"
                            "tl.store(out + i, s * c)",
                            "*fp32, (*fp32, *i32, 10), i32");
  std::vector<float> out(4), x = {1, 2, 3, 4};
  std::vector<int32_t> y = {10, 20, 30, 40};
  runtime::Tensor outs = tensorOf(out, DType::F32), xs = tensorOf(x, DType::F32),
                  ys = tensorOf(y, DType::I32);
  ASSERT_TRUE(runKernel(kernel, {&outs, &xs, &ys, int64_t(4)}));
  EXPECT_EQ(out, (std::vector<float>{110, 220, 330, 440}));
  EXPECT_TRUE(kernel.has("name = \"xs[0]\"")) << kernel.text;
  EXPECT_TRUE(kernel.has("name = \"xs[1]\""));
  EXPECT_FALSE(kernel.has("name = \"xs[2]\""));
}

TEST(TupleParameter, AHelperTakesIt) {
  Emitted kernel =
      emitSource("import triton\nimport triton.language as tl\n"
                 "@triton.jit\ndef total(xs):\n    return tl.load(xs[0]) + tl.load(xs[1])\n"
                 "@triton.jit\ndef kernel(out, xs):\n    tl.store(out, total(xs))\n",
                 "*fp32, (*fp32, *fp32)");
  std::vector<float> out(1), x = {1}, y = {2};
  runtime::Tensor outs = tensorOf(out, DType::F32), xs = tensorOf(x, DType::F32),
                  ys = tensorOf(y, DType::F32);
  ASSERT_TRUE(runKernel(kernel, {&outs, &xs, &ys}));
  EXPECT_EQ(out[0], 3);
}

TEST(BlockShapes, AreAskedOfTheType) {
  emitBody("x",
           "v = tl.load(x + tl.arange(0, 8)[:, None] * 4 + tl.arange(0, 4)[None, :])\n"
           "tl.static_assert(v.type.get_block_shapes() == (8, 4))\n"
           "tl.static_assert(v.type.get_block_shapes()[1] == 4)",
           "*fp32");
  refuseBody("x", "s = tl.load(x).type.get_block_shapes()", "*fp32", "E0223");
}

TEST(ScalarIndexing, GivesTilesOfOneElement) {
  Emitted kernel = emitBody("out, n",
                            "tl.static_assert(n[:, None].shape == (1,))\n"
                            "tl.static_assert(n[None, :].shape == (1,))\n"
                            "tl.static_assert(n[None, None].shape == (1, 1))\n"
                            "tl.static_assert(n[None, None, :].shape == (1, 1))\n"
                            "at = tl.arange(0, 2)[:, None] * 2 + tl.arange(0, 2)[None, :]\n"
                            "tl.store(out + at, n[:, None] * 10 + at)",
                            "*i32, i32");
  std::vector<int32_t> out(4);
  runtime::Tensor outs = tensorOf(out, DType::I32);
  ASSERT_TRUE(runKernel(kernel, {&outs, int64_t(7)}));
  EXPECT_EQ(out, (std::vector<int32_t>{70, 71, 72, 73}));
}

} // namespace
} // namespace nereid::language
