// SPDX-License-Identifier: Apache-2.0
// Sums by walks, see SplitWalk.h.
#include "lib/generator/fuse/split/SplitWalk.h"

#include "lib/generator/emit/AccessMask.h"
#include "lib/generator/fuse/split/Parts.h"
#include "lib/generator/index/NodeQueries.h"
#include "lib/generator/program/Replace.h"
#include "lib/generator/template/access/Contiguity.h"

#include <algorithm>

namespace nereid::generator {
namespace {

/// The sum, taken apart.
struct Meeting {
  const Node *sum = nullptr, *value = nullptr;
  std::vector<std::pair<IteratorId, const Node *>> places; ///< of the result, and what leads there
  std::vector<const Node *> conditions;
};

std::optional<Meeting> meetingOf(const std::vector<Store> &stores) {
  Meeting made;
  for (const Node *node : reachable(rootsOf(stores))) {
    if (node->kind == NodeKind::Reduce) {
      const bool isIt = !made.sum && node->name == "sum" && node->iterators.size() == 1 &&
                        isMap(*node->inputs[0], "where") &&
                        isNumber(*node->inputs[0]->inputs[2], 0);
      if (!isIt) {
        return std::nullopt;
      }
      made.sum = node;
    }
  }
  if (!made.sum) {
    return std::nullopt;
  }
  made.value = made.sum->inputs[0]->inputs[1];
  Conditions all;
  addConditions(made.sum->inputs[0]->inputs[0], true, all);
  std::set<IteratorId> used = made.value->free;
  for (const Condition &each : all) {
    const Node *node = each.node;
    const bool isEqual =
        each.holds && isMap(*node, "eq") && node->inputs[1]->kind == NodeKind::Index;
    const std::optional<IteratorId> place =
        isEqual ? node->inputs[1]->indices[0].asIterator() : std::nullopt;
    if (!each.holds) {
      return std::nullopt;
    }
    if (place && made.sum->free.contains(*place)) {
      made.places.emplace_back(*place, node->inputs[0]);
      used.insert(node->inputs[0]->free.begin(), node->inputs[0]->free.end());
    } else {
      made.conditions.push_back(node);
      used.insert(node->free.begin(), node->free.end());
    }
  }
  const bool areFree = std::none_of(made.places.begin(), made.places.end(),
                                    [&](const auto &place) { return used.contains(place.first); });
  return !made.places.empty() && areFree ? std::optional(made) : std::nullopt;
}

class WalkSplitter {
public:
  WalkSplitter(Program &program, const std::vector<Store> &stores, const Meeting &meeting)
      : program(program), stores(stores), meeting(meeting), line(meeting.sum->iterators[0]) {
    for (IteratorId iterator : orderOf(program, stores)) {
      if (meeting.sum->free.contains(iterator)) {
        order.push_back(iterator);
        (placeAt(iterator) ? made.places : made.shared).push_back(iterator);
      }
    }
    made.along = {line};
  }

  std::optional<Walk> run(const std::function<Polynomial(const Walk &)> &partsOf) {
    if (made.shared.empty() || order.size() != meeting.sum->free.size()) {
      return std::nullopt;
    }
    const DType type = meeting.sum->dtype;
    const Polynomial parts = partsOf(made);
    WalkOrder walk;
    walk.part = program.space.iterators.add(parts, "part");
    walk.turn = program.space.iterators.add(turnsOfPart(parts), "turn");
    walk.cleared = made.places;
    std::vector<IteratorId> iterators = {walk.part};
    iterators.insert(iterators.end(), order.begin(), order.end());
    const NodeParts met = partMemory(program, made.split, type, iterators);
    const Node *zero = isFloat(type) ? program.nodes.real(0, type) : program.nodes.integer(0, type);
    walk.clearing = {{met.buffer, met.indices, zero, "", nullptr}};
    made.split.stages.push_back(additions(met, walk));
    made.split.stages.push_back(
        joined(program.nodes.reduce("sum", type, {walk.part}, {program.nodes.make(met)})));
    made.split.walk = std::move(walk);
    return std::move(made);
  }

private:
  const Node *placeAt(IteratorId iterator) const {
    for (const auto &[place, node] : meeting.places) {
      if (place == iterator) {
        return node;
      }
    }
    return nullptr;
  }

  Polynomial turnsOfPart(const Polynomial &parts) {
    Symbols &symbols = program.space.symbols;
    const Polynomial extent = program.space.iterators[line].extent;
    const Polynomial turns = symbols.addQuotient(extent + (valuesOfTurn - 1), valuesOfTurn);
    return symbols.addQuotient(turns + parts - 1, parts);
  }

  std::vector<Store> additions(const NodeParts &met, const WalkOrder &walk) {
    const Polynomial extent = program.space.iterators[line].extent;
    const Polynomial valuesOfPart = program.space.iterators[walk.turn].extent * valuesOfTurn;
    std::vector<Store> result;
    for (int64_t i = 0; i < valuesOfTurn; ++i) {
      const Affine at = Affine::iterator(walk.part) * valuesOfPart +
                        Affine::iterator(walk.turn) * valuesOfTurn + i;
      auto moved = [&](const Node *node) {
        return program.nodes.substitute(node, {{line, at}}, program.space);
      };
      const Node *guard = isBelow(program, at, extent);
      auto add = [&](const Node *condition) {
        guard = program.nodes.map("logical_and", DType::Bool, {guard, condition});
      };
      for (const Node *condition : meeting.conditions) {
        add(moved(condition));
      }
      Store store{met.buffer, met.indices, moved(meeting.value), "sum", nullptr};
      for (size_t dim = 0; dim < order.size(); ++dim) {
        if (const Node *place = placeAt(order[dim])) {
          const Polynomial size = program.space.iterators[order[dim]].extent;
          const Node *own = moved(place);
          add(program.nodes.map("ge", DType::Bool, {own, program.nodes.integer(0, own->dtype)}));
          add(program.nodes.map("lt", DType::Bool, {own, program.nodes.index(Affine(size))}));
          store.index[dim + 1] = Affine::data(own, size); // behind the part
        }
      }
      store.guard = guard;
      result.push_back(std::move(store));
    }
    return result;
  }

  std::vector<Store> joined(const Node *met) {
    program.nodes.passWord(meeting.sum, met);
    std::vector<Store> last = stores;
    replaceIn(last, program, {{meeting.sum, met}});
    return last;
  }

  Program &program;
  const std::vector<Store> &stores;
  const Meeting &meeting;
  const IteratorId line;
  std::vector<IteratorId> order;
  Walk made;
};

} // namespace

std::optional<Walk> splitWalk(Program &program, const std::vector<Store> &stores,
                              const std::function<Polynomial(const Walk &)> &parts) {
  const std::optional<Meeting> meeting = meetingOf(stores);
  return meeting ? WalkSplitter(program, stores, *meeting).run(parts) : std::nullopt;
}

} // namespace nereid::generator
