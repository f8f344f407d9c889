// SPDX-License-Identifier: Apache-2.0
#include "lib/verify/Trial.h"

#include "lib/verify/GuardedMemory.h"
#include "runtime/ThreadPool.h"
#include "runtime/elements/ElementBlocks.h"
#include "runtime/tensor/Extent.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace nereid::verify {
namespace {

using runtime::Tensor;

/// What stands where nothing was written: in the first launch NaN for every floating-point type but
/// those that spell it otherwise.
constexpr uint8_t firstFill = 0xFF;

/// Of the second launch: a number in every floating-point type, which nobody can know before.
uint8_t secondFill(uint64_t seed) {
  constexpr uint64_t least = 0x11, count = 0x5E;
  return static_cast<uint8_t>(least + (seed * 0x9E3779B97F4A7C15U >> 32) % count);
}

/// Where row-major element i lies, in bytes from the tensor's address.
size_t offsetOf(const Tensor &tensor, int64_t i) {
  return static_cast<size_t>(runtime::elementAddress(tensor, i) - tensor.as<uint8_t>());
}

/// Calls visit(first element, its offset in bytes, count) for every stretch of elements that lie
/// side by side, until it returns false.
template <typename Visit> void forEachStretch(const Tensor &tensor, Visit visit) {
  const int64_t count = tensor.elementCount();
  const bool hasRows = !tensor.shape().empty() && tensor.strides().back() == 1;
  const int64_t length = tensor.isContiguous() ? count : hasRows ? tensor.shape().back() : 1;
  for (int64_t i = 0; i < count; i += length) {
    if (!visit(i, offsetOf(tensor, i), length)) {
      return;
    }
  }
}

/// One tensor of one launch.
class Placed {
public:
  static Result<Placed> make(const TrialTensor &tensor, Edge edge, uint8_t fill) {
    const auto extent = runtime::extentOf(tensor.content).value_or(runtime::Extent{});
    auto memory = GuardedMemory::make(extent.end - extent.begin, edge,
                                      {tensor.alignment, tensor.misalignment}, fill);
    if (!memory) {
      return memory.error();
    }
    Placed placed(tensor, std::move(*memory), fill);
    if (tensor.role != Role::Output) {
      placed.copyContent();
    }
    return placed;
  }

  const Tensor &tensor() const { return view; }

  /// What the launch did outside of the elements; empty: nothing.
  std::string outside() const {
    if (auto met = memory.outside()) {
      const bool isWrite = met->isWrite.value_or(false);
      return fmt::format("'{}' is {} {}", trial->name,
                         !met->isWrite ? "accessed"
                         : isWrite     ? "written"
                                       : "read",
                         placeText(met->offset));
    }
    if (auto touched = memory.overwritten()) {
      return fmt::format("'{}' is written {}", trial->name, placeText(*touched));
    }
    return gapWritten();
  }

  /// Says of an input what was changed; empty: nothing.
  std::string changed() const {
    const std::optional<int64_t> i = nextDifference(0, trial->content);
    return !i ? ""
              : fmt::format("input '{}' is changed: element {} was {:.9g} and is {:.9g}",
                            trial->name, *i, trial->content.at(*i), view.at(*i));
  }

  /// The first element from number `from` on with other bits than the other tensor's, which has
  /// the same shape and strides.
  std::optional<int64_t> nextDifference(int64_t from, const Tensor &other) const {
    const size_t size = elementBytes(*trial);
    std::optional<int64_t> found;
    forEachStretch(view, [&](int64_t first, size_t offset, int64_t count) {
      const int64_t skipped = std::clamp<int64_t>(from - first, 0, count);
      const uint8_t *mine = view.as<uint8_t>() + offset;
      const uint8_t *others = other.as<uint8_t>() + offset;
      const size_t begin = static_cast<size_t>(skipped) * size;
      const size_t end = static_cast<size_t>(count) * size;
      if (std::memcmp(mine + begin, others + begin, end - begin) == 0) {
        return true;
      }
      const auto *met = std::mismatch(mine + begin, mine + end, others + begin).first;
      found = first + (met - mine) / static_cast<int64_t>(size);
      return false;
    });
    return found;
  }
  /// Every byte of the element is the pattern of memory that nobody wrote.
  bool isUntouched(int64_t i) const {
    const uint8_t *bytes = runtime::elementAddress(view, i);
    return std::all_of(bytes, bytes + elementBytes(*trial),
                       [&](uint8_t byte) { return byte == fill; });
  }

private:
  Placed(const TrialTensor &tensor, GuardedMemory memory, uint8_t fill)
      : trial(&tensor), memory(std::move(memory)), fill(fill) {
    view = Tensor::borrow(this->memory.data(), tensor.content.shape(), tensor.content.dtype(),
                          tensor.content.strides());
  }

  static size_t elementBytes(const TrialTensor &tensor) {
    return sizeInBytes(tensor.content.dtype());
  }
  void copyContent() {
    forEachStretch(view, [&](int64_t, size_t offset, int64_t count) {
      std::memcpy(view.as<uint8_t>() + offset, trial->content.as<uint8_t>() + offset,
                  static_cast<size_t>(count) * elementBytes(*trial));
      return true;
    });
  }

  std::string placeText(int64_t offset) const {
    const auto bytes = static_cast<int64_t>(memory.size());
    return offset < 0 ? fmt::format("{} bytes in front of its first element", -offset)
                      : fmt::format("{} bytes behind its {} bytes", offset - bytes, bytes);
  }

  /// Bytes between the elements of rows that are farther apart than they are long.
  std::string gapWritten() const {
    const size_t size = elementBytes(*trial);
    if (static_cast<size_t>(view.elementCount()) * size == memory.size()) {
      return "";
    }
    std::vector<bool> isElement(memory.size() / size);
    for (int64_t i = 0; i < view.elementCount(); ++i) {
      isElement[offsetOf(view, i) / size] = true;
    }
    for (size_t byte = 0; byte < memory.size(); ++byte) {
      if (!isElement[byte / size] && memory.data()[byte] != fill) {
        return fmt::format("'{}' is written between its elements, at byte {}", trial->name, byte);
      }
    }
    return "";
  }

  const TrialTensor *trial;
  GuardedMemory memory;
  Tensor view;
  uint8_t fill;
};

using Run = std::vector<Placed>;

Result<Run> runOnce(std::span<const TrialTensor> tensors, const Launch &launch, Edge edge,
                    uint8_t fill, const LaunchWay &way) {
  Run run;
  std::vector<Tensor> views;
  for (const TrialTensor &tensor : tensors) {
    auto placed = Placed::make(tensor, edge, fill);
    if (!placed) {
      return placed.error();
    }
    views.push_back(placed->tensor());
    run.push_back(std::move(*placed));
  }
  if (Status launched = launch(views, way); !launched) {
    return launched.error();
  }
  return run;
}

/// What the tensors of a launch hold, contiguous.
std::vector<Tensor> contentsOf(const Run &run) {
  std::vector<Tensor> contents;
  for (const Placed &placed : run) {
    contents.push_back(placed.tensor().to(placed.tensor().dtype()));
  }
  return contents;
}

/// Where the two launches left different bits; empty: nowhere that counts.
void compareRuns(std::span<const TrialTensor> tensors, const Run &first, const Run &second,
                 bool mayVary, TrialResult &result) {
  bool hasVaried = false;
  for (size_t t = 0; t < tensors.size(); ++t) {
    if (tensors[t].role == Role::Input || tensors[t].isWorkspace) {
      continue;
    }
    const Tensor &one = first[t].tensor(), &other = second[t].tensor();
    for (auto i = first[t].nextDifference(0, other); i;
         i = first[t].nextDifference(*i + 1, other)) {
      if (first[t].isUntouched(*i) && second[t].isUntouched(*i)) {
        result.fault = Fault::Unwritten;
        result.text = fmt::format("element {} of '{}' holds what stood in memory before the "
                                  "launch",
                                  *i, tensors[t].name);
        return;
      }
      hasVaried = true;
      if (!mayVary && result.fault == Fault::None) {
        result.fault = Fault::Varies;
        result.text = fmt::format("not deterministic: element {} of '{}' is {:.9g} in one launch "
                                  "and {:.9g} in another one",
                                  *i, tensors[t].name, one.at(*i), other.at(*i));
      }
    }
  }
  if (mayVary && hasVaried) {
    result.others = contentsOf(second);
  }
}

} // namespace

Result<TrialResult> runTrial(std::span<const TrialTensor> tensors, const Launch &launch,
                             const TrialOptions &options) {
  runtime::ThreadPool &all = runtime::defaultPool();
  static runtime::ThreadPool other(all.threadCount() == 1 ? 3 : 1);
  const LaunchWay ways[] = {{&all, runtime::ProgramOrder::Ascending},
                            {&other, runtime::ProgramOrder::Descending}};
  auto first = runOnce(tensors, launch, Edge::Back, firstFill, ways[0]);
  if (!first) {
    return first.error();
  }
  auto second = runOnce(tensors, launch, Edge::Front, secondFill(options.seed), ways[1]);
  if (!second) {
    return second.error();
  }
  TrialResult result;
  result.tensors = contentsOf(*first);
  auto find = [&](Fault fault, auto what) {
    for (const Run *run : {&*first, &*second}) {
      for (size_t t = 0; t < tensors.size() && result.fault == Fault::None; ++t) {
        if (result.text = what(tensors[t], (*run)[t]); !result.text.empty()) {
          result.fault = fault;
        }
      }
    }
  };
  find(Fault::Outside, [](const TrialTensor &, const Placed &placed) { return placed.outside(); });
  find(Fault::Input, [](const TrialTensor &tensor, const Placed &placed) {
    return tensor.role == Role::Input ? placed.changed() : std::string();
  });
  if (result.fault == Fault::None) {
    compareRuns(tensors, *first, *second, options.mayVary, result);
  }
  return result;
}

} // namespace nereid::verify
