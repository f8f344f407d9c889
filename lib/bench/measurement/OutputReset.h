// SPDX-License-Identifier: Apache-2.0
// The two sides of a case's launch, and outputs made anew between launches that are timed.
#pragma once

#include "lib/launch/KernelCases.h"

#include <utility>
#include <vector>

namespace nereid::bench {

/// The tensors that the case calls outputs, or the others.
std::vector<runtime::Tensor> tensorsOf(const launch::KernelCase &one,
                                       const launch::KernelArguments &arguments, bool isOutput);

/// Makes outputs before every run what they are at first, quickly: copies of what a case makes,
/// poison for the others.
class OutputReset {
public:
  OutputReset(const launch::KernelCase &one, const launch::KernelArguments &arguments);
  void operator()() const;

private:
  /// Each output and its first content, if it has any.
  std::vector<std::pair<runtime::Tensor, runtime::Tensor>> first;
};

} // namespace nereid::bench
