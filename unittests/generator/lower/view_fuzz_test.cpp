// SPDX-License-Identifier: Apache-2.0
// Random chains of views, sums and scans, with sizes that are numbers and with sizes that are
// symbols: the program keeps the laws, before and after normalisation, and computes what views that
// copy compute.
#include "lib/generator/normalise/Normalise.h"
#include "lib/generator/program/Verify.h"
#include "unittests/generator/lower/Chain.h"

#include <gtest/gtest.h>

namespace nereid::generator {
namespace {

class ViewFuzz : public testing::TestWithParam<bool> {
protected:
  static void expectSame(const Chain &chain, const char *what) {
    auto memory = evaluate(chain.program, chain.data());
    ASSERT_TRUE(bool(memory)) << what << ": " << memory.error().message << "\n"
                              << print(chain.program);
    EXPECT_EQ(memory->at("y"), chain.dense.elements) << what << "\n" << print(chain.program);
  }
  static void expectReadBack(const Program &program) {
    const std::string text = print(program);
    auto read = readProgram("chain", text);
    ASSERT_TRUE(bool(read)) << read.error().message << "\n" << text;
    EXPECT_EQ(print(*read), text);
  }
};

INSTANTIATE_TEST_SUITE_P(Sizes, ViewFuzz, testing::Bool(),
                         [](const auto &info) { return info.param ? "Symbols" : "Numbers"; });

TEST_P(ViewFuzz, ChainsComputeWhatCopiesCompute) {
  unsigned unproved = 0;
  constexpr unsigned chains = 600;
  for (unsigned number = 0; number < chains; ++number) {
    SCOPED_TRACE("chain " + std::to_string(number));
    Chain chain(number, GetParam());
    for (unsigned step = 0; step < 2 + number % 6; ++step) {
      chain.step();
    }
    chain.finish();
    expectSame(chain, "as lowered");
    expectReadBack(chain.program);
    const bool isProved = bool(verify(chain.program));
    normalise(chain.program);
    expectSame(chain, "normalised");
    expectReadBack(chain.program);
    Status status = verify(chain.program);
    EXPECT_TRUE(!isProved || bool(status)) << status.error().message << print(chain.program);
    unproved += !status;
    if (HasFailure()) {
      return;
    }
  }
  // Products of several symbols and remainders of remainders remain: the law is then kept by a
  // guard that lowering adds, see docs/notes/2026-11-generator.md.
  EXPECT_LE(unproved, GetParam() ? chains / 100 : 0);
}

} // namespace
} // namespace nereid::generator
