// SPDX-License-Identifier: Apache-2.0
// Launches a kernel that is not trusted yet, twice, and says what it did besides computing: each
// time on tensors of its own between forbidden pages, once at their ends and once at their
// beginnings, with two patterns where nothing has been written, on two numbers of threads and in
// two orders of programs. What the kernel computed is for the caller to judge, with inputs that the
// kernel never had in its hands.
#pragma once

#include "lib/support/Diagnostics.h"
#include "runtime/Kernel.h"
#include "runtime/tensor/Tensor.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace nereid::verify {

enum class Role : uint8_t {
  Input,  ///< must be as before after the launch
  Output, ///< holds nothing before the launch
  InOut,  ///< holds `content` before each launch, and may be changed
};

struct TrialTensor {
  std::string name;
  /// Shape, type, strides (not negative) and, but for an output, the elements. Never passed to the
  /// kernel.
  runtime::Tensor content;
  Role role = Role::Input;
  /// The address of the first element leaves `misalignment` when divided by `alignment`, a power of
  /// two.
  size_t alignment = 16, misalignment = 0;
  /// Of one that may be changed: programs use it among themselves, and what it holds after the
  /// launch is nobody's.
  bool isWorkspace = false;
};

/// How one of the launches is made.
struct LaunchWay {
  runtime::ThreadPool *pool = nullptr;
  runtime::ProgramOrder order = runtime::ProgramOrder::Ascending;
};

/// Launches with these tensors, in the order of the trial's, and waits.
using Launch = std::function<Status(std::span<const runtime::Tensor> tensors, const LaunchWay &)>;

enum class Fault : uint8_t {
  None,
  Found, ///< by who looked at the launch before: it was not made
  Outside,
  Input,
  Unwritten,
  Varies
};

struct TrialResult {
  /// What the tensors held after the first launch, contiguous; in the order of the trial's.
  std::vector<runtime::Tensor> tensors;
  /// The same after the second launch, where results may vary and did; empty otherwise. Each of the
  /// two has to be right.
  std::vector<runtime::Tensor> others;
  /// The first thing that is wrong beside the numbers, the gravest kind first; `text` names the
  /// tensor, the element and both values.
  Fault fault = Fault::None;
  std::string text;
};

struct TrialOptions {
  /// The results of the two launches may differ in more than bits that were never written: sums by
  /// atomic additions of floating-point numbers.
  bool mayVary = false;
  /// Draws what stands in the memory of the second launch, so that no kernel knows it.
  uint64_t seed = 0;
};

/// E0506 without memory, or what `launch` says.
Result<TrialResult> runTrial(std::span<const TrialTensor> tensors, const Launch &launch,
                             const TrialOptions &options = {});

} // namespace nereid::verify
