// SPDX-License-Identifier: Apache-2.0
// What the opaque pointers of the C interface point to, and the pool its calls run on.
#pragma once

#include "nereid/nereid.h"
#include "runtime/Kernel.h"
#include "runtime/Tensor.h"
#include "runtime/ThreadPool.h"

#include <optional>

struct nereid_tensor {
  nereid::runtime::Tensor tensor;
};

struct nereid_kernel {
  nereid::runtime::Kernel kernel;
};

namespace nereid::capi {

/// The default pool until nereid_set_thread_count chooses another size.
runtime::ThreadPool &pool();

/// Nothing for a value that is none of the enumerators.
std::optional<DType> dtypeOf(nereid_dtype dtype);

} // namespace nereid::capi
