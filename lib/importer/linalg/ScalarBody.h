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

/// What stands for one element, or for all elements where it is no tensor.
struct Scalar {
  std::string text;            ///< of a body; "" for a constant that none can write
  mlir::Attribute number = {}; ///< of a constant
  bool isTensor = false;       ///< otherwise a number: a constant, or made of sizes
  bool isNonNegative = false;  ///< signed and unsigned operations mean the same
};

/// Expressions of the values in a block; those of its arguments are given.
class ScalarBody {
public:
  /// `outside`: of values around the block.
  ScalarBody(const std::string &file, std::string_view text, const ScalarBody *outside = nullptr)
      : file(file), text(text), outside(outside) {}
  llvm::DenseMap<mlir::Value, Scalar> scalars;

  /// E0637 for an operation that bodies of definitions have nothing for.
  Status add(mlir::Operation &operation);
  /// Nothing for a value that has no expression.
  const Scalar *find(mlir::Value value) const;

private:
  Status refuse(mlir::Operation &operation) const;
  Status addForm(mlir::Operation &operation, std::string form);
  bool addFolded(mlir::Operation &operation);

  const std::string &file;
  std::string_view text;
  const ScalarBody *outside;
};

/// A number as Python writes it; nothing when the attribute is none.
std::optional<Scalar> constantOf(mlir::Attribute value);

} // namespace nereid::importer
