// SPDX-License-Identifier: Apache-2.0
// What a caller sees of an operator: what its files say of functions, parameters, checks and
// results follows from this alone.
#pragma once

#include "lib/definition/Graph.h"

#include <optional>
#include <string>
#include <vector>

namespace nereid::generator {

/// A tensor that an operator takes or gives.
struct Operand {
  std::string name; ///< as in the definition
  bool isOutput = false;
  int index = 0; ///< in Operator::parameters, or in Operator::outputs
  definition::SymbolicShape shape;
  std::optional<DType> fixedDtype;
  std::string memory; ///< of an output: the input in whose memory it is written; "": its own
};

struct CalledOperator {
  definition::Operator op;
  std::vector<Operand> operands; ///< tensor parameters in order, then outputs

  const Operand *find(const std::string &name) const;
  /// The output in this input's memory; null where it is only read.
  const Operand *writtenTo(const std::string &input) const;
};
CalledOperator calledOperator(const definition::Operator &op);
/// E0607 for a name that generated files need for themselves.
Status checkNames(const definition::Operator &op);

/// Element type of an operand when the operator runs on `dtype`.
DType operandType(const Operand &operand, DType dtype);

} // namespace nereid::generator
