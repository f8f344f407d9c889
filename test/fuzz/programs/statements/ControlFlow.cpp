// SPDX-License-Identifier: Apache-2.0
// Loops and branches, one inside the other, that change values made before them.
#include "test/fuzz/programs/statements/Statements.h"

#include <fmt/format.h>

namespace nereid::fuzz {
namespace {

/// A new value for `of` from it, another one, and the number of the iteration.
std::string stepOf(const Value &of, const Value &other, const std::string &k) {
  return isReal(of.type)
             ? bounded(fmt::format("{} + {} * {}", of.name, other.name, k), of.type)
             : fmt::format("(({} ^ {}) + {}).to(tl.{})", of.name, other.name, k, of.type);
}

std::string condition(Writer &w) {
  std::string compare = w.oneOf({"<", ">", "==", "!="});
  if (w.chance(30)) {
    w.drawn(Class::BranchOnMemory);
    return fmt::format("{} {} {}", w.let(fmt::format("tl.load(S + {})", w.pick(200))), compare,
                       w.pick(5));
  }
  return fmt::format("{} {} {}", w.oneOf({"n", "m", "h"}), compare, w.pick(16));
}

Value changeable(Writer &w) {
  Value a = w.any();
  if (a.type == "int1" || countOf(a.shape) > 1024) {
    a = w.load();
  }
  return a;
}

/// Loops and branches down to `depth`, whose lines change the carried values.
void nest(Writer &w, std::vector<Value> &carried, int64_t depth, const std::string &k) {
  for (int64_t i = w.between(1, 2); i > 0; --i) {
    Value &value = carried[static_cast<size_t>(w.pick(static_cast<int64_t>(carried.size())))];
    const Value other = w.chance(50) && carried[0].shape == value.shape &&
                                isReal(carried[0].type) == isReal(value.type)
                            ? carried[0]
                            : w.like(value.shape, isReal(value.type));
    w.line(value.name + " = " + stepOf(value, other, k));
  }
  if (depth == 0) {
    return;
  }
  if (w.chance(50)) {
    std::string test = condition(w);
    {
      Writer::Block yes(w, "if " + test + ":");
      nest(w, carried, depth - 1, k);
    }
    if (w.chance(50)) {
      Writer::Block no(w, "else:");
      nest(w, carried, depth - 1, k);
    }
    return;
  }
  std::string inner = w.name();
  if (w.chance(25)) {
    std::string end = w.bound();
    w.line(inner + " = 0");
    Writer::Block loop(w, fmt::format("while {} < {}:", inner, end));
    nest(w, carried, depth - 1, inner);
    w.line(inner + " += 1");
    return;
  }
  Writer::Block loop(w, fmt::format("for {} in range({}):", inner, w.bound()));
  nest(w, carried, depth - 1, inner);
}

} // namespace

void looping(Writer &w) {
  Value a = changeable(w);
  Value b = w.like(a.shape, isReal(a.type)), carried{w.name(), a.type, a.shape};
  std::string end = w.bound(), k = carried.name + "k";
  w.line(fmt::format("{} = {}", carried.name, a.name));
  bool isWhile = w.chance(30);
  if (isWhile) {
    w.line(k + " = 0");
  }
  {
    Writer::Block loop(w, isWhile ? fmt::format("while {} < {}:", k, end)
                                  : fmt::format("for {} in range({}):", k, end));
    w.line(carried.name + " = " + stepOf(carried, b, k));
    if (isWhile) {
      w.line(k + " += 1");
    }
  }
  w.keep(carried);
}

void branching(Writer &w) {
  Value a = changeable(w);
  Value b = w.like(a.shape, isReal(a.type)), merged{w.name(), a.type, a.shape};
  std::string test = condition(w);
  {
    Writer::Block yes(w, "if " + test + ":");
    w.line(fmt::format("{} = {}", merged.name, a.name));
  }
  {
    Writer::Block no(w, "else:");
    w.line(fmt::format("{} = ({}).to(tl.{})", merged.name, b.name, a.type));
  }
  w.keep(merged);
}

/// A loop with a branch with a loop inside, over two or three values.
void nesting(Writer &w) {
  w.drawn(Class::NestedBlocks);
  std::vector<Value> carried;
  for (int64_t i = w.between(2, 3); i > 0; --i) {
    Value a = changeable(w);
    carried.push_back({w.name(), a.type, a.shape});
    w.line(fmt::format("{} = {}", carried.back().name, a.name));
  }
  {
    std::string k = w.name();
    Writer::Block loop(w, fmt::format("for {} in range({}):", k, w.bound()));
    nest(w, carried, 0, k);
    std::string test = w.chance(30) ? k + " % 2 == 0" : condition(w);
    Writer::Block yes(w, "if " + test + ":");
    nest(w, carried, 0, k);
    std::string inner = w.name();
    Writer::Block inside(w, fmt::format("for {} in range({}):", inner, w.bound()));
    nest(w, carried, w.pick(3), inner);
  }
  for (const Value &value : carried) {
    w.keep(value);
  }
}

/// So many operations, unrolled, that the compiler may make a loop of them again.
void unrolling(Writer &w) {
  const bool isUneven = w.chance(50);
  w.drawn(isUneven ? Class::UnrolledUneven : Class::UnrolledLarge);
  std::vector<Value> carried;
  for (int64_t i = w.between(1, 3); i > 0; --i) {
    Value a = changeable(w);
    carried.push_back({w.name(), a.type, a.shape});
    w.line(fmt::format("{} = {}", carried.back().name, a.name));
  }
  const int64_t iterations = w.between(8, 40);
  {
    const std::string k = w.name();
    Writer::Block loop(w, fmt::format("for {} in tl.static_range({}):", k, iterations));
    for (int64_t lines = 160 / iterations + w.between(2, 5); lines > 0; --lines) {
      const std::string counter = w.oneOf({"{k}", "{k} + 3", "40 - {k}", "{k} * 2"});
      nest(w, carried, 0, fmt::format(fmt::runtime("(" + counter + ")"), fmt::arg("k", k)));
    }
    if (isUneven) {
      const bool isEdge = w.chance(50);
      const int64_t odd = isEdge ? w.pick(2) * (iterations - 1) : w.pick(iterations);
      Writer::Block once(w, fmt::format("if {} {} {}:", k, w.oneOf({"==", "<", "!="}), odd));
      nest(w, carried, w.chance(30) ? 1 : 0, k);
    }
  }
  for (const Value &value : carried) {
    w.keep(value);
  }
}

} // namespace nereid::fuzz
