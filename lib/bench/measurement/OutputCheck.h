// SPDX-License-Identifier: Apache-2.0
// Whether launches that are timed do what they should and nothing else: their outputs are compared
// with a reference, their inputs stay as they were, and what lies around their tensors stays whole.
#pragma once

#include "lib/verify/Canaries.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace nereid::bench {

class OutputCheck {
public:
  /// Compares the outputs as they are with a reference: what is wrong, "" = nothing.
  using Judge = std::function<std::string()>;

  /// Moves the tensors between patterns, see verify::Canaries. E0506.
  Status surround(std::vector<verify::Canaries::Named> tensors);
  /// Inputs are as no launch may change them; empty where nobody knows which tensors they are. An
  /// empty judge: there is no reference.
  void watch(std::vector<runtime::Tensor> inputs, std::vector<runtime::Tensor> outputs,
             Judge judge);

  bool hasReference() const { return static_cast<bool>(judge); }
  /// What is wrong now, "" = nothing. Outputs with the bytes of those that last agreed are not
  /// compared again.
  std::string verify();

private:
  verify::Canaries canaries;
  std::vector<runtime::Tensor> inputs, outputs;
  Judge judge;
  uint64_t inputsDigest = 0;
  std::optional<uint64_t> agreedDigest;
};

} // namespace nereid::bench
