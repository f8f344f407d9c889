// SPDX-License-Identifier: Apache-2.0
// Each operation becomes one line of the body. Operands are brought into the order of the loops: a
// dimension that an operand lacks is added or broadcast, dimensions in another order are permuted.
#include "lib/importer/linalg/ImportLinalg.h"

#include "lib/definition/Graph.h"
#include "lib/definition/gradient/text/DefinitionText.h"
#include "lib/importer/body/Names.h"
#include "lib/importer/linalg/ScalarBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include "llvm/ADT/DenseSet.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

namespace nereid::importer {
namespace {

std::optional<DType> dtypeOf(mlir::Type type) {
  if (type.isF16()) {
    return DType::F16;
  }
  if (type.isBF16()) {
    return DType::BF16;
  }
  if (type.isF32()) {
    return DType::F32;
  }
  if (type.isF64()) {
    return DType::F64;
  }
  auto integer = mlir::dyn_cast<mlir::IntegerType>(type);
  switch (integer && !integer.isUnsigned() ? integer.getWidth() : 0) {
  case 1:
    return DType::Bool;
  case 8:
    return DType::I8;
  case 16:
    return DType::I16;
  case 32:
    return DType::I32;
  case 64:
    return DType::I64;
  default:
    return std::nullopt;
  }
}

class LinalgImporter {
public:
  LinalgImporter(const std::string &path, std::string_view text) : path(path), text(text) {}

  Result<definition::DefinitionParts> run(mlir::func::FuncOp function, const std::string &name) {
    parts.name = name;
    names.of(name);
    for (auto [number, argument] : llvm::enumerate(function.getArguments())) {
      const std::string argumentName = names.of(fmt::format("arg{}", number));
      auto tensor = tensorText(argument.getType(), argumentName, function.getLoc());
      if (!tensor) {
        return tensor.error();
      }
      parts.inputs.push_back(std::move(*tensor));
      values[argument] = argumentName;
    }
    if (!mainType) {
      return error(function.getLoc(), "the function has no tensors as arguments");
    }
    parts.dtypes = {*mainType};
    for (mlir::Operation &operation : function.getBody().front()) {
      if (Status added = addOperation(operation); !added) {
        return added.error();
      }
    }
    parts.summary = fmt::format("Function '{}' of {}.", printable(function.getName().str()),
                                printable(std::filesystem::path(path).filename().string()));
    one.name = "file";
    cases = {one};
    parts.cases = &cases;
    return parts;
  }

private:
  Diagnostic error(mlir::Location location, std::string message) const {
    return linalgError(location, path, text, std::move(message));
  }

  Result<definition::TensorText> tensorText(mlir::Type type, const std::string &name,
                                            mlir::Location location) {
    auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
    const auto dtype = tensor ? dtypeOf(tensor.getElementType()) : std::nullopt;
    if (!dtype) {
      std::string shown;
      llvm::raw_string_ostream(shown) << type;
      return error(location, fmt::format("expects tensors of floats, signless integers or i1, but "
                                         "got '{}'",
                                         shown));
    }
    definition::TensorText result;
    result.name = name;
    for (int64_t size : tensor.getShape()) {
      if (mlir::ShapedType::isDynamic(size)) {
        return error(location, fmt::format("'{}' has a size that is known only when it runs", name))
            .withHelp("expects tensors of fixed sizes: specialise the function for them");
      }
      result.shape.push_back({"", size});
    }
    mainType = mainType ? mainType : dtype;
    if (*dtype != *mainType) {
      result.dtype = dtype;
    }
    return result;
  }

  Status addOperation(mlir::Operation &operation) {
    if (mlir::isa<mlir::tensor::EmptyOp>(operation)) {
      return Done{}; // a shape without elements
    }
    if (auto number = constantText(&operation)) {
      values[operation.getResult(0)] = *number;
      return Done{};
    }
    if (auto fill = mlir::dyn_cast<mlir::linalg::FillOp>(operation)) {
      auto found = values.find(fill.getInputs()[0]);
      if (found == values.end()) {
        return error(operation.getLoc(), "fills with what is no constant");
      }
      if (fill->getNumResults() != 1) {
        return error(operation.getLoc(), "works on buffers, but expects tensors");
      }
      const std::string number = found->second;
      values[fill->getResult(0)] = number;
      return Done{};
    }
    if (auto done = mlir::dyn_cast<mlir::func::ReturnOp>(operation)) {
      return addOutputs(done);
    }
    if (auto loops = mlir::dyn_cast<mlir::linalg::LinalgOp>(operation)) {
      return addLoops(loops);
    }
    return error(operation.getLoc(),
                 fmt::format("'{}' cannot be imported", operation.getName().getStringRef().str()))
        .withHelp(
            "expects linalg on tensors, tensor.empty and constants; docs/models.md lists them");
  }

  Status addOutputs(mlir::func::ReturnOp done) {
    for (auto [number, value] : llvm::enumerate(done.getOperands())) {
      auto found = values.find(value);
      if (found == values.end()) {
        return error(done.getLoc(), "returns what no operation has computed");
      }
      const std::string name = names.of(number == 0 ? "out" : fmt::format("out{}", number));
      auto tensor = tensorText(value.getType(), name, done.getLoc());
      if (!tensor) {
        return tensor.error();
      }
      parts.lines.push_back(name + " = " + found->second);
      parts.outputs.push_back(std::move(*tensor));
    }
    return Done{};
  }

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

  Status addLoops(mlir::linalg::LinalgOp loops) {
    mlir::Operation &operation = *loops.getOperation();
    if (operation.getNumResults() != 1) {
      return error(operation.getLoc(), fmt::format("expects one result, a tensor, but this has {}",
                                                   operation.getNumResults()));
    }
    auto maps = loops.getIndexingMapsArray();
    mlir::Block &block = *loops.getBlock();
    ScalarBody body(path, text);
    const mlir::Value initial = loops.getDpsInits()[0];
    const bool isProduct = mlir::isa<mlir::linalg::MatmulOp, mlir::linalg::BatchMatmulOp,
                                     mlir::linalg::MatvecOp, mlir::linalg::VecmatOp>(operation);
    for (auto [number, operand] : llvm::enumerate(operation.getOperands())) {
      const mlir::Value argument = block.getArgument(static_cast<unsigned>(number));
      auto found = values.find(operand);
      if (found == values.end()) {
        continue; // tensor.empty: nobody may read it
      }
      const bool isTensor = mlir::isa<mlir::RankedTensorType>(operand.getType());
      auto placed = isTensor && !isNumber(found->second) && !isProduct
                        ? overLoops(found->second, maps[number])
                        : std::optional(found->second);
      if (!placed) {
        return error(operation.getLoc(),
                     fmt::format("operand {} is read at other places than its own element", number))
            .withHelp("expects indexing maps that choose loops, such as (d0, d1) -> (d1)");
      }
      body.expressions[argument] = *placed;
    }
    if (isProduct) {
      return addProduct(loops, body.expressions);
    }
    std::vector<int64_t> reduced;
    const auto kinds = loops.getIteratorTypesArray();
    for (size_t loop = 0; loop < kinds.size(); ++loop) {
      if (kinds[loop] != mlir::utils::IteratorType::parallel) {
        reduced.push_back(static_cast<int64_t>(loop));
      }
    }
    if (!isInOrder(maps.back(), reduced)) {
      return error(operation.getLoc(), "writes its result in another order than that of its loops")
          .withHelp("expects an output map with the parallel loops in their order");
    }
    const mlir::Value accumulator = block.getArguments().back();
    return reduced.empty() ? addPointwise(loops, body)
                           : addReduction(loops, body, accumulator, reduced, initial);
  }

  static bool isNumber(const std::string &expression) {
    return !expression.empty() && (std::isdigit(static_cast<unsigned char>(expression[0])) != 0 ||
                                   expression[0] == '(' || expression.starts_with("float("));
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

  std::string keep(mlir::Operation &operation, const std::string &expression) {
    const std::string name = names.of(fmt::format("v{}", parts.lines.size()));
    parts.lines.push_back(name + " = " + expression);
    values[operation.getResult(0)] = name;
    return name;
  }

  Status addPointwise(mlir::linalg::LinalgOp loops, ScalarBody &body) {
    for (mlir::Operation &operation : loops.getBlock()->without_terminator()) {
      if (Status added = body.add(operation); !added) {
        return added;
      }
    }
    const mlir::Value result = loops.getBlock()->getTerminator()->getOperand(0);
    auto found = body.expressions.find(result);
    if (found == body.expressions.end()) {
      return error(loops.getLoc(), "its result is no expression of its operands");
    }
    if (!coversLoops(loops, result)) {
      return error(loops.getLoc(), "one of its loops runs along no dimension of what it reads")
          .withHelp("let the operation that reads its result broadcast instead");
    }
    keep(*loops.getOperation(), found->second);
    return Done{};
  }

  Status addReduction(mlir::linalg::LinalgOp loops, ScalarBody &body, mlir::Value accumulator,
                      const std::vector<int64_t> &reduced, mlir::Value initial) {
    mlir::Operation *last = loops.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
    const std::string name = last ? last->getName().getStringRef().str() : "";
    struct Form {
      const char *combine, *reduce, *with;
      bool isSum;
    };
    static const std::map<std::string, Form> forms = {
        {"arith.addf", {"arith.addf", "torch.sum", "{} + {}", true}},
        {"arith.maximumf", {"arith.maximumf", "torch.amax", "torch.maximum({}, {})", false}},
        {"arith.minimumf", {"arith.minimumf", "torch.amin", "torch.minimum({}, {})", false}},
        {"arith.mulf", {"arith.mulf", "torch.prod", "{} * {}", false}},
    };
    auto form = forms.find(name);
    const bool isFirst = last && last->getNumOperands() == 2 && last->getOperand(0) == accumulator;
    const bool isSecond = last && last->getNumOperands() == 2 && last->getOperand(1) == accumulator;
    if (form == forms.end() || isFirst == isSecond || !accumulator.hasOneUse()) {
      return error(loops.getLoc(),
                   "expects a reduction whose last operation adds, multiplies or takes "
                   "the larger or smaller of the result so far and an expression")
          .withHelp("arith.addf, mulf, maximumf or minimumf, of the output's argument once");
    }
    for (mlir::Operation &operation : loops.getBlock()->without_terminator()) {
      if (&operation == last) {
        continue;
      }
      if (Status added = body.add(operation); !added) {
        return added;
      }
    }
    auto element = body.expressions.find(last->getOperand(isFirst ? 1 : 0));
    auto start = values.find(initial);
    if (element == body.expressions.end() || start == values.end()) {
      return error(loops.getLoc(), start == values.end()
                                       ? "reduces into a tensor that holds nothing yet"
                                       : "what it reduces is no expression of its operands")
          .withHelp("linalg.fill gives it a number to begin with");
    }
    if (!coversLoops(loops, last->getOperand(isFirst ? 1 : 0))) {
      return error(loops.getLoc(), "one of its loops runs along no dimension of what it reduces");
    }
    const std::string total = fmt::format("{}({}, dim=({},))", form->second.reduce, element->second,
                                          fmt::join(reduced, ", "));
    const bool isNeutral = (form->second.isSum && isZero(start->second)) ||
                           (name == "arith.maximumf" && start->second == "float(\"-inf\")") ||
                           (name == "arith.minimumf" && start->second == "float(\"inf\")") ||
                           (name == "arith.mulf" && start->second == "1.0");
    keep(*loops.getOperation(),
         isNeutral ? total : fmt::format(fmt::runtime(form->second.with), start->second, total));
    return Done{};
  }

  static bool isZero(const std::string &number) { return number == "0.0" || number == "(-0.0)"; }

  /// Whether what `result` is computed from has every loop as a dimension: nothing else tells a
  /// tensor of a body how large it is.
  bool coversLoops(mlir::linalg::LinalgOp loops, mlir::Value result) {
    std::vector<bool> isCovered(loops.getNumLoops(), false);
    auto maps = loops.getIndexingMapsArray();
    llvm::SmallVector<mlir::Value> todo = {result};
    llvm::DenseSet<mlir::Value> seen;
    while (!todo.empty()) {
      const mlir::Value value = todo.pop_back_val();
      if (!seen.insert(value).second) {
        continue;
      }
      if (mlir::Operation *made = value.getDefiningOp()) {
        todo.append(made->operand_begin(), made->operand_end());
        continue;
      }
      const unsigned number = mlir::cast<mlir::BlockArgument>(value).getArgNumber();
      auto found = values.find(loops->getOperand(number));
      if (found == values.end() || isNumber(found->second)) {
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

  Status addProduct(mlir::linalg::LinalgOp loops,
                    const llvm::DenseMap<mlir::Value, std::string> &operands) {
    mlir::Block &block = *loops.getBlock();
    if (block.getArgument(0).getType() != block.getArgument(2).getType() ||
        block.getArgument(1).getType() != block.getArgument(2).getType()) {
      return error(loops.getLoc(), "converts the type of its elements while it multiplies");
    }
    auto a = operands.find(block.getArgument(0)), b = operands.find(block.getArgument(1)),
         c = operands.find(block.getArgument(2));
    if (a == operands.end() || b == operands.end() || c == operands.end()) {
      return error(loops.getLoc(), "multiplies, or adds to, a tensor that holds nothing yet")
          .withHelp("linalg.fill gives it a number to begin with");
    }
    if (isNumber(a->second) || isNumber(b->second)) {
      return error(loops.getLoc(), "multiplies a tensor that has one number everywhere");
    }
    const std::string product = fmt::format("torch.matmul({}, {})", a->second, b->second);
    keep(*loops.getOperation(), isZero(c->second) ? product : product + " + " + c->second);
    return Done{};
  }

  const std::string &path;
  std::string_view text;
  Names names;
  definition::DefinitionParts parts;
  llvm::DenseMap<mlir::Value, std::string> values;
  std::optional<DType> mainType;
  definition::Case one;
  std::vector<definition::Case> cases;
};

} // namespace

Result<ImportedDefinition> importLinalg(const std::string &path, const std::string &text,
                                        const std::string &function, const std::string &name,
                                        Diagnostics &diags) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::func::FuncDialect,
                  mlir::tensor::TensorDialect, mlir::linalg::LinalgDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  std::optional<Diagnostic> first;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &said) {
    if (said.getSeverity() == mlir::DiagnosticSeverity::Error && !first) {
      first = linalgError(said.getLocation(), path, text, said.str());
    }
    return mlir::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context), path);
  if (!module) {
    return first ? *first : makeError("E0637", "the file is no MLIR");
  }
  std::vector<std::string> known;
  mlir::func::FuncOp chosen;
  for (auto candidate : module->getOps<mlir::func::FuncOp>()) {
    known.push_back(candidate.getName().str());
    if (!candidate.isDeclaration() && (function.empty() || function == known.back())) {
      chosen = candidate;
    }
  }
  if (!chosen || (function.empty() && known.size() != 1)) {
    Diagnostic error = makeError(
        "E0637", function.empty()
                     ? fmt::format("expects one function, but the file has {}", known.size())
                     : fmt::format("the file has no function '{}'", function));
    error.file = path;
    return error.withHelp(known.empty()
                              ? "expects a func.func on tensors"
                              : fmt::format("--nodes names one of: {}", fmt::join(known, ", ")));
  }
  if (!chosen.getBody().hasOneBlock()) {
    return linalgError(chosen.getLoc(), path, text, "expects a function without branches");
  }
  LinalgImporter importer(path, text);
  auto parts = importer.run(chosen, name);
  if (!parts) {
    return parts.error();
  }
  ImportedDefinition result{name, definitionText(*parts)};
  if (!isReadBack(result, diags)) {
    return linalgError(chosen.getLoc(), path, text,
                       "a definition cannot say what this function computes");
  }
  return result;
}

} // namespace nereid::importer
