// SPDX-License-Identifier: Apache-2.0
// What stages of parts have in common, see Parts.h.
#include "lib/generator/fuse/split/Parts.h"

#include "lib/definition/operations/Promotion.h"
#include "lib/generator/index/NodeQueries.h"
#include "lib/generator/program/Names.h"

#include <fmt/format.h>

#include <cmath>

namespace nereid::generator {
namespace {

constexpr int64_t partAlignment = 16;

/// Whether the number is one of `from`, and becomes the same in `type`.
bool hasNumber(DType from, DType type, double number) {
  const bool areLong = isFloat(from) && isFloat(type) && !isFloat8(from);
  return areLong || (number == 0 && from != DType::Bool);
}

} // namespace

Polynomial lengthOfPart(Program &program, const Polynomial &extent, int64_t parts, bool isAligned) {
  const int64_t unit = isAligned ? partAlignment : 1;
  return program.space.symbols.addQuotient(extent + (parts * unit - 1), parts * unit) * unit;
}

const Node *isBelow(Program &program, const Affine &place, const Polynomial &extent) {
  return program.nodes.map("lt", DType::Bool,
                           {program.nodes.index(place), program.nodes.index(Affine(extent))});
}

const Node *selectedInside(Program &program, const Node *inside, const Node *value, double other) {
  const DType type = value->dtype;
  const bool isCast = isMap(*value, "cast");
  if (isCast && hasNumber(value->inputs[0]->dtype, type, other)) {
    return program.nodes.map("cast", type,
                             {selectedInside(program, inside, value->inputs[0], other)});
  }
  const Node *number =
      isFloat(type)
          ? program.nodes.real(other, type)
          : program.nodes.integer(!std::isinf(other) ? static_cast<int64_t>(other)
                                  : other < 0
                                      ? definition::lowestInteger(type)
                                      : static_cast<int64_t>(definition::highestInteger(type)),
                                  type);
  return program.nodes.map("where", type, {inside, value, number});
}

NodeParts partMemory(Program &program, Split &made, DType dtype,
                     const std::vector<IteratorId> &iterators) {
  std::string name = fmt::format("part_{}", made.workspaces.size() + 1);
  for (int count = 2; program.find(name); ++count) {
    name = fmt::format("part_{}_{}", made.workspaces.size() + 1, count);
  }
  NodeParts ref = temporaryOver(program, std::move(name), dtype, iterators);
  made.workspaces.push_back(ref.buffer);
  return ref;
}

} // namespace nereid::generator
