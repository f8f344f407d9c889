// SPDX-License-Identifier: Apache-2.0
// Each operation becomes one line of the body. Operands are brought into the order of the loops: a
// dimension that an operand lacks is added or broadcast, dimensions in another order are permuted.
#include "lib/importer/linalg/ImportLinalg.h"

#include "lib/definition/Graph.h"
#include "lib/definition/gradient/text/DefinitionText.h"
#include "lib/importer/linalg/ElementTypes.h"
#include "lib/importer/linalg/FunctionBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

namespace nereid::importer {
namespace {

class LinalgImporter {
public:
  LinalgImporter(const std::string &path, std::string_view text,
                 const std::map<std::string, int64_t> &given)
      : path(path), given(given), body(path, text) {}

  Result<definition::DefinitionParts> run(mlir::func::FuncOp function, const std::string &name) {
    parts.name = name;
    body.names.of(name);
    if (Status read = body.sizes.read(function); !read) {
      return read.error();
    }
    chooseType(function);
    for (auto [number, argument] : llvm::enumerate(function.getArguments())) {
      if (Status added = addArgument(argument, fmt::format("arg{}", number), function.getLoc());
          !added) {
        return added.error();
      }
    }
    if (parts.inputs.empty()) {
      return error(function.getLoc(), "the function has no tensors as arguments");
    }
    for (mlir::Operation &operation : function.getBody().front()) {
      if (Status added = addOperation(operation); !added) {
        return added.error();
      }
    }
    parts.summary = fmt::format("Function '{}' of {}.", printable(function.getName().str()),
                                printable(std::filesystem::path(path).filename().string()));
    if (Status added = addCase(); !added) {
      return added.error();
    }
    parts.lines = body.lines;
    parts.cases = &cases;
    return parts;
  }

private:
  Diagnostic error(mlir::Location location, std::string message) const {
    return body.error(location, std::move(message));
  }

  /// That of the first argument of floats, of the first of all where none has them.
  void chooseType(mlir::func::FuncOp function) {
    for (mlir::Type type : function.getArgumentTypes()) {
      auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
      const auto dtype = tensor ? dtypeOf(tensor.getElementType()) : std::nullopt;
      const bool isBetter = dtype && (!mainType || (!isFloat(*mainType) && isFloat(*dtype)));
      mainType = isBetter ? dtype : mainType;
    }
    if (mainType) {
      parts.dtypes = {*mainType};
    }
  }

  Status addArgument(mlir::Value argument, const std::string &key, mlir::Location location) {
    const std::string name = body.names.of(key);
    if (argument.getType().isIndex()) {
      // A size that a tensor has, too, is no argument of an operator.
      auto size = body.sizes.ofIndex(argument);
      if (!size) {
        return error(location, fmt::format("'{}' is no size of a tensor among the arguments", name))
            .withHelp("expects indices that sizes of results follow from, which tensors have, too");
      }
      body.outside.scalars[argument] = Scalar{body.sizeText(*size), {}, false, true};
      return Done{};
    }
    auto tensor = tensorText(argument, name, location);
    if (!tensor) {
      return tensor.error();
    }
    parts.inputs.push_back(std::move(*tensor));
    body.values[argument] = Scalar{name, {}, true};
    return Done{};
  }

  Result<definition::TensorText> tensorText(mlir::Value value, const std::string &name,
                                            mlir::Location location) {
    auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(value.getType());
    const auto dtype = tensor ? dtypeOf(tensor.getElementType()) : std::nullopt;
    if (!dtype) {
      std::string shown;
      llvm::raw_string_ostream(shown) << value.getType();
      return error(location, fmt::format("expects tensors of floats, signless integers or i1, but "
                                         "got '{}'",
                                         shown));
    }
    definition::TensorText result;
    result.name = name;
    for (unsigned i = 0; i < tensor.getRank(); ++i) {
      auto size = body.sizes.of(value, i);
      if (!size) {
        return error(location,
                     fmt::format("size {} of '{}' follows from no size of an argument", i, name))
            .withHelp("expects sizes that loops of linalg or tensor.dim take from an argument");
      }
      result.shape.push_back(body.named(*size));
    }
    if (*dtype != *mainType) {
      result.dtype = dtype;
    }
    return result;
  }

  /// The sizes that stay open have to be told for the case that is timed.
  Status addCase() {
    definition::Case one;
    one.name = "file";
    std::string missing;
    for (const auto &[symbol, name] : body.symbols) {
      auto found = given.find(symbol);
      if (found == given.end()) {
        missing += fmt::format(" --size {}=…", symbol);
        continue;
      }
      one.binding.symbols[name] = found->second;
    }
    for (const auto &[symbol, size] : given) {
      if (!body.symbols.contains(symbol)) {
        Diagnostic unknown =
            makeError("E0634", fmt::format("the function has no open size '{}'", symbol));
        unknown.file = path;
        std::vector<std::string> known;
        for (const auto &[one, name] : body.symbols) {
          known.push_back(one);
        }
        return unknown.withHelp(known.empty()
                                    ? "all of its sizes are fixed"
                                    : fmt::format("its open sizes: {}", fmt::join(known, ", ")));
      }
    }
    if (!missing.empty()) {
      Diagnostic open = makeError("E0634", "the function has sizes that are open");
      open.file = path;
      return open.withHelp(
          "give those of the case that is timed, they stay open in the definition:" + missing);
    }
    cases = {one};
    return Done{};
  }

  Status addOperation(mlir::Operation &operation) {
    if (mlir::isa<mlir::tensor::EmptyOp>(operation)) {
      return Done{}; // a shape without elements
    }
    if (auto cast = mlir::dyn_cast<mlir::tensor::CastOp>(operation)) {
      if (auto found = body.values.find(cast.getSource()); found != body.values.end()) {
        const Scalar same = found->second;
        body.values[cast.getResult()] = same;
      }
      return Done{};
    }
    if (mlir::isa<mlir::tensor::DimOp>(operation)) {
      auto size = body.sizes.ofIndex(operation.getResult(0));
      if (!size) {
        return error(operation.getLoc(), "this size follows from no size of an argument");
      }
      body.outside.scalars[operation.getResult(0)] = Scalar{body.sizeText(*size), {}, false, true};
      return Done{};
    }
    if (auto constant = mlir::dyn_cast<mlir::arith::ConstantOp>(operation)) {
      auto number = constantOf(constant.getValue());
      if (!number) {
        return error(operation.getLoc(), "expects a constant with one number everywhere");
      }
      (mlir::isa<mlir::ShapedType>(constant.getType()) ? body.values
                                                       : body.outside.scalars)[constant] = *number;
      return Done{};
    }
    if (auto fill = mlir::dyn_cast<mlir::linalg::FillOp>(operation)) {
      const Scalar *found = body.outside.find(fill.getInputs()[0]);
      if (!found) {
        return error(operation.getLoc(), "fills with what is no constant");
      }
      if (fill->getNumResults() != 1) {
        return error(operation.getLoc(), "works on buffers, but expects tensors");
      }
      body.values[fill->getResult(0)] = *found;
      return Done{};
    }
    if (auto done = mlir::dyn_cast<mlir::func::ReturnOp>(operation)) {
      return addOutputs(done);
    }
    if (auto loops = mlir::dyn_cast<mlir::linalg::LinalgOp>(operation)) {
      return importer::addLoops(body, loops);
    }
    // Numbers that sizes make.
    const bool isNumber = operation.getNumResults() == 1 && operation.getNumRegions() == 0 &&
                          operation.getResult(0).getType().isIntOrIndexOrFloat();
    if (isNumber && operation.getName().getDialectNamespace() == "arith") {
      return body.outside.add(operation);
    }
    return error(operation.getLoc(),
                 fmt::format("'{}' cannot be imported", operation.getName().getStringRef().str()))
        .withHelp("expects linalg on tensors, tensor.empty, dim and cast, and constants; "
                  "docs/models.md lists them");
  }

  Status addOutputs(mlir::func::ReturnOp done) {
    for (auto [number, value] : llvm::enumerate(done.getOperands())) {
      auto found = body.values.find(value);
      if (found == body.values.end()) {
        return error(done.getLoc(), "returns what no operation has computed");
      }
      const std::string name = body.names.of(number == 0 ? "out" : fmt::format("out{}", number));
      auto tensor = tensorText(value, name, done.getLoc());
      if (!tensor) {
        return tensor.error();
      }
      std::vector<std::string> shape;
      for (const definition::Dim &size : tensor->shape) {
        shape.push_back(size.symbol.empty() ? std::to_string(size.constant) : size.symbol);
      }
      const mlir::Type element =
          mlir::cast<mlir::RankedTensorType>(value.getType()).getElementType();
      auto result = body.spread(found->second, shape, element, done.getLoc());
      if (!result) {
        return result.error();
      }
      body.lines.push_back(name + " = " + result->text);
      parts.outputs.push_back(std::move(*tensor));
    }
    return Done{};
  }

  const std::string &path;
  const std::map<std::string, int64_t> &given;
  FunctionBody body;
  definition::DefinitionParts parts;
  std::optional<DType> mainType;
  std::vector<definition::Case> cases;
};

} // namespace

Result<ImportedDefinition> importLinalg(const std::string &path, const std::string &text,
                                        const std::string &function, const std::string &name,
                                        const std::map<std::string, int64_t> &sizes,
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
  LinalgImporter importer(path, text, sizes);
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
