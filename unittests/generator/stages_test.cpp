// SPDX-License-Identifier: Apache-2.0
// Operators of several stages: which of them leave what in memory, so that nothing is computed for
// each place of each window, and sizes that constraints divide.
#include "unittests/generator/Making.h"

#include <algorithm>

namespace nereid::generator {
namespace {

struct Launched {
  std::vector<std::string> roles; ///< of kernels that are one of a call at all sizes, in order
  std::string text;

  int64_t times(const std::string &part) const {
    int64_t found = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
      ++found;
    }
    return found;
  }
};

Launched launched(const std::string &body, const std::string &inputs, const std::string &shape) {
  const Generation generation = kernelsOf(made(body, inputs, shape, "\"float32\""));
  Launched result;
  for (const auto &[dtype, table] : generation.program.tables) {
    for (const LaunchEntry &kernel : table.kernels) {
      const std::string &name = kernel.function;
      const bool isForm = name.find("_part_") != std::string::npos ||
                          name.find("_persistent") != std::string::npos ||
                          name.find("_stream") != std::string::npos ||
                          name.find("_join_") != std::string::npos;
      if (!isForm) {
        result.roles.push_back(kernel.role);
      }
    }
  }
  for (const std::string &kernel : generation.program.kernels) {
    result.text += kernel;
  }
  return result;
}

using Roles = std::vector<std::string>;

using Roles = std::vector<std::string>;

TEST(Stages, ASizeThatAConstraintDividesHasParts) {
  const std::string layer = "q = (x @ w.T).reshape(B, L, 4, E // 4).transpose(1, 2)\n"
                            "k = (x @ u.T).reshape(B, L, 4, E // 4).transpose(1, 2)\n"
                            "a = F.scaled_dot_product_attention(q, k, q)\n"
                            "out = a.transpose(1, 2).reshape(B, L, E)";
  const std::string text =
      "[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\"]\n"
      "constraints = [\"E % 4 == 0\"]\nbody = \"\"\"\n" +
      layer +
      "\n\"\"\"\n[inputs.x]\nshape = [\"B\", \"L\", \"E\"]\n[inputs.w]\nshape = [\"E\", \"E\"]\n"
      "[inputs.u]\nshape = [\"E\", \"E\"]\n[outputs.out]\nshape = [\"B\", \"L\", \"E\"]\n"
      "[performance]\ncases = [{ B = 2, L = 4, E = 8 }]\n";
  const Generation generation = kernelsOf(parsed(text));
  const LaunchTable &table = generation.program.tables.at(DType::F32);
  auto isChain = [](const LaunchEntry &kernel) { return kernel.role == "chain"; };
  EXPECT_TRUE(std::any_of(table.kernels.begin(), table.kernels.end(), isChain));
  auto workspaces = bindWorkspaces(table, {{"B", 2}, {"L", 4}, {"E", 8}}, LaunchSite{});
  ASSERT_TRUE(bool(workspaces));
  for (int64_t elements : *workspaces) {
    EXPECT_LE(elements, 2 * 4 * 8 * 4) << "no more than the heads of each row";
  }
}

TEST(Stages, FractionsHaveQuotientsOfSizes) {
  for (const char *number : {"(1.0 / (D // 4 + 1))", "((D // 3 + 1) ** -0.5)", "(D % 3 + 0.5)"}) {
    EXPECT_EQ(launched(std::string("out = x * ") + number, "[inputs.x]\nshape = [\"D\"]\n", "\"D\"")
                  .roles,
              (Roles{"map"}))
        << number;
  }
}

} // namespace
} // namespace nereid::generator
