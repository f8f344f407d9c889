// SPDX-License-Identifier: Apache-2.0
// What bounds and constants decide, see Normalise.h.
#include "lib/generator/normalise/Normalise.h"

#include "lib/generator/program/Evaluate.h"
#include "lib/generator/program/Guards.h"

#include <algorithm>
#include <cmath>

namespace nereid::generator {
namespace {

std::optional<bool> truthOf(const Node *node) {
  bool isConstant = node->kind == NodeKind::Const && node->dtype == DType::Bool;
  return isConstant ? std::optional(node->integer != 0) : std::nullopt;
}

bool isNumber(const Node *node, double value) {
  if (node->kind != NodeKind::Const) {
    return false;
  }
  return isFloat(node->dtype)
             ? node->real == value && std::signbit(node->real) == std::signbit(value)
             : static_cast<double>(node->integer) == value;
}

/// Whether the value is no NaN at all, so that it equals itself.
bool isNoNan(const Node *node) {
  return !isFloat(node->dtype) || (node->kind == NodeKind::Const && !std::isnan(node->real));
}

class Folder {
public:
  explicit Folder(Program &program) : program(program) {}

  const Node *fold(NodeParts parts) {
    NodeTable &nodes = program.nodes;
    if (parts.kind == NodeKind::Index && parts.indices[0].isConstant()) {
      if (auto number = parts.indices[0].constant().constant()) {
        return nodes.integer(*number, DType::I64);
      }
    }
    if (parts.kind != NodeKind::Map) {
      return nodes.make(std::move(parts));
    }
    if (parts.name == "cast" && parts.inputs[0]->dtype == parts.dtype) {
      return parts.inputs[0];
    }
    if (const Node *simpler = selection(parts)) {
      return simpler;
    }
    if (const Node *simpler = arithmetic(parts)) {
      return simpler;
    }
    if (const Node *simpler = condition(parts)) {
      return simpler;
    }
    if (const Node *simpler = ofIndices(parts)) {
      return simpler;
    }
    return nodes.make(std::move(parts));
  }

private:
  static const Node *selection(const NodeParts &parts) {
    const std::vector<const Node *> &in = parts.inputs;
    if (parts.name == "where") {
      if (std::optional<bool> truth = truthOf(in[0])) {
        return in[*truth ? 1 : 2];
      }
      return in[1] == in[2] ? in[1] : nullptr;
    }
    bool isAnd = parts.name == "logical_and";
    if (isAnd || parts.name == "logical_or") {
      for (size_t i = 0; i < 2; ++i) {
        if (std::optional<bool> truth = truthOf(in[i])) {
          return *truth == isAnd ? in[1 - i] : in[i];
        }
      }
      return in[0] == in[1] ? in[0] : nullptr;
    }
    if (parts.name == "logical_xor") {
      for (size_t i = 0; i < 2; ++i) {
        if (truthOf(in[i]) == false) {
          return in[1 - i];
        }
      }
    }
    return nullptr;
  }

  const Node *arithmetic(const NodeParts &parts) {
    const std::vector<const Node *> &in = parts.inputs;
    const std::string &name = parts.name;
    bool isFloating = isFloat(parts.dtype);
    if (name == "mul" || name == "add") {
      // -0 is what leaves every float as it is; 0 makes 0 of -0.
      double neutral = name == "mul" ? 1 : isFloating ? -0.0 : 0;
      return isNumber(in[1], neutral) ? in[0] : isNumber(in[0], neutral) ? in[1] : nullptr;
    }
    const bool isByOne = !isFloating && in.size() == 2 && isNumber(in[1], 1);
    if (isByOne && (name == "fmod" || name == "remainder")) {
      return program.nodes.integer(0, parts.dtype);
    }
    bool isNeutral = (isByOne && name == "floor_divide") || (name == "div" && isNumber(in[1], 1)) ||
                     (name == "sub" && isNumber(in[1], 0));
    return isNeutral ? in[0] : nullptr;
  }

  /// An index or a number beside one, as a sum of iterators.
  static std::optional<Affine> asIndex(const Node *node) {
    return node->kind == NodeKind::Index   ? std::optional(node->indices[0])
           : node->kind == NodeKind::Const ? std::optional(Affine(node->integer))
                                           : std::nullopt;
  }

  /// Arithmetic of indices is an index again, which kernels compute in the width of indices.
  const Node *ofIndices(const NodeParts &parts) {
    const std::vector<const Node *> &in = parts.inputs;
    if (parts.dtype != DType::I64 || in.size() != 2) {
      return nullptr;
    }
    const std::optional<Affine> a = asIndex(in[0]), b = asIndex(in[1]);
    if (!a || !b) {
      return nullptr;
    }
    if (parts.name == "maximum" || parts.name == "minimum") {
      const bool isMost = parts.name == "maximum";
      return isNonNegative(*a - *b, program.space)   ? in[isMost ? 0 : 1]
             : isNonNegative(*b - *a, program.space) ? in[isMost ? 1 : 0]
                                                     : nullptr;
    }
    const std::optional<Affine> value = combined(parts.name, *a, *b);
    return value && isSmall(*value) ? indexNode(*value) : nullptr;
  }

  std::optional<Affine> combined(const std::string &name, const Affine &a, const Affine &b) const {
    if (name == "add" || name == "sub") {
      return name == "add" ? a + b : a - b;
    }
    if (name == "mul" && (a.isConstant() || b.isConstant())) {
      return b.isConstant() ? a * b.constant() : b * a.constant();
    }
    const bool isRemainder = name == "remainder" || name == "fmod";
    if (name == "fmod" && !isNonNegative(a, program.space)) {
      return std::nullopt; // has the sign of a
    }
    if ((isRemainder || name == "floor_divide") && b.isConstant() &&
        program.space.symbols.isPositive(b.constant())) {
      return isRemainder ? remainder(a, b.constant(), program.space)
                         : floorDivide(a, b.constant(), program.space);
    }
    return std::nullopt;
  }

  /// Integers wrap, as hashes want it; index expressions do not.
  static bool isSmall(const Affine &value) {
    auto isIt = [](const Polynomial &each) {
      const std::optional<int64_t> number = each.constant();
      return !each.hasOverflowed() && (!number || std::abs(*number) < int64_t{1} << 40);
    };
    return isIt(value.constant()) &&
           std::all_of(value.terms().begin(), value.terms().end(),
                       [&](const auto &term) { return isIt(term.second); });
  }

  const Node *truth(bool value) { return program.nodes.integer(value ? 1 : 0, DType::Bool); }
  const Node *indexNode(Affine value) {
    return fold({NodeKind::Index, DType::I64, {}, {std::move(value)}});
  }

  const Node *condition(const NodeParts &parts) {
    const std::vector<const Node *> &in = parts.inputs;
    if (parts.name == "logical_not") {
      std::optional<bool> known = truthOf(in[0]);
      return known ? truth(!*known) : nullptr;
    }
    if (const std::optional<bool> known = ofNumbers(parts)) {
      return truth(*known);
    }
    if (parts.name == "ne" && in[0] == in[1] && isNoNan(in[0])) {
      return truth(false);
    }
    std::optional<Comparison> comparison = comparisonOf(parts);
    if (!comparison) {
      return nullptr;
    }
    if (std::optional<bool> known = truthByBounds(*comparison, program.space)) {
      return truth(*known);
    }
    Affine difference = withoutFactor(*comparison);
    if (difference.isConstant()) {
      return nullptr; // of sizes alone
    }
    // The sides: what varies, its first coefficient positive, and what does not.
    Affine limit = Affine(-difference.constant()), varying = difference + limit;
    const auto &[atom, coefficient] = *varying.terms().begin();
    bool isLess = comparison->name == "lt";
    if (program.space.symbols.isPositive(-coefficient)) {
      varying = varying * -1;
      bool isOrdered = isLess || comparison->name == "ge"; // -v < l is v ≥ 1 - l
      limit = limit * -1 + Affine(isOrdered ? 1 : 0);
      comparison->name = isLess ? "ge" : isOrdered ? "lt" : comparison->name;
    }
    return program.nodes.map(comparison->name, DType::Bool, {indexNode(varying), indexNode(limit)});
  }

  /// Of two numbers that are written down.
  static std::optional<bool> ofNumbers(const NodeParts &parts) {
    if (parts.dtype != DType::Bool || parts.inputs.size() != 2) {
      return std::nullopt;
    }
    const std::optional<double> a = exactly(parts.inputs[0]), b = exactly(parts.inputs[1]);
    const std::optional<double> value = a && b ? evaluateMap(parts, {*a, *b}) : std::nullopt;
    return value ? std::optional(*value != 0) : std::nullopt;
  }

  /// The number in its type, where a double has it.
  static std::optional<double> exactly(const Node *node) {
    constexpr int64_t most = int64_t{1} << 53;
    if (node->kind != NodeKind::Const) {
      return std::nullopt;
    }
    if (node->dtype == DType::F32 || node->dtype == DType::F64) {
      const bool isSingle = node->dtype == DType::F32;
      return isSingle ? static_cast<double>(static_cast<float>(node->real)) : node->real;
    }
    const bool isSmall = node->integer > -most && node->integer < most;
    return !isFloat(node->dtype) && isSmall ? std::optional(static_cast<double>(node->integer))
                                            : std::nullopt;
  }

  /// g·q + r < 0 is q < 0 when r lies in [0, g).
  Affine withoutFactor(const Comparison &comparison) const {
    const Affine &value = comparison.difference;
    bool isOrdered = comparison.name == "lt" || comparison.name == "ge";
    for (const auto &[atom, coefficient] : value.terms()) {
      bool isRising = program.space.symbols.isPositive(coefficient);
      Polynomial factor = isRising ? coefficient : -coefficient;
      if (!isOrdered || factor.isOne() || !program.space.symbols.isPositive(factor)) {
        continue;
      }
      Affine quotient = floorDivide(value, factor, program.space);
      bool isPart =
          std::all_of(quotient.terms().begin(), quotient.terms().end(),
                      [&](const auto &term) { return value.terms().contains(term.first); });
      if (isPart) {
        return quotient;
      }
    }
    return value;
  }

  Program &program;
};

} // namespace

void foldConstants(Program &program) {
  Folder folder(program);
  program.rebuild([&](NodeParts parts) { return folder.fold(std::move(parts)); });
  for (Stage &stage : program.stages) {
    for (Store &store : stage.stores) {
      if (store.guard && truthOf(store.guard) == true) {
        store.guard = nullptr;
      }
    }
  }
}

const Node *folded(Program &program, const Node *value) {
  Folder folder(program);
  std::map<const Node *, const Node *> done;
  return program.nodes.rebuild(
      value, program.space, [&](NodeParts parts) { return folder.fold(std::move(parts)); }, done);
}

} // namespace nereid::generator
