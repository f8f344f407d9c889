// SPDX-License-Identifier: Apache-2.0
#include "lib/language/emit/modules/HostLibraries.h"

#include "lib/language/emit/modules/Imports.h"
#include "lib/language/host/HostFacts.h"

#include <limits>
#include <map>

namespace nereid::language::emit {

static bool isLimits(const std::string &text) {
  return text == "torch.finfo" || text == "torch.iinfo" || text == "numpy.finfo" ||
         text == "numpy.iinfo";
}

Value valueOf(const ConstValue &constant) {
  if (auto *value = std::get_if<bool>(&constant)) {
    return Value::boolean(*value);
  }
  if (auto *value = std::get_if<int64_t>(&constant)) {
    return Value::whole(*value);
  }
  if (auto *value = std::get_if<double>(&constant)) {
    return Value::floating(*value);
  }
  if (auto *value = std::get_if<std::string>(&constant)) {
    return Value::string(*value);
  }
  if (auto *value = std::get_if<DType>(&constant)) {
    return Value::type({*value, false});
  }
  if (auto *value = std::get_if<std::shared_ptr<ConstTuple>>(&constant)) {
    std::vector<Value> elements;
    for (const ConstValue &element : (*value)->values) {
      elements.push_back(valueOf(element));
    }
    return Value::tuple(std::move(elements));
  }
  return Value::none();
}

std::optional<ConstValue> constantOf(const Value &value) {
  switch (value.kind) {
  case Value::Kind::None:
    return std::monostate();
  case Value::Kind::Bool:
    return value.integer != 0;
  case Value::Kind::Int:
    return value.integer >= std::numeric_limits<int64_t>::min() &&
                   value.integer <= std::numeric_limits<int64_t>::max()
               ? std::optional<ConstValue>(static_cast<int64_t>(value.integer))
               : std::nullopt;
  case Value::Kind::Float:
    return value.real;
  case Value::Kind::String:
    return value.text;
  case Value::Kind::Tuple: {
    auto tuple = std::make_shared<ConstTuple>();
    for (const Value &element : value.elements) {
      std::optional<ConstValue> constant = constantOf(element);
      if (!constant) {
        return std::nullopt;
      }
      tuple->values.push_back(std::move(*constant));
    }
    return tuple;
  }
  default:
    return std::nullopt;
  }
}

std::optional<ConstValue> constantOf(const HostValue &value) {
  if (value.kind == HostValue::Kind::Constant) {
    return value.constant;
  }
  if (value.kind != HostValue::Kind::List) {
    return std::nullopt;
  }
  auto tuple = std::make_shared<ConstTuple>();
  for (const HostValue &item : *value.items) {
    std::optional<ConstValue> constant = constantOf(item);
    if (!constant) {
      return std::nullopt;
    }
    tuple->values.push_back(std::move(*constant));
  }
  return tuple;
}

std::optional<Value> hostAttribute(const Value &base, const std::string &name) {
  if (std::optional<ConstValue> constant = hostConstant(base.text + "." + name)) {
    return valueOf(*constant);
  }
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

/// operator.ge(a, b) and the like, which files hand to functions that compare versions.
static const std::map<std::string, std::string> &pythonOperators() {
  static const std::map<std::string, std::string> operators = {
      {"lt", "<"},  {"le", "<="}, {"gt", ">"},  {"ge", ">="}, {"eq", "=="},      {"ne", "!="},
      {"add", "+"}, {"sub", "-"}, {"mul", "*"}, {"mod", "%"}, {"floordiv", "//"}};
  return operators;
}

std::optional<Value> HostLibraries::call(const Value &callee,
                                         const std::vector<Argument> &arguments) {
  if (isLimits(callee.text) && arguments.size() == 1 && arguments[0].value.isType()) {
    Value value = callee;
    value.elements = {callee.elements[0], arguments[0].value};
    return value;
  }
  if (callee.text == "triton.runtime.driver.active.get_current_target" && arguments.empty()) {
    Value target = callee; // its `backend` is a constant: kernels are compiled for no GPU
    target.text = "triton.target";
    return target;
  }
  if (callee.text == "importlib.import_module" && arguments.size() == 1 &&
      arguments[0].value.isString()) {
    Value found = imports.moduleImport(*callee.module, arguments[0].value.text);
    return isMissing(found) ? emitter.report.failNotFound(found) : found;
  }
  if (callee.text.starts_with("operator.") && arguments.size() == 2) {
    auto found = pythonOperators().find(callee.text.substr(9));
    if (found != pythonOperators().end()) {
      const std::string &op = found->second;
      bool isComparison = op[0] == '<' || op[0] == '>' || op == "==" || op == "!=";
      return isComparison ? emitter.operators.compare(op, arguments[0].value, arguments[1].value)
                          : emitter.operators.binary(op, arguments[0].value, arguments[1].value);
    }
  }
  std::vector<ConstValue> constants;
  for (const Argument &argument : arguments) {
    std::optional<Value> known = knownNumber(argument.value);
    std::optional<ConstValue> constant = constantOf(known ? *known : argument.value);
    if (!constant) {
      return std::nullopt;
    }
    constants.push_back(std::move(*constant));
  }
  std::optional<ConstValue> result = hostFunction(callee.text, constants);
  return result ? std::optional(valueOf(*result)) : std::nullopt;
}

} // namespace nereid::language::emit
