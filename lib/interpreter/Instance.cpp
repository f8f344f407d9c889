// SPDX-License-Identifier: Apache-2.0
// Running blocks, counting work and reporting errors with the kernel's own source line.
#include "lib/interpreter/Scheduler.h"

#include "llvm/Support/raw_ostream.h"

#include <fstream>
#include <iterator>

namespace nereid::interpreter {

/// What an operation costs beside its elements, so that the budget bounds time, not only elements.
static constexpr uint64_t costPerOperation = 32;
/// A tile above this is refused rather than allocated: 128 MiB of words.
static constexpr int64_t mostElements = int64_t(1) << 24;

const HandlerTable &handlers() {
  static const HandlerTable table = [] {
    HandlerTable all;
    addIntegerHandlers(all);
    addFloatHandlers(all);
    addCastHandlers(all);
    addMathHandlers(all);
    addShapeHandlers(all);
    addMemoryHandlers(all);
    addReduceHandlers(all);
    addScanHandlers(all);
    addGatherHandlers(all);
    addAtomicHandlers(all);
    addDescriptorHandlers(all);
    addInlineAssemblyHandlers(all);
    addDotHandlers(all);
    addControlFlowHandlers(all);
    addOutputHandlers(all);
    return all;
  }();
  return table;
}

std::optional<ElementType> elementTypeFor(mlir::Type type) {
  type = tile::elementTypeOf(type);
  if (mlir::isa<tile::PtrType>(type)) {
    return ElementType{Kind::Pointer, 64};
  }
  if (type.isIndex() || mlir::isa<tile::DescriptorType>(type)) {
    return ElementType{Kind::Integer, 64};
  }
  if (type.isSignlessInteger() && type.getIntOrFloatBitWidth() >= 1 &&
      type.getIntOrFloatBitWidth() <= 64) {
    return ElementType{Kind::Integer, type.getIntOrFloatBitWidth()};
  }
  if (type.isF16()) {
    return ElementType{Kind::F16, 16};
  }
  if (type.isBF16()) {
    return ElementType{Kind::BF16, 16};
  }
  if (type.isF32()) {
    return ElementType{Kind::F32, 32};
  }
  if (type.isF64()) {
    return ElementType{Kind::F64, 64};
  }
  if (type.isFloat8E4M3FN()) {
    return ElementType{Kind::F8E4M3FN, 8};
  }
  if (type.isFloat8E5M2()) {
    return ElementType{Kind::F8E5M2, 8};
  }
  if (type.isFloat8E4M3FNUZ()) {
    return ElementType{Kind::F8E4M3FNUZ, 8};
  }
  if (type.isFloat8E5M2FNUZ()) {
    return ElementType{Kind::F8E5M2FNUZ, 8};
  }
  return std::nullopt;
}

std::string tuple(llvm::ArrayRef<int64_t> numbers, char open, char close) {
  std::string text(1, open);
  for (size_t i = 0; i < numbers.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
  }
  return text + close;
}

llvm::SmallVector<int64_t> coordinates(llvm::ArrayRef<int64_t> shape, int64_t index) {
  llvm::SmallVector<int64_t> result(shape.size());
  for (size_t axis = shape.size(); axis > 0; --axis) {
    result[axis - 1] = index % shape[axis - 1];
    index /= shape[axis - 1];
  }
  return result;
}

bool Instance::run() {
  Tiles results;
  mlir::func::FuncOp kernel = launch.kernel;
  return runBlock(kernel.getBody().front(), launch.arguments, results);
}

void Instance::becomeProgram(runtime::Grid next) {
  id = next;
  spent = 0;
}

bool Instance::runBlock(mlir::Block &block, const Tiles &arguments, Tiles &results) {
  for (auto [argument, tile] : llvm::zip(block.getArguments(), arguments)) {
    set(argument, tile);
  }
  for (mlir::Operation &op : block.without_terminator()) {
    if (!runOperation(&op)) {
      return false;
    }
  }
  results.clear();
  for (mlir::Value value : block.getTerminator()->getOperands()) {
    results.push_back(get(value));
  }
  return true;
}

/// A type with a static shape of bearable size and known elements; the text says what is wrong.
static std::string refusal(mlir::Type type) {
  std::string text;
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  bool isSized = tensor ? tensor.hasStaticShape() : !mlir::isa<mlir::ShapedType>(type);
  int64_t elements = 1;
  if (tensor && isSized) {
    for (int64_t size : tensor.getShape()) {
      isSized = isSized && size > 0 && elements <= mostElements / size;
      elements = isSized ? elements * size : elements;
    }
  }
  if (!isSized || !elementTypeFor(type)) {
    llvm::raw_string_ostream stream(text);
    stream << "the type '" << type << "'";
  }
  return text;
}

static bool isAccess(mlir::Operation *op) {
  return mlir::isa<tile::LoadOp, tile::StoreOp, tile::AtomicRMWOp, tile::AtomicCASOp,
                   tile::DescriptorLoadOp, tile::DescriptorStoreOp, tile::DescriptorGatherOp,
                   tile::DescriptorScatterOp, tile::DescriptorReduceOp>(op);
}

const Instance::Prepared *Instance::prepare(mlir::Operation *op) {
  Prepared &known = prepared[op];
  if (known.handler != nullptr) {
    return &known;
  }
  const Handler handler = handlers().find(op);
  if (handler == nullptr) {
    unsupported(op, "'" + op->getName().getStringRef().str() + "'");
    return nullptr;
  }
  for (mlir::Type type : op->getResultTypes()) {
    if (std::string text = refusal(type); !text.empty()) {
      unsupported(op, text);
      return nullptr;
    }
  }
  auto tensor = op->getNumResults() > 0
                    ? mlir::dyn_cast<mlir::RankedTensorType>(op->getResult(0).getType())
                    : mlir::RankedTensorType();
  known.handler = handler;
  known.elements = tensor ? static_cast<uint64_t>(tensor.getNumElements()) : 0;
  known.isAccess = isAccess(op);
  return &known;
}

bool Instance::runOperation(mlir::Operation *op) {
  const Prepared *found = prepare(op);
  if (found == nullptr) {
    return false;
  }
  const Prepared known = *found; // regions of the operation make it move
  uint64_t elements = costPerOperation + known.elements;
  if (op->getNumOperands() > 0) {
    elements += operand(op, 0).size();
  }
  // Finding out what to do takes about as long as doing it with so many elements: loops over single
  // numbers that do not end are told as soon as those over tiles.
  constexpr uint64_t leastElements = 32;
  if (!charge(op, std::max(elements, leastElements))) {
    return false;
  }
  if (scheduler != nullptr && known.isAccess && !scheduler->accessBegins()) {
    return false;
  }
  if (!known.handler(*this, op)) {
    return false;
  }
  if (Monitor *monitor = this->monitor()) {
    monitor->after(*this, op);
  }
  return true;
}

bool Instance::call(mlir::Operation *op, mlir::func::FuncOp callee, const Tiles &arguments,
                    Tiles &results) {
  // Values are kept per SSA name, so a function cannot be active twice.
  if (callee == launch.kernel || llvm::is_contained(activeCalls, callee.getOperation())) {
    return unsupported(op, "the recursive call of '" + callee.getName().str() + "'");
  }
  if (!callee.getBody().hasOneBlock()) {
    return unsupported(op, "a function of several blocks");
  }
  activeCalls.push_back(callee);
  const bool isDone = runBlock(callee.getBody().front(), arguments, results);
  activeCalls.pop_back();
  return isDone;
}

bool Instance::charge(mlir::Operation *op, uint64_t elements) {
  spent += elements;
  if (spent <= launch.options.operationBudget) {
    return true;
  }
  report(op, "E0404",
         "the program instance does not end within " +
             std::to_string(launch.options.operationBudget) + " element operations")
      .withHelp("check that the loop around this line ends; a longer kernel needs a larger budget");
  return false;
}

/// Innermost file position of a location; "called from" places are added to `callers`.
static mlir::FileLineColLoc placeOf(mlir::Location location,
                                    llvm::SmallVectorImpl<mlir::FileLineColLoc> &callers) {
  if (auto place = mlir::dyn_cast<mlir::FileLineColLoc>(location)) {
    return place;
  }
  if (auto named = mlir::dyn_cast<mlir::NameLoc>(location)) {
    return placeOf(named.getChildLoc(), callers);
  }
  if (auto call = mlir::dyn_cast<mlir::CallSiteLoc>(location)) {
    mlir::FileLineColLoc place = placeOf(call.getCallee(), callers);
    llvm::SmallVector<mlir::FileLineColLoc> outer;
    if (mlir::FileLineColLoc caller = placeOf(call.getCaller(), outer)) {
      callers.push_back(caller);
    }
    callers.append(outer.begin(), outer.end());
    return place;
  }
  if (auto fused = mlir::dyn_cast<mlir::FusedLoc>(location)) {
    for (mlir::Location part : fused.getLocations()) {
      if (mlir::FileLineColLoc place = placeOf(part, callers)) {
        return place;
      }
    }
  }
  return {};
}

Diagnostic diagnosticAt(mlir::Location location, std::string code, std::string message) {
  Diagnostic diagnostic = makeError(std::move(code), std::move(message));
  llvm::SmallVector<mlir::FileLineColLoc> callers;
  if (mlir::FileLineColLoc place = placeOf(location, callers)) {
    const std::string path = place.getFilename().str();
    std::ifstream file(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const int column = static_cast<int>(place.getColumn());
    diagnostic.at(path, text, {static_cast<int>(place.getLine()), column, column + 1});
  }
  for (mlir::FileLineColLoc caller : callers) {
    diagnostic.note("called from " + caller.getFilename().str() + ":" +
                    std::to_string(caller.getLine()));
  }
  return diagnostic;
}

Diagnostic Instance::diagnosticAt(mlir::Operation *op, std::string code,
                                  std::string message) const {
  Diagnostic diagnostic =
      interpreter::diagnosticAt(op->getLoc(), std::move(code), std::move(message));
  diagnostic.note("in program " + tuple(id) + " of the grid " + tuple(launch.grid));
  return diagnostic;
}

Diagnostic &Instance::report(mlir::Operation *op, std::string code, std::string message) {
  return diags.add(diagnosticAt(op, std::move(code), std::move(message)));
}

bool Instance::unsupported(mlir::Operation *op, const std::string &what) {
  report(op, "E0302",
         "the interpreter does not support " + what + " in '" + op->getName().getStringRef().str() +
             "'");
  return false;
}

} // namespace nereid::interpreter
