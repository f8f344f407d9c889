// SPDX-License-Identifier: Apache-2.0
// Block pointers and tensor descriptors: what they become, and what is refused. Their values are
// compared in test/language.
#include "EmitTest.h"

namespace nereid::language {
namespace {

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

const std::string make = "p = tl.make_block_ptr(x, (n, n), (n, 1), (0, 0), (4, 4), (1, 0))\n";
const std::string makeDescriptor = "d = tl.make_tensor_descriptor(x, [n, n], [n, 1], [4, 4])\n";

TEST(BlockPointers, knownNotNegativeOffsetsNeedNoLowerBound) {
  Emitted kernel = emitBody("x, n", make + "v = tl.load(p, boundary_check=(0, 1))", "*fp32, i32");
  EXPECT_TRUE(kernel.has("arith.cmpi slt"));
  EXPECT_FALSE(kernel.has("arith.cmpi sge")) << kernel.text;
}

TEST(BlockPointers, withoutCheckThereIsNoMask) {
  Emitted kernel = emitBody("x, n", make + "v = tl.load(p)\ntl.store(p, v)", "*fp32, i32");
  EXPECT_FALSE(kernel.has(" mask ")) << kernel.text;
}

TEST(BlockPointers, loopsCarryTheOffsetsAlone) {
  Emitted kernel = emitBody("x, n",
                            make + "for i in range(0, n):\n"
                                   "    tl.store(p, tl.load(p))\n"
                                   "    p = tl.advance(p, (0, 4))",
                            "*fp32, i32");
  EXPECT_TRUE(kernel.has("iter_args")) << kernel.text;
  EXPECT_FALSE(kernel.has("-> (!tile.ptr<f32>")) << kernel.text;
}

TEST(BlockPointers, typesSayWhatTheyPointTo) {
  emitBody("x, n",
           make + "tl.static_assert(p.dtype.element_ty.shape[1] == 4)\n"
                  "tl.static_assert(p.dtype.element_ty.element_ty == tl.float32)",
           "*fp32, i32");
}

TEST(BlockPointers, refusals) {
  const std::string types = "*fp32, i32";
  std::string text = refuseBody(
      "x, n", "p = tl.make_block_ptr(x, (n,), (n, 1), (0, 0), (4, 4), (1, 0))", types, "E0216");
  EXPECT_TRUE(contains(text, "'shape' of 'make_block_ptr' expects 2 values, but got 1")) << text;
  refuseBody("x, n", "p = tl.make_block_ptr(x, (n, n), (n, 1), (0, 0), (4, 3), (1, 0))", types,
             "E0215");
  text = refuseBody("x, n", "p = tl.make_block_ptr(x, (n, n), (n, 1), (0, 0), (4, 4), (1, 1))",
                    types, "E0216");
  EXPECT_TRUE(contains(text, "'order' of 'make_block_ptr' expects each dimension")) << text;
  refuseBody("x, n", "p = tl.make_block_ptr(n, (n,), (1,), (0,), (4,), (0,))", types, "E0216");
  refuseBody("x, n", "p = tl.make_block_ptr(x, (1.5,), (1,), (0,), (4,), (0,))", types, "E0216");
  text = refuseBody("x, n", make + "v = tl.load(p, boundary_check=(2,))", types, "E0216");
  EXPECT_TRUE(contains(text, "expects dimensions from 0 to 1, but got 2")) << text;
  refuseBody("x, n", make + "v = tl.load(p, mask=n > 0)", types, "E0216");
  refuseBody("x, n", make + "v = tl.load(p, boundary_check=(0,), padding_option='one')", types,
             "E0229");
  refuseBody("x, n", make + "v = tl.load(p, boundary_check=(0,), padding_option='nan')",
             "*i32, i32", "E0216");
  refuseBody("x, n", make + "v = tl.load(p, boundary_check=(0,), padding_option='nan')",
             "*fp8e4b15, i32", "E0216");
  refuseBody("x, n", make + "tl.store(p, tl.zeros((8, 8), tl.float32))", types, "E0213");
  refuseBody("x, n", make + "p = tl.advance(p, (0,))", types, "E0216");
  refuseBody("x, n", "p = tl.advance(x, (0,))", types, "E0216");
  refuseBody("x, n", "v = tl.load(x, boundary_check=(0,))", types, "E0216");
  refuseBody("x, n", make + "q = p + 1", types, "E0204");
  text = refuseBody("x, n",
                    make + "for i in range(0, n):\n"
                           "    p = tl.make_block_ptr(x, (n,), (1,), (0,), (4,), (0,))",
                    types, "E0210");
  EXPECT_TRUE(contains(text, "a block pointer to 4x4xf32")) << text;
}

TEST(Descriptors, refusals) {
  const std::string types = "*fp32, i32";
  std::string text = refuseBody("x, n", "d = tl.make_tensor_descriptor(x, [n, n], [n, 2], [4, 4])",
                                types, "E0216");
  EXPECT_TRUE(contains(text, "the last of 'strides' of 'make_tensor_descriptor' expects 1"))
      << text;
  refuseBody("x, n", "d = tl.make_tensor_descriptor(x, [n], [n, 1], [4, 4])", types, "E0216");
  refuseBody("x, n", "d = tl.make_tensor_descriptor(x, [n, n], [n, 1], [4, 5])", types, "E0215");
  text = refuseBody("x, n", "d = tl.make_tensor_descriptor(x, [n, n], [n, 1], [8, 2])", types,
                    "E0216");
  EXPECT_TRUE(contains(text, "expects at least 16 bytes, but got 2 elements of f32, 8 bytes"))
      << text;
  refuseBody("x, n", makeDescriptor + "v = d.load([0])", types, "E0216");
  refuseBody("x, n", makeDescriptor + "v = d.nothing", types, "E0223");
  refuseBody("x, n", "d = tl.tensor_descriptor(x)", types, "E0224");
  text = refuseBody("x, n", makeDescriptor + "d.store([0, 0], tl.zeros((4, 8), tl.float32))", types,
                    "E0216");
  EXPECT_TRUE(contains(text, "expects a tile of 4x4xf32, but got 4x8xf32 tile") ||
              contains(text, "but got a 4x8xf32 tile"))
      << text;
  text = refuseBody("x, n", makeDescriptor + "v = d.gather(tl.arange(0, 8), 0)", types, "E0216");
  EXPECT_TRUE(contains(text, "blocks of one row")) << text;
  refuseBody("x, n", "v = tl.load_tensor_descriptor(x, [0, 0])", types, "E0216");
  refuseBody("x, n", makeDescriptor + "d.atomic_xor([0, 0], tl.zeros((4, 4), tl.float32))", types,
             "E0216");
}

TEST(Descriptors, helpersTakeAPointerOrADescriptor) {
  const std::string file =
      "import triton\nimport triton.language as tl\n\n"
      "@triton.jit\ndef describe(x, n):\n"
      "    if isinstance(x, tl.tensor_descriptor):\n        return x\n"
      "    else:\n        return tl.make_tensor_descriptor(x, [n, n], [n, 1], [8, 8])\n\n"
      "@triton.jit\ndef kernel(x, n):\n"
      "    d = describe(x, n)\n"
      "    tl.static_assert(not isinstance(d, tl.tensor))\n"
      "    tl.static_assert(not isinstance(d, tl.constexpr))\n"
      "    d.store([0, 8], d.load([0, 0]))\n";
  for (const char *type : {"*fp16", "tensordesc<fp16[8,8]>"}) {
    Emitted kernel = emitSource(file, std::string(type) + ", i32");
    EXPECT_FALSE(kernel.diags.hasErrors()) << kernel.diags.render();
    EXPECT_TRUE(kernel.has("tile.descriptor_store")) << kernel.text;
  }
}

TEST(Descriptors, parametersAreAnAddressSizesAndStrides) {
  Emitted kernel = emitBody("d, n", "v = d.load([0, n])", "tensordesc<bf16[16, 32]>:16, i32");
  EXPECT_TRUE(kernel.has("%arg0: !tile.ptr<bf16> {tile.divisibility = 16 : i64}, %arg1: i64, "
                         "%arg2: i64, %arg3: i64, %arg4: i32"))
      << kernel.text;
  EXPECT_TRUE(kernel.has("descriptor = 2 : i64")) << kernel.text;
  EXPECT_TRUE(kernel.has("name = \"d.strides[0]\"")) << kernel.text;
}

TEST(DotScaled, refusals) {
  const std::string operands =
      "a = tl.zeros((16, 64), tl.uint8)\nb = tl.zeros((64, 16), tl.uint8)\n"
      "s = tl.full((16, 2), 127, tl.uint8)\n";
  std::string text =
      refuseBody("x", operands + "d = tl.dot_scaled(a, s, 'e3m2', b, s, 'e4m3')", "*fp32", "E0229");
  EXPECT_TRUE(contains(text, "'lhs_format' of 'tl.dot_scaled' expects 'e2m1'")) << text;
  text = refuseBody("x",
                    operands + "t = tl.full((2, 16), 127, tl.uint8)\n"
                               "d = tl.dot_scaled(a, s, 'e4m3', b, t, 'e4m3')",
                    "*fp32", "E0214");
  EXPECT_TRUE(contains(text, "'rhs_scale' of 'tl.dot_scaled' expects 16x2xu8")) << text;
  refuseBody("x", operands + "d = tl.dot_scaled(a, s, 'e2m1', b, s, 'e4m3')", "*fp32", "E0214");
  refuseBody("x", operands + "d = tl.dot_scaled(a.to(tl.int32), s, 'e4m3', b, s, 'e4m3')", "*fp32",
             "E0214");
}

} // namespace
} // namespace nereid::language
