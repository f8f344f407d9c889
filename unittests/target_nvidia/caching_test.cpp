// SPDX-License-Identifier: Apache-2.0
// Words of loads and stores that say how an access is cached, in every combination.
#include "unittests/target_nvidia/Ptx.h"

#include <gtest/gtest.h>

using namespace nereid::nvidia;

namespace {

std::string hintsText(const std::string &cache, const std::string &evict) {
  return ", cache_modifier='" + cache + "', eviction_policy='" + evict + "'";
}

/// Of a load of `y` and a store to `x` with hints of their own; ptxas must take it.
std::string ptxWith(const std::string &ofLoad, const std::string &ofStore,
                    const std::string &target) {
  return ptxOfText("\n@triton.jit\ndef k(x, y):\n    i = tl.arange(0, 1024)\n"
                   "    tl.store(x + i, tl.load(y + i" +
                       ofLoad + ")" + ofStore + ")\n",
                   "x=*fp32:16, y=*fp32:16", target);
}

} // namespace

TEST(NvidiaCaching, ModifiersAndPoliciesStandTogetherWherePtxHasNoPlaceForBoth) {
  for (const char *target : {"nvidia:sm_80", "nvidia:sm_90a"}) {
    for (const std::string evict : {"evict_first", "evict_last"}) {
      for (const std::string cache : {"", ".ca", ".cg", ".cv", ".cs"}) {
        const std::string ptx = ptxWith(hintsText(cache, evict), "", target);
        // `.ca` is what a load does anyway: the policy says more.
        const std::string kept =
            cache.empty() || cache == ".ca" ? ".L1::" + evict + ".L2::cache_hint" : cache;
        EXPECT_EQ(countOf(ptx, "ld.global" + kept + ".v4.b32"), 2) << cache << evict << ptx;
        EXPECT_EQ(countOf(ptx, "createpolicy.fractional.L2::" + evict), kept == cache ? 0 : 1)
            << "one for both loads";
      }
      for (const std::string cache : {"", ".wb", ".cg", ".cs", ".wt"}) {
        const std::string ptx = ptxWith("", hintsText(cache, evict), target);
        const std::string kept =
            cache.empty() || cache == ".wb" ? ".L1::" + evict + ".L2::cache_hint" : cache;
        EXPECT_EQ(countOf(ptx, "st.global" + kept + ".v4.b32"), 2) << cache << evict << ptx;
      }
    }
  }
}

TEST(NvidiaCaching, AModifierAloneIsWritten) {
  for (const std::string cache : {".ca", ".cg", ".cv", ".cs"}) {
    const std::string ptx = ptxWith(", cache_modifier='" + cache + "'", "", "nvidia:sm_80");
    EXPECT_EQ(countOf(ptx, "ld.global" + cache + ".v4.b32"), 2) << ptx;
  }
  for (const std::string cache : {".wb", ".cg", ".cs", ".wt"}) {
    const std::string ptx = ptxWith("", ", cache_modifier='" + cache + "'", "nvidia:sm_80");
    EXPECT_EQ(countOf(ptx, "st.global" + cache + ".v4.b32"), 2) << ptx;
  }
}

TEST(NvidiaCaching, VolatileLoadsHaveNoOtherWord) {
  const std::string ptx =
      ptxWith(hintsText(".cg", "evict_last") + ", volatile=True", "", "nvidia:sm_90a");
  EXPECT_EQ(countOf(ptx, "ld.volatile.global.v4.b32"), 2) << ptx;
}
