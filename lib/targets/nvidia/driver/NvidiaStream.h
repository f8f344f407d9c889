// SPDX-License-Identifier: Apache-2.0
// A CUstream as a stream of the runtime. A launch costs a look at the current context and at the
// limits of device and kernel besides cuLaunchKernel.
#pragma once

#include "lib/targets/nvidia/driver/NvidiaDevice.h"
#include "runtime/Module.h"
#include "runtime/Stream.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace nereid::nvidia {

struct KernelFunction;

/// Every launch waits for its kernel, so that what fails is told by the launch it is of: as the
/// knob NEREID_BLOCKING says, until it is set here.
std::atomic<bool> &blockingLaunches();

class NvidiaStream final : public runtime::Stream {
public:
  enum class Owner : uint8_t { Us, AnotherLibrary };

  NvidiaStream(NvidiaDevice &device, cuda::Stream handle, Owner owner)
      : Stream(device), nvidia(device), stream(handle), owner(owner) {}
  ~NvidiaStream() override;

  cuda::Stream handle() const { return stream; }

  /// The programs' order is the device's own. Besides what runtime::launch refuses: E0405 for a
  /// grid beyond the device's limits, E0501 for more shared memory and E0508 for more threads than
  /// a program can have; E0421 may be of earlier work. Where blockingLaunches() is set it waits,
  /// and what fails is of this launch: also E0407 and a kernel's fault.
  LaunchError launch(const runtime::Kernel &kernel, runtime::Grid grid, const uint64_t *slots,
                     runtime::ProgramOrder order) override;
  LaunchError copyIn(void *to, const void *from, uint64_t bytes) override;
  LaunchError copyOut(void *to, const void *from, uint64_t bytes) override;
  std::variant<std::unique_ptr<runtime::Event>, LaunchError> record() override;
  /// Also E0407, of the first launch since the last wait in which an assertion failed.
  LaunchError synchronize() override;

  /// What the stream has to know of kernels that were queued.
  struct Queued {
    /// Those whose programs may leave a record of a failed assertion, with the module of each.
    struct Asserting {
      std::shared_ptr<runtime::Module> module;
      const KernelFunction *function;
    };
    std::vector<Asserting> asserting;
    std::vector<std::shared_ptr<runtime::Module>> modules; ///< of what was captured
    const std::string *last = nullptr; ///< the kernel that is queued last, for messages
  };
  /// The kernels of a graph that was queued. Waits where blockingLaunches() is set.
  LaunchError noteQueued(const Queued &graph);

private:
  LaunchError queueWait(runtime::Event &event) override;
  LaunchError startCapture() override;
  std::variant<std::unique_ptr<runtime::Graph>, LaunchError> finishCapture() override;
  void expectAssertions(const Queued::Asserting &launched);
  LaunchError error(cuda::Result result, std::string_view asked) const;
  /// For all that is queued.
  LaunchError wait();
  /// What is queued goes into a graph, ours or another library's, and may not be waited for.
  bool isBeingCaptured() const;
  /// E0407 if a program has left a record, which is empty afterwards.
  LaunchError takeFailure(cuda::Address record, const std::string &kernel);
  LaunchError refuse(const runtime::Kernel &kernel, const KernelFunction &function,
                     runtime::Grid grid) const;

  NvidiaDevice &nvidia;
  cuda::Stream stream;
  Owner owner;
  Queued queued;        ///< since the last wait, or in the capture that lasts
  Queued beforeCapture; ///< of the stream, while a capture lasts
};

} // namespace nereid::nvidia
