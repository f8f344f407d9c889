// SPDX-License-Identifier: Apache-2.0
// Which accesses of different programs to one address no atomic operation orders. Every piece of
// memory remembers its last write and two reads, each with the program and that program's time; a
// program's vector clock says what it has seen of the others. Two accesses race when they touch the
// same bytes, at least one writes, not both are atomic, and the later program has not seen the
// earlier access. An atomic operation that releases leaves its program's clock at its address, one
// that acquires takes what is there: this holds for spin locks, counters of finished programs and
// look-back alike. Everything is an under-approximation: an order is at times assumed where there
// is none, never the other way round. No MLIR here; operations are numbers.
#pragma once

#include "lib/check/Clock.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace nereid::check {

class Races {
public:
  struct Access {
    uint32_t program = 0;
    uint32_t operation = 0; ///< from 1 on
    bool isWrite = false;
    bool isAtomic = false;
  };

  /// A point in a program's own time, which goes on with each release.
  struct Moment {
    uint32_t program = 0, time = 0;
  };
  Moment now(uint32_t program) const;
  /// What the other program did at that moment comes before what this one does now.
  bool hasSeen(uint32_t program, Moment moment) const;

  /// Bytes offset..offset+bytes-1 of a tensor. Returns the access it races with, if any.
  std::optional<Access> record(uint32_t tensor, uint64_t offset, unsigned bytes, Access access);

  void acquire(uint32_t program, uint64_t address);
  void release(uint32_t program, uint64_t address);

private:
  struct Epoch {
    uint32_t program = 0, time = 0;
    uint32_t operation = 0; ///< 0: no access
    bool isAtomic = false;
  };
  struct Cell {
    Epoch write, read, otherRead;
  };
  static constexpr uint64_t cellsPerPage = 512;
  /// Cells cover `bytesPerCell` each, what the first access took, and single bytes once an access
  /// does not fit that.
  struct Shadow {
    unsigned bytesPerCell = 0;
    std::vector<std::unique_ptr<Cell[]>> pages;

    Cell &at(uint64_t cell);
    void split();
  };
  /// Of programs that have synchronised; all others are at time 1 and have seen nobody.
  struct Program {
    uint32_t time = 1;
    Clock seen;
  };

  const Program &find(uint32_t program) const;
  std::optional<Access> recordCell(Cell &cell, const Access &access, const Program &program) const;

  std::vector<Shadow> shadows;
  std::unordered_map<uint32_t, Program> programs;
  std::unordered_map<uint64_t, Clock> released; ///< by address
};

} // namespace nereid::check
