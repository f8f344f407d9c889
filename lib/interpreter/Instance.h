// SPDX-License-Identifier: Apache-2.0
// One program instance in execution: the values it has computed so far and the means to run a
// region. All state is in the object, so that instances may later run side by side. Operations are
// evaluated by handlers, one function per operation, registered by concept in the .cpp files.
#pragma once

#include "lib/interpreter/Interpreter.h"
#include "lib/interpreter/Memory.h"
#include "lib/interpreter/Monitor.h"
#include "lib/interpreter/Tile.h"
#include "lib/tile/ir/Tile.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <array>
#include <optional>
#include <string>

namespace nereid::interpreter {

class Instance;
class Scheduler;
/// Computes the results of an operation; false after a diagnostic.
using Handler = bool (*)(Instance &instance, mlir::Operation *op);
using Tiles = llvm::SmallVector<Tile, 4>;

class HandlerTable {
public:
  template <class Op> void add(Handler handler) { map[mlir::TypeID::get<Op>()] = handler; }
  Handler find(mlir::Operation *op) const { return map.lookup(op->getName().getTypeID()); }

private:
  llvm::DenseMap<mlir::TypeID, Handler> map;
};

void addIntegerHandlers(HandlerTable &table);
void addFloatHandlers(HandlerTable &table);
void addCastHandlers(HandlerTable &table);
void addMathHandlers(HandlerTable &table);
void addShapeHandlers(HandlerTable &table);
void addMemoryHandlers(HandlerTable &table);
void addReduceHandlers(HandlerTable &table);
void addScanHandlers(HandlerTable &table);
void addGatherHandlers(HandlerTable &table);
void addAtomicHandlers(HandlerTable &table);
void addDescriptorHandlers(HandlerTable &table);
void addInlineAssemblyHandlers(HandlerTable &table);
void addDotHandlers(HandlerTable &table);
void addControlFlowHandlers(HandlerTable &table);
void addOutputHandlers(HandlerTable &table);
/// All of the above, built once.
const HandlerTable &handlers();

/// An error at the innermost place of a location, with its source line and those it is called from.
Diagnostic diagnosticAt(mlir::Location location, std::string code, std::string message);

/// Name of the parameter in the kernel's source when the front end recorded it.
std::string argumentName(mlir::func::FuncOp kernel, unsigned index);

/// Nothing for a type the interpreter does not know.
std::optional<ElementType> elementTypeFor(mlir::Type type);

/// What all instances of one launch share.
struct Launch {
  mlir::func::FuncOp kernel;
  runtime::Grid grid;
  Tiles arguments;
  Memory memory;
  InterpretOptions options;
};

class Instance {
public:
  /// With a scheduler the instance yields to others, see Scheduler.h.
  Instance(const Launch &launch, runtime::Grid id, Diagnostics &diags,
           Scheduler *scheduler = nullptr)
      : launch(launch), id(id), scheduler(scheduler), diags(diags) {}

  /// The whole kernel, once.
  bool run();
  /// The next one of the grid, in the place of this one, which has run. What is the same for all,
  /// and the memory of its values, stays.
  void becomeProgram(runtime::Grid next);

  const Tile &get(mlir::Value value) const { return values.find(value)->second; }
  /// Whether the value has been computed, be it by a program before.
  bool has(mlir::Value value) const { return values.contains(value); }
  const Tile &operand(mlir::Operation *op, unsigned i) const { return get(op->getOperand(i)); }
  void set(mlir::Value value, Tile tile) { values[value] = std::move(tile); }
  /// For operations with one result.
  bool finish(mlir::Operation *op, Tile tile) {
    set(op->getResult(0), std::move(tile));
    return true;
  }

  /// Binds the block's arguments, runs its operations and puts the operands of its terminator into
  /// `results`. `results` may be the same object as `arguments`.
  bool runBlock(mlir::Block &block, const Tiles &arguments, Tiles &results);
  /// A function of the module, called by the kernel.
  bool call(mlir::Operation *op, mlir::func::FuncOp callee, const Tiles &arguments, Tiles &results);

  /// Counts element operations against the budget.
  bool charge(mlir::Operation *op, uint64_t elements);
  /// An error at the operation's place in the kernel, with this instance's program id.
  Diagnostic diagnosticAt(mlir::Operation *op, std::string code, std::string message) const;
  /// Reports diagnosticAt().
  /// Returns the diagnostic for notes and help.
  Diagnostic &report(mlir::Operation *op, std::string code, std::string message);
  bool unsupported(mlir::Operation *op, const std::string &what);

  Monitor *monitor() const { return launch.options.monitor; }

  const Launch &launch;
  runtime::Grid id;
  Scheduler *const scheduler;

private:
  /// What is asked of an operation whenever it runs.
  struct Prepared {
    Handler handler = nullptr;
    uint64_t elements = 0; ///< of its first result
    bool isAccess = false;
  };
  /// Null after a diagnostic.
  const Prepared *prepare(mlir::Operation *op);
  bool runOperation(mlir::Operation *op);

  Diagnostics &diags;
  llvm::DenseMap<mlir::Value, Tile> values;
  llvm::DenseMap<mlir::Operation *, Prepared> prepared;
  llvm::SmallVector<mlir::Operation *, 4> activeCalls;
  uint64_t spent = 0;
};

/// The shape of two operands of an elementwise operation, either of which may be a scalar.
inline const Tile &shapeSource(const Tile &a, const Tile &b) { return a.isTile ? a : b; }

/// f(word, word) for every element.
template <class Function>
Tile zipWords(const Tile &a, const Tile &b, ElementType type, Function function) {
  Tile result = shapeSource(a, b).unsetLike(type);
  uint64_t *to = result.words.begin();
  const uint64_t *x = a.words.begin(), *y = b.words.begin(), mask = type.mask();
  const size_t count = result.size();
  if (a.isTile && b.isTile) {
    for (size_t i = 0; i < count; ++i) {
      to[i] = function(x[i], y[i]) & mask;
    }
  } else if (a.isTile) {
    for (size_t i = 0, scalar = y[0]; i < count; ++i) {
      to[i] = function(x[i], scalar) & mask;
    }
  } else {
    for (size_t i = 0, scalar = x[0]; i < count; ++i) {
      to[i] = function(scalar, y[i]) & mask;
    }
  }
  return result;
}

template <class Function> Tile mapWords(const Tile &a, ElementType type, Function function) {
  Tile result = a.unsetLike(type);
  uint64_t *to = result.words.begin();
  const uint64_t *x = a.words.begin(), mask = type.mask();
  for (size_t i = 0, count = result.size(); i < count; ++i) {
    to[i] = function(x[i]) & mask;
  }
  return result;
}

/// Program id, grid and element index as "(0, 1, 2)".
std::string tuple(llvm::ArrayRef<int64_t> numbers, char open = '(', char close = ')');
/// Coordinates of a row-major element number.
llvm::SmallVector<int64_t> coordinates(llvm::ArrayRef<int64_t> shape, int64_t index);

} // namespace nereid::interpreter
