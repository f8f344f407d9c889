// SPDX-License-Identifier: Apache-2.0
// What a code generator is to all others: its name, its phases after `tile-opt`, and what the host
// must have to run its code. A target is found by the vendor part of its name
// ("cpu" in "cpu:x86-64-v3"); the rest is the target's own business. Targets register themselves,
// this library names none of them.
#pragma once

#include "lib/language/signature/KernelOptions.h"
#include "lib/machine/Machine.h"
#include "lib/pipeline/Occupation.h"
#include "lib/pipeline/kernel/ForeignKernel.h"
#include "lib/pipeline/kernel/TileLayouts.h"
#include "lib/support/Diagnostics.h"
#include "runtime/Kernel.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mlir {
class DialectRegistry;
}

namespace nereid::runtime {
class Device;
}

namespace nereid::pipeline {

struct CompileState; // lib/pipeline/Phases.h, which knows MLIR

/// One step on the way of a kernel, with a text or a file as its output.
struct Phase {
  const char *name;
  const char *extension; ///< of a file with its output
  const char *summary;
  /// Makes the phase's output from that of the one before; false after errors.
  bool (*run)(CompileState &state);
  /// Takes the phase's output from state.inputText instead; null: cannot be fed back in.
  bool (*read)(CompileState &state);
  /// The output as text; null: it is binary.
  std::string (*print)(const CompileState &state);
  /// Whether the output is what later phases rely on, beyond what its own IR verifies; says why
  /// not, by MLIR's diagnostics or as E03xx. Runs on all that was read, and behind every phase with
  /// CompileOptions::verifyEach. Null: nothing.
  bool (*verify)(CompileState &state) = nullptr;
  /// An ending of its own beside the way to the last phase: runs only when it is asked for.
  bool isSideExit = false;
  /// Says by MLIR's remarks, or in state.diags, what is slow in the phase's output and why; with
  /// CompileOptions::remarks alone. Null: nothing, but what passes say while they run.
  void (*remark)(CompileState &state) = nullptr;
};

/// Code in whatever form a target keeps it between its phases, with the kernel's description.
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
  /// The phases after `tile-opt`, in order, the same at every call. The last one is no side exit
  /// and leaves CompileState::object, which is its text where it has one.
  virtual std::span<const Phase> phases() const = 0;

  /// Who launches this target's code from a library for C, where it runs on a device and not on the
  /// host: the vendor's name in the functions of runtime/aot/DeviceTable.h. Empty: the host does.
  virtual std::string_view deviceRuntime() const { return {}; }
  /// Machine code of exactly this architecture from what the last phase leaves, which the device's
  /// driver would compile as well; empty where there is no program for it. E0027 when it refuses.
  virtual Result<std::vector<uint8_t>> machineCode(std::span<const uint8_t> object) const;

  /// What the code that the last phase leaves takes of a processor, as the program says that makes
  /// machine code of it. E0027 without one; E0310 from targets whose processors run one program.
  virtual Result<CodeAccount> account(std::span<const uint8_t> object) const;
  /// How many programs of such a kernel a processor runs at a time. E0310 likewise.
  virtual Result<Occupation> occupation(const runtime::FunctionResources &resources,
                                        const runtime::KernelInfo &info) const;

  /// Code from a kernel in the language that the target's devices have of their own. E0313 from
  /// targets without one, E0028 where its compiler is missing, E0314 for a source that does not
  /// compile, E0315 without a kernel of that name, E0316 for one that takes other arguments.
  virtual Result<ForeignCode> compileForeign(const ForeignSource &source) const;
  /// The phase behind which tiles lie in threads; empty where a program is one thread.
  virtual std::string_view layoutPhase() const { return {}; }
  /// Those of the kernel, whose module is behind that phase.
  virtual TileLayouts layouts(const CompileState &state) const;

  /// An object from LLVM IR of our own making, without triple, that may refer to other objects: the
  /// launcher of a kernel compiled ahead of time. E0310 from targets that have none.
  virtual bool assemble(std::string_view text, std::vector<uint8_t> &object, Diagnostics &diags);
};

/// What a vendor's targets use of this machine where it has it, for `nereid doctor`.
struct TargetTool {
  std::string name;  ///< "ptxas"
  std::string state; ///< where it is, or why there is none
  bool isThere = false;
};

/// What a vendor registers. `architecture` is what follows "vendor:", possibly empty. `chip`
/// describes what code is shaped for, within the instructions of the architecture; null = what is
/// usual for these.
struct TargetVendor {
  Result<std::unique_ptr<Target>> (*make)(std::string_view architecture, const Machine *chip);
  /// The full name of the target for another machine, from what that machine says of itself
  /// (runtime/cpu/CpuFeatures.h); null when the vendor's code does not go to other machines.
  Result<std::string> (*nameFor)(std::string_view architecture,
                                 const std::vector<std::string> &features) = nullptr;
  /// Options of a kernel that this vendor's targets alone know, `field` null in each: signatures
  /// may give them ("*fp32, n=i32, waves=2"), tile IR has them as `tile.target_options`, and other
  /// targets refuse them, E0306. Lives as long as the process.
  std::span<const language::KernelOption> options = {};
  /// An architecture whose code needs no machine, where the vendor alone means one that is here.
  std::string_view anyArchitecture = {};
  /// Looks for them; null = it uses none.
  std::vector<TargetTool> (*tools)() = nullptr;
};

/// Makes `name` known; registering it again replaces the entry. Programs call registerTargets() of
/// lib/targets/Targets.h.
void registerTarget(std::string name, TargetVendor vendor);

/// The target for "vendor[:architecture]" and the descriptor in `chipFile` (empty = none), one for
/// each Target::name and kept for the process. "vendor:0" is the one for that device of the
/// runtime. E0303 when the vendor is unknown or its factory refuses; E0001 or E0701 when the file
/// cannot be used, or not with this architecture; what runtime::findDevice says of the device.
Result<Target *> findTarget(std::string_view spec, const std::string &chipFile = {});

/// TargetVendor::tools of all vendors, by their names.
std::vector<TargetTool> targetTools();

/// TargetVendor::options of the target `spec`; none of an unknown one.
std::span<const language::KernelOption> targetOptions(std::string_view spec);

/// Whether the target is named by a device of the runtime, "vendor:0": its code is loaded there.
bool namesDevice(std::string_view spec);

/// Whether the target's code runs on a device and not on the host. No device is looked for; false
/// for an unknown vendor.
bool runsOnDevice(std::string_view spec);

/// A device of the runtime by its name. What runtime::findDevice says where there is none.
Result<runtime::Device *> deviceNamed(std::string_view name);
/// The device that kernels of a target are loaded on unless another one is asked for: the one that
/// names it, else the first of its kind. Errors as of deviceNamed.
Result<runtime::Device *> deviceFor(std::string_view spec);

/// `spec`, for a vendor alone with TargetVendor::anyArchitecture: a target that can be compiled for
/// on any machine.
std::string targetAnywhere(std::string_view spec);

/// The names that were registered, in alphabetical order.
std::vector<std::string> targetVendors();

/// What `spec` means on another machine: a vendor alone becomes the target for that machine, all
/// else stays. E0303 when the vendor is unknown, has no code for other machines, or that machine
/// offers too little, and for a device, which is of this machine.
Result<std::string> targetNameOn(std::string_view spec, std::string_view architecture,
                                 const std::vector<std::string> &features);

} // namespace nereid::pipeline
