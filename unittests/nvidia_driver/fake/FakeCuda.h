// SPDX-License-Identifier: Apache-2.0
// A driver for tests on machines without a GPU: a library with the name and the functions of
// NVIDIA's, whose devices are host memory. Streams run nothing before they are waited for. It is
// strict: a call without a current context, with a handle of another context or one that was
// destroyed, or a second free fails and is kept in `violations`. This is what tests see of it.
#pragma once

#include "lib/targets/nvidia/driver/Cuda.h"

#include <map>
#include <string>
#include <vector>

namespace nereid::nvidia::test {

class FakeCuda {
public:
  // What the driver is; loadDriver looks at it anew each time.
  int version = 13000;
  int deviceCount = 4;
  cuda::Result initResult = cuda::Success;
  int capability = 90;
  uint64_t memoryBytes = 64 << 20; ///< of each device
  int loadMilliseconds = 0;        ///< how long it takes to load code
  std::string jitLog;              ///< what the driver's compiler writes when loading fails

  std::vector<std::string> violations;
  std::vector<std::string> log; ///< the calls, by name

  /// The next call of this name fails, after so many that do not.
  void fail(const std::string &call, cuda::Result result, int after = 0) {
    failures[call] = {result, after};
  }
  size_t count(const std::string &call) const {
    size_t found = 0;
    for (const std::string &entry : log) {
      found += entry == call;
    }
    return found;
  }
  struct Failure {
    cuda::Result result = cuda::Success;
    int after = 0;
  };
  std::map<std::string, Failure> failures;

  /// What a launch was given.
  struct Launch {
    std::string kernel;
    unsigned grid[3] = {};
    unsigned threads = 0, sharedBytes = 0;
    bool isEarly = false; ///< it may begin before what is before it has ended
    int device = 0;
    bool isMachineCode = false;       ///< the module was a cubin, whose parameters are not known
    std::vector<uint64_t> parameters; ///< the bytes of each, zeros behind
  };
  std::vector<Launch> launches; ///< that have run

  /// Memory, streams, events, modules and graphs that nobody has given back.
  virtual size_t liveObjects() = 0;
  /// As another library of this process would: makes a context that is no primary one.
  virtual cuda::Context makeContext(int device) = 0;
  virtual cuda::Context primaryContext(int device) = 0; ///< null when nobody retains it
  virtual void setCurrent(cuda::Context context) = 0;   ///< on this thread; null for none
  virtual cuda::Context current() = 0;
  virtual cuda::Stream makeStream(cuda::Context context) = 0;
  virtual void destroyStream(cuda::Stream stream) = 0;
  /// Ends what a fault has done to a device, as a new process would.
  virtual void revive(int device) = 0;

protected:
  ~FakeCuda() = default;
};

/// The library's one C function for tests.
using FakeCudaEntry = FakeCuda *(*)();

} // namespace nereid::nvidia::test
