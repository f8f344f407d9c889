// SPDX-License-Identifier: Apache-2.0
#include "lib/language/emit/tiles/ConstantReader.h"

#include "lib/language/emit/builtins/Builtins.h"
#include "lib/language/emit/tiles/KnownNumber.h"

#include <limits>

namespace nereid::language::emit {

void ConstantReader::expect(const std::string &what, const std::string &kind, const Value &value) {
  if (value.isPoison()) {
    return;
  }
  Diagnostic &diagnostic =
      report.error("E0203", what + " expects " + kind + ", but got " + describe(value));
  if (value.isTile()) {
    diagnostic.note("the value is only known when the kernel runs")
        .withHelp(
            "make it a parameter annotated tl.constexpr, or a local 'name: tl.constexpr = …'");
  }
}

std::optional<int64_t> ConstantReader::integer(const Value &value, const std::string &what) {
  std::optional<Value> known = knownNumber(value);
  if (known && known->isWhole() && known->integer >= std::numeric_limits<int64_t>::min() &&
      known->integer <= std::numeric_limits<int64_t>::max()) {
    return static_cast<int64_t>(known->integer);
  }
  expect(what, "a constant integer", value);
  return std::nullopt;
}

std::optional<bool> ConstantReader::flag(const Value &value, const std::string &what) {
  std::optional<Value> known = knownNumber(value);
  if (value.isNone() || (known && known->isWhole())) {
    return known && known->integer != 0;
  }
  expect(what, "True or False", value);
  return std::nullopt;
}

std::optional<std::string> ConstantReader::string(const Value &value, const std::string &what) {
  if (value.isString() || value.isNone()) {
    return value.text;
  }
  expect(what, "a string", value);
  return std::nullopt;
}

std::optional<ElementType> ConstantReader::type(const Value &value, const std::string &what) {
  if (value.isType()) {
    return value.tileType.element;
  }
  if (value.isString()) {
    if (std::optional<DType> type = parseDType(value.text)) {
      return ElementType{*type, false};
    }
  }
  if (value.kind == Value::Kind::Builtin && value.builtin->category == "python") {
    // Python's own types, as Triton reads them
    std::string_view name = value.builtin->name;
    if (name == "int" || name == "float" || name == "bool") {
      return ElementType{name == "int"     ? DType::I32
                         : name == "float" ? DType::F32
                                           : DType::Bool,
                         false};
    }
  }
  expect(what, "a type such as tl.float32", value);
  return std::nullopt;
}

std::optional<Shape> ConstantReader::shape(const Value &value, const std::string &what) {
  Shape shape;
  if (!value.isTuple()) {
    std::optional<int64_t> size = integer(value, what);
    if (!size) {
      return std::nullopt;
    }
    shape.push_back(*size);
    return shape;
  }
  for (const Value &element : value.elements) {
    std::optional<int64_t> size = integer(element, what);
    if (!size) {
      return std::nullopt;
    }
    shape.push_back(*size);
  }
  return shape;
}

bool ConstantReader::rangeItems(const Value &range, std::vector<Value> &items) {
  std::optional<int64_t> start = integer(range.elements[0], "tl.static_range");
  std::optional<int64_t> stop = integer(range.elements[1], "tl.static_range");
  std::optional<int64_t> step = integer(range.elements[2], "tl.static_range");
  if (!start || !stop || !step) {
    return false;
  }
  if (*step == 0) {
    report.error("E0222", "the step of a range is zero");
    return false;
  }
  constexpr Integer limit = 65536;
  Integer distance = static_cast<Integer>(*stop) - *start;
  Integer count = (distance + *step + (*step > 0 ? -1 : 1)) / *step;
  if ((distance > 0) == (*step > 0) && count > limit) {
    report
        .error("E0312", "tl.static_range unrolls to " + integerText(count) +
                            " iterations, but at most " + integerText(limit) + " are possible")
        .withHelp("use range, which runs as a loop");
    return false;
  }
  for (Integer i = *start; *step > 0 ? i < *stop : i > *stop; i += *step) {
    items.push_back(Value::whole(i));
  }
  return true;
}

} // namespace nereid::language::emit
