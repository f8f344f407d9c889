// SPDX-License-Identifier: Apache-2.0
// Holds what an imported function's reference computes against numbers that a test computes.
#pragma once

#include "lib/definition/Graph.h"
#include "lib/eager/reference/Reference.h"
#include "lib/importer/linalg/ImportLinalg.h"
#include "lib/support/AtomicFile.h"
#include "runtime/ThreadPool.h"
#include "runtime/tensor/Tensor.h"

#include <gtest/gtest.h>

#include <functional>

namespace nereid::importer {

using Elements = std::vector<runtime::Tensor>;

/// `compute` says what element `i` of result `number` is, in row-major order.
inline void expectComputes(const std::string &file, const std::string &function,
                           const std::map<std::string, int64_t> &sizes, const Elements &inputs,
                           const Elements &outputs,
                           const std::function<double(size_t number, int64_t i)> &compute) {
  SCOPED_TRACE(function);
  const std::string path = std::string(NEREID_SOURCE_DIR) + "/test/cli/Inputs/" + file;
  auto text = readTextFile(path);
  ASSERT_TRUE(text) << render(text.error());
  Diagnostics diags;
  auto definition = importLinalg(path, *text, function, "op", sizes, diags);
  ASSERT_TRUE(definition) << render(definition.error()) << diags.render();
  auto op = definition::parseOperator("op.toml", definition->text, diags);
  ASSERT_TRUE(op) << diags.render();
  for (size_t number = 0; number < outputs.size(); ++number) {
    for (int64_t i = 0; i < outputs[number].elementCount(); ++i) {
      ASSERT_FALSE(bool(outputs[number].set(i, compute(number, i))));
    }
  }
  auto agreement = [&] {
    return eager::checkOutputs(*op, inputs, outputs, op->dtypes.front(),
                               eager::Rounding::EachOperation, runtime::defaultPool());
  };
  auto right = agreement();
  ASSERT_TRUE(right) << render(right.error());
  EXPECT_EQ(right->mismatches, 0) << right->first.actual << " and " << right->first.expected << "\n"
                                  << definition->text;
  EXPECT_EQ(right->unverifiable, 0);
  ASSERT_FALSE(bool(outputs[0].set(0, outputs[0].at(0) + 3)));
  auto wrong = agreement();
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->mismatches, 1) << "a wrong element is seen";
}

} // namespace nereid::importer
