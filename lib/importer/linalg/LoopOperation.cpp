// SPDX-License-Identifier: Apache-2.0
// An operation of linalg becomes one line of the body. Operands are brought into the order of the
// loops: a dimension that an operand lacks is added or broadcast, dimensions in another order are
// permuted, and the number of a loop's round is `torch.arange` along it.
#include "lib/importer/body/Expressions.h"
#include "lib/importer/linalg/ElementTypes.h"
#include "lib/importer/linalg/FunctionBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/DenseSet.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace nereid::importer {
namespace {

class LoopOperation {
public:
  LoopOperation(FunctionBody &function, mlir::linalg::LinalgOp loops)
      : function(function), loops(loops), operation(*loops.getOperation()),
        body(function.path, function.text, &function.outside) {}

  Status add() {
    if (operation.getNumResults() != 1) {
      return function.error(
          operation.getLoc(),
          fmt::format("expects one result, a tensor, but this has {}", operation.getNumResults()));
    }
    auto maps = loops.getIndexingMapsArray();
    mlir::Block &block = *loops.getBlock();
    const mlir::Value initial = loops.getDpsInits()[0];
    const bool isProduct = mlir::isa<mlir::linalg::MatmulOp, mlir::linalg::BatchMatmulOp,
                                     mlir::linalg::MatvecOp, mlir::linalg::VecmatOp>(operation);
    for (auto [number, operand] : llvm::enumerate(operation.getOperands())) {
      const mlir::Value argument = block.getArgument(static_cast<unsigned>(number));
      const bool isTensor = mlir::isa<mlir::RankedTensorType>(operand.getType());
      auto found = function.values.find(operand);
      const Scalar *known =
          found != function.values.end() ? &found->second : function.outside.find(operand);
      if (!known) {
        if (!isTensor) {
          return function.error(operation.getLoc(), fmt::format("operand {} is no tensor", number));
        }
        continue; // tensor.empty: nobody may read it
      }
      Scalar placed = *known;
      if (placed.isTensor && !isProduct) {
        auto text = overLoops(placed.text, maps[number]);
        if (!text) {
          return function
              .error(operation.getLoc(),
                     fmt::format("operand {} is read at other places than its own element", number))
              .withHelp("expects indexing maps that choose loops, such as (d0, d1) -> (d1)");
        }
        placed.text = *text;
      }
      body.scalars[argument] = placed;
    }
    if (isProduct) {
      return addProduct();
    }
    std::vector<int64_t> reduced;
    const auto kinds = loops.getIteratorTypesArray();
    for (size_t loop = 0; loop < kinds.size(); ++loop) {
      if (kinds[loop] != mlir::utils::IteratorType::parallel) {
        reduced.push_back(static_cast<int64_t>(loop));
      }
    }
    if (!isInOrder(maps.back(), reduced)) {
      return function
          .error(operation.getLoc(), "writes its result in another order than that of its loops")
          .withHelp("expects an output map with the parallel loops in their order");
    }
    const mlir::Value accumulator = block.getArguments().back();
    return reduced.empty() ? addPointwise() : addReduction(accumulator, reduced, initial);
  }

private:
  /// The operand as a tensor over the loops; nothing when its map is no choice of loops.
  std::optional<std::string> overLoops(const std::string &operand, mlir::AffineMap map) {
    std::vector<unsigned> loops;
    for (mlir::AffineExpr result : map.getResults()) {
      auto dim = mlir::dyn_cast<mlir::AffineDimExpr>(result);
      if (!dim || std::find(loops.begin(), loops.end(), dim.getPosition()) != loops.end()) {
        return std::nullopt;
      }
      loops.push_back(dim.getPosition());
    }
    std::vector<size_t> order(loops.size());
    for (size_t i = 0; i < order.size(); ++i) {
      order[i] = i;
    }
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return loops[a] < loops[b]; });
    std::string result = operand;
    if (!std::is_sorted(order.begin(), order.end())) {
      result = fmt::format("torch.permute({}, ({},))", result, fmt::join(order, ", "));
    }
    std::sort(loops.begin(), loops.end());
    // Dimensions in front are broadcast; those within and behind are added.
    int64_t dimension = 0;
    for (unsigned loop = loops.empty() ? map.getNumDims() : loops.front(); loop < map.getNumDims();
         ++loop, ++dimension) {
      if (std::find(loops.begin(), loops.end(), loop) == loops.end()) {
        result = fmt::format("torch.unsqueeze({}, {})", result, dimension);
      }
    }
    return result;
  }

  static bool isInOrder(mlir::AffineMap map, const std::vector<int64_t> &reduced) {
    unsigned next = 0;
    for (mlir::AffineExpr result : map.getResults()) {
      while (std::find(reduced.begin(), reduced.end(), next) != reduced.end()) {
        ++next;
      }
      auto dim = mlir::dyn_cast<mlir::AffineDimExpr>(result);
      if (!dim || dim.getPosition() != next++) {
        return false;
      }
    }
    return map.getNumResults() + reduced.size() == map.getNumDims();
  }

  /// The number of a loop's round, as a tensor over the loops.
  Status addIndex(mlir::linalg::IndexOp index) {
    const auto loop = static_cast<unsigned>(index.getDim());
    auto size = function.sizes.ofLoop(loops, loop);
    if (!size) {
      return unsolved(index.getLoc(), loop);
    }
    const size_t behind = loops.getNumLoops() - loop - 1;
    std::string text = fmt::format("torch.arange({})", function.sizeText(*size));
    for (size_t i = 0; i < behind; ++i) {
      text += i == 0 ? "[:, None" : ", None";
    }
    body.scalars[index.getResult()] = Scalar{text + (behind > 0 ? "]" : ""), {}, true, true};
    return Done{};
  }
  Diagnostic unsolved(mlir::Location location, unsigned loop) const {
    return function
        .error(location,
               fmt::format("the size of loop {} follows from no size of an argument", loop))
        .withHelp("expects loops that run along a dimension of an argument, or of what is made "
                  "with its sizes");
  }

  Status addBody(mlir::Operation *but) {
    for (mlir::Operation &operation : loops.getBlock()->without_terminator()) {
      auto index = mlir::dyn_cast<mlir::linalg::IndexOp>(operation);
      if (&operation == but) {
        continue;
      }
      if (Status added = index ? addIndex(index) : body.add(operation); !added) {
        return added;
      }
    }
    return Done{};
  }

  /// Along all loops, also those that nothing of it runs along.
  Result<std::string> overAllLoops(mlir::Value value, const Scalar &scalar) {
    if (scalar.isTensor && coversLoops(value)) {
      return scalar.text;
    }
    std::vector<std::string> shape;
    for (unsigned loop = 0; loop < loops.getNumLoops(); ++loop) {
      auto size = function.sizes.ofLoop(loops, loop);
      if (!size) {
        return unsolved(loops.getLoc(), loop);
      }
      shape.push_back(function.sizeText(*size));
    }
    auto whole = function.spread(scalar, shape, value.getType(), loops.getLoc());
    if (!whole) {
      return whole.error();
    }
    return scalar.isTensor
               ? fmt::format("torch.broadcast_to({}, {})", scalar.text, tupleText(shape))
               : whole->text;
  }

  Status addPointwise() {
    if (Status added = addBody(nullptr); !added) {
      return added;
    }
    const mlir::Value result = loops.getBlock()->getTerminator()->getOperand(0);
    const Scalar *found = body.find(result);
    if (!found) {
      return function.error(loops.getLoc(), "its result is no expression of its operands");
    }
    if (!found->isTensor) {
      function.values[loops->getResult(0)] = *found;
      return Done{};
    }
    auto whole = overAllLoops(result, *found);
    if (!whole) {
      return whole.error();
    }
    function.keep(operation, *whole);
    return Done{};
  }

  Status addReduction(mlir::Value accumulator, const std::vector<int64_t> &reduced,
                      mlir::Value initial) {
    mlir::Operation *last = loops.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
    const std::string name = last ? last->getName().getStringRef().str() : "";
    struct Form {
      const char *reduce, *with, *neutral;
      bool isWidened; ///< of integers, by PyTorch
    };
    static const std::map<std::string, Form> forms = {
        {"arith.addf", {"torch.sum", "{} + {}", "0.0", false}},
        {"arith.addi", {"torch.sum", "{} + {}", "0", true}},
        {"arith.maximumf", {"torch.amax", "torch.maximum({}, {})", "float(\"-inf\")", false}},
        {"arith.maxsi", {"torch.amax", "torch.maximum({}, {})", "", false}},
        {"arith.minimumf", {"torch.amin", "torch.minimum({}, {})", "float(\"inf\")", false}},
        {"arith.minsi", {"torch.amin", "torch.minimum({}, {})", "", false}},
        {"arith.mulf", {"torch.prod", "{} * {}", "1.0", false}},
        {"arith.muli", {"torch.prod", "{} * {}", "1", true}},
    };
    auto form = forms.find(name);
    const bool isFirst = last && last->getNumOperands() == 2 && last->getOperand(0) == accumulator;
    const bool isSecond = last && last->getNumOperands() == 2 && last->getOperand(1) == accumulator;
    if (form == forms.end() || isFirst == isSecond || !accumulator.hasOneUse() ||
        accumulator.getType().isInteger(1)) {
      return function
          .error(loops.getLoc(),
                 "expects a reduction whose last operation adds, multiplies or takes "
                 "the larger or smaller of the result so far and an expression")
          .withHelp("arith.addf, mulf, maximumf, minimumf, addi, muli, maxsi or minsi, of the "
                    "output's argument once");
    }
    if (Status added = addBody(last); !added) {
      return added;
    }
    const mlir::Value reads = last->getOperand(isFirst ? 1 : 0);
    const Scalar *element = body.find(reads);
    auto start = function.values.find(initial);
    if (!element || start == function.values.end()) {
      return function
          .error(loops.getLoc(), start == function.values.end()
                                     ? "reduces into a tensor that holds nothing yet"
                                     : "what it reduces is no expression of its operands")
          .withHelp("linalg.fill gives it a number to begin with");
    }
    auto whole = overAllLoops(reads, *element);
    if (!whole) {
      return whole.error();
    }
    std::string total =
        fmt::format("{}({}, dim=({},))", form->second.reduce, *whole, fmt::join(reduced, ", "));
    if (form->second.isWidened && !accumulator.getType().isInteger(64)) {
      total += fmt::format(".to({})", typeText(accumulator.getType()));
    }
    const bool isNeutral = start->second.text == form->second.neutral ||
                           (name == "arith.addf" && isZero(start->second));
    function.keep(operation, isNeutral ? total
                                       : fmt::format(fmt::runtime(form->second.with),
                                                     start->second.text, total));
    return Done{};
  }

  static bool isZero(const Scalar &number) {
    return number.text == "0.0" || number.text == "(-0.0)" || number.text == "0";
  }

  /// Whether what `result` is computed from has every loop as a dimension: nothing else tells a
  /// tensor of a body how large it is.
  bool coversLoops(mlir::Value result) {
    std::vector<bool> isCovered(loops.getNumLoops(), false);
    auto maps = loops.getIndexingMapsArray();
    llvm::SmallVector<mlir::Value> todo = {result};
    llvm::DenseSet<mlir::Value> seen;
    while (!todo.empty()) {
      mlir::Value value = todo.pop_back_val();
      if (!seen.insert(value).second) {
        continue;
      }
      if (auto index = value.getDefiningOp<mlir::linalg::IndexOp>()) {
        isCovered[index.getDim()] = true;
        continue;
      }
      if (mlir::Operation *made = value.getDefiningOp()) {
        todo.append(made->operand_begin(), made->operand_end());
        continue;
      }
      if (value.getParentBlock() != loops.getBlock()) {
        continue; // an index around the operation
      }
      const unsigned number = mlir::cast<mlir::BlockArgument>(value).getArgNumber();
      auto found = function.values.find(loops->getOperand(number));
      if (found == function.values.end() || !found->second.isTensor) {
        continue;
      }
      for (mlir::AffineExpr dimension : maps[number].getResults()) {
        if (auto dim = mlir::dyn_cast<mlir::AffineDimExpr>(dimension)) {
          isCovered[dim.getPosition()] = true;
        }
      }
    }
    return std::all_of(isCovered.begin(), isCovered.end(), [](bool one) { return one; });
  }

  /// A factor in the type of the sum; nothing where the type has not all of its numbers.
  static std::optional<std::string> factor(const Scalar &scalar, mlir::Type from, mlir::Type to) {
    if (from == to) {
      return scalar.text;
    }
    const bool areFloats = mlir::isa<mlir::FloatType>(from) && mlir::isa<mlir::FloatType>(to);
    const bool areIntegers =
        from.isSignlessInteger() && to.isSignlessInteger() && from.getIntOrFloatBitWidth() > 1;
    const bool isWider =
        (areFloats || areIntegers) && to.getIntOrFloatBitWidth() > from.getIntOrFloatBitWidth();
    return isWider ? std::optional(fmt::format("{}.to({})", scalar.text, typeText(to)))
                   : std::nullopt;
  }

  Status addProduct() {
    mlir::Block &block = *loops.getBlock();
    const Scalar *a = body.find(block.getArgument(0)), *b = body.find(block.getArgument(1)),
                 *c = body.find(block.getArgument(2));
    if (!a || !b || !c) {
      return function
          .error(loops.getLoc(), "multiplies, or adds to, a tensor that holds nothing yet")
          .withHelp("linalg.fill gives it a number to begin with");
    }
    if (!a->isTensor || !b->isTensor) {
      return function.error(loops.getLoc(), "multiplies a tensor that has one number everywhere");
    }
    const mlir::Type sum = block.getArgument(2).getType();
    const auto cast = loops->getAttrOfType<mlir::linalg::TypeFnAttr>("cast");
    auto left = factor(*a, block.getArgument(0).getType(), sum),
         right = factor(*b, block.getArgument(1).getType(), sum);
    if (!left || !right || (cast && cast.getValue() != mlir::linalg::TypeFn::cast_signed)) {
      return function
          .error(loops.getLoc(), "multiplies numbers that the type of its result does not have")
          .withHelp("expects elements of the result's type, or of a narrower one of its kind");
    }
    const std::string product = fmt::format("torch.matmul({}, {})", *left, *right);
    function.keep(operation, isZero(*c) ? product : product + " + " + c->text);
    return Done{};
  }

  FunctionBody &function;
  mlir::linalg::LinalgOp loops;
  mlir::Operation &operation;
  ScalarBody body;
};

} // namespace

Status addLoops(FunctionBody &function, mlir::linalg::LinalgOp loops) {
  return LoopOperation(function, loops).add();
}

} // namespace nereid::importer
