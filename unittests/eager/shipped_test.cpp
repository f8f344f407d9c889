// SPDX-License-Identifier: Apache-2.0
// Eager execution, which performance is measured against, of every shipped definition on the small
// cases of its grid. reference_test.cpp has all cases of a few of them.
#include "unittests/ShippedOperators.h"
#include "unittests/eager/Values.h"

#include "lib/definition/cases/CaseGrid.h"
#include "lib/eager/reference/Reference.h"

#include <algorithm>

namespace nereid::eager {
namespace {

using definition::GridCase;

class EveryShipped : public testing::TestWithParam<std::string> {};

TEST_P(EveryShipped, IsWithinItsBoundsOperationByOperation) {
  constexpr int64_t mostElements = 1500; // of each output
  Diagnostics diags;
  auto op = definition::loadOperator(shippedPath(GetParam()), diags);
  ASSERT_TRUE(op) << diags.render();
  for (DType dtype : op->dtypes) {
    int64_t elements = 0, unverifiable = 0;
    bool isAnySmall = false;
    for (const GridCase &grid : definition::accuracyGrid(*op, 1)) {
      if (!grid.unmet.empty()) {
        continue; // no sizes near these meet the constraints
      }
      auto inputs = definition::makeInputs(*op, grid, dtype);
      if (!inputs && inputs.error().code == "E0617") {
        continue; // nothing to choose an index from
      }
      ASSERT_TRUE(inputs) << render(inputs.error());
      std::vector<Tensor> in;
      bool isSmall = true;
      for (const definition::LaidOut &input : *inputs) {
        in.push_back(input.view);
        isSmall = isSmall && input.view.elementCount() <= mostElements;
      }
      if (!isSmall) {
        continue;
      }
      auto outputs = runGraph(*op, in, runtime::defaultPool());
      const bool isOfNothing = std::any_of(
          in.begin(), in.end(), [](const Tensor &input) { return input.elementCount() == 0; });
      if (!outputs && outputs.error().code == "E0604" && isOfNothing) {
        continue; // the largest of no elements: PyTorch refuses it as well
      }
      ASSERT_TRUE(outputs) << grid.name << render(outputs.error());
      auto agreement =
          checkOutputs(*op, in, *outputs, dtype, Rounding::EachOperation, runtime::defaultPool());
      ASSERT_TRUE(agreement) << grid.name << render(agreement.error());
      EXPECT_EQ(agreement->mismatches, 0)
          << torchName(dtype) << " " << grid.name << ": " << agreement->text();
      const bool isOrdinary = grid.data.kind == definition::DataKind::Normal;
      isAnySmall |= isOrdinary && agreement->elements > 0;
      elements += isOrdinary ? agreement->elements : 0;
      unverifiable += isOrdinary ? agreement->unverifiable : 0;
    }
    // Quotients by what may be 0 once it is rounded to 16 bits leave the range, powers of them
    // often. Where each operation may round, positions of a largest element are open: half of what
    // pooling gives, and all that is written at such positions.
    const bool isWrittenThere = op->name == "max_pool2d_unpool";
    EXPECT_TRUE(isWrittenThere || (elements == 0 ? !isAnySmall : 2 * unverifiable <= elements))
        << torchName(dtype) << ": " << unverifiable << " of " << elements << " cannot be verified";
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryShipped, testing::ValuesIn(shippedOperators()),
                         [](const auto &info) { return info.param; });

} // namespace
} // namespace nereid::eager
