// SPDX-License-Identifier: Apache-2.0
// A compiled kernel and how it is called. The ABI of core/KernelEntry.h is the contract between
// generated code (lib/targets/cpu) and the runtime; nothing else crosses. No MLIR here.
#pragma once

#include "runtime/Module.h"
#include "runtime/Stream.h"
#include "runtime/core/KernelEntry.h"
#include "runtime/elements/DType.h"
#include "runtime/tensor/Tensor.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace nereid::runtime {

enum class ArgumentKind : uint8_t { Pointer, Integer, Float, Descriptor };

struct ArgumentInfo {
  std::string name;
  ArgumentKind kind = ArgumentKind::Pointer;
  DType dtype = DType::F32; ///< Pointer: of the pointee
  int64_t divisibility = 1; ///< promised by the specialisation; checked at launch
  int64_t rank = 0;         ///< Descriptor only
  bool isWritten = true;    ///< false: a tensor that the kernel only reads

  /// A descriptor takes the tensor's address, its sizes and its strides but the last, which is 1.
  size_t slots() const {
    return kind == ArgumentKind::Descriptor ? 2 * static_cast<size_t>(rank) : 1;
  }
};

/// Everything the launcher must know; stored beside the object code in the cache.
struct KernelInfo {
  std::string name;
  std::vector<ArgumentInfo> arguments;
  uint64_t scratchBytes = 0;
  uint32_t threads = 0;     ///< of a program's block, where a device's have several; 0 = not said
  uint32_t blocks = 1;      ///< of threads that are one program: grids count programs
  bool isBlocking = false;  ///< a program may wait for another: they run as coroutines
  bool takesRanges = false; ///< one call runs the programs from id[0] to id[3]
  bool addsFloats = false;  ///< atomically: results depend on the order of programs
  bool waits = false;       ///< first of all for what the device's kernels before it write: it may
                            ///< be launched while they end
  std::string features;     ///< CPU features the code needs, "+avx2,+fma"; refused when missing
  std::string signature;    ///< canonical specialisation, for messages

  /// Of all arguments.
  size_t slots() const;
};

/// A function of a module. Without module it is one of this program, for the CPU.
struct Kernel {
  KernelInfo info;
  std::shared_ptr<Module> code;
  /// What Module::symbol gave: for the CPU what is called, for another device what its streams
  /// take.
  KernelEntry entry = nullptr;
};

/// The device that the kernel is for; null for the CPU's kernels, whose launches are too short to
/// ask for more.
Device *otherDevice(const Kernel &kernel);

/// A tensor passes its address; integers and doubles are converted to the argument's type.
using ArgumentValue = std::variant<const Tensor *, int64_t, double>;

class ThreadPool;

/// Checks count, kinds, devices, dtypes and promised alignment of the arguments, then runs every
/// program instance of the grid and waits: on the pool, or for a kernel of another device than the
/// CPU as Device::runAndWait does. Any grid size of 0 is a launch of nothing.
LaunchError launch(const Kernel &kernel, Grid grid, std::span<const ArgumentValue> arguments,
                   ThreadPool &pool, ProgramOrder order = ProgramOrder::Ascending);

/// The same on a stream of the kernel's device (E0416 for another one's), which need not have run
/// the programs yet.
LaunchError launch(const Kernel &kernel, Grid grid, std::span<const ArgumentValue> arguments,
                   Stream &stream, ProgramOrder order = ProgramOrder::Ascending);

/// A launch on the CPU without checks, from slots already packed: what `launch` does in the end;
/// for loops that call one kernel many times.
LaunchError launchPacked(const Kernel &kernel, Grid grid, const uint64_t *slots, ThreadPool &pool,
                         ProgramOrder order = ProgramOrder::Ascending);

/// Maps a relocatable ELF object of this architecture into memory and links it. External symbols
/// resolve only to the runtime's own table (memcpy, memset, memmove, nereid_rt_*); an unknown one
/// or a damaged object is E0390, never a crash; E0506 says that there is no memory for it, E0418
/// that the system does not let it be run.
std::variant<std::shared_ptr<Module>, LaunchError> loadObject(std::span<const uint8_t> object);

} // namespace nereid::runtime
