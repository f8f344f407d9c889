// SPDX-License-Identifier: Apache-2.0
// What the list of functions says of kernels.
#include "lib/definition/operations/Operations.h"
#include "lib/develop/sweep/KernelForms.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::develop;

namespace {

/// Each is called in a form that its body's reader takes, with a result of the type that it has.
TEST(KernelForms, AreKnownOfEveryFunction) {
  int all = 0;
  for (const auto *names : {&definition::operationNames(), &definition::functionNames()}) {
    for (const std::string &name : *names) {
      const auto missing = missingForm(name);
      EXPECT_FALSE(missing) << name << ": " << render(*missing);
      ++all;
    }
  }
  EXPECT_GT(all, 150);
}

TEST(KernelForms, AreThoseOfWholeOperators) {
  for (const char *body :
       {"out = torch.erfc(x)", "out = torch.prod(x, dim=-1, keepdim=True) * x"}) {
    const std::string text =
        std::string(
            "[operator]\nname = \"one\"\nsummary = \"s\"\ndtypes = [\"float32\"]\nbody = \"") +
        body +
        "\"\n[inputs.x]\nshape = [\"R\", \"D\"]\n[outputs.out]\nshape = [\"R\", \"D\"]\n"
        "[performance]\ncases = [{ R = 2, D = 4 }]\n";
    Diagnostics diags;
    const auto op = definition::parseOperator("one.toml", text, diags);
    ASSERT_TRUE(op) << diags.render();
    const std::string function = text.find("erfc") != std::string::npos ? "erfc" : "prod";
    EXPECT_EQ(bool(missingKernel(*op)), bool(missingForm(function))) << function;
  }
}

} // namespace
