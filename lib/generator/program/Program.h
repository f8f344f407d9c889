// SPDX-License-Identifier: Apache-2.0
// An operator as index-space program: stages in order, each a few stores over the iterators it
// shares. What a value is stands in Node.h, where it is read and written in index expressions
// (Affine.h), and what must hold in Verify.h. A program's text is a file that can be edited and
// read back, Python to look at:
//
//   N = size(low=1, multiple=8)
//   x = input(fp32, [N, 3], strides=[3, 1])
//   y = output(fp32, [N], strides=[1])
//   i = iterator(N)
//   c = iterator(3)
//   stage("row sums")
//   y[i] = sum[c](x[i, c])
#pragma once

#include "lib/generator/index/Node.h"
#include "lib/support/Diagnostics.h"

#include <span>

namespace nereid::generator {

enum class BufferRole : uint8_t { Input, Output, InOut, Temporary };

/// Memory as an access sees it. A view is another way to see a buffer: the same elements at other
/// sizes and strides.
struct Buffer {
  std::string name;
  DType dtype = DType::F32;
  BufferRole role = BufferRole::Input;
  std::vector<Polynomial> sizes, strides; ///< in elements
  Polynomial offset;                      ///< of a view, in elements
  std::optional<BufferId> base;           ///< the buffer this is a view of; never itself a view
};

struct Store {
  BufferId buffer = 0;
  std::vector<Affine> index;
  const Node *value = nullptr;
  std::string monoid;          ///< combines the value with what is there; empty: replaces it
  const Node *guard = nullptr; ///< bool: stored where it holds
};

/// Values, guards and what is read for indices, in the order of the stores; as often as it is
/// named.
std::vector<const Node *> rootsOf(std::span<const Store> stores);

/// `buffer`'s result is a view of `of`: no element is moved.
struct Alias {
  BufferId buffer = 0, of = 0;
};
/// The host waits for the only element of `buffer`.
struct HostRead {
  BufferId buffer = 0;
};

struct Stage {
  std::string name;
  std::vector<Store> stores;
};

/// Rows of a buffer, its last dimensions, lie so far from each other as a symbol says: without gaps
/// between them, as far as their `length`.
struct RowStride {
  BufferId buffer = 0;
  std::string symbol;
  Polynomial length;
  size_t dims = 1; ///< of a row
};

struct Program {
  IndexSpace space;
  std::vector<Buffer> buffers;
  NodeTable nodes;
  std::vector<Stage> stages;
  std::vector<Alias> aliases;
  std::vector<HostRead> hostReads;
  std::vector<RowStride> rowStrides; ///< see programs/RowStrides.h

  BufferId add(Buffer buffer);
  std::optional<BufferId> find(const std::string &name) const;
  /// The buffer that holds the elements of `buffer`, which may be a view.
  BufferId baseOf(BufferId buffer) const { return buffers[buffer].base.value_or(buffer); }

  /// Replaces iterators in all stores, see NodeTable::substitute.
  void substitute(const IndexMap &map);
  /// Rebuilds every value from its leaves, see NodeTable::rebuild.
  void rebuild(const NodeTable::Rebuild &made);
  /// Values, guards and what index expressions read, inputs first.
  std::vector<const Node *> values() const;
  std::vector<const Node *> values(const Stage &stage) const;
  /// The iterators over which a store runs: those of its index, value and guard.
  std::set<IteratorId> iteratorsOf(const Store &store) const;
  /// Every index expression of the program.
  std::vector<Affine> indices() const;

private:
  void replace(const IndexMap &map, const NodeMap &replaced);
};

/// Strides of elements that lie one after another, the last dimension innermost.
std::vector<Polynomial> contiguousStrides(const std::vector<Polynomial> &sizes);

/// Text of a program, see above.
std::string print(const Program &program);
std::string print(const Affine &value, const Program &program);
/// E0618 with the place when the text is no program. The laws (Verify.h) are not asked.
Result<Program> readProgram(const std::string &path, const std::string &text);

} // namespace nereid::generator
