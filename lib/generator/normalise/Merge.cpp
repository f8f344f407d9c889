// SPDX-License-Identifier: Apache-2.0
// X6: neighbouring iterators as one, see Normalise.h.
#include "lib/generator/index/NodeQueries.h"
#include "lib/generator/normalise/Flatten.h"
#include "lib/generator/normalise/Normalise.h"

#include <algorithm>

namespace nereid::generator {
namespace {

class Merger {
public:
  explicit Merger(Program &program) : program(program), accesses(indexedBuffers(program)) {
    for (const Node *node : program.values()) {
      if (!isAccess(*node)) {
        for (const Affine &index : node->indices) {
          index.collect(fixed);
        }
      }
      if (node->kind == NodeKind::Reduce) {
        groups.emplace_back(node->iterators.begin(), node->iterators.end());
      } else {
        fixed.insert(node->iterators.begin(), node->iterators.end());
      }
    }
    for (const Stage &stage : program.stages) {
      for (const Store &store : stage.stores) {
        groups.push_back(program.iteratorsOf(store));
      }
    }
    for (const auto &[buffer, indices] : accesses) {
      for (const Affine &index : indices) {
        fixInner(index);
      }
    }
  }

  bool mergeOne() {
    std::set<IteratorId> all;
    for (const std::set<IteratorId> &group : groups) {
      all.insert(group.begin(), group.end());
    }
    for (IteratorId outer : all) {
      for (IteratorId inner : all) {
        bool isPair = outer != inner && !fixed.contains(outer) && !fixed.contains(inner) &&
                      areTogether(outer, inner);
        if (isPair && planned(outer, inner)) {
          apply(outer, inner);
          return true;
        }
      }
    }
    return false;
  }

private:
  /// What a division or a read index depends on stays as it is.
  void fixInner(const Affine &index) {
    for (const auto &[atom, coefficient] : index.terms()) {
      if (atom.kind != Atom::Kind::Iterator) {
        Affine::atom(atom).collect(fixed);
      }
    }
  }

  bool areTogether(IteratorId outer, IteratorId inner) const {
    return std::all_of(groups.begin(), groups.end(), [&](const std::set<IteratorId> &group) {
      return group.contains(outer) == group.contains(inner);
    });
  }

  /// Fills `plan` with the accesses that need a flattened view; false when one steps otherwise.
  bool planned(IteratorId outer, IteratorId inner) {
    plan.clear();
    const Polynomial &extent = program.space.iterators[inner].extent;
    for (const IndexedBuffer &access : accesses) {
      const Buffer &buffer = program.buffers[access.first];
      std::optional<size_t> ofOuter, ofInner;
      for (size_t dim = 0; dim < access.second.size(); ++dim) {
        bool hasOuter = !access.second[dim].coefficient(outer).isZero();
        bool hasInner = !access.second[dim].coefficient(inner).isZero();
        if ((hasOuter && ofOuter) || (hasInner && ofInner)) {
          return false;
        }
        ofOuter = hasOuter ? dim : ofOuter;
        ofInner = hasInner ? dim : ofInner;
      }
      if (!ofOuter && !ofInner) {
        continue;
      }
      if (!ofOuter || !ofInner) {
        return false;
      }
      Polynomial step = access.second[*ofOuter].coefficient(outer);
      if (*ofOuter != *ofInner) {
        const Polynomial &size = buffer.sizes[*ofInner];
        const Flattening dims{*ofOuter, *ofInner};
        if (!areDense(buffer, dims)) {
          return false;
        }
        step = step * size;
        plan[access] = dims;
      }
      if (step != access.second[*ofInner].coefficient(inner) * extent) {
        return false;
      }
    }
    return true;
  }

  void apply(IteratorId outer, IteratorId inner) {
    flatten(program, plan);
    const Iterator first = program.space.iterators[outer], second = program.space.iterators[inner];
    IteratorId merged =
        program.space.iterators.add(first.extent * second.extent, first.name + "_" + second.name);
    program.substitute({{outer, Affine(0)}, {inner, Affine::iterator(merged)}});
  }

  Program &program;
  std::vector<IndexedBuffer> accesses;
  std::vector<std::set<IteratorId>> groups; ///< those of each reduction and each store
  std::set<IteratorId> fixed;               ///< seen otherwise than as steps of an access
  std::map<IndexedBuffer, Flattening> plan;
};

} // namespace

void mergeIterators(Program &program) {
  while (Merger(program).mergeOne()) {
  }
}

} // namespace nereid::generator
