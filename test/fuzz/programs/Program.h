// SPDX-License-Identifier: Apache-2.0
// A random kernel: its lines, the memory it works on and how its parameters stand for that memory.
#pragma once

#include "runtime/Kernel.h"
#include "runtime/tensor/Tensor.h"

#include <string>
#include <vector>

namespace nereid::fuzz {

/// Memory that parameters point into.
struct Buffer {
  const char *name;
  DType type;
  int64_t count;
  /// Whole numbers from `low` to below `high`; both 0: poisoned, to be written.
  int64_t low, high;
};

/// Inputs of every element type, and outputs: OUT of i64, W of i32, Y of fp32, Z of fp16.
const std::vector<Buffer> &buffers();
const Buffer *findBuffer(const std::string &name);

inline constexpr int64_t inputElements = 32768, outputElements = 1 << 15;

/// A parameter that points into a buffer.
struct View {
  std::string name, buffer;
  int64_t offset = 0;
};

struct Program {
  /// The kernel's body, each line with its own indentation.
  std::vector<std::string> lines;
  /// Besides each buffer under its own name.
  std::vector<View> views;
  int64_t n = 7, m = 11, h = 4; ///< run-time scalars
  int64_t programs = 1;         ///< of the grid, along its first axis
  std::vector<size_t> drawn;    ///< numbers of classes
  /// Two parameters share elements, but do not begin at the same one: an engine may read them
  /// before or after they are written, and `nereid check` reports that.
  bool sharesInPart = false;

  /// Pointer parameters that the lines name, with OUT.
  std::vector<View> parameters() const;
  std::string source() const;
  std::string signature() const;
};

/// The buffers of one launch, the same in every one.
class Memory {
public:
  explicit Memory(const Program &program);
  std::vector<runtime::ArgumentValue> arguments() const { return values; }
  /// Empty = equal to the other one; else the first element that is not. Zeros of both signs are
  /// equal: extrema may give either.
  std::string difference(const Memory &other, const std::string &here,
                         const std::string &there) const;

private:
  std::vector<std::string> names;
  std::vector<runtime::Tensor> tensors, parts;
  std::vector<runtime::ArgumentValue> values;
};

} // namespace nereid::fuzz
