// SPDX-License-Identifier: Apache-2.0
// What kernels take from Python's libraries at the top level of a file, without those libraries:
// torch's types and the limits of numbers, and settings from the environment, which have their
// defaults here so that a kernel means the same on every machine.
#include "lib/language/emit/Emitter.h"

#include <limits>

namespace nereid::language::emit {

static bool isLimits(const std::string &text) {
  return text == "torch.finfo" || text == "torch.iinfo" || text == "numpy.finfo" ||
         text == "numpy.iinfo";
}

std::optional<Value> hostAttribute(const Value &base, const std::string &name) {
  if (base.text == "torch" || base.text == "numpy") {
    std::optional<DType> type = parseDType(name);
    return type ? std::optional(Value::type({*type, false})) : std::nullopt;
  }
  if (!isLimits(base.text) || base.elements.size() < 2) {
    return std::nullopt;
  }
  DType type = base.elements[1].tileType.element.dtype;
  int bits = bitWidth(type);
  if (name == "bits") {
    return Value::whole(bits);
  }
  if (isInteger(type)) {
    Integer one = 1;
    bool hasSign = !isUnsigned(type) && type != DType::Bool;
    Integer most = (one << (hasSign ? bits - 1 : bits)) - 1;
    return name == "max"   ? std::optional(Value::whole(most))
           : name == "min" ? std::optional(Value::whole(hasSign ? -most - 1 : Integer(0)))
                           : std::nullopt;
  }
  struct Limits {
    double most, epsilon, smallest;
  };
  std::optional<Limits> limits;
  if (type == DType::F64) {
    using D = std::numeric_limits<double>;
    limits = {D::max(), D::epsilon(), D::min()};
  } else if (type == DType::F32) {
    using F = std::numeric_limits<float>;
    limits = {F::max(), F::epsilon(), F::min()};
  } else if (type == DType::F16) {
    limits = {65504.0, 0x1p-10, 0x1p-14};
  } else if (type == DType::BF16) {
    limits = {0x1.fep127, 0x1p-7, 0x1p-126};
  }
  if (!limits) {
    return std::nullopt;
  }
  return name == "max"   ? std::optional(Value::floating(limits->most))
         : name == "min" ? Value::floating(-limits->most)
         : name == "eps" ? Value::floating(limits->epsilon)
         : name == "tiny" || name == "smallest_normal"
             ? std::optional(Value::floating(limits->smallest))
             : std::nullopt;
}

std::optional<Value> hostCall(const Value &callee, const std::vector<Argument> &arguments) {
  if (isLimits(callee.text) && arguments.size() == 1 && arguments[0].value.isType()) {
    Value value = callee;
    value.elements = {callee.elements[0], arguments[0].value};
    return value;
  }
  if (callee.text == "os.environ.get" || callee.text == "os.getenv") {
    return arguments.size() == 2 ? arguments[1].value : Value::none();
  }
  return std::nullopt;
}

} // namespace nereid::language::emit
