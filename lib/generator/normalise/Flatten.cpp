// SPDX-License-Identifier: Apache-2.0
// Views with fewer dimensions, see Flatten.h.
#include "lib/generator/normalise/Flatten.h"

#include "lib/generator/index/NodeQueries.h"
#include "lib/generator/normalise/Normalise.h"
#include "lib/generator/program/Names.h"

namespace nereid::generator {
namespace {

BufferId viewOf(Program &program, Buffer view) {
  for (size_t id = 0; id < program.buffers.size(); ++id) {
    const Buffer &known = program.buffers[id];
    if (known.base == view.base && known.sizes == view.sizes && known.strides == view.strides &&
        known.offset == view.offset) {
      return static_cast<BufferId>(id);
    }
  }
  view.name = freeName(program, program.buffers[*view.base].name + "_flat");
  return program.add(std::move(view));
}

IndexedBuffer flattened(Program &program, const IndexedBuffer &access, const Flattening &dims) {
  const Buffer from = program.buffers[access.first];
  const auto inner = static_cast<ptrdiff_t>(dims.inner);
  IndexedBuffer result = access;
  result.second[dims.outer] = flatIndex(from, access.second, dims);
  result.second.erase(result.second.begin() + inner);
  Buffer view = from;
  view.base = program.baseOf(access.first);
  view.sizes[dims.outer] = from.sizes[dims.outer] * from.sizes[dims.inner];
  view.strides[dims.outer] = from.strides[dims.inner];
  view.sizes.erase(view.sizes.begin() + inner);
  view.strides.erase(view.strides.begin() + inner);
  result.first = viewOf(program, std::move(view));
  return result;
}

/// Two dimensions whose indices have divisions that the index of both has not.
std::optional<Flattening> withoutDivisions(const Buffer &buffer, const IndexedBuffer &access) {
  const std::vector<Affine> &indices = access.second;
  for (size_t outer = 0; outer < indices.size(); ++outer) {
    for (size_t inner = 0; inner < indices.size(); ++inner) {
      const Flattening dims{outer, inner};
      const size_t before = divisionsIn(indices[outer]) + divisionsIn(indices[inner]);
      if (inner != outer && before > 0 && areDense(buffer, dims) &&
          divisionsIn(flatIndex(buffer, indices, dims)) < before) {
        return dims;
      }
    }
  }
  return std::nullopt;
}

} // namespace

size_t divisionsIn(const Affine &index) {
  size_t count = 0;
  index.forEachAtom([&](const Atom &atom) { count += atom.isDivision(); });
  return count;
}

bool areDense(const Buffer &buffer, const Flattening &dims) {
  return buffer.strides[dims.outer] == buffer.strides[dims.inner] * buffer.sizes[dims.inner];
}

Affine flatIndex(const Buffer &buffer, const std::vector<Affine> &indices, const Flattening &dims) {
  return indices[dims.outer] * buffer.sizes[dims.inner] + indices[dims.inner];
}

std::vector<IndexedBuffer> indexedBuffers(const Program &program) {
  std::vector<IndexedBuffer> result;
  for (const Node *node : program.values()) {
    if (isAccess(*node)) {
      result.emplace_back(node->buffer, node->indices);
    }
  }
  for (const Stage &stage : program.stages) {
    for (const Store &store : stage.stores) {
      result.emplace_back(store.buffer, store.index);
    }
  }
  return result;
}

void flatten(Program &program, const std::map<IndexedBuffer, Flattening> &plan) {
  program.rebuild([&](NodeParts parts) {
    IndexedBuffer access(parts.buffer, parts.indices);
    if (auto found = plan.find(access); isAccess(parts) && found != plan.end()) {
      std::tie(parts.buffer, parts.indices) = flattened(program, access, found->second);
    }
    return program.nodes.make(std::move(parts));
  });
  for (Stage &stage : program.stages) {
    for (Store &store : stage.stores) {
      IndexedBuffer access(store.buffer, store.index);
      if (auto found = plan.find(access); found != plan.end()) {
        std::tie(store.buffer, store.index) = flattened(program, access, found->second);
      }
    }
  }
}

void joinDivisions(Program &program) {
  std::map<IndexedBuffer, Flattening> plan;
  do {
    plan.clear();
    for (const IndexedBuffer &access : indexedBuffers(program)) {
      if (auto dims = withoutDivisions(program.buffers[access.first], access)) {
        plan[access] = *dims;
      }
    }
    flatten(program, plan);
  } while (!plan.empty());
}

} // namespace nereid::generator
