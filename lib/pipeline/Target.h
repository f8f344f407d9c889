// SPDX-License-Identifier: Apache-2.0
// What a code generator gives to the phase list. A target is found by the vendor part of its name
// ("cpu" in "cpu:x86-64-v3"); the rest is the target's own business. Targets register themselves,
// this library names none of them.
#pragma once

#include "lib/support/Diagnostics.h"
#include "runtime/Kernel.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mlir {
class DialectRegistry;
class ModuleOp;
} // namespace mlir

namespace nereid::pipeline {

/// Code after the `llvm` phase, in whatever form the target keeps it.
class CodeModule {
public:
  virtual ~CodeModule() = default;
  virtual std::string text() const = 0;
  /// The KernelInfo text that attachKernelInfo() put there; empty when there is none.
  virtual std::string kernelInfo() const = 0;
  virtual void attachKernelInfo(const std::string &text) = 0;
};

/// One vendor's target for one architecture.
class Target {
public:
  virtual ~Target() = default;
  /// Canonical and complete: equal names make equal code. Part of the cache key.
  virtual std::string name() const = 0;
  /// What the host must have to run the code, for KernelInfo::features.
  virtual std::string features() const = 0;
  virtual void registerDialects(mlir::DialectRegistry &registry) const = 0;
  /// Whether it takes tile IR with operations on descriptors; for all others they become accesses
  /// through addresses before `tile-opt`.
  virtual bool takesDescriptors() const { return false; }

  /// Phase `loops`: tile IR to the target's own structured form, in place.
  virtual bool lower(mlir::ModuleOp module, bool verifyEach, Diagnostics &diags) = 0;
  /// Phase `llvm`: that form to low-level code. `module` is consumed.
  virtual std::unique_ptr<CodeModule> translate(mlir::ModuleOp module, bool verifyEach,
                                                Diagnostics &diags) = 0;
  /// Reads back what CodeModule::text() wrote.
  virtual std::unique_ptr<CodeModule> parse(std::string_view text, const std::string &path,
                                            Diagnostics &diags) = 0;
  /// Phase `object`.
  virtual bool emitObject(CodeModule &code, std::vector<uint8_t> &object, Diagnostics &diags) = 0;
  virtual bool emitAssembly(CodeModule &code, std::string &text, Diagnostics &diags) = 0;

  /// An object from LLVM IR of our own making, without triple, that may refer to other objects: the
  /// launcher of a kernel compiled ahead of time. E0310 from targets that have none.
  virtual bool assemble(std::string_view text, std::vector<uint8_t> &object, Diagnostics &diags);
};

/// What a vendor registers. `architecture` is what follows "vendor:", possibly empty.
struct TargetVendor {
  Result<std::unique_ptr<Target>> (*make)(std::string_view architecture);
  /// The full name of the target for another machine, from what that machine says of itself
  /// (runtime/cpu/CpuFeatures.h); null when the vendor's code does not go to other machines.
  Result<std::string> (*nameFor)(std::string_view architecture,
                                 const std::vector<std::string> &features) = nullptr;
};

/// Makes `name` known; registering it again replaces the entry. Programs call registerTargets() of
/// lib/targets/Targets.h.
void registerTarget(std::string name, TargetVendor vendor);

/// The target for "vendor[:architecture]", made at the first call and kept for the process.
/// E0303 when the vendor is unknown or its factory refuses.
Result<Target *> findTarget(std::string_view spec);

/// What `spec` means on another machine: a vendor alone becomes the target for that machine, all
/// else stays. E0303 when the vendor is unknown, has no code for other machines, or that machine
/// offers too little.
Result<std::string> targetNameOn(std::string_view spec, std::string_view architecture,
                                 const std::vector<std::string> &features);

} // namespace nereid::pipeline
