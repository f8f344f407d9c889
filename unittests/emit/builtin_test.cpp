// SPDX-License-Identifier: Apache-2.0
// Builtins: memory, shapes, mathematics, hints and queries.
#include "EmitTest.h"
#include "lib/language/emit/builtins/BuiltinTable.h"

#include <cmath>

namespace nereid::language {
namespace {

TEST(Memory, masksBroadcastAndOtherCasts) {
  Emitted kernel = emitBody("x, out, n, m",
                            "r = tl.arange(0, 2)\nc = tl.arange(0, 4)\n"
                            "p = x + r[:, None] * 4 + c[None, :]\n"
                            "v = tl.load(p, (c < n)[None, :], other=1.5)\n"
                            "tl.store(out + r[:, None] * 4 + c[None, :], v, mask=r[:, None] < m)",
                            "*i32, *i32, i32, i32");
  std::vector<int32_t> x = {10, 11, 12, 13, 14, 15, 16, 17}, out(8, -1);
  runtime::Tensor tx = tensorOf(x, DType::I32), to = tensorOf(out, DType::I32);
  ASSERT_TRUE(runKernel(kernel, {&tx, &to, int64_t(3), int64_t(1)}));
  EXPECT_EQ(out, (std::vector<int32_t>{10, 11, 12, 1, -1, -1, -1, -1}));
}

TEST(Memory, maskOfAConstexprNoneIsNoMask) {
  Emitted kernel = emitBody("x, EVEN: tl.constexpr",
                            "i = tl.arange(0, 4)\nif EVEN:\n    mask = None\nelse:\n"
                            "    mask = i < 3\ntl.store(x + i, tl.load(x + i, mask=mask), mask)",
                            "*fp32, True");
  EXPECT_FALSE(kernel.has("mask")) << kernel.text;
}

TEST(Memory, optionsBecomeAttributes) {
  Emitted kernel =
      emitBody("x",
               "i = tl.arange(0, 4)\n"
               "v = tl.load(x + i, cache_modifier='.cg', eviction_policy='evict_last', "
               "volatile=True)\n"
               "tl.store(x + i, v, cache_modifier='.cs', eviction_policy='evict_first')",
               "*fp32");
  EXPECT_TRUE(kernel.has("isVolatile")) << kernel.text;
  EXPECT_TRUE(kernel.has("cache = 2")) << kernel.text;
  EXPECT_TRUE(kernel.has("cache = 3")) << kernel.text;
  refuseBody("x", "v = tl.load(x, cache_modifier='.xx')", "*fp32", "E0229");
  refuseBody("x", "tl.store(x, 1.0, eviction_policy='never')", "*fp32", "E0229");
}

TEST(Memory, valuesAreRoundedToThePointee) {
  Emitted kernel = emitBody("x, b",
                            "i = tl.arange(0, 2)\ntl.store(x + i, i * 0.1)\n"
                            "tl.store(b + i, i > 0)",
                            "*fp16, *i1");
  EXPECT_TRUE(kernel.has("arith.truncf")) << kernel.text;
  EXPECT_TRUE(kernel.has("!tile.ptr<i1>")) << kernel.text;
}

TEST(Memory, addressesThroughIntegers) {
  Emitted kernel = emitBody("x, out",
                            "a = x.to(tl.int64) + 4\np = a.to(tl.pointer_type(tl.float32))\n"
                            "tl.store(out, tl.load(p))\n"
                            "q = x.to(tl.pointer_type(tl.int32))\n"
                            "tl.static_assert(q.dtype.element_ty == tl.int32)\n"
                            "tl.store(out + 1, tl.load(q).to(tl.float32, bitcast=True))",
                            "*fp32, *fp32");
  EXPECT_TRUE(kernel.has("tile.ptr_to_int"));
  EXPECT_TRUE(kernel.has("tile.int_to_ptr"));
  EXPECT_TRUE(kernel.has("tile.ptr_cast"));
}

TEST(Shapes, transposeReshapeAndPermute) {
  Emitted kernel =
      emitBody("out",
               "x = tl.arange(0, 8).reshape(2, 4)\ny = tl.trans(x)\n"
               "tl.static_assert(y.shape == (4, 2))\n"
               "tl.static_assert(x.T.shape[0] == 4 and y.numel == 8)\n"
               "z = tl.permute(x[None, :, :], (2, 0, 1))\n"
               "tl.static_assert(z.shape == (4, 1, 2))\n"
               "tl.store(out + tl.arange(0, 8), tl.ravel(y))\n"
               "w = tl.view(z, (8,))\ntl.static_assert(w.shape == (8,))\n"
               "a, b = tl.broadcast(x[0:0 + 0] if False else x, tl.zeros((4,), tl.int32))\n"
               "tl.static_assert(b.shape == (2, 4))",
               "*i32");
  std::vector<int32_t> out(8, -1);
  runtime::Tensor to = tensorOf(out, DType::I32);
  ASSERT_TRUE(runKernel(kernel, {&to}));
  EXPECT_EQ(out, (std::vector<int32_t>{0, 4, 1, 5, 2, 6, 3, 7}));
}

TEST(Shapes, scalarsAndNewDimensions) {
  emitBody("p, n",
           "a = tl.zeros((), tl.float32)\ntl.static_assert(a.shape == ())\n"
           "b = n[None]\ntl.static_assert(b.shape == (1,))\n"
           "c = tl.expand_dims(tl.arange(0, 4), (0, -1))\ntl.static_assert(c.shape == (1, 4, 1))\n"
           "d = tl.broadcast_to(n, (2, 4))\ntl.static_assert(d.shape == (2, 4))\n"
           "e = tl.arange(0, 4)[:, None] + tl.arange(0, 8)\n"
           "tl.static_assert(e.shape == (4, 8))\n"
           "f = tl.full((2, 2), n, tl.float32)\ntl.static_assert(f.dtype == tl.float32)\n"
           "g = tl.zeros_like(e)\ntl.static_assert(g.shape[:-1] == (4,))\n"
           "h = tl.arange(0, 4)[..., None]\ntl.static_assert(h.shape == (4, 1))",
           "*fp32, i32");
}

TEST(Shapes, refusals) {
  refuseBody("p", "x = tl.arange(0, 12)", "*fp32", "E0215");
  refuseBody("p", "x = tl.arange(4, 4)", "*fp32", "E0215");
  refuseBody("p", "x = tl.zeros((2097152,), tl.float32)", "*fp32", "E0215");
  refuseBody("p", "x = tl.zeros((4, 3), tl.float32)", "*fp32", "E0215");
  refuseBody("p", "x = tl.arange(0, 8).reshape(4, 4)", "*fp32", "E0215");
  refuseBody("p", "x = tl.trans(tl.arange(0, 8))", "*fp32", "E0215");
  refuseBody("p", "x = tl.sum(tl.arange(0, 8), axis=1)", "*fp32", "E0215");
  refuseBody("p", "x = tl.program_id(3)", "*fp32", "E0215");
  std::string text = refuseBody("p", "x = tl.arange(0, 4) + tl.arange(0, 8)", "*fp32", "E0213");
  EXPECT_NE(text.find("(4,) and (8,)"), std::string::npos) << text;
  refuseBody("p", "x = tl.broadcast_to(tl.arange(0, 4), (8, 8))", "*fp32", "E0213");
  refuseBody("p, n", "x = tl.arange(0, n)", "*fp32, i32", "E0203");
  refuseBody("p", "x = tl.arange(0, 8)[0]", "*fp32", "E0218");
  refuseBody("p", "x = (1, 2)[5]", "*fp32", "E0218");
  refuseBody("p", "a, b = (1, 2, 3)", "*fp32", "E0217");
}

TEST(Math, functionsMapToMath) {
  struct Row {
    const char *call, *op;
  };
  for (Row row : {Row{"tl.exp(x)", "math.exp"},
                  Row{"tl.math.exp2(x)", "math.exp2"},
                  Row{"tl.log(x)", "math.log"},
                  Row{"x.log2()", "math.log2"},
                  Row{"tl.sqrt(x)", "math.sqrt"},
                  Row{"tl.sqrt_rn(x)", "math.sqrt"},
                  Row{"tl.rsqrt(x)", "math.rsqrt"},
                  Row{"tl.sin(x)", "math.sin"},
                  Row{"tl.cos(x)", "math.cos"},
                  Row{"tl.erf(x)", "math.erf"},
                  Row{"tl.floor(x)", "math.floor"},
                  Row{"tl.ceil(x)", "math.ceil"},
                  Row{"tl.extra.cuda.libdevice.tanh(x)", "math.tanh"},
                  Row{"tl.extra.libdevice.pow(x, 2.5)", "math.powf"},
                  Row{"tl.fma(x, x, 1.0)", "math.fma"},
                  Row{"tl.div_rn(x, 3.0)", "arith.divf"},
                  Row{"tl.abs(x)", "math.absf"},
                  Row{"x ** 0.5", "math.powf"},
                  Row{"tl.fdiv(x, 3.0)", "arith.divf"},
                  Row{"tl.sigmoid(x)", "math.exp"},
                  Row{"tl.softmax(x)", "tile.reduce"}}) {
    Emitted kernel = emitBody("p",
                              "i = tl.arange(0, 4)\nx = tl.load(p + i)\ntl.store(p + i, " +
                                  std::string(row.call) + ")",
                              "*fp32");
    EXPECT_TRUE(kernel.has(row.op)) << row.call << "\n" << kernel.text;
  }
}

TEST(Math, sigmoidAndSoftmaxCompute) {
  Emitted kernel =
      emitBody("p, q",
               "i = tl.arange(0, 4)\nx = tl.load(p + i)\ntl.store(p + i, tl.sigmoid(x))\n"
               "tl.store(q + i, tl.softmax(x))",
               "*fp32, *fp32");
  std::vector<float> x = {-1, 0, 2, 5}, soft(4, -1.0f), in = x;
  runtime::Tensor tx = tensorOf(x, DType::F32), ts = tensorOf(soft, DType::F32);
  ASSERT_TRUE(runKernel(kernel, {&tx, &ts}));
  double total = 0;
  for (float v : in) {
    total += std::exp(double(v) - 5.0);
  }
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(x[i], 1.0 / (1.0 + std::exp(-double(in[i]))), 1e-6);
    EXPECT_NEAR(soft[i], std::exp(double(in[i]) - 5.0) / total, 1e-6);
  }
}

TEST(Math, halfPrecisionIsRefusedWithTheCast) {
  std::string text = refuseBody("p", "x = tl.exp(tl.load(p))", "*fp16", "E0204");
  EXPECT_NE(text.find(".to(tl.float32)"), std::string::npos) << text;
}

TEST(Queries, typesAnswer) {
  emitBody("x, n, f",
           "v = tl.load(x)\ntl.static_assert(v.dtype.is_fp16() and v.dtype.is_floating())\n"
           "tl.static_assert(x.dtype.element_ty == tl.float16 and x.dtype.is_ptr())\n"
           "tl.static_assert(x.type.element_ty.primitive_bitwidth == 16)\n"
           "tl.static_assert(n.dtype == tl.int64 and n.dtype.is_int() and not "
           "n.dtype.is_int_unsigned())\n"
           "t = tl.float32 if v.dtype.is_fp16() else tl.float64\n"
           "tl.static_assert(v.to(t).dtype == tl.float32)\n"
           "tl.static_assert(tl.dtype('int8') == tl.int8 and tl.int8.int_bitwidth == 8)\n"
           "tl.static_assert(f.dtype == tl.float32 and tl.bfloat16.fp_mantissa_width == 7)\n"
           "tl.static_assert(tl.cast(n, tl.int32).dtype == tl.int32)\n"
           "tl.static_assert(tl.float16.itemsize == 2)\n"
           "tl.static_assert(isinstance(n, tl.tensor) and isinstance(v.shape, tl.tuple))",
           "*fp16, i64, fp32");
  refuseBody("x", "v = tl.load(x).to(tl.int32, bitcast=True)", "*fp16", "E0209");
  refuseBody("x", "v = tl.load(x).nothing", "*fp16", "E0223");
  refuseBody("x", "v = tl.load(x).to(tl.float16, fp_downcast_rounding='up')", "*fp32", "E0229");
  refuseBody("x", "v = tl.load(x).to(tl.float64, fp_downcast_rounding='rtz')", "*fp32", "E0209");
}

TEST(Queries, dtypeArgumentsAndLocals) {
  emitBody("x, T: tl.constexpr",
           "if T == tl.float32:\n    acc_type = tl.float64\nelse:\n    acc_type = tl.float32\n"
           "a = tl.zeros((4,), dtype=acc_type)\ntl.static_assert(a.dtype == tl.float64)\n"
           "b = a.to(T)\ntl.static_assert(b.dtype == T)",
           "*fp32, tl.float32");
}

TEST(Hints, areAcceptedAndChangeNothing) {
  Emitted kernel = emitBody("x, n",
                            "i = tl.max_contiguous(tl.multiple_of(tl.program_id(0) * 8 + "
                            "tl.arange(0, 8), 8), 8)\ntl.assume(n > 0)\ntl.debug_barrier()\n"
                            "i = tl.max_constancy(i, [1])\ntl.store(x + i, 1.0, mask=i < n)",
                            "*fp32, i32");
  EXPECT_TRUE(kernel.has("tile.divisibility = array<i64: 8>")) << kernel.text;
  EXPECT_TRUE(kernel.has("tile.contiguity")) << kernel.text;
}

TEST(Hints, assertsAndPrints) {
  Emitted kernel = emitBody("x, n, B: tl.constexpr",
                            "tl.static_print(f'block {B} of', n)\n"
                            "tl.device_assert(n > 0, 'n is positive')\nassert n < 5, 'small'\n"
                            "assert B == 8\ntl.device_print('n', n, hex=True)\nprint('x', n)",
                            "*fp32, i32, 8");
  EXPECT_TRUE(kernel.has("\"n is positive\""));
  EXPECT_TRUE(kernel.has("\"small\""));
  EXPECT_TRUE(kernel.has("tile.print \" n: \" true"));
  ASSERT_FALSE(kernel.diags.all().empty());
  EXPECT_EQ(kernel.diags.all()[0].code, "R0201");
  EXPECT_EQ(kernel.diags.all()[0].message, "block 8 of int32[]");
  std::string text =
      refuseBody("x, B: tl.constexpr", "tl.static_assert(B == 7, 'seven')", "*fp32, 8", "E0220");
  EXPECT_NE(text.find("B == 7"), std::string::npos) << text;
  EXPECT_NE(text.find("seven"), std::string::npos) << text;
  refuseBody("x, B: tl.constexpr", "assert B == 7", "*fp32, 8", "E0220");
}

TEST(Table, hasNoDuplicatesAndNamesItsCategories) {
  std::set<std::string> seen;
  for (const BuiltinInfo &info : builtinTable()) {
    EXPECT_FALSE(info.category.empty()) << info.name;
    EXPECT_TRUE(seen.insert(std::string(info.name) + std::string(info.category)).second)
        << info.name;
  }
  EXPECT_GT(seen.size(), 100u);
}

} // namespace
} // namespace nereid::language
