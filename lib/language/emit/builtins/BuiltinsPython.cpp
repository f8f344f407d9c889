// SPDX-License-Identifier: Apache-2.0
// Python's own functions that ask about objects: getattr, hasattr, tuple, list, type. They work on
// what is known while the kernel is elaborated.
#include "lib/language/emit/Emitter.h"

namespace nereid::language::emit {

Value pyGetattr(Emitter &emitter, const Bound &args) {
  std::optional<std::string> name = emitter.constants.string(args["name"], "'name' of getattr");
  if (!name) {
    return Value::poison();
  }
  if (args.isGiven("default")) {
    std::optional<Value> found = emitter.evaluation.tryAttribute(args["object"], *name);
    return found ? *found : args["default"];
  }
  return emitter.evaluation.attribute(args["object"], *name);
}

Value pyHasattr(Emitter &emitter, const Bound &args) {
  std::optional<std::string> name = emitter.constants.string(args["name"], "'name' of hasattr");
  return name ? Value::boolean(emitter.evaluation.tryAttribute(args["object"], *name).has_value())
              : Value::poison();
}

/// tuple() and list() are the same: what they hold is known now.
Value pyTuple(Emitter &emitter, const Bound &args) {
  const Value &values = args["values"];
  if (values.isTuple()) {
    return values;
  }
  if (!args.isGiven("values")) {
    return Value::tuple({});
  }
  std::vector<Value> items;
  if (values.kind == Value::Kind::Range && emitter.constants.rangeItems(values, items)) {
    return Value::tuple(std::move(items));
  }
  return values.kind == Value::Kind::Range
             ? Value::poison()
             : emitter.report.fail("E0217",
                                   "expects a tuple or a range, but got " + describe(values));
}

Value getIntDtype(Emitter &emitter, const Bound &args) {
  std::optional<int64_t> bits = emitter.constants.integer(args["bitwidth"], "'bitwidth'");
  std::optional<bool> isSigned = emitter.constants.flag(args["signed"], "'signed'");
  if (!bits || !isSigned) {
    return Value::poison();
  }
  switch (*bits) {
  case 1:
    return Value::type({DType::Bool, false});
  case 8:
    return Value::type({*isSigned ? DType::I8 : DType::U8, false});
  case 16:
    return Value::type({*isSigned ? DType::I16 : DType::U16, false});
  case 32:
    return Value::type({*isSigned ? DType::I32 : DType::U32, false});
  case 64:
    return Value::type({*isSigned ? DType::I64 : DType::U64, false});
  default:
    return emitter.report.fail("E0203", "'bitwidth' expects 1, 8, 16, 32 or 64, but got " +
                                            std::to_string(*bits));
  }
}

Value pyType(Emitter &emitter, const Bound &args) {
  const Value &x = args["x"];
  std::string_view name = x.isTile()                     ? "tensor"
                          : x.isType()                   ? "dtype"
                          : x.isString()                 ? "str"
                          : x.kind == Value::Kind::Bool  ? "bool"
                          : x.kind == Value::Kind::Int   ? "int"
                          : x.kind == Value::Kind::Float ? "float"
                                                         : "";
  const BuiltinEntry *entry = name == "tensor" || name == "dtype" ? findBuiltin(name, 'T')
                              : name.empty()                      ? nullptr
                                                                  : findBuiltin(name, 'P');
  return entry ? builtinValue(entry)
               : emitter.report.fail("E0311",
                                     "'type' of " + describe(x) + " is not supported in a kernel");
}

} // namespace nereid::language::emit
