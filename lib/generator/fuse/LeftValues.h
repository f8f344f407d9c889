// SPDX-License-Identifier: Apache-2.0
// Values of a stage that a stage before it leaves in temporaries.
#pragma once

#include "lib/generator/fuse/SavedValues.h"

namespace nereid::generator {

struct LeftValues {
  std::vector<Store> stores;                  ///< of those that nobody has left yet
  std::vector<BufferId> found;                ///< where others are
  std::map<const Node *, const Node *> reads; ///< what takes the place of each
};

/// With the conditions that the stage has around them, or, where `isOpen`, without what these
/// promise of indices from memory. `owner`, `apart`: see SavedValues.h. The stage stays as it is.
LeftValues leaveValues(Program &program, SavedValues &known, const Stage &stage,
                       const std::vector<const Node *> &values, bool isOpen, BufferId owner,
                       const std::set<BufferId> &apart);

} // namespace nereid::generator
