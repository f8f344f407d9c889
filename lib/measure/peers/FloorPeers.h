// SPDX-License-Identifier: Apache-2.0
// The two floors of a roofline as peers: a copy for the memory, multiply-adds for the arithmetic.
// Timed in turns with a kernel they say what this machine could do in the same minute, which on a
// shared one is not what it could do when its descriptor was measured.
#pragma once

#include "lib/machine/Machine.h"
#include "lib/measure/Timer.h"
#include "runtime/tensor/Tensor.h"

#include <optional>

namespace nereid::measure {

struct FloorPeer {
  Version version;
  double amount = 0; ///< of one run: bytes read and written, or FLOPs

  /// Seconds that `work`, in the unit of `amount`, takes beside the kernel: the median over the
  /// turns of this peer's time in the kernel's. Rates change between turns, hardly within one.
  double secondsFor(double work, const Timing &own, const Timing &kernel) const;
};

/// The chip's best copy on all threads, of as many whole 256 bytes as both tensors have. Both must
/// be contiguous and outlive the peer. Empty when there is less to copy.
std::optional<FloorPeer> copyPeer(const Machine &chip, const runtime::Tensor &to,
                                  const runtime::Tensor &from);

/// About `flops` on all threads, at the peak that the type has (see peakType), at most some
/// milliseconds. Empty where this machine has no loop for it.
std::optional<FloorPeer> peakPeer(double flops, DType dtype = DType::F32);

/// The same amount of arithmetic in every run on a machine, where neither memory nor arithmetic has
/// a peer of its own: what the clock and others do to all threads.
std::optional<FloorPeer> clockPeer();

} // namespace nereid::measure
