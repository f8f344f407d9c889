// SPDX-License-Identifier: Apache-2.0
// What belongs to one kind of chip: inline assembly and the functions of tl.extra.cuda, which are
// inline assembly themselves. Targets of another kind refuse the operation and name the line.
#include "lib/language/emit/Emitter.h"

namespace nereid::language::emit {

static constexpr int threadsPerWarp = 32;

static std::vector<Value> emitAssembly(Emitter &emitter, const std::string &text,
                                       const std::string &constraints,
                                       const std::vector<Value> &operands,
                                       const std::vector<ElementType> &types, bool isPure,
                                       int64_t pack) {
  Shape shape = operands.empty() ? Shape{} : operands[0].tileType.shape;
  std::vector<mlir::Type> resultTypes;
  std::vector<mlir::Value> inputs;
  for (ElementType type : types) {
    resultTypes.push_back(emitter.tiles.mlirType(TileType{type, shape}));
  }
  for (const Value &operand : operands) {
    inputs.push_back(operand.ssa);
  }
  auto op = emitter.tiles.create<tile::InlineAsmOp>(resultTypes, text, constraints,
                                                    static_cast<uint32_t>(pack), isPure, inputs);
  Origins origins = operands.empty() ? Origins{} : operands[0].origins;
  std::vector<Value> results;
  for (unsigned i = 0; i < types.size(); ++i) {
    results.push_back(Value::tile(op.getResults()[i], {types[i], shape}, origins));
  }
  return results;
}

Value inlineAsmElementwise(Emitter &emitter, const Bound &args) {
  const std::string of = " of 'inline_asm_elementwise'";
  std::optional<std::string> text = emitter.constants.string(args["asm"], "'asm'" + of);
  std::optional<std::string> constraints =
      emitter.constants.string(args["constraints"], "'constraints'" + of);
  std::optional<bool> isPure = emitter.constants.flag(args["is_pure"], "'is_pure'" + of);
  std::optional<int64_t> pack = emitter.constants.integer(args["pack"], "'pack'" + of);
  if (!text || !constraints || !isPure || !pack) {
    return Value::poison();
  }
  if (*pack < 1) {
    return emitter.report.fail("E0229", "'pack'" + of + " expects 1 or more, but got " +
                                            std::to_string(*pack));
  }
  if (!args["args"].isTuple()) {
    return emitter.report.fail("E0229", "'args'" + of + " expects a list of operands, but got " +
                                            describe(args["args"]));
  }
  std::vector<Value> operands;
  for (const Value &each : args["args"].elements) {
    operands.push_back(emitter.tiles.toTile(each));
    if (operands.back().isPoison()) {
      return operands.back();
    }
  }
  std::vector<Value> dtypes =
      args["dtype"].isTuple() ? args["dtype"].elements : std::vector<Value>{args["dtype"]};
  std::vector<ElementType> types;
  for (const Value &each : dtypes) {
    std::optional<ElementType> type = emitter.constants.type(each, "'dtype'" + of);
    if (!type) {
      return Value::poison();
    }
    types.push_back(*type);
  }
  if (types.empty()) {
    return emitter.report.fail("E0229",
                               "'dtype'" + of + " expects at least one type, but got none");
  }
  if (!emitter.tiles.broadcastAll(operands)) {
    return Value::poison();
  }
  std::vector<Value> results =
      emitAssembly(emitter, *text, *constraints, operands, types, *isPure, *pack);
  return args["dtype"].isTuple() ? Value::tuple(std::move(results)) : results[0];
}

Value globaltimer(Emitter &emitter, const Bound &) {
  return emitAssembly(emitter, "mov.u64 $0, %globaltimer;", "=l", {}, {{DType::I64, false}}, false,
                      1)[0];
}

Value smid(Emitter &emitter, const Bound &) {
  return emitAssembly(emitter, "mov.u32 $0, %smid;", "=r", {}, {{DType::I32, false}}, true, 1)[0];
}

/// An instruction without a result; the operation has one that nobody uses.
static Value gridControl(Emitter &emitter, const std::string &instruction) {
  emitAssembly(emitter, instruction + "; mov.u32 $0, 0;", "=r", {}, {{DType::I32, false}}, false,
               1);
  return Value::none();
}

Value gdcWait(Emitter &emitter, const Bound &) {
  return gridControl(emitter, "griddepcontrol.wait");
}

Value gdcLaunchDependents(Emitter &emitter, const Bound &) {
  return gridControl(emitter, "griddepcontrol.launch_dependents");
}

Value numWarps(Emitter &emitter, const Bound &) { return Value::whole(emitter.options.warps()); }

Value numThreads(Emitter &emitter, const Bound &) {
  return Value::whole(emitter.options.warps() * threadsPerWarp);
}

} // namespace nereid::language::emit
