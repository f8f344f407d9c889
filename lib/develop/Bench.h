// SPDX-License-Identifier: Apache-2.0
// The tensors of one performance case and what is timed on them: kernels, the unfused baseline, a
// copy of as many bytes. Whatever is timed is verified as well, at a launch that nobody knows.
#pragma once

#include "lib/develop/Performance.h"
#include "lib/measure/FloorPeers.h"
#include "lib/verify/Canaries.h"

namespace nereid::develop {

/// Tensors of one case with everything the rows of its versions share.
struct Bench {
  CaseTensors tensors;
  PerformanceRow row;                   ///< names, work and sizes filled in; says what was skipped
  std::optional<uint64_t> agreedDigest; ///< of outputs that agreed with the reference
  uint64_t inputsDigest = 0;            ///< before any launch
  verify::Canaries canaries;            ///< around the tensors

  static Bench make(generator::Generation &generation, const definition::Case &testCase,
                    DType dtype, const measure::Chip &chip, const PerformanceOptions &options);
};

/// Compares the outputs with the reference, and the inputs with what they were; the failure's text,
/// or "". Outputs with the bytes of those that last agreed are not compared again.
std::string verifyOutputs(const generator::Generation &generation, Bench &bench);

/// Launches the kernel on poisoned outputs, every time; what one of the samples left is verified,
/// and nobody knows which. `failure` receives the first failure. All must outlive the version.
measure::Version kernelVersion(const std::string &name, const PreparedLaunch &launch,
                               const generator::Generation &generation, Bench &bench,
                               std::string &failure);
/// The operations one after the other.
measure::Version baselineVersion(const generator::Generation &generation, Bench &bench,
                                 std::string &failure);
/// The copy, else arithmetic, timed in turns with the kernel: what the machine itself was like.
struct Yardstick {
  std::optional<measure::FloorPeer> copy, clock;

  static Yardstick make(const Bench &bench, const measure::Chip &chip);
  /// Takes its turn before the version at `place`.
  void insert(std::vector<measure::Version> &versions, size_t place) const;
  /// Fills in the row from its own timing, if it has one.
  void record(PerformanceRow &row, const measure::Timing &own) const;

private:
  const std::optional<measure::FloorPeer> &peer() const { return copy ? copy : clock; }
};

measure::TimerOptions timerOptions(const PerformanceOptions &options);

/// Shares of what memory and arithmetic allow, from the row's times; fails a row that is quicker
/// than they do.
void fillRates(PerformanceRow &row, const measure::Chip &chip);
/// What the timings of baseline and kernel say together.
void fillSpeedup(PerformanceRow &row, const measure::Timing &baseline);

} // namespace nereid::develop
