// SPDX-License-Identifier: Apache-2.0
// isinstance: which of upstream's classes a value is of. Upstream runs Python's own isinstance on
// its objects, with constants taken out of their wrapper, so that what is constant is an int or a
// str and never a tl.constexpr.
#include "lib/language/emit/builtins/BlockAccess.h"

namespace nereid::language::emit {

/// Upstream's class of a type value: "dtype" of numbers, "pointer_type", "block_type" or
/// "constexpr_type".
static std::string_view classOfType(const Value &type) {
  if (type.text == constantType) {
    return constantType;
  }
  if (type.text == pointerToBlock) {
    return "pointer_type";
  }
  return type.tileType.isBlock()           ? "block_type"
         : type.tileType.element.isPointer ? "pointer_type"
                                           : "dtype";
}

/// Nothing when it is no class that a kernel may ask for.
static std::optional<bool> isOfBuiltin(const Value &x, std::string_view name) {
  const bool isConstant = !x.isTile() && !x.isBlockAccess();
  if (name == "tensor") {
    const bool isNumberInVariable = x.isNumber() && !x.isWeak();
    return x.isTile() || x.kind == Value::Kind::BlockPointer || isNumberInVariable;
  }
  if (name == "constexpr") {
    return false;
  }
  if (name == "dtype") { // pointer and block types are dtypes as well
    return x.isType() && classOfType(x) != constantType;
  }
  if (name == "pointer_type" || name == "block_type" || name == constantType) {
    return x.isType() && classOfType(x) == name;
  }
  if (name.starts_with("tensor_descriptor")) {
    return x.kind == Value::Kind::Descriptor;
  }
  if (name == "int" || name == "bool" || name == "float") {
    const bool isBool = x.kind == Value::Kind::Bool;
    return x.isWeak() && (name == "int"    ? x.isWhole()
                          : name == "bool" ? isBool
                                           : x.kind == Value::Kind::Float);
  }
  return name == "tuple"  ? std::optional(x.isTuple())
         : name == "list" ? std::optional(false) // a list in a kernel is a tl.tuple
         : name == "str"  ? std::optional(isConstant && x.isString())
                          : std::nullopt;
}

Value pyIsInstance(Emitter &emitter, const Bound &args) {
  const Value &x = args["x"], &kind = args["kind"];
  bool isMatching = false;
  for (const Value &each : kind.isTuple() ? kind.elements : std::vector<Value>{kind}) {
    std::optional<bool> answer;
    if (each.kind == Value::Kind::Builtin) {
      answer = isOfBuiltin(x, each.builtin->name);
    } else if (each.kind == Value::Kind::Class) {
      answer = x.isTuple() && x.classDef == each.classDef;
    }
    if (!answer) {
      return emitter.report.fail(
          "E0311", "'isinstance' with " + describe(each) + " is not supported in a kernel",
          "ask for tl.tensor, tl.dtype, tl.pointer_type, tl.block_type, "
          "tl.constexpr_type, tl.tuple, int, float, bool, str or a class");
    }
    isMatching = isMatching || *answer;
  }
  return Value::boolean(isMatching);
}

Value constantTypeBuiltin(Emitter &emitter, const Bound &args) {
  return emitter.evaluation.attribute(args["value"], "type");
}

/// The type of a block is asked for and never made in a kernel.
Value blockType(Emitter &emitter, const Bound &) {
  return emitter.report.fail("E0224", "'block_type' is a class and cannot be called in a kernel",
                             "take the type of a tile: x.type");
}

} // namespace nereid::language::emit
