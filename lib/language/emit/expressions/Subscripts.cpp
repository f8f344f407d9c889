// SPDX-License-Identifier: Apache-2.0
#include "lib/language/emit/expressions/Subscripts.h"

#include "lib/language/emit/expressions/Expressions.h"

namespace nereid::language::emit {

/// `:`, also written with None for its ends.
static bool isFullSlice(const Expr &index) {
  return index.kind == ExprKind::Slice && llvm::all_of(index.operands, [](const ExprPtr &end) {
           return !end || end->kind == ExprKind::None;
         });
}

Value Subscripts::ofTile(const Value &base, const Expr &index) {
  std::vector<const Expr *> parts;
  if (index.kind == ExprKind::Tuple) {
    for (const ExprPtr &operand : index.operands) {
      parts.push_back(operand.get());
    }
  } else {
    parts.push_back(&index);
  }
  Value result = base;
  int64_t rank = static_cast<int64_t>(base.tileType.shape.size());
  int64_t axis = 0, used = 0;
  for (const Expr *part : parts) {
    At at(emitter.position, part->range);
    if (part->kind == ExprKind::Ellipsis) {
      axis += rank - used;
      used = rank;
      continue;
    }
    if (isFullSlice(*part)) {
      if (!base.isBlock()) {
        continue; // upstream counts a scalar's dimensions as they come: s[:, None] has one
      }
      if (++used > rank) {
        return emitter.report.fail("E0218", "too many indices for " + describe(base));
      }
      ++axis;
      continue;
    }
    Value value = expressions.evaluate(*part);
    if (value.isPoison()) {
      return value;
    }
    if (!value.isNone()) {
      return emitter.report.fail(
          "E0218", "a tile is indexed with ':' and None only, but got " + describe(value),
          "load the element you need, or reduce over the dimension");
    }
    // a scalar becomes a tile of one element first
    result = emitter.tiles.expandDim(result, result.isBlock() ? axis : 0);
    ++axis;
  }
  return result;
}

std::optional<int64_t> Subscripts::sliceBound(const Expr *expr, int64_t fallback, int64_t count) {
  if (!expr) {
    return fallback;
  }
  std::optional<int64_t> bound =
      emitter.constants.integer(expressions.evaluate(*expr), "a slice of a tuple");
  if (!bound) {
    return std::nullopt;
  }
  int64_t at = *bound < 0 ? *bound + count : *bound;
  return std::max<int64_t>(0, std::min(at, count));
}

Value Subscripts::ofTuple(const Value &base, const Expr &index) {
  auto count = static_cast<int64_t>(base.elements.size());
  if (index.kind == ExprKind::Slice) {
    if (index.operands.size() > 2 && index.operands[2]) {
      return emitter.report.fail("E0218", "a slice with a step is not supported in a kernel");
    }
    std::optional<int64_t> from = sliceBound(index.operands[0].get(), 0, count);
    std::optional<int64_t> to = sliceBound(index.operands[1].get(), count, count);
    if (!from || !to) {
      return Value::poison();
    }
    std::vector<Value> elements;
    for (int64_t i = *from; i < *to; ++i) {
      elements.push_back(base.elements[static_cast<size_t>(i)]);
    }
    return Value::tuple(std::move(elements));
  }
  std::optional<int64_t> at =
      emitter.constants.integer(expressions.evaluate(index), "a tuple's index");
  if (!at) {
    return Value::poison();
  }
  if (*at < -count || *at >= count) {
    return emitter.report.fail("E0218", "index " + std::to_string(*at) + " is outside a tuple of " +
                                            std::to_string(count));
  }
  return base.elements[static_cast<size_t>(*at < 0 ? *at + count : *at)];
}

Value Subscripts::subscript(const Value &base, const Expr &index) {
  if (base.isPoison()) {
    return base;
  }
  if (base.isTuple()) {
    return ofTuple(base, index);
  }
  if (base.isTile() || base.isNumber()) {
    Value source = emitter.tiles.toTile(base);
    return source.isPoison() ? source : ofTile(source, index);
  }
  return emitter.report.fail(
      "E0218", describe(base) + " cannot be indexed",
      base.kind == Value::Kind::Function ? "a kernel cannot launch another kernel" : "");
}

} // namespace nereid::language::emit
