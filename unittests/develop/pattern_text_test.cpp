// SPDX-License-Identifier: Apache-2.0
// patterns.md against patterns that are written out here.
#include "lib/develop/PatternText.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::develop;

namespace {

generator::Pattern pattern(const std::string &change, double gain, int count) {
  generator::Pattern made;
  made.operatorKind = "map";
  made.condition = {.rowsFrom = 1025,
                    .rowsTo = 2048,
                    .columnsFrom = 513,
                    .columnsTo = 1024,
                    .dtype = "float32",
                    .isBeyondCache = true,
                    .chip = "a chip"};
  made.change = change;
  made.from = "BLOCK_N=512";
  made.gain = gain;
  made.pValue = 0.001;
  made.count = count;
  made.lastSeen = "2026-11-26";
  return made;
}

TEST(PatternsPage, SaysWhenWhatHowMuchAndWhatToDo) {
  generator::Patterns patterns;
  patterns.record(pattern("num_warps=8", 0.8, 1));
  patterns.record(pattern("BLOCK_N=1024", 1.21, 2));
  patterns.record(pattern("BLOCK_M=8,BLOCK_N=64", 1.1, 1));
  generator::Pattern elsewhere = pattern("reduce.HELD=0", 1.3, 1);
  elsewhere.condition.chip = "b chip";
  elsewhere.condition.isBeyondCache = false;
  elsewhere.condition.rowsTo = 0;
  patterns.record(elsewhere);
  const std::string page = patternsPage("softmax", patterns);
  const std::string when = "| map, float32, 1025 to 2048 rows, 513 to 1024 columns, from memory ";
  size_t at = 0;
  for (const std::string &part :
       {std::string("# Patterns learned with softmax"), std::string("## a chip"),
        when + "| columns of a tile | BLOCK_N=512 | BLOCK_N=1024 | 1.21x | 2 | 0.001 | 2026-11-26 "
               "| begin with it: `generate` does",
        std::string(
            "| rows of a tile, columns of a tile | BLOCK_N=512 | BLOCK_M=8,BLOCK_N=64 | "
            "1.10x | 1 | 0.001 | 2026-11-26 | begin with it, as `generate` does; it was seen once"),
        std::string("| warps of a program | BLOCK_N=512 | num_warps=8 | 0.80x | 1 | 0.001 | "
                    "2026-11-26 | leave it out"),
        std::string("## b chip"),
        std::string("1025 rows and more, 513 to 1024 columns, within the caches | longest line in "
                    "one tile |")}) {
    const size_t found = page.find(part, at);
    ASSERT_NE(found, std::string::npos) << part << "\n" << page;
    at = found;
  }
}

TEST(PatternsPage, SaysThatNothingWasLearned) {
  EXPECT_NE(patternsPage("softmax", {}).find("Nothing was learned yet"), std::string::npos);
}

} // namespace
