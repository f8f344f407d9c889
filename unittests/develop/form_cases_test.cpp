// SPDX-License-Identifier: Apache-2.0
// Cases for kernels that no standard size launches: of lines that a program takes in turns, not of
// thousands of programs.
#include "lib/develop/accuracy/FormCases.h"

#include "lib/generator/call/CallPlan.h"
#include "lib/machine/Machine.h"

#include <gtest/gtest.h>

namespace nereid::develop {
namespace {

/// In a batch, of which programs would be many.
constexpr const char *products = R"(
[operator]
name = "products"
summary = "products of matrices"
dtypes = ["float32"]
body = "out = a @ b"
[inputs.a]
shape = ["B", "M", "K"]
[inputs.b]
shape = ["B", "K", "N"]
[outputs.out]
shape = ["B", "M", "N"]
[performance]
cases = [{ name = "small", B = 2, M = 4, K = 4, N = 4 }]
)";

TEST(FormCases, HaveALongLineForFewPrograms) {
  Diagnostics diags;
  auto op = definition::parseOperator("products.toml", products, diags);
  ASSERT_TRUE(op) << diags.render();
  Machine chip;
  chip.cores = 3; // too few for the rule of parts, and no two tiles are a wave
  auto generation = generator::generate(*op, chip, nullptr);
  ASSERT_TRUE(generation);
  std::vector<definition::GridCase> grid = definition::accuracyGrid(*op, 1);
  const size_t standard = grid.size();
  std::set<std::string> launched;
  addFormCases(grid, *generation, chip, DType::F32, launched);
  bool hasSplit = false, isWalked = false, isDealt = false;
  for (size_t i = standard; i < grid.size(); ++i) {
    const definition::GridCase &one = grid[i];
    EXPECT_TRUE(one.isOfForms);
    auto plan = generator::planCall(*generation, scheduleOf(one, *generation, chip, DType::F32),
                                    one.binding, DType::F32);
    ASSERT_TRUE(plan);
    EXPECT_LE(plan->programs(), 64) << one.name;
    for (const generator::LaunchPlan &launch : plan->launches) {
      isWalked |= launch.function.ends_with("_persistent_kernel") && launch.hasTurns;
      isDealt |= launch.function.ends_with("_stream_kernel");
    }
    if (one.name.find("SPLIT=1") != std::string::npos) {
      hasSplit = true;
      EXPECT_GT(one.binding.symbols.at("K"), 2000) << "the dimension that is cut";
      EXPECT_EQ(one.binding.symbols.at("B"), 2);
    }
  }
  EXPECT_TRUE(hasSplit);
  EXPECT_TRUE(isWalked) << "by programs that have several tiles";
  EXPECT_TRUE(isDealt);
}

} // namespace
} // namespace nereid::develop
