// SPDX-License-Identifier: Apache-2.0
// The cuts around attention, see InnerChains.h.
#include "lib/generator/fuse/InnerChains.h"

#include "lib/generator/fuse/Chain.h"
#include "lib/generator/fuse/saved/LeftValues.h"
#include "lib/generator/fuse/saved/OpenReads.h"
#include "lib/generator/index/NodeQueries.h"
#include "lib/generator/program/Replace.h"
#include "lib/generator/template/StageKernel.h"

#include <algorithm>

namespace nereid::generator {
namespace {

using Nodes = std::vector<const Node *>;

class Cutter {
public:
  explicit Cutter(Program &program) : program(program) {}

  void run() {
    for (size_t stage = 0; stage < program.stages.size(); ++stage) {
      const std::vector<Store> before = program.stages[stage].stores;
      unifyNames(program.stages[stage]);
      if (!weightedIn(program.stages[stage])) {
        program.stages[stage].stores = before;
        continue;
      }
      while (const Node *product = weightedIn(program.stages[stage])) {
        const Nodes operands = operandsOf(*product);
        const bool isWhole = isWholeOf(program.stages[stage], product);
        if (isWhole && operands.empty()) {
          break; // nothing else can be cut
        }
        leave(stage, isWhole ? operands : Nodes{product});
      }
    }
  }

private:
  /// Reductions that are the same but for what they bind, and for where they are asked, bind the
  /// same: each score has queries and keys that are reductions of their own.
  void unifyNames(Stage &stage) {
    Nodes all;
    std::map<const Node *, const Node *> done;
    auto made = [&](NodeParts parts) {
      const Node *node = program.nodes.make(std::move(parts));
      if (node->kind != NodeKind::Reduce) {
        return node;
      }
      for (const Node *known : all) {
        if (const auto called = names.renaming(known, node)) {
          IndexMap map;
          for (IteratorId each : known->free) {
            map[each] = Affine::iterator(called->at(each));
          }
          return program.nodes.substitute(known, map, program.space);
        }
      }
      all.push_back(node);
      return node;
    };
    for (Store &store : stage.stores) {
      store.value = program.nodes.rebuild(store.value, program.space, made, done);
    }
  }

  /// The product of a softmax in a stage that is no chain.
  const Node *weightedIn(const Stage &stage) {
    for (const std::vector<Store> &group : groupsOf(program, stage)) {
      if (chainOf(program, group)) {
        continue;
      }
      for (const Node *node : reductionsOf(rootsOf(group))) {
        const std::vector<Contraction> both = bothOrdersOf(*node);
        if (std::any_of(both.begin(), both.end(), [&](const Contraction &outer) {
              return scoresOf(program, outer) && productIn(outer);
            })) {
          return node;
        }
      }
    }
    return nullptr;
  }

  /// The only one of the scores that has queries and keys.
  const Node *productIn(const Contraction &outer) {
    const Nodes all = outermostOf({scoresOf(program, outer)});
    auto hasAny = [](const Node *node, const std::vector<IteratorId> &some) {
      return std::any_of(some.begin(), some.end(),
                         [&](IteratorId each) { return node->free.contains(each); });
    };
    const bool isOne = all.size() == 1 && contractionOf(*all[0]) && hasAny(all[0], outer.m) &&
                       hasAny(all[0], outer.k);
    return isOne ? all[0] : nullptr;
  }

  /// Queries, keys and values that are computed of reductions, under each name that they have:
  /// the largest score and the sum of exponentials have keys of their own.
  Nodes operandsOf(const Node &product) {
    Nodes result;
    auto add = [&](const Node *factor) {
      const bool isKnown = std::find(result.begin(), result.end(), factor) != result.end();
      if (!isKnown && !reductionsOf({factor}).empty()) {
        result.push_back(factor);
      }
    };
    for (const Contraction &outer : bothOrdersOf(product)) {
      const Node *inner = scoresOf(program, outer) ? productIn(outer) : nullptr;
      if (!inner) {
        continue;
      }
      add(outer.b);
      for (const Node *node : reductionsOf({outer.a})) {
        const std::optional<Contraction> own = contractionOf(*node);
        if (own && names.areAlike(node, inner)) {
          add(own->a);
          add(own->b);
        }
      }
    }
    return result;
  }

  /// Whether the product is what the stage is for.
  bool isWholeOf(const Stage &stage, const Node *product) const {
    const Nodes all = reductionsOf(rootsOf(stage.stores));
    return product->free == program.iteratorsOf(stage.stores[0]) &&
           all.size() == reductionsOf({product}).size();
  }

  void leave(size_t number, const Nodes &values) {
    Stage &stage = program.stages[number];
    LeftValues left = leaveValues(program, known, stage, values,
                                  readsAtConditionalIndex(rootsOf(stage.stores), values), 0, {});
    replaceIn(stage.stores, program, std::move(left.reads));
    if (!left.stores.empty()) {
      program.stages.insert(program.stages.begin() + static_cast<ptrdiff_t>(number),
                            Stage{stage.name, std::move(left.stores)});
    }
  }

  Program &program;
  BoundNames names{program};
  SavedValues known{program, names};
};

} // namespace

void cutOutChains(Program &program) { Cutter(program).run(); }

} // namespace nereid::generator
