// SPDX-License-Identifier: Apache-2.0
// Counts in parts, see SplitCounts.h.
#include "lib/generator/fuse/split/SplitCounts.h"

#include "lib/generator/fuse/split/Parts.h"
#include "lib/generator/index/NodeQueries.h"

#include <algorithm>

namespace nereid::generator {
namespace {

/// Where a store adds one: the place, and under which condition; null: always.
struct Addition {
  const Node *place = nullptr, *condition = nullptr;
};

std::optional<Addition> additionOf(const Program &program, const Store &store) {
  const Buffer &buffer = program.buffers[store.buffer];
  if (store.monoid != "sum" || buffer.base || store.index.size() != 1) {
    return std::nullopt;
  }
  const Affine &index = store.index[0];
  const bool isPlace = index.terms().size() == 1 && index.constant() == Polynomial(0) &&
                       index.terms().begin()->second.isOne() &&
                       index.terms().begin()->first.kind == Atom::Kind::Data;
  const Node *value = store.value;
  while (isMap(*value, "cast") && value->dtype != DType::Bool) {
    value = value->inputs[0];
  }
  Addition made{isPlace ? index.terms().begin()->first.node : nullptr, store.guard};
  if (value->dtype == DType::Bool && !store.guard) {
    made.condition = value;
    return isPlace ? std::optional(made) : std::nullopt;
  }
  if (isMap(*value, "where") && isNumber(*value->inputs[2], 0) && !store.guard) {
    made.condition = value->inputs[0];
    value = value->inputs[1];
  }
  return isPlace && isNumber(*value, 1) ? std::optional(made) : std::nullopt;
}

} // namespace

std::optional<Split> splitCounts(Program &program, const std::vector<Store> &stores,
                                 int64_t parts) {
  const std::optional<Addition> addition =
      stores.size() == 1 ? additionOf(program, stores[0]) : std::nullopt;
  const std::set<IteratorId> iterators =
      addition ? program.iteratorsOf(stores[0]) : std::set<IteratorId>();
  if (iterators.size() != 1) {
    return std::nullopt;
  }
  const IteratorId line = *iterators.begin();
  const Polynomial extent = program.space.iterators[line].extent;
  const Polynomial length = lengthOfPart(program, extent, parts, true);
  const Store &store = stores[0];
  const Polynomial bins = program.buffers[store.buffer].sizes[0];
  const IteratorId part = program.space.iterators.add(parts, "part");
  const IteratorId within = program.space.iterators.add(length, "within");
  const IteratorId bin = program.space.iterators.add(bins, "bin");

  const Affine at = Affine::iterator(part) * length + Affine::iterator(within);
  auto moved = [&](const Node *node) {
    return program.nodes.substitute(node, {{line, at}}, program.space);
  };
  auto both = [&](const Node *a, const Node *b) {
    return program.nodes.map("logical_and", DType::Bool, {a, b});
  };
  const Node *counts = isBelow(program, at, extent);
  counts = addition->condition ? both(counts, moved(addition->condition)) : counts;
  counts =
      both(counts,
           program.nodes.map("eq", DType::Bool,
                             {moved(addition->place), program.nodes.index(Affine::iterator(bin))}));
  const Node *one = program.nodes.map(
      "where", DType::I32,
      {counts, program.nodes.integer(1, DType::I32), program.nodes.integer(0, DType::I32)});
  Split made;
  const NodeParts ref = partMemory(program, made, DType::I32, {part, bin});
  made.stages.push_back({{ref.buffer, ref.indices,
                          program.nodes.reduce("sum", DType::I32, {within}, {one}), "", nullptr}});

  // A part has fewer values than 32 bits count; all of them together may have more.
  const Node *all =
      program.nodes.reduce("sum", DType::I64, {part},
                           {program.nodes.map("cast", DType::I64, {program.nodes.make(ref)})});
  const bool isTemporary = program.buffers[store.buffer].role == BufferRole::Temporary;
  NodeParts before{isTemporary ? NodeKind::Ref : NodeKind::Load, store.value->dtype};
  before.buffer = store.buffer;
  before.indices = {Affine::iterator(bin)};
  const Node *sum = program.nodes.map(
      "add", store.value->dtype,
      {program.nodes.make(before), program.nodes.map("cast", store.value->dtype, {all})});
  made.stages.push_back({{store.buffer, before.indices, sum, "", nullptr}});
  return made;
}

std::optional<Count> countOf(const std::vector<Store> &stores) {
  const Node *sum = stores[0].value;
  if (stores.size() != 1 || sum->kind != NodeKind::Reduce || sum->name != "sum" ||
      sum->dtype != DType::I32 || sum->iterators.size() != 1 ||
      sum->inputs[0]->kind != NodeKind::Map || sum->inputs[0]->name != "where" ||
      !isNumber(*sum->inputs[0]->inputs[1], 1) || !isNumber(*sum->inputs[0]->inputs[2], 0)) {
    return std::nullopt;
  }
  Count made{sum, nullptr, {}, 0, sum->iterators[0]};
  Conditions all;
  addConditions(sum->inputs[0]->inputs[0], true, all);
  for (const Condition &each : all) {
    const bool isEqual =
        each.holds && isMap(*each.node, "eq") && each.node->inputs[1]->kind == NodeKind::Index;
    const std::optional<IteratorId> bin =
        isEqual ? each.node->inputs[1]->indices[0].asIterator() : std::nullopt;
    if (!made.place && bin && sum->free.contains(*bin)) {
      made.place = each.node->inputs[0];
      made.bin = *bin;
    } else {
      made.conditions.push_back(each);
    }
  }
  const bool isFree =
      made.place && !made.place->free.contains(made.bin) &&
      std::none_of(made.conditions.begin(), made.conditions.end(),
                   [&](const Condition &each) { return each.node->free.contains(made.bin); });
  return isFree ? std::optional(made) : std::nullopt;
}

} // namespace nereid::generator
