// SPDX-License-Identifier: Apache-2.0
// Recognition of programs of chains, see RowChains.h.
#include "lib/generator/fuse/RowChains.h"

#include "lib/generator/fuse/SavedValues.h"
#include "lib/generator/index/NodeQueries.h"
#include "lib/generator/program/Names.h"
#include "lib/generator/program/Replace.h"
#include "lib/generator/template/StageKernel.h"

#include <algorithm>

namespace nereid::generator {
namespace {

using Nodes = std::vector<const Node *>;

bool isReduce(const Node *node, const char *name) {
  return node->kind == NodeKind::Reduce && node->name == name && node->inputs.size() == 1 &&
         node->dtype == DType::F32;
}

class Recogniser {
public:
  explicit Recogniser(Program &program) : program(program) {}

  std::optional<RowChains> run() {
    for (const Stage &stage : program.stages) {
      if (readsOwn(stage) || !std::all_of(stage.stores.begin(), stage.stores.end(),
                                          [&](const Store &store) { return addChain({store}); })) {
        return std::nullopt;
      }
    }
    const bool areWritten =
        std::all_of(made.steps.begin(), made.steps.end(),
                    [](const RowChains::Step &step) { return !unsupported(step.stores, true); });
    return made.saved.empty() || !areWritten ? std::nullopt : std::optional(std::move(made));
  }

private:
  /// A result is read as it was before, which no other kernel may have written by then.
  bool readsOwn(const Stage &stage) const {
    std::set<BufferId> written;
    for (const Store &store : stage.stores) {
      written.insert(program.baseOf(store.buffer));
    }
    const std::vector<const Node *> nodes = reachable(rootsOf(stage.stores));
    return std::any_of(nodes.begin(), nodes.end(), [&](const Node *node) {
      return isAccess(*node) && written.contains(program.baseOf(node->buffer));
    });
  }

  bool addChain(std::vector<Store> stores) {
    for (const Contraction &outer : weightedSumsOf(program, stores)) {
      if (outer.a->dtype == DType::F32) {
        const Nodes left = withoutProducts(outer.a, outer.m, outer.k);
        if (!saveAll(left)) {
          return false;
        }
        replaceIn(stores, program, referring(left));
        return addWeighted(std::move(stores));
      }
    }
    return false;
  }

  /// The weights' reductions are products now.
  bool addWeighted(std::vector<Store> stores) {
    for (Contraction outer : weightedSumsOf(program, stores)) {
      outer.a = withOwnDepths(program, outer.a, outer);
      const auto inner = productsIn(outer.a, outer.m, outer.k);
      if (inner && !inner->empty()) {
        outer.operand = storageOf(outer.b).value_or(DType::F32);
        made.steps.push_back({std::move(stores), ProductChain{outer, *inner}});
        return true;
      }
    }
    return false;
  }

  /// The reductions that the value needs at rows and keys and that are no products of the two.
  Nodes withoutProducts(const Node *value, const std::vector<IteratorId> &rows,
                        const std::vector<IteratorId> &keys) const {
    Nodes left = outermostOf({value});
    std::erase_if(left,
                  [&](const Node *node) { return innerProductOf(*node, rows, keys).has_value(); });
    return left;
  }

  /// Those of the value where it needs no other reduction, and all have the keys.
  std::optional<std::vector<Contraction>> productsIn(const Node *value,
                                                     const std::vector<IteratorId> &rows,
                                                     const std::vector<IteratorId> &keys) const {
    std::vector<Contraction> products;
    for (const Node *node : reductionsOf({value})) {
      const std::optional<Contraction> inner = innerProductOf(*node, rows, keys);
      const bool hasKeys = std::all_of(keys.begin(), keys.end(),
                                       [&](IteratorId each) { return node->free.contains(each); });
      if (!inner || !hasKeys) {
        return std::nullopt;
      }
      products.push_back(*inner);
    }
    return products;
  }

  // ---- rows ----

  bool saveAll(const Nodes &values) {
    // A maximum is saved with the sum of what it is taken off.
    const bool areTotals = std::all_of(values.begin(), values.end(), [&](const Node *value) {
      return !isReduce(value, "sum") || savePair(*value);
    });
    return areTotals && std::all_of(values.begin(), values.end(), [&](const Node *value) {
             return save(*value) && find(value); // nothing is found of what is written later
           });
  }

  /// sum(exp(s - max(s))), if the value is one, with its maximum; false where it is one of no
  /// products.
  bool savePair(const Node &total) {
    const Node *weight = total.inputs[0];
    if (!isMap(*weight, "exp") || !isMap(*weight->inputs[0], "sub") || find(&total)) {
      return true;
    }
    const Node *scores = weight->inputs[0]->inputs[0], *top = weight->inputs[0]->inputs[1];
    if (!isReduce(top, "max") || !isSame(reducedAlong(program, total.iterators, *top), scores)) {
      return true;
    }
    std::optional<ScoreRows> rows = rowsOf(total, scores);
    if (!rows) {
      return false;
    }
    rows->scores = scores;
    rows->top = top;
    rows->total = &total;
    made.steps.push_back({{leave(top), leave(&total)}, std::nullopt, std::move(rows)});
    return true;
  }

  /// But for the iterators of reductions inside.
  bool isSame(const Node *one, const Node *other) {
    const auto called = one ? names.renaming(one, other) : std::nullopt;
    return called && std::all_of(called->begin(), called->end(),
                                 [](const auto &pair) { return pair.first == pair.second; });
  }

  bool save(const Node &value) {
    if (find(&value)) {
      return true;
    }
    if (!isReduce(&value, "sum")) {
      return false;
    }
    if (reductionsOf(value.inputs).empty()) { // of inputs
      made.steps.push_back({{leave(&value)}});
      return true;
    }
    const Nodes left = rowsWithin(value);
    if (!saveAll(left)) {
      return false;
    }
    std::vector<Store> stores = {leave(&value)};
    replaceIn(stores, program, referring(left));
    const Node *sum = stores[0].value;
    std::optional<ScoreRows> rows = rowsOf(*sum, sum->inputs[0]);
    if (!rows) {
      return false;
    }
    rows->sum = sum;
    made.steps.push_back({std::move(stores), std::nullopt, std::move(rows)});
    return true;
  }

  /// What the sum needs of whole rows besides products along its own iterators.
  Nodes rowsWithin(const Node &sum) const {
    Nodes left = outermostOf({sum.inputs[0]});
    std::erase_if(left, [&](const Node *node) {
      return std::any_of(sum.iterators.begin(), sum.iterators.end(),
                         [&](IteratorId each) { return node->free.contains(each); });
    });
    return left;
  }

  /// The rows of `reduction`, for which `value` is to be computed at each key; nothing where that
  /// needs anything but products of the two.
  std::optional<ScoreRows> rowsOf(const Node &reduction, const Node *value) const {
    const Nodes products = reductionsOf({value});
    std::optional<Contraction> first =
        products.empty() ? std::nullopt : contractionOf(*products[0]);
    if (!first) {
      return std::nullopt;
    }
    ScoreRows rows{first->batch, first->m, reduction.iterators, {}};
    const bool areKeysFirst = std::any_of(rows.keys.begin(), rows.keys.end(), [&](IteratorId each) {
      return std::find(rows.rows.begin(), rows.rows.end(), each) != rows.rows.end();
    });
    rows.rows = areKeysFirst ? first->n : first->m;
    const auto inner = productsIn(value, rows.rows, rows.keys);
    std::set<IteratorId> all(rows.batch.begin(), rows.batch.end());
    all.insert(rows.rows.begin(), rows.rows.end());
    if (!inner || all != reduction.free) {
      return std::nullopt;
    }
    rows.inner = *inner;
    return rows;
  }

  /// The store of a value in a temporary of its own.
  Store leave(const Node *value) {
    const std::vector<IteratorId> over(value->free.begin(), value->free.end());
    const NodeParts ref = temporaryOver(program, freeName(program, "row"), value->dtype, over);
    made.saved.push_back(ref.buffer);
    known.add(value, ref.buffer, 0);
    return {ref.buffer, ref.indices, value, "", nullptr};
  }

  const Node *find(const Node *value) { return known.find(value, 0, {}); }

  std::map<const Node *, const Node *> referring(const Nodes &values) {
    std::map<const Node *, const Node *> result;
    for (const Node *value : values) {
      result[value] = find(value);
    }
    return result;
  }

  Program &program;
  BoundNames names{program};
  SavedValues known{program, names};
  RowChains made;
};

} // namespace

std::optional<RowChains> rowChainsOf(Program &program) {
  const size_t ownBuffers = program.buffers.size();
  std::optional<RowChains> chains = Recogniser(program).run();
  if (!chains) {
    program.buffers.resize(ownBuffers); // of rows that nobody leaves
  }
  return chains;
}

} // namespace nereid::generator
