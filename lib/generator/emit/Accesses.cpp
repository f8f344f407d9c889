// SPDX-License-Identifier: Apache-2.0
// Masks, loads and stores, see Values.h.
#include "lib/generator/emit/Values.h"
#include "lib/generator/index/NodeQueries.h"

#include <algorithm>

namespace nereid::generator {
namespace {

using kernel::binary;
using kernel::call;

kernel::Expr zeroOf(DType dtype) { return isFloat(dtype) ? kernel::real(0) : kernel::Expr(0); }

kernel::Expr both(const kernel::Expr &a, const kernel::Expr &b) {
  return !a ? b : !b ? a : binary("&", a, b);
}

} // namespace

// ---- masks ----

kernel::Expr Values::condition(const Condition &condition, const Conditions &around) {
  Conditions before; // under which it is asked
  for (const Condition &each : around) {
    if (each == condition) {
      break;
    }
    before.push_back(each);
  }
  if (!condition.holds) {
    present = before;
    if (condition.node->kind == NodeKind::Map) {
      if (std::optional<kernel::Expr> compared = comparison(*condition.node, false)) {
        return *compared;
      }
    }
    return binary("==", typed(value(condition.node, before), DType::Bool), 0);
  }
  return typed(value(condition.node, before), DType::Bool);
}

kernel::Expr Values::maskOfAccess(const AccessMask &mask, const DimSet &dims,
                                  const Conditions &around) {
  kernel::Expr result = tile.inside(dims);
  for (const Condition &each : mask.conditions) {
    result = both(result, condition(each, around));
  }
  for (const Affine &each : mask.nonNegative) {
    present = around;
    result = both(result, binary(">=", index(each), 0));
  }
  return result;
}

// ---- loads ----

/// where(condition, load, constant) as one load, if nothing else needs the load and the condition
/// is none of memory, whose lanes would be read twice.
Values::Selected Values::selectedLoad(const Node *node) const {
  Selected result;
  const Node *inner = node;
  while (isMap(*inner, "where")) {
    const bool isFirst = inner->inputs[2]->kind == NodeKind::Const;
    const Node *other = inner->inputs[isFirst ? 2 : 1], *next = inner->inputs[isFirst ? 1 : 2];
    const bool isConstant = other->kind == NodeKind::Const;
    const bool isSame = !result.other || result.other == other;
    const bool isShared = uses.contains(next) && uses.at(next) > 1;
    if (!isConstant || !isSame || isShared || reads(inner->inputs[0])) {
      return {};
    }
    result.other = other;
    addConditions(inner->inputs[0], isFirst, result.own);
    inner = next;
  }
  const bool fits = isAccess(*inner) &&
                    std::all_of(result.own.begin(), result.own.end(), [&](const Condition &own) {
                      return std::includes(inner->free.begin(), inner->free.end(),
                                           own.node->free.begin(), own.node->free.end());
                    });
  if (!fits) {
    return {};
  }
  result.load = inner;
  return result;
}

Values::Value Values::load(const Selected &selected, const Conditions &around) {
  const Node &node = *selected.load;
  Conditions all = around;
  for (const Condition &own : selected.own) {
    if (std::find(all.begin(), all.end(), own) == all.end()) {
      all.push_back(own);
    }
  }
  AccessMask mask = maskOf(node.indices, program.buffers[node.buffer], node.free, all,
                           program.space, shared.isOpen(&node));
  for (const Condition &own : selected.own) {
    if (std::find(mask.conditions.begin(), mask.conditions.end(), own) == mask.conditions.end()) {
      mask.conditions.push_back(own);
    }
  }
  present = all;
  const kernel::Expr from = address(node.buffer, node.indices);
  const kernel::Expr lanes = maskOfAccess(mask, tile.dimsOf(node.free), all);
  std::vector<kernel::Argument> list = {from};
  if (lanes) {
    list.emplace_back("mask", lanes);
    list.emplace_back("other", selected.other ? constant(*selected.other, node.dtype).tree
                                              : zeroOf(node.dtype));
  }
  return {call("tl.load", std::move(list))};
}

// ---- stores ----

void Values::store(const std::vector<Store> &stores) {
  std::vector<Conditions> guards(stores.size());
  std::vector<Value> made;
  for (size_t i = 0; i < stores.size(); ++i) {
    if (stores[i].guard) {
      addConditions(stores[i].guard, true, guards[i]);
    }
    const Buffer &buffer = program.buffers[program.baseOf(stores[i].buffer)];
    Value computed = value(stores[i].value, guards[i]);
    computed = {typed(computed, stores[i].value->dtype), computed.height};
    made.push_back(computed.tree->kind == kernel::ExprKind::Name
                       ? computed
                       : named(*stores[i].value, buffer.name, computed));
    present = guards[i];
    for (const Affine &each : stores[i].index) { // what is read for it
      if (readsIndex({each})) {
        index(each);
      }
    }
  }
  for (size_t i = 0; i < stores.size(); ++i) {
    write(stores[i], made[i], guards[i]);
  }
}

void Values::write(const Store &store, const Value &value, const Conditions &around) {
  const std::set<IteratorId> iterators = program.iteratorsOf(store);
  std::set<IteratorId> ofAddress;
  for (const Affine &each : store.index) {
    each.collect(ofAddress);
  }
  AccessMask mask =
      maskOf(store.index, program.buffers[store.buffer], iterators, around, program.space);
  mask.conditions = around;
  present = around;
  kernel::Expr to = address(store.buffer, store.index);
  // The address has a lane for each one of the tile, also along iterators that do not move it.
  const DimSet own = tile.dimsOf(ofAddress), all = tile.dimsOf(iterators);
  for (size_t dim : all) {
    if (!own.contains(dim) && tile.dimensions()[dim].form != DimForm::Point) {
      to = to + tile.along(dim) * 0;
    }
  }
  if (all.empty() && !tile.dimensions().empty()) { // the only element of what is all reduced
    to = to + typed({kernel::Expr(0), 1, true}, DType::I32);
  }
  const BufferId base = program.baseOf(store.buffer);
  const kernel::Expr element =
      kernel::member(kernel::member(arguments.memory(base), "dtype"), "element_ty");
  const bool isSame = store.value->dtype == program.buffers[base].dtype;
  const kernel::Expr stored = isSame ? value.tree
                              : store.value->free.empty()
                                  ? call("tl.cast", {value.tree, element})
                                  : kernel::method(value.tree, "to", {element});
  static const std::map<std::string, std::string> functions = {{"", "tl.store"},
                                                               {"sum", "tl.atomic_add"},
                                                               {"max", "tl.atomic_max"},
                                                               {"min", "tl.atomic_min"},
                                                               {"xor", "tl.atomic_xor"}};
  std::vector<kernel::Argument> list = {to, stored};
  if (const kernel::Expr lanes = maskOfAccess(mask, tile.dimsOf(iterators), around)) {
    list.emplace_back("mask", lanes);
  }
  if (!store.monoid.empty()) {
    // Nothing in a launch reads what its additions make; the next launch sees all of them.
    list.emplace_back("sem", kernel::string("relaxed"));
  }
  body.evaluate(call(functions.at(store.monoid), std::move(list)));
}

} // namespace nereid::generator
