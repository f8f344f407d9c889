// SPDX-License-Identifier: Apache-2.0
// The backward operator of a definition, as a definition: what each input gets of a gradient that
// the outputs have. It is text that a person can read and change, and from there on an operator
// like any other.
#pragma once

#include "lib/definition/Graph.h"

namespace nereid::definition {

struct Backward {
  /// What one of its inputs is.
  struct Source {
    enum class Kind : uint8_t { Gradient, Parameter, Output } kind;
    int index; ///< of the output whose gradient it is, of the parameter, of the saved output
  };

  Operator op;
  std::string text;                ///< of the definition, TOML
  std::vector<Source> sources;     ///< of the inputs, in order
  std::vector<int> differentiated; ///< of the outputs, in order: which parameter's gradient it is
};

/// Of all float tensors among the inputs, or of `inputs`, by name. The operator's name gets
/// "_backward"; its inputs are the gradients of the float outputs ("grad_out"), then the inputs and
/// outputs of `op` that it reads. E0620: an operation has no derivative, no output depends on an
/// input, or there is no such input.
Result<Backward> backwardOf(const Operator &op, const std::vector<std::string> &inputs = {});

} // namespace nereid::definition
