// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/programs/statements/DotOperands.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::fuzz {
namespace {

/// A buffer whose numbers the type holds.
std::string sourceFor(Writer &w, const std::string &type, bool standsAlone) {
  if (type == "int8") {
    return "B";
  }
  if (type == "float8e4nv" || type == "float8e5") {
    return type == "float8e5" ? "F" : "E";
  }
  if (standsAlone || w.chance(60)) {
    return type == "float16" ? "H" : type == "bfloat16" ? "G" : "X";
  }
  return w.oneOf({"X", "H", "G", "E", "F"});
}

} // namespace

DotOperand::DotOperand(Writer &w, int64_t rows, int64_t columns, bool isLeft,
                       const std::string &type, int64_t last, bool standsAlone)
    : w(w), rows(rows), columns(columns), isLeft(isLeft), standsAlone(standsAlone), type(type),
      from(sourceFor(w, type, standsAlone)) {
  static const std::vector<Form> standing = {Form::Plain,      Form::Plain,    Form::ColumnMajor,
                                             Form::Transposed, Form::Gathered, Form::Wrapped};
  form = w.chance(25)  ? Form::Plain
         : standsAlone ? w.oneOf(standing)
                       : static_cast<Form>(w.pick(10));
  start = w.pick(64);
  padding = w.chance(30) ? w.between(1, 16) : 0;
  int64_t usual = form == Form::Plain && isLeft ? columns : rows * columns;
  int64_t largest = 22000 / last; // within every buffer
  step = w.chance(20) ? w.oneOf({"n", "h * 8", "m"})
         : usual > largest || w.chance(20)
             ? std::to_string(w.between(1, std::min<int64_t>(40, largest)))
             : std::to_string(usual);
  if (type == "float8e4nv" || type == "float8e5") {
    w.drawn(Class::DotFloat8);
  } else if (type == "int8") {
    w.drawn(Class::DotInt8);
  } else if (type != "float32") {
    w.drawn(Class::DotHalf);
  }
}

std::string DotOperand::at(const Shape &shape) {
  if (shape.size() != 2) {
    return w.positions(shape);
  }
  bool isTurned = form == Form::ColumnMajor;
  Shape steps = isTurned ? Shape{1, shape[0] + padding} : Shape{shape[1] + padding, 1};
  if (lines.empty()) {
    return w.positions(shape, steps);
  }
  // Rows of the left, columns of the right side, one by one.
  size_t own = isLeft ? 0 : 1;
  return fmt::format("{} * {} + {} * {}", spreadAlong(lines, own, 2), steps[own],
                     rangeAlong(1 - own, 2, shape[1 - own]), steps[1 - own]);
}

void DotOperand::begin() {
  if (form == Form::Gathered || form == Form::Wrapped) {
    int64_t count = isLeft ? rows : columns;
    std::string range = fmt::format("tl.arange(0, {})", count);
    if (form == Form::Gathered) {
      w.drawn(Class::DotGathered);
      lines = w.let(fmt::format("tl.load(S + {} + {})", w.pick(64), range));
    } else {
      w.drawn(Class::DotWrapped);
      lines = w.let(fmt::format("({} + {}) % {}", w.chance(50) ? w.pid() : "m", range,
                                w.oneOf({"n", "m", "h", "16", "5"})));
    }
  }
  bool isSimple = form == Form::Plain || form == Form::ColumnMajor || form == Form::Transposed ||
                  form == Form::Gathered || form == Form::Wrapped;
  if (isSimple && w.chance(50)) {
    pointed = form == Form::Transposed ? Shape{columns, rows} : Shape{rows, columns};
    pointer = w.let(fmt::format("{} + {} + {}{}", from, start, at(pointed),
                                isLeft ? fmt::format(" + {} * {}", w.pid(), w.pick(40)) : ""));
  }
  if (pointer.empty() && !standsAlone && w.chance(8)) {
    w.drawn(Class::DotCarriedOperand);
    carried = w.let(shaped("0"));
  }
}

std::string DotOperand::mask(const Shape &shape, const std::string &k) {
  if (shape.size() != 2 || w.chance(55)) {
    return "";
  }
  w.drawn(Class::DotMasked);
  bool isTurned = form == Form::Transposed;
  size_t inner = isLeft != isTurned ? 1 : 0; // the dimension of k
  std::string ks = rangeAlong(inner, 2, shape[inner]);
  std::string others = rangeAlong(1 - inner, 2, shape[1 - inner]);
  std::string byK = w.chance(50) ? fmt::format("{} < {} - {} * {}", ks,
                                               w.oneOf({"m * 4", "48", "n * 8"}), k, numberOfK())
                                 : fmt::format("{} + {} * {} < {}", ks, k, numberOfK(),
                                               w.oneOf({"n * 5", "40", "m + 16"}));
  std::string byLine = w.chance(70)
                           ? fmt::format("{} < {}", others, w.oneOf({"n", "m", "h * 3", "20"}))
                           : fmt::format("{} % 3 != {}", others, w.oneOf({"1", "h % 3"}));
  std::string text;
  switch (w.pick(4)) {
  case 0:
    text = byK;
    break;
  case 1:
    text = byLine;
    break;
  case 2:
    text = fmt::format("({}) & (n > {})", byK, w.pick(8));
    break;
  default:
    text = fmt::format("({}) & ({})", byLine, byK);
  }
  return fmt::format(", mask={}{}", text,
                     w.chance(75)   ? ", other=0"
                     : w.chance(50) ? ", other=1"
                                    : ", other=0.0");
}

std::string DotOperand::tile(const Shape &shape, const std::string &k, bool isMaskable,
                             int64_t more) {
  std::string address = pointer.empty() ? fmt::format("{} + {} + {} + {} * {}", from, start + more,
                                                      at(shape), k, step)
                                        : pointer;
  std::string text =
      fmt::format("tl.load({}{})", address, isMaskable ? mask(shape, k) : std::string());
  return languageType(from) == type ? text : fmt::format("{}.to(tl.{})", text, type);
}

std::string DotOperand::shaped(const std::string &k) {
  int64_t count = rows * columns;
  switch (form) {
  case Form::Plain:
  case Form::Gathered:
  case Form::Wrapped:
    return tile({rows, columns}, k, true);
  case Form::ColumnMajor:
    w.drawn(Class::DotColumnMajor);
    return tile({rows, columns}, k, true);
  case Form::Transposed:
    w.drawn(Class::DotTransposed);
    return fmt::format(fmt::runtime(w.oneOf({"tl.trans({})", "{}.T", "tl.permute({}, (1, 0))"})),
                       tile({columns, rows}, k, true));
  case Form::Rank1:
    w.drawn(Class::DotReshapedRank1);
    return fmt::format("tl.reshape({}, ({}, {}))", tile({count}, k, false), rows, columns);
  case Form::Rank3:
    w.drawn(Class::DotReshapedRank3);
    return fmt::format(
        "tl.reshape({}, ({}, {}))",
        tile(w.chance(50) ? Shape{rows, 4, columns / 4} : Shape{4, rows / 4, columns}, k, false),
        rows, columns);
  case Form::Permuted:
    w.drawn(Class::DotPermuted);
    return w.chance(50) ? fmt::format("tl.reshape(tl.permute({}, (1, 0, 2)), ({}, {}))",
                                      tile({4, rows, columns / 4}, k, false), rows, columns)
                        : fmt::format("tl.reshape(tl.permute({}, (2, 0, 1)), ({}, {}))",
                                      tile({4, columns / 4, rows}, k, false), rows, columns);
  case Form::Joined: {
    w.drawn(Class::DotJoined);
    std::string left = tile({rows, columns / 2}, k, true);
    std::string right = tile({rows, columns / 2}, k, true, count / 2 + 5);
    std::string joined = fmt::format("tl.join({}, {})", left, right);
    return fmt::format("tl.reshape({}, ({}, {}))",
                       w.chance(50) ? joined : fmt::format("tl.permute({}, (0, 2, 1))", joined),
                       rows, columns);
  }
  case Form::Split: {
    w.drawn(Class::DotSplit);
    std::string left = w.name(), right = w.name();
    w.line(fmt::format("{}, {} = tl.split({})", left, right, tile({rows, columns, 2}, k, false)));
    return w.chance(50) ? left : right;
  }
  }
  return "";
}

std::string DotOperand::computed(const std::string &name, const std::string &k) {
  if (type.starts_with("float8") || type == "int8" || standsAlone || w.chance(80)) {
    return name;
  }
  w.drawn(Class::DotArithmetic);
  switch (w.pick(4)) {
  case 0:
    return w.let(fmt::format("{} * 2", name));
  case 1:
    return w.let(fmt::format("({} + tl.arange(0, {})[None, :]).to(tl.{})", name, columns, type));
  case 2:
    return w.let(fmt::format("tl.where({} > {}, {}, 0.0).to(tl.{})", name, k, name, type));
  default:
    return w.let(fmt::format("tl.maximum({}, 0.0).to(tl.{})", name, type));
  }
}

std::string DotOperand::load(const std::string &k) {
  if (!carried.empty()) {
    return carried;
  }
  return computed(w.let(shaped(k)), k);
}

void DotOperand::advance() {
  if (!pointer.empty()) {
    w.line(fmt::format("{} += {}", pointer, step));
  }
  if (!carried.empty()) {
    w.line(fmt::format("{} = {}", carried, shaped("1")));
  }
}

} // namespace nereid::fuzz
