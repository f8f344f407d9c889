// SPDX-License-Identifier: Apache-2.0
// The cases an operator's accuracy is tested on, whatever its definition lists: one element, empty,
// odd and larger sizes, every kind of data and of memory layout. Reproducible from the seed.
#pragma once

#include "lib/definition/Graph.h"
#include "lib/definition/cases/CaseData.h"
#include "runtime/tensor/Tensor.h"

#include <functional>
#include <optional>
#include <span>

namespace nereid::definition {

enum class LayoutKind {
  Contiguous,
  OuterStride, ///< a gap after every row
  Unaligned,   ///< contiguous, but the base is one element past an aligned address
};
constexpr int layoutKindCount = 3;

struct GridCase {
  std::string name; ///< "odd 5x129, tiny values, outer stride"
  Binding binding;
  Data data = {};
  /// The tensor parameter that has data of the kind, where the others have normal numbers; -1: all.
  int dataOf = -1;
  LayoutKind layout = LayoutKind::Contiguous;
  /// Of number parameters, at their places; empty: the definition's.
  std::vector<double> numbers = {};
  uint64_t seed = 0;
  std::string unmet = {}; ///< why constraints leave nothing to try; empty otherwise
  /// For the sake of kernels that other cases do not launch: skipped where no bound can judge it.
  bool isOfForms = false;
  /// Choices of the schedule that such a case makes instead of their rules, by name.
  std::vector<std::pair<std::string, int64_t>> choices = {};
};

/// The whole grid: small cases that are always the same, `drawn` whose sizes, data and layouts
/// follow from the seed, then the definition's own. Sizes are moved to the nearest ones that meet
/// the constraints. `dtype` names the data; sizes and layouts are the same for all types.
std::vector<GridCase> accuracyGrid(const Operator &op, uint64_t seed, int drawn = 8,
                                   DType dtype = DType::F32);

/// One case of normal numbers with these sizes, or the nearest that meet the constraints; none
/// where there are none.
std::optional<GridCase> caseOfSizes(const Operator &op, const std::string &name, Binding binding,
                                    DType dtype);

constexpr int64_t smallestGap = 3; ///< elements

/// A tensor as a case wants it: `view` looks into `storage`, which must outlive it.
struct LaidOut {
  runtime::Tensor storage, view;
};
/// Uninitialised (poisoned). Invalid view when the memory cannot be had. The last `rowDims`
/// dimensions make a row, with `gap` elements behind it.
LaidOut makeLaidOut(const std::vector<int64_t> &sizes, DType dtype, LayoutKind layout,
                    size_t rowDims = 1, int64_t gap = smallestGap);

/// What an operator makes of tensors.
using Computation = std::function<Result<std::vector<runtime::Tensor>>(
    const Operator &, std::span<const runtime::Tensor>)>;

/// One input per parameter, filled; numbers as float64 tensors of shape [] with the case's or
/// their default.
/// Inputs whose data are computed are drawn like others without `compute`.
/// Inputs that a constraint restricts ("var >= 0", "x.is_contiguous()") are so. E0604 when the
/// binding misses a symbol, E0506 without memory.
Result<std::vector<LaidOut>> makeInputs(const Operator &op, const GridCase &grid, DType dtype,
                                        const Computation &compute = {});

std::string_view name(LayoutKind kind);

} // namespace nereid::definition
