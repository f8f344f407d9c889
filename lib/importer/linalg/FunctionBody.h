// SPDX-License-Identifier: Apache-2.0
// What is known of a function of linalg while its operations become lines of a body, and what one
// of its operations with loops adds to it.
#pragma once

#include "lib/importer/body/Names.h"
#include "lib/importer/linalg/OpenSizes.h"
#include "lib/importer/linalg/ScalarBody.h"

namespace nereid::importer {

struct FunctionBody {
  FunctionBody(const std::string &path, std::string_view text)
      : path(path), text(text), sizes(path, text), outside(path, text) {}

  Diagnostic error(mlir::Location location, std::string message) const {
    return linalgError(location, path, text, std::move(message));
  }
  /// As shapes and bodies write a size.
  definition::Dim named(const definition::Dim &size);
  std::string sizeText(const definition::Dim &size);
  /// A number as a tensor of this shape; a tensor is what it is.
  Result<Scalar> spread(const Scalar &scalar, const std::vector<std::string> &shape,
                        mlir::Type element, mlir::Location location) const;
  /// A line of the body for the operation's result.
  void keep(mlir::Operation &operation, const std::string &expression);

  const std::string &path;
  std::string_view text;
  Names names;
  OpenSizes sizes;
  ScalarBody outside;                         ///< numbers around the operations
  llvm::DenseMap<mlir::Value, Scalar> values; ///< tensors, or one number everywhere
  std::vector<std::string> lines;
  std::map<std::string, std::string> symbols; ///< names of open sizes in the definition
};

/// E0637 with the place of what a definition cannot say.
Status addLoops(FunctionBody &function, mlir::linalg::LinalgOp loops);

} // namespace nereid::importer
