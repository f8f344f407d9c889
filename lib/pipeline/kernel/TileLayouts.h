// SPDX-License-Identifier: Apache-2.0
// Which thread of a program holds which elements of a kernel's tiles, and what passes through
// memory that threads share, for people who ask (`nereid explain-layout`). A target whose programs
// have threads says it through pipeline/Target.h.
#pragma once

#include "lib/layout/Banks.h"
#include "lib/layout/LinearLayout.h"

#include <cstdint>
#include <string>
#include <vector>

namespace nereid::pipeline {

/// A place in the kernel's source; line 0 = none.
struct SourcePlace {
  std::string file;
  int line = 0;
  std::string text; ///< of the line
};

/// A value that is a tile.
struct TileValue {
  SourcePlace place;
  std::string operation; ///< that makes it, "tile.load"; "scf.for" for what a loop carries
  std::string element;   ///< "f16"
  layout::LinearLayout layout;
};

/// An instruction, or several alike, by which the threads write or read a tile in shared memory.
struct SharedAccess {
  SourcePlace place;
  std::string operation; ///< that it is of
  std::string verb;      ///< "written", "read"
  std::string element;
  int64_t elementBytes = 0;
  layout::LinearLayout::Shape shape; ///< of the tile
  layout::Places tilePlaces;         ///< where its elements lie
  layout::LinearLayout threadPlaces; ///< the bytes at which the accesses of threads begin
  int64_t bytes = 0;                 ///< of one thread's access
  int64_t turns() const { return layout::bankTurns(threadPlaces, bytes); }
};

struct TileLayouts {
  std::string kernel;
  std::vector<TileValue> values;      ///< in the program's order
  std::vector<SharedAccess> accesses; ///< likewise
};

} // namespace nereid::pipeline
