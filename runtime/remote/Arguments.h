// SPDX-License-Identifier: Apache-2.0
// Launch arguments in a message. Tensors are parts of memory regions, so that tensors which share
// memory here share it there, and every address keeps its distance from a page's start: promised
// alignments hold on both sides or on none.
#pragma once

#include "runtime/remote/Message.h"

#include <cstddef>
#include <memory>

namespace nereid::runtime::remote {

/// Memory that one or more tensors lie in.
struct Region {
  uint8_t *data = nullptr;
  uint64_t bytes = 0;
  std::shared_ptr<void> owner; ///< of data; null when it is borrowed
};

/// The smallest set of disjoint regions that covers all tensors among the arguments.
std::vector<Region> regionsOf(std::span<const ArgumentValue> arguments);

void writeArguments(MessageWriter &message, std::span<const Region> regions,
                    std::span<const ArgumentValue> arguments);

/// What writeArguments wrote, in memory of its own. `values` points into `tensors`.
struct ReceivedArguments {
  std::vector<Region> regions;
  std::vector<std::unique_ptr<Tensor>> tensors;
  std::vector<ArgumentValue> values;
};

/// Empty text = read.
std::string readArguments(MessageReader &message, ReceivedArguments &arguments);

} // namespace nereid::runtime::remote
