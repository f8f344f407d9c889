// SPDX-License-Identifier: Apache-2.0
// The rows in which a pointwise operation of the reference walks over its broadcast operands: as
// long as each operand advances by one step, so that loops over elements are long ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nereid::eager {

/// Row number r has the elements [r * length, (r + 1) * length) of the result.
struct RowRuns {
  int64_t length = 1;
  std::vector<int64_t> inner; ///< by how many elements each operand advances in a row: 0 or more

  /// `sizes` of the result; `steps`: broadcastSteps() of each operand.
  RowRuns(const std::vector<int64_t> &sizes, const std::vector<std::vector<int64_t>> &steps);
  /// Where an operand's elements of a row begin.
  int64_t offset(int64_t row, size_t operand) const;

  /// Where all operands' elements of a row begin, from row number 0 on.
  struct Place {
    std::vector<int64_t> index, offsets;
  };
  Place first() const {
    return {std::vector<int64_t>(outer, 0), std::vector<int64_t>(steps.size(), 0)};
  }
  /// To the next row, the one behind the last being the first.
  void advance(Place &place) const;

private:
  const std::vector<int64_t> &sizes;
  const std::vector<std::vector<int64_t>> &steps;
  size_t outer; ///< dimensions in front of those that make a row
};

} // namespace nereid::eager
