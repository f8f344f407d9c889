// SPDX-License-Identifier: Apache-2.0
// The options of a compilation that upstream takes at a launch or from a triton.Config: how many
// warps run a program instance and the like. A signature gives them by name beside the parameters
// ("*fp32, n=i32, num_warps=8"); a kernel's config or heuristics give what the signature leaves
// out. Those of the table are upstream's for all chips, and targets without warps ignore them. What
// one target alone knows it declares (pipeline/Target.h), and others refuse it.
#pragma once

#include "lib/language/signature/ConstValue.h"
#include "lib/support/Diagnostics.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::language {

/// What is given; nothing stands for the default.
struct KernelOptions {
  std::optional<int64_t> numWarps;          ///< of one program instance
  std::optional<int64_t> numStages;         ///< of software pipelines, of loops that name none
  std::optional<int64_t> numCtas;           ///< blocks that share one program instance
  std::optional<int64_t> maxRegisters;      ///< per thread
  std::map<std::string, int64_t> ofTargets; ///< what targets have declared, by name

  int64_t warps() const { return numWarps.value_or(4); }
  int64_t stages() const { return numStages.value_or(3); }
  int64_t ctas() const { return numCtas.value_or(1); }

  /// ",num_warps=8,maxnreg=128": what is given, in the table's order and then by name, a comma
  /// before each.
  std::string text() const;
};

/// One row per option.
struct KernelOption {
  std::string_view name;                        ///< as in signatures and configs
  std::optional<int64_t> KernelOptions::*field; ///< null: in `ofTargets`
  std::optional<int64_t> standard;              ///< what holds when nobody gives it
  int64_t least, most;
  bool isPowerOfTwo;
  /// "a power of two from 1 to 64"
  std::string expected() const;
};
std::span<const KernelOption> kernelOptions();
/// Adds the options of a target, which are kept for the process: signatures may name them from then
/// on. Names that are there already stay as they are.
void declareKernelOptions(std::span<const KernelOption> options);
/// The names of all options that a signature may give, declared ones behind the table's.
std::vector<std::string> kernelOptionNames();
/// Null for a name that is none.
const KernelOption *findKernelOption(std::string_view name);
/// The same in the table alone: what configs and heuristics may give, which are written for several
/// targets.
const KernelOption *findCommonOption(std::string_view name);
/// What `options` give; nothing when they leave it out.
std::optional<int64_t> valueOf(const KernelOptions &options, const KernelOption &option);

/// Sets the option; E0235, without a place, when it cannot have the value.
std::optional<Diagnostic> setOption(KernelOptions &options, const KernelOption &option,
                                    const ConstValue &value);
/// Takes what `options` does not give from `others`. A default is not taken, so that the text of
/// equal options is equal.
void completeOptions(KernelOptions &options, const KernelOptions &others);

} // namespace nereid::language
