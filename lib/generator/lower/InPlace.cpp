// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/lower/InPlace.h"

#include "lib/generator/index/NodeQueries.h"
#include "lib/generator/program/Names.h"

#include <algorithm>

namespace nereid::generator {
namespace {

class Placing {
public:
  Placing(Program &program, BufferId input, BufferId output)
      : program(program), input(input), output(output) {}

  void run() {
    dropCopy();
    if (isReadElsewhere()) {
      readBefore();
    }
    for (Stage &stage : program.stages) {
      for (Store &store : stage.stores) {
        store.buffer = store.buffer == output ? input : store.buffer;
      }
    }
    readAt(output, NodeKind::Load, input);
    program.buffers[input].role = BufferRole::InOut;
  }

private:
  bool storesTo(const Stage &stage) const {
    return std::any_of(stage.stores.begin(), stage.stores.end(),
                       [&](const Store &store) { return store.buffer == output; });
  }

  size_t firstStore() const {
    const auto found = std::find_if(program.stages.begin(), program.stages.end(),
                                    [&](const Stage &stage) { return storesTo(stage); });
    return static_cast<size_t>(found - program.stages.begin());
  }

  /// The element that is stored, where the store rounds to what it was converted from.
  static const Node *withoutConversions(const Node *value) {
    while (isMap(*value, "cast") && isFloat(value->dtype)) {
      value = value->inputs.front();
    }
    return value;
  }

  bool isCopy(const Store &store) const {
    const Node *value = withoutConversions(store.value);
    return store.buffer == output && store.monoid.empty() && store.guard == nullptr &&
           value->kind == NodeKind::Load && value->buffer == input && value->indices == store.index;
  }

  /// The first stage that writes the output, where it copies the input.
  void dropCopy() {
    const size_t first = firstStore();
    if (first == program.stages.size() || program.stages.size() == 1) {
      return;
    }
    std::vector<Store> &stores = program.stages[first].stores;
    std::erase_if(stores, [&](const Store &store) { return isCopy(store); });
    if (stores.empty()) {
      program.stages.erase(program.stages.begin() + static_cast<long>(first));
    }
  }

  /// All stores of the stage are of one element of each point, the same for all of them: whoever
  /// stores it is the only one that reads it. Indices from memory may lead there from several.
  bool isOfOnePoint(const Stage &stage) const {
    const Store &own = *std::find_if(stage.stores.begin(), stage.stores.end(),
                                     [&](const Store &store) { return store.buffer == output; });
    std::set<IteratorId> place;
    bool isScatter = false;
    for (const Affine &index : own.index) {
      index.collect(place);
      index.forEachAtom([&](const Atom &atom) { isScatter |= atom.kind == Atom::Kind::Data; });
    }
    return !isScatter &&
           std::all_of(stage.stores.begin(), stage.stores.end(), [&](const Store &store) {
             return program.iteratorsOf(store) == place && store.monoid.empty() &&
                    (store.buffer != output || store.index == own.index);
           });
  }

  bool isReadElsewhere() const {
    for (size_t i = firstStore(); i < program.stages.size(); ++i) {
      const Stage &stage = program.stages[i];
      const bool isSafe = i == firstStore() && isOfOnePoint(stage);
      for (const Node *node : program.values(stage)) {
        const bool isRead = node->kind == NodeKind::Load && program.baseOf(node->buffer) == input;
        const bool isOwn = isRead && isSafe && node->buffer == input &&
                           node->indices == stage.stores.front().index;
        if (isRead && !isOwn) {
          return true;
        }
      }
    }
    return false;
  }

  void readAt(BufferId from, NodeKind kind, BufferId to) {
    program.rebuild([&](NodeParts parts) {
      if (parts.kind == NodeKind::Load && parts.buffer == from) {
        parts.kind = kind;
        parts.buffer = to;
      }
      return program.nodes.make(std::move(parts));
    });
  }

  void readBefore() {
    Buffer before = program.buffers[input];
    before.name = freeName(program, before.name + "_before");
    before.role = BufferRole::Temporary;
    std::vector<Affine> point;
    for (const Polynomial &size : before.sizes) {
      point.push_back(Affine::iterator(program.space.iterators.add(size, "i")));
    }
    const DType dtype = before.dtype;
    const BufferId copy = program.add(std::move(before));
    readAt(input, NodeKind::Ref, copy);
    const Node *element = program.nodes.load(input, dtype, point);
    program.stages.insert(program.stages.begin(),
                          {"before", {{copy, point, element, "", nullptr}}});
  }

  Program &program;
  const BufferId input, output;
};

} // namespace

void writeInPlace(Program &program, const definition::Operator &op) {
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    if (const int parameter = definition::memoryOf(op, i); parameter >= 0) {
      const auto &input = op.parameters[static_cast<size_t>(parameter)].name;
      Placing(program, *program.find(input), *program.find(op.outputNames[i])).run();
    }
  }
}

} // namespace nereid::generator
