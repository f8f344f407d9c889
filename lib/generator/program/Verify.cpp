// SPDX-License-Identifier: Apache-2.0
// The laws of programs, see Verify.h.
#include "lib/generator/program/Verify.h"

#include "lib/generator/index/NodeQueries.h"
#include "lib/generator/program/Guards.h"
#include "lib/generator/program/Injective.h"
#include "lib/generator/program/Monoids.h"
#include "lib/generator/program/Types.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {
namespace {

/// Thrown inside of this file alone.
struct Breach {
  std::string law, message;
};

[[noreturn]] void breach(const char *law, std::string message) {
  throw Breach{law, std::move(message)};
}

class Verifier {
public:
  explicit Verifier(const Program &program) : program(program), symbols(program.space.symbols) {}

  void run() {
    for (const Buffer &buffer : program.buffers) {
      checkBuffer(buffer);
    }
    for (const Stage &stage : program.stages) {
      checkStage(stage);
    }
    for (const Alias &alias : program.aliases) {
      if (program.buffers[alias.buffer].dtype != program.buffers[alias.of].dtype) {
        breach("L6", fmt::format("'{}' is a view of '{}', but their types differ",
                                 nameOf(alias.buffer), nameOf(alias.of)));
      }
    }
  }

private:
  const std::string &nameOf(BufferId id) const { return program.buffers[id].name; }
  std::string text(const Affine &value) const { return print(value, program); }

  // ---- buffers ----

  /// The largest offset of an element, and 1: what the buffer needs, in elements.
  static Polynomial elements(const Buffer &buffer) {
    Polynomial last = buffer.offset;
    for (size_t dim = 0; dim < buffer.sizes.size(); ++dim) {
      last = last + (buffer.sizes[dim] - 1) * buffer.strides[dim];
    }
    return last + 1;
  }

  void checkBuffer(const Buffer &buffer) const {
    if (buffer.sizes.size() != buffer.strides.size()) { // L2b
      breach("L2b", fmt::format("'{}' has {} sizes, but {} strides", buffer.name,
                                buffer.sizes.size(), buffer.strides.size()));
    }
    Polynomial count = elements(buffer);
    bool isLarge = (count * static_cast<int64_t>(sizeInBytes(buffer.dtype))).hasOverflowed();
    if (isLarge) { // L9
      breach("L9", fmt::format("'{}' has more bytes than 63 bits can count", buffer.name));
    }
    for (const Polynomial &size : buffer.sizes) {
      if (!symbols.isNonNegative(size)) { // L8
        breach("L8",
               fmt::format("size {} of '{}' may be negative", symbols.text(size), buffer.name));
      }
    }
    if (buffer.base) {
      const Buffer &base = program.buffers[*buffer.base];
      bool isInside = symbols.isNonNegative(buffer.offset) &&
                      symbols.isAtMost(count, elements(base)) && buffer.dtype == base.dtype;
      if (!isInside || base.base) { // L2b
        breach("L2b", fmt::format("view '{}' reaches {} elements, but '{}' has {}", buffer.name,
                                  symbols.text(count), base.name, symbols.text(elements(base))));
      }
    }
  }

  // ---- stages ----

  void checkStage(const Stage &stage) {
    std::vector<const Node *> values = program.values(stage);
    for (const Node *node : values) {
      checkNode(*node);
    }
    for (const Store &store : stage.stores) {
      checkStore(store);
    }
    for (size_t i = 0; i < stage.stores.size(); ++i) {
      for (size_t j = i + 1; j < stage.stores.size(); ++j) {
        checkPair(stage.stores[i], stage.stores[j]);
      }
    }
    for (const Node *node : values) {
      if (isAccess(*node)) {
        checkOrder(*node, stage);
      }
    }
    for (const Store &store : stage.stores) {
      written.insert(program.baseOf(store.buffer));
    }
  }

  void checkStore(const Store &store) {
    const Buffer &buffer = program.buffers[store.buffer];
    checkRank(buffer, store.index);
    if (buffer.role == BufferRole::Input) { // L5c
      breach("L5c", fmt::format("'{}' is an input, but is written", buffer.name));
    }
    std::set<IteratorId> own;
    for (const Affine &index : store.index) {
      index.collect(own);
      checkDivisions(index);
    }
    std::set<IteratorId> all = program.iteratorsOf(store);
    if (store.monoid.empty() && own != all) { // L1a
      std::set<IteratorId> others;
      std::set_difference(all.begin(), all.end(), own.begin(), own.end(),
                          std::inserter(others, others.begin()));
      breach("L1a", fmt::format("the value of '{}' depends on '{}', which its index lacks",
                                buffer.name, program.space.iterators[*others.begin()].name));
    }
    checkTypes(store, buffer);
    checkSingleWrite(store, buffer, all);
    Guards guards(program.space);
    if (store.guard) {
      walk(store.guard, guards);
      guards.add(store.guard, true);
    }
    checkInside(buffer, store.index, guards);
    walk(store.value, guards);
  }

  static void checkTypes(const Store &store, const Buffer &buffer) {
    auto category = [](DType type) { return isFloat(type) ? 2 : type == DType::Bool ? 0 : 1; };
    if (category(store.value->dtype) > category(buffer.dtype)) { // L6
      breach("L6",
             fmt::format("a value of {} is stored to '{}', which is {}",
                         kernelName(store.value->dtype), buffer.name, kernelName(buffer.dtype)));
    }
    if (store.guard && store.guard->dtype != DType::Bool) { // L6
      breach("L6", fmt::format("the guard of '{}' expects bool, but is {}", buffer.name,
                               kernelName(store.guard->dtype)));
    }
  }

  void checkSingleWrite(const Store &store, const Buffer &buffer,
                        const std::set<IteratorId> &iterators) const {
    if (!store.monoid.empty()) {
      const Monoid *monoid = findMonoid(store.monoid);
      if (!monoid || !monoid->isCommutative || !monoid->canAccumulate) { // L4c
        breach("L4c",
               fmt::format("'{}' cannot accumulate '{}' in memory", buffer.name, store.monoid));
      }
      return;
    }
    bool isScatter = false;
    for (const Affine &index : store.index) {
      index.forEachAtom([&](const Atom &atom) { isScatter |= atom.kind == Atom::Kind::Data; });
    }
    if (!isScatter && !isInjective(store.index, iterators, program.space)) { // L4a
      breach("L4a", fmt::format("two points may write one element of '{}'; write with scatter or "
                                "a reduction",
                                buffer.name));
    }
  }

  void checkPair(const Store &a, const Store &b) const {
    if (program.baseOf(a.buffer) != program.baseOf(b.buffer)) {
      return;
    }
    if (!a.monoid.empty() && a.monoid == b.monoid) {
      return;
    }
    bool isApart = a.buffer == b.buffer && a.monoid.empty() && b.monoid.empty() &&
                   (isBelow(a, b) || isBelow(b, a));
    if (!isApart) { // L4b
      breach("L4b",
             fmt::format("two stores of a stage may write one element of '{}'", nameOf(a.buffer)));
    }
  }
  /// In some dimension all of a's indices are smaller than all of b's.
  bool isBelow(const Store &a, const Store &b) const {
    Guards guards(program.space), others(program.space);
    if (a.guard) {
      guards.add(a.guard, true);
    }
    if (b.guard) {
      others.add(b.guard, true);
    }
    for (size_t dim = 0; dim < a.index.size(); ++dim) {
      for (const Polynomial &end : guards.upperEnds(a.index[dim])) {
        for (const Polynomial &negative : others.upperEnds(b.index[dim] * -1)) {
          if (symbols.isPositive(-negative - end)) {
            return true;
          }
        }
      }
    }
    return false;
  }

  void checkOrder(const Node &access, const Stage &stage) const {
    BufferId base = program.baseOf(access.buffer);
    BufferRole role = program.buffers[base].role;
    bool isMade = role == BufferRole::Output || role == BufferRole::Temporary;
    bool isOwn = false;
    for (const Store &store : stage.stores) {
      if (program.baseOf(store.buffer) == base) {
        isOwn = true;
        if (store.buffer != access.buffer || store.index != access.indices) { // L5a
          breach("L5a", fmt::format("a stage reads '{}' elsewhere than where it stores to it",
                                    nameOf(base)));
        }
      }
    }
    if (isMade && !written.contains(base)) { // L5b
      breach("L5b", fmt::format("'{}' is read{} before it has been written", nameOf(base),
                                isOwn ? " by the stage that stores to it" : ""));
    }
    if (access.kind == NodeKind::Ref && role != BufferRole::Temporary) { // L5b
      breach("L5b", fmt::format("'{}' is no temporary, but is read as another stage's value",
                                nameOf(base)));
    }
  }

  // ---- nodes ----

  void checkRank(const Buffer &buffer, const std::vector<Affine> &index) const {
    if (buffer.sizes.size() != index.size()) { // L2a
      breach("L2a", fmt::format("'{}' has {} dimensions, but got {} indices", buffer.name,
                                buffer.sizes.size(), index.size()));
    }
  }

  void checkNode(const Node &node) const {
    for (const Affine &index : node.indices) {
      checkDivisions(index);
    }
    checkBinding(node);
    size_t positions = node.indices.size();
    bool isOfOrder = node.kind == NodeKind::Pick && node.inputs[0]->kind == NodeKind::Order;
    bool hasPosition = isOfOrder || node.kind == NodeKind::Scan || node.kind == NodeKind::Random ||
                       node.kind == NodeKind::Index;
    if (!isAccess(node) && positions != (hasPosition ? 1 : 0)) { // L1c
      breach("L1c", fmt::format("a node expects {} position, but has {}",
                                hasPosition ? "one" : "no", positions));
    }
    switch (node.kind) {
    case NodeKind::Load:
    case NodeKind::Ref:
      checkRank(program.buffers[node.buffer], node.indices);
      if (node.dtype != program.buffers[node.buffer].dtype) { // L6
        breach("L6",
               fmt::format("'{}' is {}, but is read as {}", nameOf(node.buffer),
                           kernelName(program.buffers[node.buffer].dtype), kernelName(node.dtype)));
      }
      break;
    case NodeKind::Map:
      checkMap(node);
      break;
    case NodeKind::Reduce:
    case NodeKind::Scan:
      checkMonoid(node);
      break;
    case NodeKind::Order:
      expectType(node, node.inputs[0]->dtype);
      break;
    case NodeKind::Pick:
      checkPick(node);
      break;
    case NodeKind::Index:
      expectType(node, DType::I64);
      break;
    case NodeKind::Random:
      expectType(node, DType::U32);
      break;
    case NodeKind::Const:
    case NodeKind::Param:
      break;
    }
  }

  static void expectType(const Node &node, DType type) {
    if (node.dtype != type) { // L6
      breach("L6", fmt::format("{} is {}, but its operands make {}",
                               node.name.empty() ? "a node" : "'" + node.name + "'",
                               kernelName(node.dtype), kernelName(type)));
    }
  }

  void checkBinding(const Node &node) const {
    std::set<IteratorId> bound(node.iterators.begin(), node.iterators.end());
    bool isLine = node.kind == NodeKind::Scan || node.kind == NodeKind::Order;
    bool isBinder = isLine || node.kind == NodeKind::Reduce;
    if (bound.size() != node.iterators.size() || (isLine && bound.size() != 1) ||
        (!isBinder && !bound.empty())) { // L1b
      breach("L1b", fmt::format("a node binds {} iterators, {} of them different",
                                node.iterators.size(), bound.size()));
    }
    for (IteratorId iterator : bound) {
      const Polynomial &extent = program.space.iterators[iterator].extent;
      const Monoid *monoid = findMonoid(node.name);
      bool needsElement = node.kind == NodeKind::Reduce && monoid && !monoid->takesEmpty;
      if (!symbols.isNonNegative(needsElement ? extent - 1 : extent)) { // L8
        breach("L8", fmt::format("'{}' runs over {} elements, which may be {}", node.name,
                                 symbols.text(extent), needsElement ? "none" : "negative"));
      }
    }
  }

  static void checkMap(const Node &node) {
    if (std::string complaint = mapComplaint(node.name, node.inputs); !complaint.empty()) { // L6
      breach("L6", complaint);
    }
    if (node.name != "cast") {
      expectType(node, mapType(node.name, node.inputs));
    }
  }

  static void checkMonoid(const Node &node) {
    const Monoid *monoid = findMonoid(node.name);
    if (!monoid || monoid->components != node.inputs.size()) { // L7
      breach("L7", monoid ? fmt::format("'{}' has {} components, but got {}", node.name,
                                        monoid->components, node.inputs.size())
                          : fmt::format("'{}' is no monoid", node.name));
    }
    expectType(node, node.inputs[0]->dtype);
  }

  static void checkPick(const Node &node) {
    const Node &tuple = *node.inputs[0];
    bool isReduced = tuple.kind == NodeKind::Reduce || tuple.kind == NodeKind::Scan;
    size_t count = tuple.kind == NodeKind::Order ? 2 : isReduced ? tuple.inputs.size() : 0;
    if (node.component >= count) { // L7
      breach("L7", fmt::format("component {} is taken of a value with {}", node.component, count));
    }
    expectType(node, componentType(tuple, node.component));
  }

  void checkDivisions(const Affine &value) const {
    auto hasOverflowed = [](const Affine &e) {
      return e.constant().hasOverflowed() ||
             std::any_of(e.terms().begin(), e.terms().end(),
                         [](const auto &term) { return term.second.hasOverflowed(); });
    };
    if (hasOverflowed(value)) { // L9
      breach("L9", "a coefficient needs more than 63 bits");
    }
    value.forEachAtom([&](const Atom &atom) {
      if (atom.isDivision() &&
          (!symbols.isPositive(atom.size) || !isNonNegative(*atom.argument, program.space))) { // X3
        breach("X3",
               fmt::format("'{}' is divided by '{}', but may be negative, or that not positive",
                           text(*atom.argument), symbols.text(atom.size)));
      }
    });
  }

  // ---- validity ----

  void checkInside(const Buffer &buffer, const std::vector<Affine> &index,
                   const Guards &guards) const {
    for (size_t dim = 0; dim < index.size(); ++dim) {
      if (!guards.proveInside(index[dim], buffer.sizes[dim])) { // L3
        breach("L3", fmt::format("'{}' of '{}' is not proved to lie in [0, {})", text(index[dim]),
                                 buffer.name, symbols.text(buffer.sizes[dim])));
      }
    }
  }

  /// What holds in a branch, and what has been proved there.
  struct Context {
    Guards guards;
    std::shared_ptr<const Context> outer;
    std::set<const Node *> proved = {};

    bool has(const Node *node) const {
      return proved.contains(node) || (outer && outer->has(node)); // fewer conditions were enough
    }
  };

  void walk(const Node *root, const Guards &around) const {
    std::vector<std::pair<const Node *, std::shared_ptr<Context>>> work;
    work.emplace_back(root, std::make_shared<Context>(Context{around, nullptr}));
    while (!work.empty()) {
      auto [node, context] = work.back();
      work.pop_back();
      if (context->has(node)) {
        continue;
      }
      context->proved.insert(node);
      for (const Affine &index : node->indices) {
        index.forEachAtom([&](const Atom &atom) {
          if (atom.node) {
            work.emplace_back(atom.node, context);
          }
        });
      }
      if (isAccess(*node)) {
        checkInside(program.buffers[node->buffer], node->indices, context->guards);
      }
      const bool isChoice = isMap(*node, "where");
      auto own = context;
      if (!node->iterators.empty()) { // conditions outside speak of other iterators of these names
        own =
            std::make_shared<Context>(Context{context->guards.apartFrom(node->iterators), nullptr});
      }
      for (size_t i = 0; i < node->inputs.size(); ++i) {
        auto inner = own;
        if (isChoice && i > 0) {
          inner = std::make_shared<Context>(Context{own->guards, own});
          inner->guards.add(node->inputs[0], i == 1);
        }
        work.emplace_back(node->inputs[i], inner);
      }
    }
  }

  const Program &program;
  const Symbols &symbols;
  std::set<BufferId> written;
};

} // namespace

Status verify(const Program &program) {
  try {
    Verifier(program).run();
  } catch (const Breach &found) {
    return makeError("E0619", fmt::format("law {}: {}", found.law, found.message));
  }
  return Done{};
}

Status checkSizes(const Program &program, const std::vector<int64_t> &values) {
  auto bound = program.space.symbols.bind(values);
  if (!bound) {
    return makeError("E0619", "the sizes break a range, a multiple or a fact of the program");
  }
  for (const Buffer &buffer : program.buffers) {
    __int128 last = 0;
    for (size_t dim = 0; dim < buffer.sizes.size(); ++dim) {
      auto size = buffer.sizes[dim].evaluate(*bound), stride = buffer.strides[dim].evaluate(*bound);
      constexpr int64_t most = INT64_MAX;
      bool isLarge = !size || !stride;
      last += isLarge ? __int128(most) + 1 : __int128(*size - 1) * *stride;
      if (isLarge || last * static_cast<__int128>(sizeInBytes(buffer.dtype)) > most) { // L9
        return makeError("E0619", fmt::format("law L9: '{}' has more bytes than 63 bits can count",
                                              buffer.name));
      }
    }
  }
  return Done{};
}

} // namespace nereid::generator
