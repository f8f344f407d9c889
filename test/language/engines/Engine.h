// SPDX-License-Identifier: Apache-2.0
// What runs the cases: the interpreter, this machine's CPU or another device of it, code for
// another processor in a nereid-runner under qemu, one process for the whole suite, or the toy
// target's device (ToyTarget.h), which only tests the seams.
#pragma once

#include "lib/pipeline/Compiler.h"

#include <memory>
#include <span>
#include <string>

namespace nereid::conformance {

class Engine {
public:
  virtual ~Engine() = default;
  virtual std::string name() const = 0;
  /// Whether float32 functions have the bounds that docs/math.md states for NVIDIA GPUs.
  bool approximates() const { return name().starts_with("nvidia:"); }
  /// Empty = ran; else what was refused.
  virtual std::string run(const pipeline::CompileInput &input, runtime::Grid grid,
                          std::span<const runtime::ArgumentValue> arguments) = 0;

  /// Of knownNames(), also without a length of registers, or a target of this machine,
  /// "cpu:x86-64-v3", "nvidia:0", "nvidia:0, num_ctas=2" with options that all kernels get, or
  /// "toy". Null with a message when there is none of this name or
  /// its runner does not start.
  static std::unique_ptr<Engine> start(const std::string &name, std::string &problem);
  /// "interpreter;cpu;aarch64;…"
  static std::string knownNames();
  /// Arguments of `nereid verify` that run kernels in the same way, one a line; empty for the
  /// interpreter, this machine's CPU and unknown names.
  static std::string commandLineOptions(const std::string &name);
};

} // namespace nereid::conformance
