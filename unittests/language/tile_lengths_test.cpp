// SPDX-License-Identifier: Apache-2.0
// Which constants of a kernel are lengths of tiles, and which only look so.
#include "lib/language/host/TileLengths.h"

#include "lib/language/syntax/Parser.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::language;

namespace {

class TileLengths : public testing::Test {
protected:
  const FunctionDef &kernel(const std::string &parameters, const std::string &body) {
    Diagnostics diags;
    module = parseModule("k.py", "import triton\n@triton.jit\ndef k(" + parameters + "):\n" + body,
                         diags);
    EXPECT_TRUE(module) << diags.render();
    return *module->find("k");
  }
  std::optional<SourceModule> module;
};

using Names = std::vector<std::string>;

} // namespace

TEST_F(TileLengths, StandInRangesShapesAndBlocks) {
  EXPECT_EQ(tileLengths(kernel("x, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, "
                               "D: tl.constexpr, E: tl.constexpr",
                               "    if x:\n"
                               "        y = x + (tl.arange(0, B * 2)[:, None] + 1)\n"
                               "    for i in range(0, 8):\n"
                               "        acc = tl.zeros((A, 16), tl.float32)\n"
                               "        acc += tl.full(shape=[C], value=0, dtype=tl.float32)\n"
                               "    p = tl.make_block_ptr(x, block_shape=(D, 4))\n")),
            (Names{"A", "B", "C", "D"}));
}

TEST_F(TileLengths, AreNoArgumentsFactorsOrValues) {
  EXPECT_EQ(tileLengths(kernel("x, n, A: tl.constexpr, B: tl.constexpr",
                               "    i = tl.program_id(0) * A + tl.arange(0, 16)\n"
                               "    y = tl.full((16,), A, tl.float32) + tl.arange(0, n)\n"
                               "    tl.store(x + i, y, mask=i < B)\n")),
            Names{});
}

TEST_F(TileLengths, ALoopIsFoundWhereverItStands) {
  EXPECT_TRUE(hasLoop(kernel("x", "    if x:\n        for i in range(0, 8):\n            pass\n")));
  EXPECT_FALSE(hasLoop(kernel("x", "    tl.store(x, 1)\n")));
}
