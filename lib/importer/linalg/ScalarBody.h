// SPDX-License-Identifier: Apache-2.0
// What a linalg operation computes of single elements, as an expression over tensors.
#pragma once

#include "lib/support/Diagnostics.h"

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

#include "llvm/ADT/DenseMap.h"

#include <string>

namespace nereid::importer {

/// An error that points at an operation of the file.
Diagnostic linalgError(mlir::Location location, const std::string &file, std::string_view text,
                       std::string message);

/// Expressions of the values in a block; those of its arguments are given.
class ScalarBody {
public:
  ScalarBody(const std::string &file, std::string_view text) : file(file), text(text) {}
  llvm::DenseMap<mlir::Value, std::string> expressions;

  /// E0637 for an operation that bodies of definitions have nothing for.
  Status add(mlir::Operation &operation);

private:
  const std::string &file;
  std::string_view text;
};

/// A constant of a number as Python writes it; nothing when it is none.
std::optional<std::string> constantText(mlir::Operation *operation);

} // namespace nereid::importer
