// SPDX-License-Identifier: Apache-2.0
// What tile IR is emitted with: the tools that builtins, calls and statements share. Each is a
// class of its own that knows only those above it; nothing here knows syntax, which the elaborator
// walks. A builtin that has to call back, as a reduction calls its function, asks `evaluation`.
#pragma once

#include "lib/language/emit/builtins/Builtins.h"
#include "lib/language/emit/operators/Operators.h"
#include "lib/language/emit/tiles/ConstantReader.h"
#include "lib/language/emit/tiles/KnownNumber.h"
#include "lib/language/signature/KernelOptions.h"

namespace nereid::language::emit {

/// What a builtin may ask of the elaboration that calls it.
class Evaluation {
public:
  virtual ~Evaluation() = default;
  /// A value of kind Function, elaborated in place.
  virtual Value callFunction(const Value &function, std::vector<Argument> arguments) = 0;
  virtual Value callBuiltin(const BuiltinEntry &entry, std::vector<Argument> positional,
                            std::vector<Argument> keywords) = 0;
  /// What stands after a dot; E0223 when there is no such attribute.
  virtual Value attribute(const Value &base, const std::string &name) = 0;
  /// The same without a word when there is none.
  virtual std::optional<Value> tryAttribute(const Value &base, const std::string &name) = 0;
};

struct Emitter {
  Emitter(mlir::MLIRContext &context, ModuleLoader *loader, KernelOptions options,
          Evaluation &evaluation)
      : position(context), report(position, loader), tiles(context, position, report),
        constants(report), promotion(tiles, report), folding(report),
        operators(tiles, report, promotion, folding), options(std::move(options)),
        evaluation(evaluation) {}
  Emitter(const Emitter &) = delete;
  Emitter &operator=(const Emitter &) = delete;

  Frame &frame() const { return position.frame(); }

  Position position;
  Reporter report;
  TileBuilder tiles;
  ConstantReader constants;
  Promotion promotion;
  ConstantOperators folding;
  Operators operators;
  KernelOptions options; ///< that the kernel is compiled with
  Evaluation &evaluation;
};

} // namespace nereid::language::emit
