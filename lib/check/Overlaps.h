// SPDX-License-Identifier: Apache-2.0
// Which bytes one pointer argument writes and another one touches. Compilers take two arguments to
// be the same tensor or to share no bytes, so that of a store and an access through another
// argument only these agree for every target:
//   - one program makes both, at the same position of tiles with as many elements, and both take
//     exactly the same bytes: a kernel that is called in place;
//   - one of the two is no tile, and one program makes both;
//   - one program makes both, with a barrier between them;
//   - an atomic operation orders the programs that make them, or both are atomic.
// In a loop with a product a tile may be loaded turns ahead: there a load behind a store of the
// same loop agrees with it only across a barrier. A load at another position is forgotten once its
// program has loaded the byte again behind a reduction or scan: the statistics of a tile do not
// forbid to overwrite it. Products are no such point, since rows of a product may be stored before
// other rows of its factors are loaded. Watched are only bytes that belong to several arguments;
// without any this costs nothing. An under-approximation, as Races is: two loads of each byte are
// remembered. No MLIR here.
#pragma once

#include "lib/check/Races.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace nereid::check {

class Overlaps {
public:
  struct Access {
    uint32_t argument = 0;  ///< number of the tensor in the launch's memory
    uint32_t operation = 0; ///< from 1 on; 0: no access
    Races::Moment when;
    uint64_t start = 0; ///< host address of the element
    uint32_t bytes = 0;
    bool isWrite = false, isAtomic = false;
    bool isTile = false;
    uint64_t position = 0, elements = 0; ///< in the tile, row by row, and how many it has
    uint32_t phase = 0;                  ///< reductions and scans of the program so far
    uint32_t barriers = 0;               ///< of the program so far
    uint32_t productLoop = 0; ///< number of the innermost loop, if that has a product; 0: none
  };

  /// Host addresses and sizes of the launch's tensors, by number.
  void begin(const std::vector<std::pair<uint64_t, uint64_t>> &tensors);
  bool isEmpty() const { return shared.empty(); }

  /// Returns an access through another argument that this one does not agree with, if any.
  std::optional<Access> record(const Access &access, const Races &races);

private:
  struct Cell {
    Access write;
    std::array<Access, 2> loads;
  };
  static constexpr uint64_t cellsPerPage = 256;
  using Page = std::array<Cell, cellsPerPage>;

  bool isShared(uint64_t address) const;
  std::optional<Access> recordByte(Cell &cell, const Access &access, const Races &races) const;

  std::vector<std::pair<uint64_t, uint64_t>> shared;         ///< begin and end, in order
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages; ///< by address / cellsPerPage
};

} // namespace nereid::check
