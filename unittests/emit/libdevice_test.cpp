// SPDX-License-Identifier: Apache-2.0
// Chip-specific functions, map_elementwise and libdevice: what is emitted and what is refused.
#include "EmitTest.h"

namespace nereid::language {
namespace {

const std::string load = "i = tl.arange(0, 8)\nx = tl.load(p + i)\n";

std::string emitted(const std::string &body, const std::string &type = "fp32") {
  return emitBody("p", load + body, "*" + type).text;
}

std::string refused(const std::string &body, const std::string &code,
                    const std::string &type = "fp32") {
  return refuseBody("p", load + body, "*" + type, code);
}

void expectPart(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos) << "lacks " << part << ":\n" << text;
}

TEST(InlineAssembly, isOneOperationWithTheTextAndTheOperands) {
  std::string text = emitted("y = tl.inline_asm_elementwise('neg.f32 $0, $1;', '=r,r', [x],\n"
                             "    dtype=tl.float32, is_pure=True, pack=1)\n"
                             "tl.static_assert(y.dtype == tl.float32 and y.shape[0] == 8)");
  expectPart(text, "tile.inline_asm \"neg.f32 $0, $1;\" \"=r,r\" pack 1(");
  expectPart(text, "isPure");
  emitted("a, b = tl.inline_asm_elementwise('', '=r,=r,r,r', [x[:, None], i[None, :]],\n"
          "    dtype=(tl.int32, tl.uint8), is_pure=False, pack=4)\n"
          "tl.static_assert(a.dtype == tl.int32 and b.dtype == tl.uint8)\n"
          "tl.static_assert(b.shape[0] == 8 and b.shape[1] == 8)");
}

TEST(InlineAssembly, refusesWhatItCannotDescribe) {
  const std::string head = "y = tl.inline_asm_elementwise('', '=r,r', ";
  expectPart(refused(head + "[x], tl.int32, True, 0)", "E0229"), "expects 1 or more, but got 0");
  refused(head + "x, tl.int32, True, 1)", "E0229");
  refused(head + "[x], (), True, 1)", "E0229");
  refused(head + "[x, tl.arange(0, 4)], tl.int32, True, 1)", "E0213");
  refused(head + "[x], tl.int32, True, x)", "E0203");
}

TEST(InlineAssembly, extraCudaIsAssembly) {
  std::string text = emitted("t = tl.extra.cuda.globaltimer()\ns = tl.extra.cuda.smid()\n"
                             "tl.static_assert(t.dtype == tl.int64 and s.dtype == tl.int32)\n"
                             "tl.extra.cuda.gdc_wait()\ntl.extra.cuda.gdc_launch_dependents()\n"
                             "tl.static_assert(tl.extra.cuda.num_warps() == 4)\n"
                             "tl.static_assert(tl.extra.cuda.num_threads() == 128)");
  expectPart(text, "%globaltimer");
  expectPart(text, "%smid");
  expectPart(text, "griddepcontrol.wait");
  refused("tl.extra.cuda.convert_custom_float8_sm90(x, tl.float16, None)", "E0310");
  refused("tl.extra.cuda.exp(x)", "E0201");
}

TEST(MapElementwise, callsTheFunctionOnTiles) {
  const std::string file = "import triton\nimport triton.language as tl\n\n"
                           "@triton.jit\ndef both(a, b):\n    return a + b, a * 2\n\n"
                           "@triton.jit\ndef one(a):\n    return 1.0\n\n"
                           "@triton.jit\ndef kernel(p):\n    x = tl.load(p + tl.arange(0, 8))\n";
  Emitted good = emitSource(file + "    s, d = tl.map_elementwise(both, x, 3)\n"
                                   "    c = tl.map_elementwise(one, x)\n"
                                   "    tl.static_assert(s.shape[0] == 8 and c.shape[0] == 8)\n",
                            "*fp32");
  EXPECT_FALSE(good.diags.hasErrors()) << good.diags.render();
  for (auto [call, code] : {std::pair("tl.map_elementwise(5, x)", "E0224"),
                            std::pair("tl.map_elementwise(one)", "E0229"),
                            std::pair("tl.map_elementwise(one, x, pack=2)", "E0229"),
                            std::pair("tl.map_elementwise(one, x, pack=3)", "E0229")}) {
    Emitted bad = emitSource(file + "    y = " + call + "\n", "*fp32");
    EXPECT_TRUE(bad.hasCode(code)) << call << bad.diags.render();
  }
}

TEST(Constants, becomeTensorsAndTuples) {
  emitted("y = tl.to_tensor(3)\ntl.static_assert(y.dtype == tl.int32)\n"
          "t = tl.tuple((x, i))\ntl.static_assert(len(t) == 2 and isinstance(t, tl.tuple))\n"
          "tl.static_assert(not isinstance(x, tl.tuple))");
  refused("y = tl.to_tensor('text')", "E0204");
  refused("y = tl.tuple(3)", "E0204");
}

TEST(Libdevice, directedRoundingIsOfWideFloats) {
  for (const char *call : {"add_rz(x, x)", "mul_rd(x, 2.0)", "div_ru(x, x)", "fma_rz(x, x, x)",
                           "sqrt_rd(x)", "rcp_ru(x)"}) {
    for (const char *type : {"fp32", "fp64"}) {
      emitted("tl.static_assert(tl.extra.cuda.libdevice." + std::string(call) +
                  ".dtype == x.dtype)",
              type);
    }
    expectPart(refused("y = tl.extra.libdevice." + std::string(call), "E0229", "fp16"),
               "expects fp32 or fp64, but got fp16");
  }
  refused("y = tl.extra.libdevice.ll2float_rz(x)", "E0229");
}

TEST(Libdevice, typesAreChecked) {
  expectPart(refused("y = tl.extra.libdevice.erfc(x)", "E0229", "fp16"),
             "'erfc' expects fp32 or fp64, but got fp16");
  expectPart(refused("y = tl.math.asinh(x)", "E0204", "fp16"), "'asinh' expects f32 or f64");
  expectPart(refused("y = tl.extra.libdevice.popc(x)", "E0204"), "integers of 32 or 64 bits");
  expectPart(refused("y = tl.extra.libdevice.ffs(x)", "E0229"), "integers of 32 or 64 bits");
  refused("y = tl.extra.libdevice.mulhi(x, x)", "E0204");
  refused("y = tl.extra.libdevice.float2int_rz(x)", "E0229", "fp64");
  refused("y = tl.extra.libdevice.int_as_float(x)", "E0229");
  refused("y = tl.extra.libdevice.fast_exp10f(x)", "E0204", "i32");
}

TEST(Libdevice, resultTypes) {
  emitted("tl.static_assert(tl.extra.libdevice.ilogb(x).dtype == tl.int32)\n"
          "tl.static_assert(tl.extra.libdevice.finitef(x).dtype == tl.int1)\n"
          "tl.static_assert(tl.extra.libdevice.llrint(x).dtype == tl.int64)\n"
          "tl.static_assert(tl.extra.libdevice.float2ull_rn(x).dtype == tl.uint64)\n"
          "tl.static_assert(tl.extra.hip.libdevice.j0(x).dtype == tl.float32)\n"
          "tl.static_assert(tl.math.lgamma(x).shape[0] == 8)");
  emitted("tl.static_assert(tl.extra.libdevice.popc(x).dtype == tl.int32)\n"
          "tl.static_assert(tl.extra.libdevice.brev(x).dtype == tl.uint64)",
          "u64");
}

} // namespace
} // namespace nereid::language
