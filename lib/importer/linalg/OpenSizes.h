// SPDX-License-Identifier: Apache-2.0
// What every size of a function of linalg is: a number, or a name that the size of an argument
// has. Sizes that an operation runs over with one loop are one size, and so are those of a result
// and of the tensor that it goes into: a function that is called with others has no meaning.
#pragma once

#include "lib/definition/Graph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include "llvm/ADT/DenseMap.h"

#include <string>
#include <vector>

namespace nereid::importer {

class OpenSizes {
public:
  OpenSizes(const std::string &file, std::string_view text) : file(file), text(text) {}

  /// Reads all of the function's operations. E0637 where two numbers would have to be one size.
  Status read(mlir::func::FuncOp function);

  /// Of a dimension, or of one loop of an operation, or of an index that is a size. A symbol is the
  /// first argument and dimension that have it, "arg0.1"; nothing where no argument has.
  std::optional<definition::Dim> of(mlir::Value tensor, unsigned dimension) const;
  std::optional<definition::Dim> ofLoop(mlir::linalg::LinalgOp loops, unsigned loop) const;
  std::optional<definition::Dim> ofIndex(mlir::Value index) const;

private:
  /// A value and its dimension, an operation and its loop, or an index and 0.
  using Place = std::pair<void *, unsigned>;
  struct Class {
    unsigned parent;
    definition::Dim size; ///< of the root; neither symbol nor number: not known
  };

  unsigned find(Place place);
  unsigned root(unsigned number) const;
  Status join(Place a, Place b, mlir::Location location);
  Status joinShapes(mlir::Value a, mlir::Value b, mlir::Location location);
  Status addTensor(mlir::Value value, mlir::Location location);
  Status setNumber(Place place, int64_t size, mlir::Location location);
  Status addOperation(mlir::Operation &operation);
  Status addLoops(mlir::linalg::LinalgOp loops);
  std::optional<definition::Dim> sizeAt(Place place) const;

  const std::string &file;
  std::string_view text;
  llvm::DenseMap<Place, unsigned> numbers;
  std::vector<Class> classes;
};

} // namespace nereid::importer
