// SPDX-License-Identifier: Apache-2.0
// Launches on the tensors of one case, timed in turns by the rules of an honest result: right
// before they are timed, on outputs made new every time, right at a timed launch that nobody knows,
// right at the end, and not quicker than the machine.
#pragma once

#include "lib/bench/Row.h"
#include "lib/bench/measurement/OutputCheck.h"
#include "runtime/Device.h"

namespace nereid::bench {

/// Something to be timed.
struct TimedLaunch {
  std::string name;
  std::function<std::string()> run; ///< what went wrong, "" = nothing
  /// So many runs, and the seconds that they took by the clock of the device they are on; what went
  /// wrong, "" = nothing. Empty: the host's clock, around `run`.
  std::function<std::string(int runs, double &seconds)> timedRuns = {};
  /// One run, put on a stream of `device`; empty on the host.
  std::function<runtime::LaunchError(runtime::Stream &)> queue = {};
  runtime::Device *device = nullptr;
  std::function<void()> runEmpty = {}; ///< the launch without its programs
  /// Before every sample, of a device's before every run; not timed.
  std::function<void()> prepare = [] {};
  /// Between where outputs are made new and verified and where the launch works, if that is
  /// elsewhere; what went wrong, "" = nothing. Not timed.
  std::function<std::string()> send = [] { return std::string(); };
  std::function<std::string()> fetch = [] { return std::string(); };
};

/// Memory that a copy is timed in, both contiguous.
struct CopyTensors {
  runtime::Tensor to, from;
  std::function<void()> prepare = {}; ///< before every sample, not timed; empty: a copy
};

/// What the launches of one case share. Stays where it is while they are timed.
struct Bench {
  Row row; ///< names, work and sizes filled in
  OutputCheck check;
  std::function<void()> renew; ///< makes the outputs what they are before every launch
  std::optional<TimedLaunch> peer;
  std::vector<TimedLaunch> otherPeers; ///< timed as well, where there is a peer
  std::optional<CopyTensors> copy;     ///< beyond the caches, where there is something to copy
  bool isHere = true; ///< on the processor that the yardsticks run on; else there are none
};

/// One row for each launch; a row's failure says what was wrong with it, or with the peer. Nothing
/// is timed unless all launches are right.
std::vector<Row> timeLaunches(Bench &bench, const std::vector<TimedLaunch> &launches,
                              const Machine &chip, double secondsBudget);

/// The launches of one case among those of others.
struct Contestant {
  Bench *bench = nullptr;
  std::vector<TimedLaunch> launches;
};

/// Likewise of several cases, in the same turns: samples of one number, in whichever row, were
/// taken beside each other. A case whose launches are not all right is left out of the turns.
std::vector<std::vector<Row>> timeTogether(const std::vector<Contestant> &contestants,
                                           const Machine &chip, double secondsBudget);

} // namespace nereid::bench
