// SPDX-License-Identifier: Apache-2.0
#include "lib/language/emit/statements/LoopHints.h"
#include "lib/tile/ir/Attributes.h"

namespace nereid::language::emit {
namespace {

struct Hint {
  const char *parameter;
  llvm::StringLiteral attribute;
  bool isFlag; ///< otherwise a number of at least 0
};

const Hint table[] = {
    {"num_stages", tile::attribute::numStages, false},
    {"loop_unroll_factor", tile::attribute::loopUnrollFactor, false},
    {"warp_specialize", tile::attribute::warpSpecialize, true},
    {"flatten", tile::attribute::flatten, true},
    {"disallow_acc_multi_buffer", tile::attribute::disallowAccMultiBuffer, true},
    {"disable_licm", tile::attribute::disableLicm, true},
};

Value readFlag(Emitter &emitter, const Value &given, const std::string &what) {
  std::optional<bool> isSet = emitter.constants.flag(given, what);
  return isSet ? Value::boolean(*isSet) : Value::poison();
}

Value readNumber(Emitter &emitter, const Value &given, const std::string &what) {
  std::optional<int64_t> number = emitter.constants.integer(given, what);
  if (number && (*number < 0 || *number > INT32_MAX)) {
    return emitter.report.fail("E0229", what + " expects an integer from 0 to " +
                                            std::to_string(INT32_MAX) + ", but got " +
                                            std::to_string(*number));
  }
  return number ? Value::whole(*number) : Value::poison();
}

} // namespace

Value readLoopHints(Emitter &emitter, const Bound &args) {
  std::vector<Value> hints;
  for (const Hint &hint : table) {
    const Value &given = args[hint.parameter];
    if (given.isNone()) {
      hints.push_back(given);
      continue;
    }
    const std::string what = "'" + std::string(hint.parameter) + "' of 'range'";
    hints.push_back(hint.isFlag ? readFlag(emitter, given, what)
                                : readNumber(emitter, given, what));
    if (hints.back().isPoison()) {
      return Value::poison();
    }
  }
  return Value::tuple(std::move(hints));
}

void setLoopHints(mlir::scf::ForOp loop, const Value &hints) {
  mlir::Builder builder(loop.getContext());
  for (const auto &[hint, value] : llvm::zip(table, hints.elements)) {
    if (hint.isFlag && value.integer != 0) {
      loop->setAttr(hint.attribute, builder.getUnitAttr());
    } else if (!hint.isFlag && !value.isNone()) {
      loop->setAttr(hint.attribute, builder.getI32IntegerAttr(static_cast<int32_t>(value.integer)));
    }
  }
}

} // namespace nereid::language::emit
