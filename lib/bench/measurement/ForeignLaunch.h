// SPDX-License-Identifier: Apache-2.0
// A case's peer in the own language of the target's devices, ready to be timed: compiled, with its
// arguments checked, on tensors of its own that hold the data of the case's.
#pragma once

#include "lib/bench/measurement/Measurement.h"
#include "lib/launch/PreparedCase.h"

#include <memory>

namespace nereid::bench {

class ForeignLaunch {
public:
  /// What loadForeign says; E0317 for a tensor that is not contiguous or has another shape than the
  /// peer states; E0016 for an argument that the case has not. `one` and `peer` must outlive it.
  static Result<std::unique_ptr<ForeignLaunch>> make(const launch::KernelCase &one,
                                                     const launch::ForeignPeer &peer,
                                                     const launch::PreparedCase &prepared,
                                                     const launch::Execution &execution);

  /// Launches once and compares with the case's reference, if there is one: what is wrong, "" =
  /// nothing.
  std::string verify();
  /// "gelu.cu:gelu". The object must outlive it.
  TimedLaunch timed();

private:
  ForeignLaunch(const launch::KernelCase &one, const launch::ForeignPeer &peer)
      : one(one), peer(peer) {}
  std::string renew();

  const launch::KernelCase &one;
  const launch::ForeignPeer &peer;
  launch::KernelArguments arguments; ///< copies
  runtime::Kernel kernel;
  runtime::Grid grid{};
  TimedLaunch launch;
};

/// The peer lacks nothing but what this machine or the target has not: its compiler, devices of
/// its language, or graphs. The case is measured without it then.
bool isPeerMissing(const Diagnostic &error);

} // namespace nereid::bench
