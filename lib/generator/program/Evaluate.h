// SPDX-License-Identifier: Apache-2.0
// Runs a program point by point, in float64, and checks every access: what tests compare lowerings,
// passes and kernels with. It shares no code with what makes kernels, nor with eager/.
#pragma once

#include "lib/generator/program/Program.h"

namespace nereid::generator {

struct EvaluationInput {
  /// Of the symbols that are no quotients, in order.
  std::vector<int64_t> sizes;
  std::map<std::string, double> parameters;
  /// Elements of each buffer that is no view, by name; outputs and temporaries are made, filled
  /// with NaN.
  std::map<std::string, std::vector<double>> memory;
};

/// The memory afterwards. E0619 when sizes do not fit, an access leaves its buffer or its promise
/// (Data), or an operation is none that has a value here.
Result<std::map<std::string, std::vector<double>>> evaluate(const Program &program,
                                                            EvaluationInput input);

/// The value of a Map operation that is no composite; nothing for others.
std::optional<double> evaluateMap(const NodeParts &node, const std::vector<double> &inputs);

} // namespace nereid::generator
