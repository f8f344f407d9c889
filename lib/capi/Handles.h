// SPDX-License-Identifier: Apache-2.0
// What the opaque pointers of the C interface point to, and the pool its calls run on.
#pragma once

#include "nereid/nereid.h"
#include "runtime/Device.h"
#include "runtime/Kernel.h"
#include "runtime/ThreadPool.h"
#include "runtime/tensor/Tensor.h"

#include <memory>
#include <optional>

struct nereid_tensor {
  nereid::runtime::Tensor tensor;
};

struct nereid_kernel {
  nereid::runtime::Kernel kernel;
};

struct nereid_stream {
  std::unique_ptr<nereid::runtime::Stream> stream;
};

struct nereid_event {
  std::unique_ptr<nereid::runtime::Event> event;
};

struct nereid_graph {
  std::unique_ptr<nereid::runtime::Graph> graph;
};

namespace nereid::capi {

/// NEREID_OK without error, NEREID_ERROR_MEMORY for E0506, else `status`.
nereid_status failOf(const runtime::LaunchError &error, nereid_status status = NEREID_ERROR_LAUNCH);
/// Writes the tensor, or a copy of it in host memory, for functions that look at elements.
nereid_status hostTensor(const nereid_tensor &given, runtime::Tensor &tensor);
/// Refuses for `caller`, or writes the device of this name.
nereid_status findDevice(const char *caller, const char *name, runtime::Device *&device);

/// The default pool until nereid_set_thread_count chooses another size.
runtime::ThreadPool &pool();

/// Nothing for a value that is none of the enumerators.
std::optional<DType> dtypeOf(nereid_dtype dtype);

} // namespace nereid::capi
