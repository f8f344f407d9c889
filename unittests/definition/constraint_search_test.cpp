// SPDX-License-Identifier: Apache-2.0
// Sizes nearest to the wanted ones that meet all constraints, whichever way those ask for sizes.
#include "unittests/definition/Loading.h"

#include "lib/definition/constraints/Constraint.h"
#include "lib/definition/constraints/Holding.h"

namespace nereid::definition {
namespace {

/// x: [H, W] and y: [P, Q] with these constraints, searched from the given sizes: "H W P Q".
std::string found(const std::string &constraints, std::map<std::string, int64_t> wanted) {
  Loaded loaded = load("[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\"]\n"
                       "constraints = [" +
                       constraints +
                       "]\nbody = '''\nout = x.sum() + y.sum()\n'''\n"
                       "[inputs.x]\nshape = [\"H\", \"W\"]\n[inputs.y]\nshape = [\"P\", \"Q\"]\n"
                       "[outputs.out]\nshape = []\n"
                       "[performance]\ncases = [{ H = 64, W = 64, P = 64, Q = 64 }]\n");
  if (!loaded.op) { // the case above does not meet them: its error is not what is asked
    return loaded.diags.render();
  }
  Binding binding;
  binding.symbols = std::move(wanted);
  const auto result = fulfilled(*loaded.op, binding);
  if (!result) {
    return "none";
  }
  for (const Constraint &constraint : loaded.op->constraints) {
    EXPECT_TRUE(holds(constraint, *loaded.op, *result)) << constraint.text;
    EXPECT_EQ(violation(constraint, *loaded.op, *result, std::nullopt), "") << constraint.text;
  }
  std::string text;
  for (const char *name : {"H", "W", "P", "Q"}) {
    text += (text.empty() ? "" : " ") + std::to_string(result->symbols.at(name));
  }
  return text;
}

TEST(ConstraintSearch, MovesTheSizesThatMustMove) {
  EXPECT_EQ(found("\"H == P\", \"W == Q\"", {{"H", 5}, {"W", 7}, {"P", 5}, {"Q", 9}}), "5 7 5 7");
  EXPECT_EQ(found("\"W % 8 == 0\"", {{"H", 5}, {"W", 13}, {"P", 3}, {"Q", 9}}), "5 16 3 9");
  EXPECT_EQ(found("\"P == (H + 64) // 2\"", {{"H", 8}, {"W", 1}, {"P", 3}, {"Q", 1}}), "8 1 36 1");
}

TEST(ConstraintSearch, SeesSizesThroughTensors) {
  EXPECT_EQ(found("\"x.shape[0] == y.shape[1]\"", {{"H", 5}, {"W", 7}, {"P", 2}, {"Q", 9}}),
            "9 7 2 9");
  EXPECT_EQ(found("\"x.numel() == y.numel()\"", {{"H", 4}, {"W", 6}, {"P", 3}, {"Q", 9}}),
            "4 6 3 8");
  EXPECT_EQ(found("\"x.shape == [Q, P]\"", {{"H", 4}, {"W", 6}, {"P", 6}, {"Q", 5}}), "5 6 6 5");
}

TEST(ConstraintSearch, SaysWhereNoneIsNear) {
  EXPECT_EQ(found("\"H * H == 4096\"", {{"H", 90}, {"W", 1}, {"P", 1}, {"Q", 1}}), "64 1 1 1");
  EXPECT_EQ(found("\"H * H == 4096\"", {{"H", 500}, {"W", 1}, {"P", 1}, {"Q", 1}}), "none");
}

} // namespace
} // namespace nereid::definition
