// SPDX-License-Identifier: Apache-2.0
// Tensors of which a part is written: y[:, 0] = v, y[..., 1::2] = v. Nothing is written in a graph:
// the tensor is put together anew of what lies before the part, the part and what lies behind it,
// one dimension inside of the other.
//
//   y[a:b, c] = v        cat(y[:a], cat(y[a:b, :c], v, y[a:b, c + 1:]), y[b:])
#include "lib/definition/operations/Shape.h"
#include "lib/definition/operations/SizeExpression.h"
#include "lib/definition/operations/indices/Movement.h"
#include "lib/definition/reader/moves/BodyMoves.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::definition {

using language::Expr;
using language::ExprKind;

std::optional<int> BodyMoves::withPart(int whole, const Expr &target, int value) {
  const Expr &given = *target.operands[1];
  const std::optional<Brackets> brackets = bracketsOf(whole, given);
  if (!brackets) {
    return std::nullopt;
  }
  std::vector<Part> parts;
  auto walk = [&](const std::vector<const Expr *> &indices, int64_t dim) {
    for (const Expr *index : indices) {
      if (index->kind == ExprKind::None) {
        fail("E0608", index->range, "what is written to expects no new dimension")
            .withHelp("give the value the dimensions of the part: v[:, None] or v.unsqueeze(0)");
        return false;
      }
      const std::optional<Part> part = partOf(whole, dim++, *index);
      if (!part) {
        return false;
      }
      parts.push_back(*part);
    }
    return true;
  };
  if (!walk(brackets->before, -brackets->named) || !walk(brackets->behind, -brackets->last)) {
    return std::nullopt;
  }
  // The value has no dimension for a place: the last ones first, as those before count from the
  // end.
  std::optional<int> element = value;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    const auto rank = static_cast<int64_t>(op.nodes[static_cast<size_t>(*element)].shape.size());
    if (!part->isPlace || rank < -part->dim - 1) {
      continue;
    }
    Node node;
    node.op = "unsqueeze";
    node.inputs = {*element};
    node.attributes["dim"] = part->dim;
    element = append(std::move(node), target.range);
    if (!element) {
      return std::nullopt;
    }
  }
  return put(whole, parts, *element, target);
}

std::optional<int> BodyMoves::put(int table, std::span<const Part> parts, int value,
                                  const Expr &target) {
  const SymbolicShape shape = op.nodes[static_cast<size_t>(table)].shape;
  if (parts.empty()) {
    const SymbolicShape given = op.nodes[static_cast<size_t>(value)].shape;
    if (given == shape) {
      return value;
    }
    if (broadcast(given, shape) != shape) {
      fail("E0604", target.range,
           fmt::format("a part of {} is written, but the value has {}", text(shape), text(given)))
          .withHelp("the value has the part's shape, or is broadcast to it");
      return std::nullopt;
    }
    Call call;
    call.function = "[…] =";
    call.whole = &target;
    return body.writtenOut(call, "out = torch.where(torch.full((1,), True), value, part)",
                           {{"value", value}, {"part", table}});
  }
  const Part &part = parts.front();
  const SizePolynomial size = sizeOf(table, part.dim);
  const std::optional<int> inside =
      narrowed(table, part.dim, part.start, part.length, part.step, target.range);
  std::optional<int> made = inside ? put(*inside, parts.subspan(1), value, target) : std::nullopt;
  made = made && part.step > 1 ? spaced(table, part, *made, target) : made;
  std::vector<int> pieces;
  auto add = [&](const SizePolynomial &start, const SizePolynomial &length) {
    if (length == SizePolynomial(0)) {
      return true;
    }
    const std::optional<int> piece = narrowed(table, part.dim, start, length, 1, target.range);
    pieces.push_back(piece.value_or(0));
    return piece.has_value();
  };
  if (!made || !add(0, part.start)) {
    return std::nullopt;
  }
  pieces.push_back(*made);
  return add(part.end, size - part.end) ? joined(pieces, part.dim, target.range) : std::nullopt;
}

/// Each `step`th element of the part is the value's next one, those between stay.
std::optional<int> BodyMoves::spaced(int table, const Part &part, int value, const Expr &target) {
  const SizePolynomial span = part.end - part.start;
  const std::optional<int> each = repeatedAlong(value, part.dim, part.step, true, target.range);
  const std::optional<int> wide =
      each ? narrowed(*each, part.dim, 0, span, 1, target.range) : std::nullopt;
  const std::optional<int> stay =
      wide ? narrowed(table, part.dim, part.start, span, 1, target.range) : std::nullopt;
  if (!stay) {
    return std::nullopt;
  }
  Node node;
  node.op = "_positions";
  node.inputs = {table};
  setSize(node, "length", span);
  std::optional<int> places = append(std::move(node), target.range);
  for (int64_t dim = -1; places && dim > part.dim; --dim) {
    Node last;
    last.op = "unsqueeze";
    last.inputs = {*places};
    last.attributes["dim"] = int64_t{-1};
    places = append(std::move(last), target.range);
  }
  Call call;
  call.function = "[…] =";
  call.whole = &target;
  return places ? body.writtenOut(
                      call, fmt::format("out = torch.where(at % {} == 0, wide, stay)", part.step),
                      {{"at", *places}, {"wide", *wide}, {"stay", *stay}})
                : std::nullopt;
}

} // namespace nereid::definition
