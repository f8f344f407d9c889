// SPDX-License-Identifier: Apache-2.0
// Strides of rows as symbols, see RowStrides.h.
#include "lib/generator/programs/RowStrides.h"

#include "lib/generator/fuse/Contraction.h"
#include "lib/generator/index/NodeQueries.h"
#include "lib/generator/program/Names.h"

#include <algorithm>

namespace nereid::generator {
namespace {

/// The buffers through which the program accesses memory, views included.
std::set<BufferId> accessed(const Program &program) {
  std::set<BufferId> result;
  for (const Stage &stage : program.stages) {
    for (const Store &store : stage.stores) {
      result.insert(store.buffer);
    }
  }
  for (const Node *node : program.values()) {
    if (isAccess(*node)) {
      result.insert(node->buffer);
    }
  }
  return result;
}

/// Whether each dimension steps over whole rows, or all that do not stay within one together.
bool isOfRows(const Buffer &view, const Polynomial &length, const Symbols &symbols) {
  Polynomial last;
  bool hasRows = false;
  for (size_t dim = 0; dim < view.sizes.size(); ++dim) {
    if (view.strides[dim].dividedBy(length)) {
      hasRows = true;
    } else {
      last = last + (view.sizes[dim] - 1) * view.strides[dim];
    }
  }
  return hasRows && view.offset.isZero() && symbols.isAtMost(last, length - 1);
}

/// Wrappers ask for strides before they compute what follows from other sizes.
bool isOfGivenSizes(const Polynomial &length, const Symbols &symbols) {
  const std::set<SymbolId> used = length.symbols();
  return !used.empty() && std::none_of(used.begin(), used.end(), [&](SymbolId symbol) {
    return symbols.all()[symbol].quotientOf.has_value();
  });
}

/// Two steps through memory that one reduction takes right behind each other.
struct Run {
  BufferId base;
  Polynomial outer, inner;
};

/// Where a reduction goes along whole rows, one after the other: gaps between them would make two
/// steps of what is one, with a quotient and a remainder for each element.
std::vector<Run> runsOf(const Program &program) {
  std::map<IteratorId, const Node *> reducedBy;
  for (const Node *node : program.values()) {
    if (node->kind == NodeKind::Reduce) {
      for (IteratorId iterator : node->iterators) {
        reducedBy[iterator] = node;
      }
    }
  }
  std::vector<Run> result;
  for (const Node *load : program.values()) {
    if (load->kind != NodeKind::Load) {
      continue;
    }
    const Buffer &view = program.buffers[load->buffer];
    auto reduction = [&](size_t dim) -> const Node * { // whose steps are those of the dimension
      for (const auto &[atom, coefficient] : load->indices[dim].terms()) {
        const auto found =
            atom.kind == Atom::Kind::Iterator ? reducedBy.find(atom.iterator) : reducedBy.end();
        if (found != reducedBy.end() && coefficient == 1) {
          return found->second;
        }
      }
      return nullptr;
    };
    for (size_t outer = 0; outer < view.sizes.size(); ++outer) {
      for (size_t inner = 0; inner < view.sizes.size(); ++inner) {
        if (inner != outer && reduction(outer) && reduction(outer) == reduction(inner) &&
            view.strides[outer] == view.sizes[inner] * view.strides[inner]) {
          result.push_back(
              {program.baseOf(load->buffer), view.strides[outer], view.strides[inner]});
        }
      }
    }
  }
  return result;
}

void freeRows(Program &program, BufferId base, const std::vector<BufferId> &views,
              const std::vector<Run> &runs) {
  const Buffer own = program.buffers[base];
  Polynomial length = 1;
  for (size_t dims = 1; dims < own.sizes.size(); ++dims) {
    length = length * own.sizes[own.sizes.size() - dims];
    const bool fits = isOfGivenSizes(length, program.space.symbols) &&
                      std::all_of(views.begin(), views.end(), [&](BufferId view) {
                        return isOfRows(program.buffers[view], length, program.space.symbols);
                      });
    // Results are stored element by element of the rows that were reduced.
    const bool cutsRuns = std::any_of(runs.begin(), runs.end(), [&](const Run &run) {
      return (run.base == base || own.role == BufferRole::Output) && run.outer.dividedBy(length) &&
             !run.inner.dividedBy(length);
    });
    if (!fits || cutsRuns) {
      continue;
    }
    const std::string name = freeName(program, own.name + "_stride");
    const Polynomial stride = program.space.symbols.add({name, 0}); // 0: one row again and again
    for (BufferId id = 0; id < program.buffers.size(); ++id) {
      for (Polynomial &step : program.buffers[id].strides) {
        const std::optional<Polynomial> rows =
            program.baseOf(id) == base ? step.dividedBy(length) : std::nullopt;
        step = rows ? *rows * stride : step;
      }
    }
    program.rowStrides.push_back({base, name, length, dims});
    return;
  }
}

} // namespace

void freeRowStrides(Program &program) {
  for (const Node *node : program.values()) {
    if (node->kind == NodeKind::Reduce && contractionOf(*node)) {
      return;
    }
  }
  std::map<BufferId, std::vector<BufferId>> views;
  for (BufferId id : accessed(program)) {
    views[program.baseOf(id)].push_back(id);
  }
  const std::vector<Run> runs = runsOf(program);
  for (const auto &[base, ids] : views) {
    const BufferRole role = program.buffers[base].role;
    if (role == BufferRole::Input || role == BufferRole::Output) {
      freeRows(program, base, ids, runs);
    }
  }
}

} // namespace nereid::generator
