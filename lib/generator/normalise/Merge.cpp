// SPDX-License-Identifier: Apache-2.0
// X6: neighbouring iterators as one, see Normalise.h.
#include "lib/generator/normalise/Normalise.h"

#include <algorithm>

namespace nereid::generator {
namespace {

using Access = std::pair<BufferId, std::vector<Affine>>;

/// Two dimensions of an access become one: `outer`'s index times `inner`'s size and `inner`'s
/// index.
struct Flattening {
  size_t outer = 0, inner = 0;
};

class Merger {
public:
  explicit Merger(Program &program) : program(program), nodes(program.values()) {
    for (const Node *node : nodes) {
      if (node->kind == NodeKind::Load || node->kind == NodeKind::Ref) {
        accesses.emplace_back(node->buffer, node->indices);
      } else {
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
        accesses.emplace_back(store.buffer, store.index);
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
    for (const Access &access : accesses) {
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
        if (buffer.strides[*ofOuter] != buffer.strides[*ofInner] * size) {
          return false;
        }
        step = step * size;
        plan[access] = {*ofOuter, *ofInner};
      }
      if (step != access.second[*ofInner].coefficient(inner) * extent) {
        return false;
      }
    }
    return true;
  }

  Access flattened(const Access &access, const Flattening &dims) {
    const Buffer from = program.buffers[access.first];
    Access result = access;
    result.second[dims.outer] =
        access.second[dims.outer] * from.sizes[dims.inner] + access.second[dims.inner];
    result.second.erase(result.second.begin() + static_cast<ptrdiff_t>(dims.inner));
    Buffer view = from;
    view.base = program.baseOf(access.first);
    view.sizes[dims.outer] = from.sizes[dims.outer] * from.sizes[dims.inner];
    view.strides[dims.outer] = from.strides[dims.inner];
    view.sizes.erase(view.sizes.begin() + static_cast<ptrdiff_t>(dims.inner));
    view.strides.erase(view.strides.begin() + static_cast<ptrdiff_t>(dims.inner));
    result.first = viewOf(std::move(view));
    return result;
  }

  BufferId viewOf(Buffer view) {
    for (size_t id = 0; id < program.buffers.size(); ++id) {
      const Buffer &known = program.buffers[id];
      if (known.base == view.base && known.sizes == view.sizes && known.strides == view.strides &&
          known.offset == view.offset) {
        return static_cast<BufferId>(id);
      }
    }
    const std::string stem = program.buffers[*view.base].name + "_flat";
    view.name = stem;
    for (int number = 1; program.find(view.name); ++number) {
      view.name = stem + "_" + std::to_string(number);
    }
    return program.add(std::move(view));
  }

  void apply(IteratorId outer, IteratorId inner) {
    program.rebuild([&](NodeParts parts) {
      Access access(parts.buffer, parts.indices);
      bool isAccess = parts.kind == NodeKind::Load || parts.kind == NodeKind::Ref;
      if (auto found = plan.find(access); isAccess && found != plan.end()) {
        std::tie(parts.buffer, parts.indices) = flattened(access, found->second);
      }
      return program.nodes.make(std::move(parts));
    });
    for (Stage &stage : program.stages) {
      for (Store &store : stage.stores) {
        Access access(store.buffer, store.index);
        if (auto found = plan.find(access); found != plan.end()) {
          std::tie(store.buffer, store.index) = flattened(access, found->second);
        }
      }
    }
    const Iterator first = program.space.iterators[outer], second = program.space.iterators[inner];
    IteratorId merged =
        program.space.iterators.add(first.extent * second.extent, first.name + "_" + second.name);
    program.substitute({{outer, Affine(0)}, {inner, Affine::iterator(merged)}});
  }

  Program &program;
  std::vector<const Node *> nodes;
  std::vector<Access> accesses;
  std::vector<std::set<IteratorId>> groups; ///< those of each reduction and each store
  std::set<IteratorId> fixed;               ///< seen otherwise than as steps of an access
  std::map<Access, Flattening> plan;
};

} // namespace

void mergeIterators(Program &program) {
  while (Merger(program).mergeOne()) {
  }
}

} // namespace nereid::generator
