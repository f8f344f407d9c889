// SPDX-License-Identifier: Apache-2.0
// The elaborator of one kernel: an abstract interpreter of Python that writes tile IR where values
// are only known at run time. Its member functions are spread over the files named in the sections
// below. Errors are reported once and yield poison, so that elaboration goes on and finds more.
#pragma once

#include "lib/language/ModuleLoader.h"
#include "lib/language/emit/Emit.h"
#include "lib/language/emit/Value.h"
#include "lib/language/emit/builtins/Builtins.h"
#include "lib/language/host/HostPython.h"
#include "lib/tile/ir/Tile.h"

#include <functional>
#include <map>
#include <set>

namespace nereid::language::emit {

using Locals = std::map<std::string, Value>;

struct Captured {
  Locals locals;
};

/// One function being elaborated: the kernel, or a helper at one of its calls.
struct Frame {
  const SourceModule *module = nullptr;
  const FunctionDef *function = nullptr; ///< null while a module-level expression is evaluated
  Locals locals;
  std::shared_ptr<const Captured> captured;
  /// Names that are not defined here although an assignment can be seen, and why.
  std::map<std::string, std::string> lost;
  Frame *caller = nullptr;
  SourceRange callRange; ///< in the caller's module
  mlir::LocationAttr callLocation;
  Value returned;
  /// What surrounds the statement and keeps a run-time `return` from leaving; null when nothing
  /// does.
  const char *returnBarrier = nullptr;
  bool isUnrolling = false; ///< inside an unrolled loop: only a constant condition may return
  bool isConstexpr = false; ///< runs on constants only and may call any Python function
  /// Tiles stand for one element each: conditions choose element by element.
  bool isElementwise = false;
};

/// What follows a statement list inside its function, for a return under a run-time condition.
struct Rest {
  const std::vector<StmtPtr> *list = nullptr;
  size_t next = 0;
  const Rest *outer = nullptr;
};

enum class Flow { Next, Return };

/// Whether a statement of the list, or inside one, returns.
bool mayReturn(const std::vector<StmtPtr> &list);

/// The names a file defines at its top level, imports included.
std::vector<std::string> topLevelNames(const SourceModule &module);
/// `triton`, `triton.language` and what is below them, and Python's `math`.
bool isKnownModule(const std::string &path);
/// Of a library of Python that is not read: torch.float32, torch.finfo(torch.float32).max.
std::optional<Value> hostAttribute(const Value &base, const std::string &name);
/// A literal's value; the same back, when the value is one.
Value valueOf(const ConstValue &constant);
std::optional<ConstValue> constantOf(const Value &value);
std::optional<ConstValue> constantOf(const HostValue &value);
/// An import found nothing, or its file has no such name: Python raises here.
bool isMissing(const Value &value);
/// Whether the known module has such a name.
bool knownModuleHas(const std::string &path, const std::string &name);

class Emitter {
public:
  /// Without a loader nothing is imported but the language's own modules.
  Emitter(mlir::MLIRContext &context, const SourceModule &module, ModuleLoader *loader = nullptr);
  mlir::OwningOpRef<mlir::ModuleOp> run(const FunctionDef &kernel, const Signature &signature,
                                        Diagnostics &diags);

  // ---- Diagnose.cpp ----
  /// Adds an error at the expression being elaborated; refine the result before the next call.
  Diagnostic &error(std::string code, std::string message);
  Value fail(std::string code, std::string message, std::string help = "");
  void remark(std::string code, std::string message);
  /// The same, once for a place, however often it is elaborated.
  void remarkOnce(std::string code, std::string message);
  /// Adds what was found wrong with a file that the expression being elaborated imports.
  void reportAll(const Diagnostics &problems);
  mlir::Location location() const;
  /// The source text of an expression that stands on one line, otherwise empty.
  std::string sourceText(const Expr &expr) const;
  /// "kernel.py:12" for the expression being elaborated.
  std::string placeText() const;
  const DimOrigin *origin(const Expr *expr, int64_t size);
  /// Counts elaboration steps; false once a kernel unrolls beyond reason (E0312 is reported).
  bool takeStep();
  /// E0312 when elaboration would run out of stack.
  bool isTooDeep();
  size_t errorCount() const { return errorTotal; }

  // ---- Types.cpp: run-time values and conversions ----
  mlir::Type mlirType(ElementType type);
  mlir::Type mlirType(const TileType &type);
  Value constantTile(const Value &number, DType type, llvm::ArrayRef<int64_t> shape = {});
  /// A run-time value of a number (its default type) or of a tile itself; E0204 for anything else.
  Value toTile(const Value &value);
  Value cast(const Value &value, ElementType to);
  Value bitcast(const Value &value, ElementType to);
  /// i1 of the same shape: `!= 0`.
  Value truth(const Value &value);
  Value splat(const Value &scalar, llvm::ArrayRef<int64_t> shape, Origins origins = {});
  /// E0213 when the shape cannot be reached.
  Value broadcastTo(const Value &value, llvm::ArrayRef<int64_t> shape, Origins origins = {});
  bool broadcastPair(Value &a, Value &b);
  /// Brings operands to one shape, as an elementwise operator would. False after an error.
  bool broadcastAll(std::vector<Value> &values);
  Value reshapeTo(const Value &value, llvm::ArrayRef<int64_t> shape);
  Value expandDim(const Value &value, int64_t axis);
  /// E0215 unless every size is a power of two and the tile is not too large.
  bool checkShape(llvm::ArrayRef<int64_t> shape);
  /// The number a value has at this moment of elaboration, if it has one.
  std::optional<Value> knownNumber(const Value &value);

  // ---- expressions/Promotion.cpp ----
  enum class Arithmetic { Plain, Division, Bitwise };
  /// Brings both to one type and shape by the language's promotion rules; E0204 when there is none.
  bool promote(Value &a, Value &b, const std::string &spelled, Arithmetic kind);
  std::optional<DType> promotedType(const Value &a, const Value &b, Arithmetic kind);
  /// A literal as the scalar that a variable assigned with it holds; other values as they are.
  Value literalAsScalar(Value value);
  bool isExactly(const Value &literal, DType type);

  // ---- expressions/: Operators.cpp, ConstantOperators.cpp ----
  Value binary(const std::string &op, const Value &a, const Value &b);
  Value compare(const std::string &op, const Value &a, const Value &b);
  Value unary(const std::string &op, const Value &a);
  Value power(const Value &a, const Value &b);
  Value logical(bool isAnd, const Value &a, const Value &b);
  Value foldBinary(const std::string &op, const Value &a, const Value &b);
  Value foldCompare(const std::string &op, const Value &a, const Value &b);
  Value select(const Value &condition, const Value &a, const Value &b);
  /// maxnum/minnum of floats, or their NaN-propagating forms; by signedness on integers.
  Value extremum(bool isMax, const Value &a, const Value &b, bool propagateNan);
  Value addPointer(const Value &pointer, const Value &offset);

  template <class Op, class... Args> mlir::Value make(Args &&...args) {
    return builder.createOrFold<Op>(location(), std::forward<Args>(args)...);
  }
  /// Elementwise operation whose result has the type of `like`.
  template <class Op, class... Args> Value like(const Value &like, Args &&...args) {
    return Value::tile(make<Op>(std::forward<Args>(args)...), like.tileType, like.origins);
  }

  // ---- expressions/: Expressions.cpp, Attributes.cpp; Scope.cpp ----
  Value evaluate(const Expr &expr);
  Value attribute(const Value &base, const std::string &name);
  /// The attribute without a word when there is none.
  std::optional<Value> tryAttribute(const Value &base, const std::string &name);
  Value subscript(const Value &base, const Expr &index);
  Value lookup(const std::string &name);
  Value moduleAttribute(const std::string &path, const std::string &name);
  Value typeMethod(const Value &type, const std::string &name);
  std::optional<Value> global(const SourceModule &module, const std::string &name);
  /// An expression of the top level of a file.
  Value evaluateAtTop(const SourceModule &module, const Expr &expr);
  std::vector<std::string> visibleNames() const;
  /// True, false, or nothing when it is only known at run time; poison counts as nothing.
  std::optional<bool> constantTruth(const Value &value);
  std::optional<int64_t> constantInteger(const Value &value, const std::string &what);
  std::optional<bool> constantBool(const Value &value, const std::string &what);
  std::optional<std::string> constantString(const Value &value, const std::string &what);
  std::optional<Shape> constantShape(const Value &value, const std::string &what);
  std::optional<ElementType> constantType(const Value &value, const std::string &what);

  // ---- modules/Imports.cpp ----
  /// What an import statement of `importer` gives the name that it binds.
  Value importedValue(const SourceModule &importer, const Stmt &stmt, const std::string &name);
  /// The name, when a `from module import *` of `importer` gives it.
  std::optional<Value> starImport(const SourceModule &importer, const std::string &name);
  /// What stands after the dot of a value of kind File or Import.
  Value importAttribute(const Value &base, const std::string &name);
  /// A call of a library's function with constants, when its result is known.
  std::optional<Value> hostCall(const Value &callee, const std::vector<Argument> &arguments);
  /// The module of `import name`.
  Value moduleImport(const SourceModule &importer, const std::string &name);
  /// E0230, or E0239 of an installed library: a value of kind Import is needed.
  Value failNotFound(const Value &import);

  // ---- statements/Comprehensions.cpp ----
  Value comprehension(const Expr &expr);

  // ---- expressions/Calls.cpp ----
  Value call(const Expr &expr);
  bool checkUnused(const Expr &expr, const Value &callee);
  Value callBuiltin(const BuiltinEntry &entry, std::vector<Argument> positional,
                    std::vector<Argument> keywords);
  Value callFunction(const FunctionDef &function, const SourceModule &module,
                     std::vector<Argument> positional, std::vector<Argument> keywords,
                     std::shared_ptr<const Captured> captured = nullptr, Value *self = nullptr);

  // ---- modules/Classes.cpp ----
  /// An object: by its __init__, or with its fields in order.
  Value construct(const Value &type, std::vector<Argument> positional,
                  std::vector<Argument> keywords);
  /// A field or method of an object; nothing when its class has no such name.
  std::optional<Value> objectAttribute(const Value &object, const std::string &name);
  /// `target = value` for a field of an object that a variable holds.
  bool assignField(const Expr &target, const Value &value);

  // ---- statements/: Statements.cpp, Assignments.cpp ----
  Flow runBlock(const std::vector<StmtPtr> &list, size_t from, const Rest *outer);
  Flow runRest(const Rest *rest);
  Flow runStatement(const Stmt &stmt, const Rest &rest);
  Flow runTry(const Stmt &stmt, const Rest &rest);
  void assign(const Expr &target, Value value);
  /// A number assigned to a plain variable promotes like a scalar from then on.
  Value boundOnAssign(Value value);

  // ---- statements/: Conditionals.cpp, Loops.cpp ----
  Flow runIf(const Stmt &stmt, const Rest &rest);
  // ---- statements/ElementwiseConditionals.cpp ----
  Flow runElementwiseIf(const Stmt &stmt, const Rest &rest, const Value &condition);
  Value selectElements(const Value &condition, const Value &a, const Value &b,
                       const std::string &name);
  // ---- statements/Conditionals.cpp ----
  /// A literal meets a run-time value of the other side: it takes that value's type when it may.
  Value adapted(const Value &value, const Value &other);
  Value conditional(const Expr &expr);
  void runFor(const Stmt &stmt, Flow &flow);
  void runWhile(const Stmt &stmt);
  /// The integers of a range whose bounds are constants.
  bool rangeItems(const Value &range, std::vector<Value> &items);
  void unroll(const Stmt &stmt, const std::vector<Value> &items, Flow &flow);
  void runRangeLoop(const Stmt &stmt, const Value &range);
  Value loopBound(const Value &value, const char *name);
  /// The i1 scalar of a condition; E0212 when it is a tile.
  Value conditionOf(const Value &value);

  mlir::OpBuilder builder;
  KernelOptions options; ///< that the kernel is compiled with
  Frame *frame = nullptr;
  SourceRange here;
  int nesting = 0; ///< of the places being elaborated, kept by At

private:
  struct LoopState;
  void mergeBranches(mlir::scf::IfOp &op, std::vector<std::pair<Value, Value>> pairs,
                     std::vector<Value> &merged, llvm::ArrayRef<std::string> names);
  bool mergeLeaf(const Value &a, const Value &b, mlir::Block *thenBlock, mlir::Block *elseBlock,
                 Value &placeholder, std::vector<mlir::Value> &thenYields,
                 std::vector<mlir::Value> &elseYields, const std::string &name);
  void prepareLoop(const Stmt &stmt, const Locals &before, LoopState &state);
  void enterBody(LoopState &state, mlir::ValueRange arguments);
  bool isLoopSettled(const Stmt &stmt, const Locals &before, LoopState &state);
  std::vector<mlir::Value> loopYields(LoopState &state);
  /// Emits a loop with `attempt`, again until the set of carried variables is right, then gives
  /// the variables the loop's results. The attempt returns null when there is no loop.
  void settleLoop(const Stmt &stmt, LoopState &state,
                  const std::function<mlir::Operation *()> &attempt,
                  const std::function<void(llvm::ArrayRef<mlir::Value>)> &finish);
  std::optional<std::vector<Value>> iterate(const Value &iterable);
  bool comprehend(const Expr &expr, size_t clause, std::vector<Value> &elements);
  Value constantValue(const ConstValue &constant);
  Value valueNamed(const std::string &name);
  mlir::Block *addFunction(const FunctionDef &kernel, const Signature &signature);
  /// The frame that messages point into and the place there: the caller of library functions.
  const Frame *visibleFrame(SourceRange &range) const;
  /// One statement that binds a name at the top level; with a fallback, the next one holds when
  /// this one cannot be evaluated.
  struct Binding {
    const Stmt *stmt;
    bool hasFallback;
  };
  void addBindings(const SourceModule &module, const std::vector<StmtPtr> &list,
                   const std::string &name, std::vector<Binding> &bindings);
  void addBindingsOfIf(const SourceModule &module, const Stmt &stmt, const std::string &name,
                       std::vector<Binding> &bindings);
  void addBindingsOfTry(const SourceModule &module, const Stmt &stmt, const std::string &name,
                        std::vector<Binding> &bindings);
  static void addAlternatives(std::vector<Binding> first, const std::vector<Binding> &second,
                              std::vector<Binding> &bindings);
  std::optional<bool> conditionAtTop(const SourceModule &module, const Stmt &stmt);
  bool raisesAtTop(const SourceModule &module, const Stmt &stmt);
  /// R0204 for each condition that could not be evaluated although it decided what a name means.
  void remarkOpenConditions();
  Value decorated(const SourceModule &module, Value function);
  Value boundValue(const SourceModule &module, const Stmt &stmt, const std::string &name);
  Value namedImport(const SourceModule &importer, const std::string &source,
                    const std::string &name);
  std::optional<Value> fileMember(const SourceModule &module, const std::string &name);
  void rollBack(size_t errors);

  mlir::MLIRContext &context;
  const SourceModule &mainModule;
  ModuleLoader *loader;
  std::vector<Diagnostic> reported;
  size_t errorTotal = 0;
  int64_t unrolledLoops = 0; ///< marked so far
  std::vector<std::unique_ptr<DimOrigin>> originPool;
  std::map<std::pair<const SourceModule *, std::string>, Value> globals;
  /// Which of its bindings is being evaluated.
  std::map<std::pair<const SourceModule *, std::string>, size_t> globalsInProgress;
  std::set<const Stmt *> conditionsInProgress;
  std::map<const Stmt *, std::optional<bool>> topConditions;
  std::map<const Stmt *, bool> topTries;
  std::vector<std::pair<const Stmt *, const SourceModule *>> openConditions;
  const Expr *unusedCall = nullptr; ///< the call that the statement being run consists of
  int64_t steps = 0;
  int depth = 0;
};

/// While alive, errors and operations are placed at `range`, one level deeper.
struct At {
  At(Emitter &emitter, SourceRange range) : emitter(emitter), saved(emitter.here) {
    emitter.here = range;
    ++emitter.nesting;
  }
  ~At() {
    emitter.here = saved;
    --emitter.nesting;
  }
  At(const At &) = delete;
  At &operator=(const At &) = delete;

private:
  Emitter &emitter;
  SourceRange saved;
};

} // namespace nereid::language::emit
