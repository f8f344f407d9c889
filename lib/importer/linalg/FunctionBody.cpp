// SPDX-License-Identifier: Apache-2.0
#include "lib/importer/linalg/FunctionBody.h"

#include "lib/importer/body/Expressions.h"
#include "lib/importer/linalg/ElementTypes.h"

#include <fmt/format.h>

namespace nereid::importer {

definition::Dim FunctionBody::named(const definition::Dim &size) {
  if (size.symbol.empty()) {
    return size;
  }
  return {symbols[size.symbol] = names.ofSize(size.symbol), 0};
}

std::string FunctionBody::sizeText(const definition::Dim &size) {
  const definition::Dim own = named(size);
  return own.symbol.empty() ? std::to_string(own.constant) : own.symbol;
}

Result<Scalar> FunctionBody::spread(const Scalar &scalar, const std::vector<std::string> &shape,
                                    mlir::Type element, mlir::Location location) const {
  if (scalar.isTensor) {
    return scalar;
  }
  if (scalar.text.empty() || !dtypeOf(element)) {
    return error(location, "a definition has no text for this constant");
  }
  return Scalar{
      fmt::format("torch.full({}, {}, dtype={})", tupleText(shape), scalar.text, typeText(element)),
      {},
      true};
}

void FunctionBody::keep(mlir::Operation &operation, const std::string &expression) {
  const std::string name = names.of(fmt::format("v{}", lines.size()));
  lines.push_back(name + " = " + expression);
  values[operation.getResult(0)] = Scalar{name, {}, true};
}

} // namespace nereid::importer
