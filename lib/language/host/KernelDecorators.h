// SPDX-License-Identifier: Apache-2.0
// What stands above a kernel, read as data: the configs of triton.autotune, the functions of
// triton.heuristics, the options of triton.jit. They give the constexpr parameters that a signature
// leaves out their values; the tuner takes its search space from here.
#pragma once

#include "lib/language/host/HostPython.h"
#include "lib/language/signature/Signature.h"

#include <optional>
#include <string>
#include <vector>

namespace nereid::language {

/// One triton.Config.
struct KernelConfig {
  std::vector<std::pair<std::string, ConstValue>> values; ///< in the order written
  KernelOptions options;
  bool hasPreHook = false;
  /// E0235 at the config, when an option cannot have its value. Said when the config is used.
  std::optional<Diagnostic> problem;
  /// "BLOCK_M=128,BLOCK_N=256,num_warps=8,num_stages=3"
  std::string text() const;
};

struct KernelDecorators {
  std::vector<KernelConfig> configs; ///< of triton.autotune; empty when there is none
  std::vector<std::string> key, resetToZero, restoreValue;
  bool hasPruning = false; ///< prune_configs_by: a model of upstream's, not run here
  std::vector<std::pair<std::string, HostValue>> heuristics; ///< parameter, function of the args
  std::vector<std::string> doNotSpecialize, doNotSpecializeOnAlignment; ///< names, or positions
  bool isNoinline = false, isDebug = false;
  /// R0202 unknown decorators and options, R0203 configs that only running Python would give, R0204
  /// open conditions that choose among configs.
  Diagnostics remarks;
};

/// The function of the name that the file leaves, also where both branches of an `if` define it.
/// R0204 when the `if`'s condition is open. Null without one.
const FunctionDef *kernelNamed(const SourceModule &module, const std::string &name,
                               Diagnostics &remarks);

KernelDecorators readDecorators(const SourceModule &module, const FunctionDef &kernel);

/// Where a constexpr's value came from, for "the specialization in force".
struct ValueOrigin {
  std::string name, text; ///< "BLOCK", "config 1 of 6"
};

struct Specialization {
  Signature signature;
  std::optional<KernelConfig> config; ///< the one taken; none without triton.autotune
  std::vector<ValueOrigin> origins;   ///< of constexprs that the signature did not give
  /// Several lines: the signature, then each value with where it came from.
  std::string text(const std::string &kernel) const;
};

/// parseSignature, with what is missing taken from the first config, then from heuristics, then
/// from defaults; options likewise. E0206 names what is still missing, E0234 a constexpr that
/// do_not_specialize lists, E0235 an option that cannot have its value.
Result<Specialization> specialize(std::string_view signature, const SourceModule &module,
                                  const FunctionDef &kernel, const KernelDecorators &decorators);

} // namespace nereid::language
