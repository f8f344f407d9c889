// SPDX-License-Identifier: Apache-2.0
// NVIDIA's driver library for libraries compiled ahead of time: as lib/targets/nvidia/driver, but
// without the C++ library, and with statuses and messages in the place of errors.
#pragma once

#include "lib/targets/nvidia/driver/Cuda.h"
#include "runtime/aot/Message.h"

namespace nereid::aot {

namespace cuda = nereid::nvidia::cuda;

struct CudaDriver {
#define NEREID_CUDA(name, symbol, parameters) cuda::Result(*name) parameters;
#include "lib/targets/nvidia/driver/CudaFunctions.def"
};

/// Loads and initialises it at the first call, of whatever thread; what that says stays for the
/// process. Null with a message: NEREID_AOT_ERROR_DRIVER.
const CudaDriver *findCudaDriver(const char *kernel, const nereid_aot_options *options);

/// "CUDA_ERROR_OUT_OF_MEMORY (out of memory)"
void describe(const CudaDriver &driver, cuda::Result result, Message &message);

/// NEREID_AOT_ERROR_MEMORY or _DEVICE, with the message that the driver refuses `asked`.
nereid_aot_status refused(const CudaDriver &driver, cuda::Result result, const char *kernel,
                          const char *asked, const nereid_aot_options *options);

/// Makes a context current on the calling thread for the time of one call of the library: that of
/// the stream, or the one that is current already.
class CurrentContext {
public:
  CurrentContext(const CudaDriver &driver, cuda::Stream stream, const char *kernel,
                 const nereid_aot_options *options);
  ~CurrentContext();
  CurrentContext(const CurrentContext &) = delete;
  CurrentContext &operator=(const CurrentContext &) = delete;

  nereid_aot_status status = NEREID_AOT_OK; ///< NEREID_AOT_ERROR_DEVICE with a message
  unsigned long long id = 0;                ///< no other context of this process has had it

private:
  const CudaDriver &driver;
  bool isPushed = false;
};

} // namespace nereid::aot
