// SPDX-License-Identifier: Apache-2.0
#include "RandomProgram.h"

#include <tuple>

namespace nereid::test {

namespace {
const std::vector<std::vector<int64_t>> shapes = {{16},   {64},   {12},   {4, 8},    {8, 4}, {1, 8},
                                                  {8, 1}, {3, 4}, {4, 3}, {2, 3, 4}, {2, 8}, {1}};
const std::vector<std::string> integerTypes = {"i32", "i32", "i32", "i64",
                                               "i64", "i8",  "i16", "i1"};

int64_t elementsOf(const std::vector<int64_t> &shape) {
  int64_t elements = 1;
  for (int64_t size : shape) {
    elements *= size;
  }
  return elements;
}
} // namespace

std::string RandomProgram::Type::name() const {
  if (shape.empty()) {
    return element;
  }
  std::string text = "tensor<";
  for (int64_t size : shape) {
    text += std::to_string(size) + "x";
  }
  return text + element + ">";
}

RandomProgram::Operand RandomProgram::define(const Type &type, const std::string &operation) {
  values.push_back({fresh(), type});
  body += values.back().name + " = " + operation + "\n";
  return values.back();
}

RandomProgram::Operand RandomProgram::value() {
  // The latest ones more often, so that chains are long.
  const auto size = static_cast<int64_t>(values.size());
  const int64_t back = once(2) ? below(std::min<int64_t>(size, 6)) : below(size);
  return values[static_cast<size_t>(size - 1 - back)];
}

RandomProgram::Operand RandomProgram::integers() {
  Operand operand = value();
  while (operand.type.isPointer()) {
    operand = value();
  }
  return operand;
}

int64_t RandomProgram::number(unsigned width) {
  static const std::vector<int64_t> usual = {0, 1, 2, 3, 4, 8, 12, 16, 32, 64, -1, -2, -4, -16, 7};
  const int64_t all = static_cast<int64_t>(random());
  const int64_t chosen = once(8) ? all : once(8) ? int64_t(1) << below(width) : any(usual);
  const unsigned unused = 64 - width;
  return static_cast<int64_t>(static_cast<uint64_t>(chosen) << unused) >> unused;
}

RandomProgram::Operand RandomProgram::constantOf(const Type &type) {
  auto text = [&](unsigned width) {
    const int64_t chosen = number(width);
    return width == 1 ? std::string(chosen != 0 ? "true" : "false") : std::to_string(chosen);
  };
  if (type.isPointer()) {
    const Type address{type.shape, "i64"};
    const Operand number = constantOf(address);
    return define(type,
                  "tile.int_to_ptr " + number.name + " : " + address.name() + " -> " + type.name());
  }
  if (type.shape.empty()) {
    return define(type, type.element == "i1"
                            ? "arith.constant " + text(1)
                            : "arith.constant " + text(type.width()) + " : " + type.element);
  }
  if (type.shape.size() > 1 || !once(3)) {
    return define(type, "arith.constant dense<" + text(type.width()) + "> : " + type.name());
  }
  std::string list;
  const int64_t step = number(type.width());
  for (int64_t i = 0; i < type.shape[0]; ++i) {
    const bool isLinear = type.width() == 64 && step > -100 && step < 100;
    list += (i == 0 ? "" : ", ") + (isLinear ? std::to_string(i * step) : text(type.width()));
  }
  return define(type, "arith.constant dense<[" + list + "]> : " + type.name());
}

RandomProgram::Operand RandomProgram::valueOf(const Type &type) {
  std::vector<Operand> fitting;
  for (const Operand &operand : values) {
    if (!(operand.type < type) && !(type < operand.type)) {
      fitting.push_back(operand);
    }
  }
  if (!fitting.empty() && !once(5)) {
    return once(2) ? fitting.back() : any(fitting);
  }
  if (!type.shape.empty() && once(3)) {
    const Operand scalar = valueOf({{}, type.element});
    return define(type, "tile.splat " + scalar.name + " : " + type.element + " -> " + type.name());
  }
  if (type.element == "i32" && type.shape.size() == 1 && once(2)) {
    const int64_t start = once(2) ? 0 : below(40);
    return define(type, "tile.make_range " + std::to_string(start) + " to " +
                            std::to_string(start + type.shape[0]) + " : " + type.name());
  }
  if (type.element == "i32" && type.shape.empty() && once(2)) {
    return define(type, "tile.program_id 0");
  }
  return constantOf(type);
}

void RandomProgram::arithmetic() {
  static const std::vector<std::string> names = {
      "addi", "addi", "addi",  "subi",  "muli",  "muli",  "andi",  "ori",
      "xori", "shli", "shrsi", "shrui", "maxsi", "minsi", "maxui", "minui"};
  const Operand left = integers(), right = valueOf(left.type);
  const bool isSwapped = once(2);
  define(left.type, "arith." + any(names) + " " + (isSwapped ? right : left).name + ", " +
                        (isSwapped ? left : right).name + " : " + left.type.name());
}

void RandomProgram::division() {
  static const std::vector<std::string> names = {"divsi", "divui", "remsi", "remui", "floordivsi"};
  const Operand left = integers();
  if (left.type.width() == 1) {
    return;
  }
  const std::string divisor = std::to_string(std::max<int64_t>(1, number(left.type.width())));
  const std::string type = left.type.name();
  const Operand right = define(left.type, left.type.shape.empty()
                                              ? "arith.constant " + divisor + " : " + type
                                              : "arith.constant dense<" + divisor + "> : " + type);
  define(left.type, "arith." + any(names) + " " + left.name + ", " + right.name + " : " + type);
}

void RandomProgram::choice() {
  static const std::vector<std::string> predicates = {"eq",  "ne",  "slt", "sle", "sgt",
                                                      "sge", "ult", "ule", "ugt", "uge"};
  const Operand left = integers(), right = valueOf(left.type);
  const Type bits{left.type.shape, "i1"};
  const Operand condition = define(bits, "arith.cmpi " + any(predicates) + ", " + left.name + ", " +
                                             right.name + " : " + left.type.name());
  if (once(2)) {
    const Operand a = valueOf(left.type), b = valueOf(left.type);
    const Operand by = once(3) ? valueOf({{}, "i1"}) : condition;
    const std::string types = by.type.shape.empty() && !bits.shape.empty() ? left.type.name()
                              : bits.shape.empty()                         ? left.type.name()
                                                   : bits.name() + ", " + left.type.name();
    define(left.type, "arith.select " + by.name + ", " + a.name + ", " + b.name + " : " + types);
  }
}

void RandomProgram::conversion() {
  const Operand operand = integers();
  const Type type{operand.type.shape, any(integerTypes)};
  if (type.width() == operand.type.width()) {
    return;
  }
  const std::string name = type.width() < operand.type.width() ? "trunci"
                           : once(2)                           ? "extsi"
                                                               : "extui";
  define(type,
         "arith." + name + " " + operand.name + " : " + operand.type.name() + " to " + type.name());
}

void RandomProgram::shape() {
  const Operand operand = value();
  const std::vector<int64_t> &from = operand.type.shape;
  auto make = [&](std::vector<int64_t> to, const std::string &name, const std::string &extra) {
    const Type type{std::move(to), operand.type.element};
    define(type, "tile." + name + " " + operand.name + extra + " : " + operand.type.name() +
                     " -> " + type.name());
  };
  if (from.empty()) {
    make(any(shapes), "splat", "");
    return;
  }
  const auto axis = static_cast<size_t>(below(static_cast<int64_t>(from.size())));
  std::vector<int64_t> to = from;
  switch (below(6)) {
  case 0:
    if (from.size() < 3) {
      to.insert(to.begin() + static_cast<int64_t>(axis), 1);
      make(to, "expand_dims", ", " + std::to_string(axis));
    }
    return;
  case 1:
    to[axis] = to[axis] == 1 ? 1 + below(8) : to[axis];
    if (to != from) {
      make(to, "broadcast", "");
    }
    return;
  case 2:
    for (const std::vector<int64_t> &other : shapes) {
      if (elementsOf(other) == elementsOf(from) && other != from && once(2)) {
        make(other, "reshape", "");
        return;
      }
    }
    make({elementsOf(from)}, "reshape", "");
    return;
  case 3: {
    std::swap(to.front(), to.back());
    std::string order;
    for (size_t i = 0; i < from.size(); ++i) {
      const size_t at = i == 0 ? from.size() - 1 : i == from.size() - 1 ? 0 : i;
      order += (i == 0 ? "" : ", ") + std::to_string(at);
    }
    make(to, "trans", ", [" + order + "]");
    return;
  }
  case 4:
    if (from.back() == 2) {
      to.pop_back();
      if (to.empty()) {
        return;
      }
      const Type half{to, operand.type.element};
      const std::string left = fresh(), right = fresh();
      body += left + ", " + right + " = tile.split " + operand.name + " : " + operand.type.name() +
              " -> " + half.name() + ", " + half.name() + "\n";
      values.push_back({left, half});
      values.push_back({right, half});
    } else if (from.size() < 3) {
      const Operand other = valueOf(operand.type);
      to.push_back(2);
      const Type both{to, operand.type.element};
      define(both, "tile.join " + operand.name + ", " + other.name + " : " + operand.type.name() +
                       " -> " + both.name());
    }
    return;
  default: {
    const Operand numbers = valueOf({from, "i32"});
    const std::string type = numbers.type.name();
    const Operand size =
        define(numbers.type, "arith.constant dense<" + std::to_string(from[axis]) + "> : " + type);
    const Operand index =
        define(numbers.type, "arith.remui " + numbers.name + ", " + size.name + " : " + type);
    define(operand.type, "tile.gather " + operand.name + "[" + index.name + "] axis " +
                             std::to_string(axis) + " : " + operand.type.name() + ", " + type +
                             " -> " + operand.type.name());
  }
  }
}

void RandomProgram::address() {
  static const std::vector<std::string> pointees = {"i8", "i16", "i32", "f64"};
  const Operand operand = value();
  if (!operand.type.isPointer()) {
    const Type pointers{operand.type.shape, "!tile.ptr<" + any(pointees) + ">"};
    if (operand.type.width() != 1) {
      const Operand base = valueOf(pointers);
      define(pointers, "tile.addptr " + base.name + ", " + operand.name + " : " + pointers.name() +
                           ", " + operand.type.name());
    }
    return;
  }
  const bool isNumber = once(2);
  const Type type{operand.type.shape, isNumber ? "i64" : "!tile.ptr<" + any(pointees) + ">"};
  define(type, std::string(isNumber ? "tile.ptr_to_int " : "tile.ptr_cast ") + operand.name +
                   " : " + operand.type.name() + " -> " + type.name());
}

RandomProgram::Operand RandomProgram::splat(const Operand &scalar,
                                            const std::vector<int64_t> &shape) {
  const Type type{shape, scalar.type.element};
  return define(type,
                "tile.splat " + scalar.name + " : " + scalar.type.name() + " -> " + type.name());
}

RandomProgram::Operand RandomProgram::filled(const Type &type, int64_t number) {
  const std::string text = std::to_string(number);
  return define(type, "arith.constant " + (type.shape.empty() ? text : "dense<" + text + ">") +
                          " : " + type.name());
}

RandomProgram::Operand RandomProgram::binary(const std::string &name, const Operand &left,
                                             const Operand &right) {
  return define(left.type,
                "arith." + name + " " + left.name + ", " + right.name + " : " + left.type.name());
}

RandomProgram::Operand RandomProgram::index() {
  const std::vector<int64_t> shape =
      any(std::vector<std::vector<int64_t>>{{16}, {64}, {12}, {4, 8}, {8, 4}, {3, 4}, {2, 8}});
  Operand sum{"", {}};
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    const Type line{{shape[dim]}, "i32"}, all{shape, "i32"};
    Operand part =
        define(line, "tile.make_range 0 to " + std::to_string(shape[dim]) + " : " + line.name());
    if (shape.size() == 2) {
      const Type thin{
          dim == 0 ? std::vector<int64_t>{shape[0], 1} : std::vector<int64_t>{1, shape[1]}, "i32"};
      part = define(thin, "tile.expand_dims " + part.name + ", " + std::to_string(1 - dim) + " : " +
                              line.name() + " -> " + thin.name());
      part = define(all, "tile.broadcast " + part.name + " : " + thin.name() + " -> " + all.name());
    }
    const bool isRow = dim + 1 < shape.size();
    const int64_t pitch =
        isRow && once(2) ? shape[1] : any(std::vector<int64_t>{1, 1, 2, 4, -1, 16});
    part = binary("muli", part, filled(all, pitch));
    sum = dim == 0 ? part : binary("addi", sum, part);
  }
  Operand start = any(std::vector<Operand>{{"%a", {{}, "i32"}}, {"%b", {{}, "i32"}}});
  if (once(3)) {
    start = binary("muli", start, filled(start.type, int64_t(1) << below(7)));
  }
  sum = once(6) ? sum : binary("addi", sum, splat(start, shape));
  if (once(3)) {
    const Type narrow{shape, once(2) ? "i8" : "i16"};
    sum = define(narrow,
                 "arith.trunci " + sum.name + " : " + sum.type.name() + " to " + narrow.name());
  }
  return sum;
}

void RandomProgram::question(const Operand &index) {
  static const std::vector<int64_t> numbers = {1, 2, 3, 4, 8, 12, 16, 64};
  static const std::vector<std::string> divisions = {"divsi",      "divui", "remsi", "remui",
                                                     "floordivsi", "shrsi", "shrui"};
  static const std::vector<std::string> predicates = {"slt", "sle", "sgt", "sge",
                                                      "ult", "ule", "ugt", "uge"};
  const std::vector<int64_t> &shape = index.type.shape;
  const bool isNarrow = index.type.element != "i32";
  switch (below(6)) {
  case 0: {
    const Type wide{shape, isNarrow && once(2) ? "i32" : "i64"};
    define(wide, std::string(once(2) ? "arith.extsi " : "arith.extui ") + index.name + " : " +
                     index.type.name() + " to " + wide.name());
    return;
  }
  case 1: {
    Operand by = filled(index.type, any(numbers));
    const std::string division = any(divisions);
    if (!isNarrow && once(3) && division.rfind("sh", 0) != 0) {
      // From 1 to 8 times a number, which is all that is known of it.
      const Type scalar{{}, index.type.element};
      const Operand some = binary("andi", valueOf(scalar), filled(scalar, 7));
      const Operand factor = binary("addi", some, filled(scalar, 1));
      by = splat(binary("muli", factor, filled(scalar, once(4) ? -16 : any(numbers))), shape);
    }
    binary(division, index, by);
    return;
  }
  case 2:
    binary(once(3) ? "ori" : "andi", index,
           filled(index.type, once(2) ? -any(numbers) : any(numbers) - 1));
    return;
  case 3: {
    const std::vector<int64_t> to = shape.size() == 2 || once(3)
                                        ? std::vector<int64_t>{elementsOf(shape)}
                                        : std::vector<int64_t>{shape[0] / 4, 2, 2};
    const Type type{to, index.type.element};
    define(type, "tile.reshape " + index.name + " : " + index.type.name() + " -> " + type.name());
    return;
  }
  case 4: {
    // Elements of another row, the same for all of it.
    if (shape.size() == 2) {
      const Operand row = filled({shape, "i32"}, below(shape[0]));
      define(index.type, "tile.gather " + index.name + "[" + row.name +
                             "] axis 0 : " + index.type.name() + ", " + row.type.name() + " -> " +
                             index.type.name());
    }
    return;
  }
  default: {
    Operand limit = splat(once(2) ? Operand{"%b", {{}, "i32"}} : Operand{"%a", {{}, "i32"}}, shape);
    limit = once(2) ? limit : binary("muli", limit, filled(limit.type, 16));
    if (isNarrow) {
      limit = define(index.type, "arith.trunci " + limit.name + " : " + limit.type.name() + " to " +
                                     index.type.name());
    }
    const Type bits{shape, "i1"};
    const Operand isBelow = define(bits, "arith.cmpi " + any(predicates) + ", " + index.name +
                                             ", " + limit.name + " : " + index.type.name());
    const Operand moved = binary("addi", index, filled(index.type, any(numbers)));
    define(index.type, "arith.select " + isBelow.name + ", " + index.name + ", " + moved.name +
                           " : " + bits.name() + ", " + index.type.name());
  }
  }
}

void RandomProgram::statement(int depth) {
  const int64_t kind = below(depth < 2 ? 16 : 13);
  if (once(3)) {
    question(index());
  } else if (kind < 5) {
    arithmetic();
  } else if (kind < 7) {
    division();
  } else if (kind < 8) {
    choice();
  } else if (kind < 9) {
    conversion();
  } else if (kind < 12) {
    shape();
  } else if (kind < 13) {
    address();
  } else if (kind < 14) {
    loop(depth);
  } else if (kind < 15) {
    branch(depth);
  } else {
    whileLoop(depth);
  }
}

std::string RandomProgram::text() {
  values = {{"%p", {{}, "!tile.ptr<i32>"}},
            {"%a", {{}, "i32"}},
            {"%b", {{}, "i32"}},
            {"%c", {{}, "i64"}}};
  valueOf({any(shapes), "i32"});
  for (int i = 0; i < 25; ++i) {
    statement(0);
  }
  return "func.func @k(%p: !tile.ptr<i32> {tile.divisibility = 16 : i64}, %a: i32,\n"
         "    %b: i32 {tile.divisibility = 16 : i64}, %c: i64) attributes {tile.kernel} {\n" +
         body + "return\n}\n";
}

} // namespace nereid::test
