// SPDX-License-Identifier: Apache-2.0
// Operators of several stages: which of them leave what in memory, so that nothing is computed for
// each place of each window, and sizes that constraints divide.
#include "unittests/generator/Making.h"

#include <algorithm>

namespace nereid::generator {
namespace {

constexpr const char *images =
    "[inputs.x]\nshape = [\"N\", \"C\", \"H\", \"W\"]\n"
    "[inputs.w]\nshape = [\"K\", \"C\", 3, 3]\n[inputs.u]\nshape = [\"L\", \"K\", 3, 3]\n";

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

Launched ofImages(const std::string &body) {
  return launched(body, images, "\"N\", \"L\", \"H\", \"W\"");
}

TEST(Stages, AFunctionBehindAConvolutionIsComputedByItsKernel) {
  const Launched dear =
      ofImages("out = F.conv2d(torch.tanh(F.conv2d(x, w, padding=1)), u, padding=1)");
  EXPECT_EQ(dear.roles, (Roles{"contract", "contract2"}));
  EXPECT_EQ(dear.text.find("libdevice.tanh") < dear.text.find("def t_2"), true) << dear.text;
  const size_t second = dear.text.find("def t_2");
  ASSERT_NE(second, std::string::npos);
  EXPECT_EQ(dear.text.find("tanh", second), std::string::npos) << "not for each place of a window";

  const Launched cheap =
      ofImages("out = F.conv2d(F.relu(F.conv2d(x, w, padding=1)), u, padding=1)");
  EXPECT_EQ(cheap.roles, (Roles{"contract", "contract2"}));
  EXPECT_EQ(cheap.text.find("tl.where(saved <"), std::string::npos) << cheap.text;
}

TEST(Stages, AFunctionInFrontOfAConvolutionIsAStage) {
  const std::string inputs = "[inputs.x]\nshape = [\"N\", \"C\", \"H\", \"W\"]\n"
                             "[inputs.w]\nshape = [\"K\", \"C\", 3, 3]\n",
                    shape = "\"N\", \"K\", \"H\", \"W\"";
  EXPECT_EQ(launched("out = F.conv2d(torch.exp(x), w, padding=1)", inputs, shape).roles,
            (Roles{"map", "contract"}));
  EXPECT_EQ(launched("out = F.conv2d(F.relu(x), w, padding=1)", inputs, shape).roles,
            (Roles{"contract"}))
      << "cheaper than memory";
  EXPECT_EQ(launched("out = F.conv2d(torch.exp(x), w)",
                     "[inputs.x]\nshape = [\"N\", \"C\", \"H\", \"W\"]\n"
                     "[inputs.w]\nshape = [\"K\", \"C\", 1, 1]\n",
                     shape)
                .roles,
            (Roles{"contract"}))
      << "one window has each element";
}

/// The mean of a group of channels is one number, not one for each place of each window.
TEST(Stages, WhatIsReducedInFrontOfAConvolutionIsReducedOnce) {
  const Generation generation =
      kernelsOf(made("g = x.reshape(N, 2, 4 * H * W)\ng = g - g.mean(dim=-1, keepdim=True)\n"
                     "out = F.conv2d(g.reshape(N, 8, H, W), w, padding=1)",
                     "[inputs.x]\nshape = [\"N\", 8, \"H\", \"W\"]\n"
                     "[inputs.w]\nshape = [\"K\", 8, 3, 3]\n",
                     "\"N\", \"K\", \"H\", \"W\"", "\"float32\""));
  auto workspaces = bindWorkspaces(generation.program.tables.at(DType::F32),
                                   {{"N", 2}, {"H", 8}, {"W", 8}, {"K", 4}}, LaunchSite{});
  ASSERT_TRUE(bool(workspaces));
  std::erase(*workspaces, 1); // of forms that are not taken
  EXPECT_EQ(*workspaces, (std::vector<int64_t>{2 * 8 * 8 * 8}));
}

TEST(Stages, EdgesAreCopiedOnce) {
  const std::string inputs = "[inputs.x]\nshape = [\"N\", \"C\", \"H\", \"W\"]\n"
                             "[inputs.w]\nshape = [\"C\", \"C\", 3, 3]\n"
                             "[inputs.u]\nshape = [\"K\", \"C\", 3, 3]\n",
                    shape = "\"N\", \"K\", \"H\", \"W\"";
  for (const std::string mode : {"reflect", "replicate", "circular"}) {
    const std::string around = ", (1, 1, 1, 1), mode='" + mode + "')";
    EXPECT_EQ(launched("out = F.conv2d(F.pad(x" + around + ", u)", inputs, shape).roles,
              (Roles{"map", "contract"}))
        << mode;
    EXPECT_EQ(launched("h = F.silu(F.conv2d(F.pad(x" + around + ", w))\nout = F.conv2d(F.pad(h" +
                           around + ", u)",
                       inputs, shape)
                  .roles,
              (Roles{"map", "contract", "map2", "contract2"}))
        << mode;
  }
}

TEST(Stages, AProductThatWindowsAndOthersReadIsComputedOnce) {
  const Launched both = launched("h = F.relu(F.conv2d(x, w))\np = F.max_pool2d(h, 2)\n"
                                 "out = F.interpolate(p, scale_factor=2, mode='nearest') + h",
                                 "[inputs.x]\nshape = [\"N\", \"C\", 8, 8]\n"
                                 "[inputs.w]\nshape = [\"K\", \"C\", 1, 1]\n",
                                 "\"N\", \"K\", 8, 8");
  EXPECT_EQ(std::count(both.roles.begin(), both.roles.end(), "contract"), 1);
  EXPECT_EQ(std::count(both.roles.begin(), both.roles.end(), "contract2"), 0);
}

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
