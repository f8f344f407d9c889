// SPDX-License-Identifier: Apache-2.0
// The library that a case's kernel is timed beside.
#pragma once

#include "lib/eager/Comparison.h"
#include "lib/launch/KernelCases.h"
#include "lib/measure/peers/Peers.h"

#include <optional>

namespace nereid::bench {

/// What the case names as peer, else what its one reference is, when it is one operation. Nothing
/// where no library that is installed has it.
std::optional<measure::Peer> peerOf(const launch::KernelCase &one,
                                    const launch::KernelArguments &arguments);

/// The kernel's output beside the peer's on the same data, by the case's tolerance: for cases
/// whose reference would take too long.
Result<eager::Comparison> compareWithPeer(const launch::KernelCase &one, const measure::Peer &peer,
                                          const launch::KernelArguments &arguments);

/// Bytes that opening and running a peer takes that was loaded and run before, without its copy of
/// the output.
std::optional<uint64_t> memoryOfPeer(const launch::KernelCase &one,
                                     const launch::KernelArguments &arguments);

} // namespace nereid::bench
