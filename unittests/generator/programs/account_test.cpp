// SPDX-License-Identifier: Apache-2.0
// The account of fusion says which operations a kernel computes and why others are not in it, and
// is of the kernels that are generated.
#include "lib/generator/programs/Account.h"

#include "unittests/generator/Making.h"

namespace nereid::generator {
namespace {

struct Told {
  std::vector<std::string> kernels; ///< "contract: conv2d gelu", of all forms
  std::map<std::string, std::string> reasons;
};

Told told(const definition::Operator &op) {
  Told result;
  auto account = fusionAccount(op, DType::F32);
  EXPECT_TRUE(bool(account)) << (account ? "" : render(account.error()));
  const Generation generation = kernelsOf(op);
  const auto &kernels = generation.program.tables.at(DType::F32).kernels;
  if (!account || account->operations.size() != kernels.size()) {
    ADD_FAILURE() << "accounts of other kernels than there are";
    return result;
  }
  const definition::Operator decomposed = definition::decomposed(op);
  for (size_t i = 0; i < kernels.size(); ++i) {
    std::string text = kernels[i].role + ":";
    for (size_t number : account->operations[i]) {
      text += " " + decomposed.nodes.at(number).op;
    }
    result.kernels.push_back(text);
  }
  for (const Workspace &memory : generation.program.tables.at(DType::F32).workspaces) {
    EXPECT_FALSE(account->reasons[memory.name].empty()) << memory.name;
  }
  result.reasons = account->reasons;
  return result;
}

bool has(const Told &all, const std::string &kernel) {
  return std::find(all.kernels.begin(), all.kernels.end(), kernel) != all.kernels.end();
}

void expectReason(const Told &all, const std::string &part) {
  std::string every;
  for (const auto &[memory, why] : all.reasons) {
    every += memory + ": " + why + "\n";
  }
  EXPECT_NE(every.find(part), std::string::npos) << part << " in\n" << every;
}

constexpr const char *matrices = "[inputs.x]\nshape = [\"M\", \"K\"]\n"
                                 "[inputs.w]\nshape = [\"K\", \"N\"]\n"
                                 "[inputs.u]\nshape = [\"N\", \"P\"]\n";

TEST(Account, OfTwoProducts) {
  const Told all =
      told(made("out = torch.exp(x @ w) @ u", matrices, "\"M\", \"P\"", "\"float32\""));
  EXPECT_TRUE(has(all, "contract: matmul exp"));
  EXPECT_TRUE(has(all, "contract2: matmul"));
  expectReason(all,
               "a product goes over K elements, and a product of the kernel that needs it over "
               "N others: computed there it would be P times 2·(K) operations");
}

TEST(Account, OfTwoConvolutions) {
  const Told all = told(made("out = F.conv2d(torch.exp(F.conv2d(x, w, padding=1)), u, padding=1)",
                             "[inputs.x]\nshape = [\"N\", \"C\", \"H\", \"W\"]\n"
                             "[inputs.w]\nshape = [\"K\", \"C\", 3, 3]\n"
                             "[inputs.u]\nshape = [\"L\", \"K\", 3, 3]\n",
                             "\"N\", \"L\", \"H\", \"W\"", "\"float32\""));
  EXPECT_TRUE(has(all, "contract: conv2d exp"));
  EXPECT_TRUE(has(all, "contract2: conv2d"));
  expectReason(all, "each element is read 9 times: computing it each time would be 160 operations "
                    "more, and writing and reading it costs as much as 64");
}

TEST(Account, OfReductionsOverOtherAxes) {
  const Told all =
      told(made("out = x / x.sum(dim=0) + x / x.sum(dim=1, keepdim=True)",
                "[inputs.x]\nshape = [\"M\", \"K\"]\n", "\"M\", \"K\"", "\"float32\""));
  expectReason(all, "a reduction goes over K elements, and a reduction of the kernel that needs it "
                    "over M others");
}

TEST(Account, OfOneKernel) {
  const Told all = told(shipped("softmax"));
  EXPECT_TRUE(has(all, "reduce: amax sub exp sum div"));
}

TEST(Account, OfAttention) {
  const Told all =
      told(made("out = torch.softmax(x @ w, dim=-1) @ u", matrices, "\"M\", \"P\"", "\"float32\""));
  EXPECT_TRUE(has(all, "chain: matmul amax sub exp sum div matmul"));
}

} // namespace
} // namespace nereid::generator
