// SPDX-License-Identifier: Apache-2.0
// Element types by the numbers that ONNX files have for them.
#pragma once

#include "runtime/elements/DType.h"

#include <optional>
#include <string>

namespace nereid::importer {

struct ElementType {
  int code = 0; ///< 0 = not known
  ElementType() = default;
  explicit ElementType(int code) : code(code) {}
  static ElementType of(DType dtype);

  bool isKnown() const { return code != 0; }
  /// As definitions have it; nothing for strings, complex numbers and types of less than a byte.
  std::optional<DType> dtype() const;
  double bytes() const; ///< of one element; 0 for strings and what is not known
  std::string name() const;
  bool operator==(const ElementType &) const = default;
};

} // namespace nereid::importer
