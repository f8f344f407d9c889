// SPDX-License-Identifier: Apache-2.0
// What stays in tile IR for targets that make use of it: options, hints of loops, assumptions,
// cache policies.
#include "EmitTest.h"

namespace nereid::language {
namespace {

TEST(KernelOptions, areAttributesOfTheKernel) {
  Emitted plain = emitBody("x", "tl.store(x, 1.0)", "*fp32");
  EXPECT_FALSE(plain.has("tile.num_warps")) << plain.text;
  Emitted kernel = emitBody("x", "tl.store(x, 1.0)",
                            "*fp32, num_warps=8, num_stages=2, num_ctas=4, maxnreg=128");
  for (const char *attribute : {"tile.num_warps = 8 : i32", "tile.num_stages = 2 : i32",
                                "tile.num_ctas = 4 : i32", "tile.maxnreg = 128 : i32"}) {
    EXPECT_TRUE(kernel.has(attribute)) << attribute << "\n" << kernel.text;
  }
}

TEST(KernelOptions, theKernelCanAskForItsWarps) {
  for (int warps : {1, 4, 32}) {
    std::string count = std::to_string(warps), threads = std::to_string(warps * 32);
    emitBody("x",
             "tl.static_assert(tl.extra.cuda.num_warps() == " + count +
                 ")\ntl.static_assert(tl.extra.cuda.num_threads() == " + threads + ")",
             "*fp32, num_warps=" + count);
  }
}

TEST(LoopHints, areAttributesOfTheLoop) {
  Emitted kernel = emitBody("x, n",
                            "for i in tl.range(0, n, num_stages=4, loop_unroll_factor=2,\n"
                            "                  disallow_acc_multi_buffer=True, flatten=True,\n"
                            "                  warp_specialize=True, disable_licm=True):\n"
                            "    tl.store(x + i, 1.0)",
                            "*fp32, i32");
  for (const char *attribute :
       {"tile.num_stages = 4 : i32", "tile.loop_unroll_factor = 2 : i32", "tile.warp_specialize",
        "tile.flatten", "tile.disallow_acc_multi_buffer", "tile.disable_licm"}) {
    EXPECT_TRUE(kernel.has(attribute)) << attribute << "\n" << kernel.text;
  }
  Emitted plain = emitBody("x, n",
                           "for i in tl.range(0, n, flatten=False, num_stages=None):\n"
                           "    tl.store(x + i, 1.0)",
                           "*fp32, i32");
  EXPECT_FALSE(plain.has("tile.flatten") || plain.has("tile.num_stages")) << plain.text;
}

TEST(LoopHints, refusals) {
  const std::string types = "*fp32, i32";
  refuseBody("x, n", "for i in tl.range(0, 8, num_stages=n):\n    pass", types, "E0203");
  refuseBody("x, n", "for i in tl.range(0, 8, flatten=n):\n    pass", types, "E0203");
  std::string text = refuseBody("x, n", "for i in tl.range(0, 8, loop_unroll_factor=-2):\n    pass",
                                types, "E0229");
  EXPECT_NE(text.find("expects an integer from 0 to 2147483647, but got -2"), std::string::npos)
      << text;
}

TEST(Assumptions, areOperations) {
  Emitted kernel =
      emitBody("x, n", "tl.assume(n % 16 == 0)\ntl.assume(True)\ntl.store(x, 1.0)", "*fp32, i32");
  EXPECT_TRUE(kernel.has("tile.assume %")) << kernel.text;
  EXPECT_EQ(kernel.text.find("tile.assume"), kernel.text.rfind("tile.assume")) << kernel.text;
}

TEST(Hints, ofAValueBesideOthersAreNotThoseOfAllOfThem) {
  Emitted kernel = emitBody("x, n",
                            "a = 0\nb = 0\n"
                            "for i in range(0, n):\n"
                            "    a += 1\n    b += 2\n"
                            "b = tl.multiple_of(b, 2)\n"
                            "tl.store(x, (a + b).to(tl.float32))",
                            "*fp32, i32");
  EXPECT_FALSE(kernel.has("tile.divisibility")) << kernel.text;
}

TEST(CachePolicies, stayWithTheAccess) {
  Emitted kernel = emitBody("x",
                            "v = tl.load(x, cache_modifier='.cg', eviction_policy='evict_first',\n"
                            "            volatile=True)\n"
                            "tl.store(x, v, cache_modifier='.wt', eviction_policy='evict_last')",
                            "*fp32");
  EXPECT_TRUE(kernel.has("cache = 2 : i32, evict = 1 : i32, isVolatile")) << kernel.text;
  EXPECT_TRUE(kernel.has("cache = 5 : i32, evict = 2 : i32")) << kernel.text;
}

} // namespace
} // namespace nereid::language
