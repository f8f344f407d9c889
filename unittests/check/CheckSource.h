// SPDX-License-Identifier: Apache-2.0
// What the tests of `nereid check` share: kernels as text, whose wrong line carries the comment
// "# HERE".
#pragma once

#include "lib/check/Check.h"
#include "runtime/tensor/Tensor.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace nereid::test {

template <class T> runtime::Tensor tensorOf(DType dtype, const std::vector<T> &values) {
  auto tensor = runtime::Tensor::empty({static_cast<int64_t>(values.size())}, dtype);
  EXPECT_EQ(sizeof(T), sizeInBytes(dtype));
  std::memcpy(tensor.data(), values.data(), values.size() * sizeof(T));
  return tensor;
}

/// `count` floats 0, 1, 2, …
runtime::Tensor floats(int64_t count);
/// `count` zeros of int32.
runtime::Tensor integers(int64_t count);

struct Checked {
  std::vector<check::Report> reports;
  Diagnostics diags;
  bool isChecked = false;
  int markedLine = 0; ///< of "# HERE", 0 without one

  /// The only report; fails the test when there is another number of them.
  const check::Report &only() const;
  /// All reports in words.
  std::string text() const;
};

/// Checks the kernel `body`, which gets the imports in front.
Checked checkSource(const std::string &body, const std::string &signature, runtime::Grid grid,
                    const std::vector<runtime::ArgumentValue> &arguments,
                    const check::CheckOptions &options = {});

/// One report with this code at the marked line.
void expectOnly(const Checked &checked, const std::string &code, const std::string &message);
void expectClean(const Checked &checked);

} // namespace nereid::test
