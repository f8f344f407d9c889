// SPDX-License-Identifier: Apache-2.0
// The two sides of a case's launch, and outputs made anew between launches that are timed.
#pragma once

#include "lib/launch/KernelCases.h"

#include <utility>
#include <vector>

namespace nereid::bench {

/// The tensors that the case has a reference or a peer for.
std::vector<runtime::Tensor> outputsOf(const launch::KernelCase &one,
                                       const launch::KernelArguments &arguments);

/// Those that a launch must leave as they are: one that the case makes with `empty` is none, be it
/// scratch or an output that nothing is known of.
std::vector<runtime::Tensor> inputsOf(const launch::KernelCase &one,
                                      const launch::KernelArguments &arguments);

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
