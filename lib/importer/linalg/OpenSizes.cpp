// SPDX-License-Identifier: Apache-2.0
#include "lib/importer/linalg/OpenSizes.h"

#include "lib/importer/linalg/ScalarBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <fmt/format.h>

namespace nereid::importer {
namespace {

bool isKnown(const definition::Dim &size) { return !size.symbol.empty() || size.constant >= 0; }

std::pair<void *, unsigned> place(mlir::Value value, unsigned dimension = 0) {
  return {value.getAsOpaquePointer(), dimension};
}

} // namespace

Status OpenSizes::read(mlir::func::FuncOp function) {
  for (mlir::Value argument : function.getArguments()) {
    if (Status added = addTensor(argument, function.getLoc()); !added) {
      return added;
    }
  }
  for (mlir::Operation &operation : function.getBody().front()) {
    for (mlir::Value result : operation.getResults()) {
      if (Status added = addTensor(result, operation.getLoc()); !added) {
        return added;
      }
    }
    if (Status added = addOperation(operation); !added) {
      return added;
    }
  }
  for (auto [number, argument] : llvm::enumerate(function.getArguments())) {
    auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(argument.getType());
    for (unsigned i = 0; tensor && i < tensor.getRank(); ++i) {
      definition::Dim &size = classes[root(find(place(argument, i)))].size;
      if (!isKnown(size)) {
        size.symbol = fmt::format("arg{}.{}", number, i);
      }
    }
  }
  return Done{};
}

unsigned OpenSizes::find(Place place) {
  auto [found, isNew] = numbers.try_emplace(place, static_cast<unsigned>(classes.size()));
  if (isNew) {
    classes.push_back({found->second, {"", -1}});
  }
  return found->second;
}

unsigned OpenSizes::root(unsigned number) const {
  while (classes[number].parent != number) {
    number = classes[number].parent;
  }
  return number;
}

Status OpenSizes::join(Place a, Place b, mlir::Location location) {
  const unsigned first = root(find(a)), second = root(find(b));
  if (first == second) {
    return Done{};
  }
  const definition::Dim one = classes[first].size, other = classes[second].size;
  if (isKnown(one) && isKnown(other) && one.constant != other.constant) {
    return linalgError(location, file, text,
                       fmt::format("runs over {} and {} elements with one loop",
                                   std::min(one.constant, other.constant),
                                   std::max(one.constant, other.constant)));
  }
  classes[second].parent = first;
  classes[first].size = isKnown(one) ? one : other;
  return Done{};
}

Status OpenSizes::joinShapes(mlir::Value a, mlir::Value b, mlir::Location location) {
  auto one = mlir::dyn_cast<mlir::RankedTensorType>(a.getType()),
       other = mlir::dyn_cast<mlir::RankedTensorType>(b.getType());
  for (unsigned i = 0; one && other && i < one.getRank() && i < other.getRank(); ++i) {
    if (Status joined = join(place(a, i), place(b, i), location); !joined) {
      return joined;
    }
  }
  return Done{};
}

Status OpenSizes::setNumber(Place place, int64_t size, mlir::Location location) {
  // A constant of its own, which then is joined: two numbers are told apart in one place.
  const auto number = static_cast<unsigned>(classes.size());
  const Place constant = {const_cast<char *>(text.data()), number};
  classes[find(constant)].size.constant = size;
  return join(place, constant, location);
}

Status OpenSizes::addTensor(mlir::Value value, mlir::Location location) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(value.getType());
  for (unsigned i = 0; tensor && i < tensor.getRank(); ++i) {
    if (tensor.isDynamicDim(i)) {
      find(place(value, i));
    } else if (Status set = setNumber(place(value, i), tensor.getDimSize(i), location); !set) {
      return set;
    }
  }
  return Done{};
}

Status OpenSizes::addOperation(mlir::Operation &operation) {
  const mlir::Location location = operation.getLoc();
  if (auto constant = mlir::dyn_cast<mlir::arith::ConstantIndexOp>(operation)) {
    return setNumber(place(constant.getResult()), constant.value(), location);
  }
  if (auto dim = mlir::dyn_cast<mlir::tensor::DimOp>(operation)) {
    const auto number = dim.getConstantIndex();
    return number ? join(place(dim.getResult()),
                         place(dim.getSource(), static_cast<unsigned>(*number)), location)
                  : Status(Done{});
  }
  if (auto cast = mlir::dyn_cast<mlir::tensor::CastOp>(operation)) {
    return joinShapes(cast.getSource(), cast.getResult(), location);
  }
  if (auto empty = mlir::dyn_cast<mlir::tensor::EmptyOp>(operation)) {
    unsigned next = 0;
    for (unsigned i = 0; i < empty.getType().getRank(); ++i) {
      if (!empty.getType().isDynamicDim(i)) {
        continue;
      }
      const mlir::Value size = empty.getDynamicSizes()[next++];
      if (Status joined = join(place(empty.getResult(), i), place(size), location); !joined) {
        return joined;
      }
    }
    return Done{};
  }
  auto loops = mlir::dyn_cast<mlir::linalg::LinalgOp>(operation);
  return loops ? addLoops(loops) : Status(Done{});
}

Status OpenSizes::addLoops(mlir::linalg::LinalgOp loops) {
  mlir::Operation &operation = *loops.getOperation();
  auto maps = loops.getIndexingMapsArray();
  for (auto [number, operand] : llvm::enumerate(operation.getOperands())) {
    if (!mlir::isa<mlir::RankedTensorType>(operand.getType())) {
      continue;
    }
    for (auto [i, result] : llvm::enumerate(maps[number].getResults())) {
      auto dim = mlir::dyn_cast<mlir::AffineDimExpr>(result);
      if (!dim) {
        continue;
      }
      if (Status joined = join({&operation, dim.getPosition()},
                               place(operand, static_cast<unsigned>(i)), operation.getLoc());
          !joined) {
        return joined;
      }
    }
  }
  for (auto [result, into] : llvm::zip(operation.getResults(), loops.getDpsInits())) {
    if (Status joined = joinShapes(result, into, operation.getLoc()); !joined) {
      return joined;
    }
  }
  return Done{};
}

std::optional<definition::Dim> OpenSizes::sizeAt(Place place) const {
  auto found = numbers.find(place);
  if (found == numbers.end()) {
    return std::nullopt;
  }
  const definition::Dim &size = classes[root(found->second)].size;
  return isKnown(size) ? std::optional(size) : std::nullopt;
}

std::optional<definition::Dim> OpenSizes::of(mlir::Value tensor, unsigned dimension) const {
  return sizeAt(place(tensor, dimension));
}

std::optional<definition::Dim> OpenSizes::ofLoop(mlir::linalg::LinalgOp loops,
                                                 unsigned loop) const {
  return sizeAt({loops.getOperation(), loop});
}

std::optional<definition::Dim> OpenSizes::ofIndex(mlir::Value index) const {
  return sizeAt(place(index));
}

} // namespace nereid::importer
