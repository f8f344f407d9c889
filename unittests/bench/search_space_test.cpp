// SPDX-License-Identifier: Apache-2.0
// What a search over block sizes may change of a case, and where it looks next.
#include "lib/bench/tuning/SearchSpace.h"

#include "lib/targets/Targets.h"
#include "unittests/bench/Cases.h"

namespace nereid::bench {
namespace {

class SearchSpaceTest : public CaseFolder {
protected:
  SearchSpaceTest() { registerTargets(); }

  SearchSpace space(const launch::KernelCase &one, const std::string &target = "cpu") {
    Diagnostics diags;
    auto made = searchSpace(one, {.target = target}, "this machine", genericMachine(), diags);
    EXPECT_TRUE(made) << diags.render();
    return made.value_or(SearchSpace());
  }
  launch::KernelCase doublingOf(const std::string &signature) {
    launch::KernelCase one = doubling("right");
    one.signature = signature;
    return one;
  }
};

TEST_F(SearchSpaceTest, BeginsWithWhatTheSignatureGives) {
  const SearchSpace given = space(doublingOf("*fp32, *fp32, i32, 64"));
  EXPECT_EQ(pointText(given.start), "BLOCK=64");
  EXPECT_EQ(given.rest.signature, "x=*fp32, out=*fp32, n=i32");
  EXPECT_FALSE(given.isOpen);
  EXPECT_EQ(configAt(given, given.start).asked.signature, "x=*fp32, out=*fp32, n=i32, BLOCK=64");
}

TEST_F(SearchSpaceTest, AChoiceIsKeptForTheSignatureWithoutItAndForTheSameSizes) {
  const SearchSpace open = space(doublingOf("x=*fp32, out=*fp32, n=i32"));
  EXPECT_TRUE(open.isOpen);
  EXPECT_FALSE(open.start.empty());
  EXPECT_EQ(open.key, space(doublingOf("*fp32, *fp32, i32, 64")).key);
  launch::KernelCase larger = doublingOf("*fp32, *fp32, i32");
  larger.addArguments({"n=101"});
  EXPECT_NE(open.key, space(larger).key);
  EXPECT_NE(open.key, space(doublingOf("*fp16, *fp16, i32")).key);
}

TEST_F(SearchSpaceTest, NoLengthIsBeyondWhatTheLanguageAllows) {
  EXPECT_TRUE(space(doublingOf("*fp32, *fp32, i32, 4611686018427387904")).start.empty());
}

TEST_F(SearchSpaceTest, DevicesHaveWarpsToo) {
  const SearchSpace device =
      space(doublingOf("*fp32, *fp32, i32, 64, num_warps=8"), "nvidia:sm_90");
  EXPECT_EQ(pointText(device.start), "BLOCK=64,num_warps=8"); // no loop, no stages
  EXPECT_EQ(device.rest.signature, "x=*fp32, out=*fp32, n=i32");
}

TEST_F(SearchSpaceTest, LooksAroundInOneValueAtATimeAndNowhereElse) {
  SearchSpace two;
  two.start = {{"BLOCK_M", 2}, {"BLOCK_N", 1 << 20}, {"num_warps", 4}, {"num_stages", 1}};
  two.lengths = 2;
  std::vector<std::string> texts;
  for (const SearchPoint &point : pointsAround(two, two.start, 4)) {
    texts.push_back(pointText(point));
  }
  EXPECT_EQ(texts, (std::vector<std::string>{
                       "BLOCK_M=2,BLOCK_N=1048576,num_warps=4,num_stages=1",
                       "BLOCK_M=8,BLOCK_N=1048576,num_warps=4,num_stages=1",
                       "BLOCK_M=2,BLOCK_N=262144,num_warps=4,num_stages=1",
                       "BLOCK_M=2,BLOCK_N=1048576,num_warps=16,num_stages=1",
                       "BLOCK_M=2,BLOCK_N=1048576,num_warps=1,num_stages=1",
                       "BLOCK_M=2,BLOCK_N=1048576,num_warps=4,num_stages=2",
                   }));
}

TEST_F(SearchSpaceTest, APointIsReadAsItIsWritten) {
  const SearchPoint point = {{"BLOCK_M", 64}, {"num_warps", 8}};
  EXPECT_EQ(pointFromText(pointText(point)), point);
  EXPECT_EQ(pointFromText("BLOCK_M=64,num"), std::nullopt);
  EXPECT_EQ(pointFromText("BLOCK_M=x"), std::nullopt);
  EXPECT_EQ(pointFromText(""), SearchPoint());
}

} // namespace
} // namespace nereid::bench
