// SPDX-License-Identifier: Apache-2.0
// Tensors of the C interface. Functions that only tell a property take NULL as an empty tensor.
#include "lib/capi/Failure.h"
#include "lib/capi/Handles.h"
#include "lib/capi/Texts.h"
#include "lib/targets/Targets.h"
#include "runtime/elements/IntegerRange.h"
#include "runtime/tensor/Extent.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

namespace nereid::capi {
namespace {

constexpr int maxRank = 64;

/// What the given shape cannot be; empty when it is fine.
std::string problemOf(const int64_t *shape, int rank, nereid_dtype dtype) {
  if (rank < 0 || rank > maxRank) {
    return "expects 0 to " + std::to_string(maxRank) + " dimensions, but got " +
           std::to_string(rank);
  }
  if (rank > 0 && !shape) {
    return "expects a shape, but got a null pointer";
  }
  for (int dim = 0; dim < rank; ++dim) {
    if (shape[dim] < 0) {
      return "expects sizes that are not negative, but got " + std::to_string(shape[dim]) +
             " for dimension " + std::to_string(dim);
    }
  }
  if (!dtypeOf(dtype)) {
    return "expects an element type, but got the number " + std::to_string(static_cast<int>(dtype));
  }
  return {};
}

std::vector<int64_t> listOf(const int64_t *values, int count) {
  return values ? std::vector<int64_t>(values, values + count) : std::vector<int64_t>();
}

nereid_status give(runtime::Tensor tensor, nereid_tensor **place) {
  *place = new nereid_tensor{std::move(tensor)};
  return NEREID_OK;
}

nereid_status noMemory(const std::string &what) {
  return fail(NEREID_ERROR_MEMORY,
              makeError("E0506", "no memory for " + what).withHelp("use smaller sizes"));
}

/// What the device says: what is free there, or that it works no more.
nereid_status noMemoryOn(runtime::Device &device, int64_t elements, DType dtype) {
  const std::string what = "a tensor of " + std::to_string(elements) + " elements of type '" +
                           std::string(torchName(dtype)) + "'";
  int64_t bytes = 0;
  if (__builtin_mul_overflow(elements, static_cast<int64_t>(sizeInBytes(dtype)), &bytes)) {
    return noMemory(what);
  }
  const runtime::LaunchError why = device.noMemory(static_cast<uint64_t>(bytes));
  if (why.code != "E0506") {
    return failOf(why);
  }
  return fail(NEREID_ERROR_MEMORY,
              makeError(why.code, why.message + ", for " + what).withHelp("use smaller sizes"));
}

using MakeEmpty = runtime::Tensor (*)(std::vector<int64_t>, DType, runtime::Device &);

nereid_status create(const char *caller, MakeEmpty empty, runtime::Device &device,
                     const int64_t *shape, int rank, nereid_dtype dtype, nereid_tensor **tensor) {
  std::string problem = tensor ? problemOf(shape, rank, dtype) : "expects a place for the tensor";
  if (!problem.empty()) {
    return refuse(caller, problem);
  }
  runtime::Tensor made = empty(listOf(shape, rank), *dtypeOf(dtype), device);
  if (!made.isValid()) {
    return noMemoryOn(device, made.elementCount(), *dtypeOf(dtype));
  }
  return give(std::move(made), tensor);
}

nereid_status createOn(const char *caller, MakeEmpty empty, const char *device,
                       const int64_t *shape, int rank, nereid_dtype dtype, nereid_tensor **tensor) {
  return guarded([&] {
    runtime::Device *found = nullptr;
    const nereid_status status = findDevice(caller, device, found);
    return status ? status : create(caller, empty, *found, shape, rank, dtype, tensor);
  });
}

const runtime::Tensor &tensorOf(const nereid_tensor *tensor) {
  static const runtime::Tensor none = runtime::Tensor::borrow(nullptr, {0}, DType::F32);
  return tensor ? tensor->tensor : none;
}

constexpr const char *noTensor = "expects a tensor, but got a null pointer";

/// Whether random numbers up to `bound` stay numbers of the type.
bool holds(DType type, double bound) {
  double element = 0;
  storeFromDouble(&element, type, bound);
  if (isFloat(type)) {
    return std::isfinite(loadAsDouble(&element, type));
  }
  const double values = std::ldexp(1.0, static_cast<int>(sizeInBytes(type)) * 8);
  return type == DType::Bool       ? bound >= 0 && bound <= 1
         : isUnsignedInteger(type) ? bound >= 0 && bound <= values - 1
                                   : bound >= -values / 2 && bound <= values / 2 - 1;
}

std::string typeText(DType type) { return "'" + std::string(torchName(type)) + "'"; }

/// What random numbers between these bounds cannot be; empty when they are fine.
std::string problemOfBounds(DType type, double low, double high) {
  const std::string given = fmt::format("{} and {}", low, high);
  if (!std::isfinite(low) || !std::isfinite(high) || !std::isfinite(high - low)) {
    return "expects bounds that are finite and no more than the largest number apart, but got " +
           given;
  }
  if (low > high) {
    return "expects a lower bound that is not above the upper one, but got " + given;
  }
  if (!holds(type, low) || !holds(type, high)) {
    return "expects bounds that the type " + typeText(type) + " holds, but got " + given;
  }
  return {};
}

/// The same for integers in [low, high).
std::string problemOfRange(DType type, int64_t low, int64_t high) {
  const std::string given = std::to_string(low) + " and " + std::to_string(high);
  if (low >= high) {
    return "expects a lower bound below the upper one, which is not included, but got " + given;
  }
  const int64_t last = high - 1;
  const bool isHeld =
      isFloat(type)
          ? holds(type, static_cast<double>(low)) && holds(type, static_cast<double>(last))
          : runtime::holdsInteger(type, low) && runtime::holdsInteger(type, last) &&
                (type != DType::U64 || low >= 0);
  return isHeld ? ""
                : "expects integers that the type " + typeText(type) + " holds, but got " + given;
}

} // namespace
} // namespace nereid::capi

using namespace nereid;
using namespace nereid::capi;
using runtime::Tensor;

extern "C" {

nereid_status nereid_tensor_create(const int64_t *shape, int rank, nereid_dtype dtype,
                                   nereid_tensor **tensor) {
  return guarded([&] {
    return create("nereid_tensor_create", Tensor::empty, runtime::cpuDevice(), shape, rank, dtype,
                  tensor);
  });
}

nereid_status nereid_tensor_create_on(const char *device, const int64_t *shape, int rank,
                                      nereid_dtype dtype, nereid_tensor **tensor) {
  return createOn("nereid_tensor_create_on", Tensor::empty, device, shape, rank, dtype, tensor);
}

nereid_status nereid_tensor_create_pinned(const char *device, const int64_t *shape, int rank,
                                          nereid_dtype dtype, nereid_tensor **tensor) {
  return createOn("nereid_tensor_create_pinned", Tensor::emptyPinned, device, shape, rank, dtype,
                  tensor);
}

nereid_status nereid_tensor_borrow(void *data, const int64_t *shape, const int64_t *strides,
                                   int rank, nereid_dtype dtype, nereid_tensor **tensor) {
  return guarded([&] {
    std::string problem = tensor ? problemOf(shape, rank, dtype) : "expects a place for the tensor";
    if (!problem.empty()) {
      return refuse("nereid_tensor_borrow", problem);
    }
    Tensor made = Tensor::borrow(data, listOf(shape, rank), *dtypeOf(dtype), listOf(strides, rank));
    if (!made.isValid()) {
      return refuse("nereid_tensor_borrow", "expects the address of the elements, but got null");
    }
    problem = runtime::impossibilityOf(made);
    if (!problem.empty()) {
      return refuse("nereid_tensor_borrow", problem);
    }
    return give(std::move(made), tensor);
  });
}

nereid_status nereid_tensor_view(const nereid_tensor *tensor, int64_t offset, const int64_t *shape,
                                 const int64_t *strides, int rank, nereid_tensor **view) {
  return guarded([&] {
    std::string problem = tensor && view ? problemOf(shape, rank, NEREID_F32)
                                         : "expects a tensor and a place for its view";
    if (!problem.empty()) {
      return refuse("nereid_tensor_view", problem);
    }
    auto made = tensor->tensor.view(offset, listOf(shape, rank), listOf(strides, rank));
    if (std::string *text = std::get_if<std::string>(&made)) {
      return refuse("nereid_tensor_view", "refuses: " + *text);
    }
    return give(std::move(std::get<Tensor>(made)), view);
  });
}

nereid_status nereid_tensor_from_dlpack(DLManagedTensor *managed, nereid_tensor **tensor) {
  return guarded([&] {
    if (!tensor) {
      return refuse("nereid_tensor_from_dlpack", "expects a place for the tensor");
    }
    registerTargets(); // it may be on a device of one
    // Made first, so that nothing was taken over when there is no memory for it.
    auto handle = std::make_unique<nereid_tensor>();
    auto taken = Tensor::fromDlpack(managed);
    if (std::string *text = std::get_if<std::string>(&taken)) {
      return refuse("nereid_tensor_from_dlpack", *text);
    }
    handle->tensor = std::move(std::get<Tensor>(taken));
    *tensor = handle.release();
    return NEREID_OK;
  });
}

nereid_status nereid_tensor_to_dlpack(const nereid_tensor *tensor, DLManagedTensor **managed) {
  return guarded([&] {
    if (!tensor || !managed) {
      return refuse("nereid_tensor_to_dlpack", "expects a tensor and a place for its description");
    }
    *managed = tensor->tensor.toDlpack();
    return NEREID_OK;
  });
}

nereid_status nereid_tensor_load(const char *path, nereid_tensor **tensor) {
  return guarded([&] {
    std::string problem = problemOfText("a path", path, longestName);
    if (problem.empty() && !tensor) {
      problem = "expects a place for the tensor, but got a null pointer";
    }
    if (!problem.empty()) {
      return refuse("nereid_tensor_load", problem);
    }
    auto loaded = runtime::loadNpy(path);
    if (std::string *text = std::get_if<std::string>(&loaded)) {
      return fail(NEREID_ERROR_FILE, makeError("E0001", *text));
    }
    return give(std::move(std::get<Tensor>(loaded)), tensor);
  });
}

nereid_status nereid_tensor_save(const nereid_tensor *tensor, const char *path) {
  return guarded([&] {
    std::string problem = tensor ? problemOfText("a path", path, longestName) : noTensor;
    if (!problem.empty()) {
      return refuse("nereid_tensor_save", problem);
    }
    problem = runtime::saveNpy(tensor->tensor, path);
    return problem.empty() ? NEREID_OK : fail(NEREID_ERROR_FILE, makeError("E0002", problem));
  });
}

void nereid_tensor_free(nereid_tensor *tensor) { delete tensor; }

const char *nereid_tensor_device(const nereid_tensor *tensor) {
  return tensorOf(tensor).device().name().c_str();
}
void *nereid_tensor_data(const nereid_tensor *tensor) { return tensorOf(tensor).data(); }
int nereid_tensor_rank(const nereid_tensor *tensor) {
  return static_cast<int>(tensorOf(tensor).shape().size());
}
const int64_t *nereid_tensor_shape(const nereid_tensor *tensor) {
  return tensorOf(tensor).shape().data();
}
const int64_t *nereid_tensor_strides(const nereid_tensor *tensor) {
  return tensorOf(tensor).strides().data();
}
nereid_dtype nereid_tensor_dtype(const nereid_tensor *tensor) {
  return static_cast<nereid_dtype>(tensorOf(tensor).dtype());
}
int64_t nereid_tensor_element_count(const nereid_tensor *tensor) {
  return tensorOf(tensor).elementCount();
}
int nereid_tensor_is_contiguous(const nereid_tensor *tensor) {
  return tensorOf(tensor).isContiguous() ? 1 : 0;
}

double nereid_tensor_get(const nereid_tensor *tensor, int64_t index) {
  const Tensor &from = tensorOf(tensor);
  double value = 0;
  const nereid_status status = guarded([&] {
    const bool isInside = index >= 0 && index < from.elementCount();
    return isInside ? failOf(from.get(index, value)) : NEREID_OK;
  });
  return status ? std::numeric_limits<double>::quiet_NaN() : value;
}
void nereid_tensor_set(nereid_tensor *tensor, int64_t index, double value) {
  const Tensor &to = tensorOf(tensor);
  (void)guarded([&] {
    const bool isInside = index >= 0 && index < to.elementCount();
    return isInside ? failOf(to.set(index, value)) : NEREID_OK;
  });
}

nereid_status nereid_tensor_convert(const nereid_tensor *tensor, nereid_dtype dtype,
                                    nereid_tensor **converted) {
  return guarded([&] {
    if (!tensor || !converted || !dtypeOf(dtype)) {
      return refuse("nereid_tensor_convert", "expects a tensor, an element type and a place");
    }
    Tensor made = tensor->tensor.to(*dtypeOf(dtype));
    if (!made.isValid()) {
      return noMemory("a copy of " + std::to_string(tensor->tensor.elementCount()) + " elements");
    }
    return give(std::move(made), converted);
  });
}

nereid_status nereid_tensor_poison(nereid_tensor *tensor) {
  return guarded([&] {
    if (!tensor) {
      return refuse("nereid_tensor_poison", noTensor);
    }
    return failOf(tensor->tensor.poison());
  });
}

nereid_status nereid_tensor_fill(nereid_tensor *tensor, double value) {
  return guarded([&] {
    if (!tensor) {
      return refuse("nereid_tensor_fill", noTensor);
    }
    if (const DType type = tensor->tensor.dtype(); !isFloat(type) && !std::isfinite(value)) {
      return refuse("nereid_tensor_fill", "expects a finite number for the type " + typeText(type) +
                                              ", but got " + fmt::format("{}", value));
    }
    return failOf(runtime::fillConstant(tensor->tensor, value));
  });
}

nereid_status nereid_tensor_fill_normal(nereid_tensor *tensor, uint64_t seed) {
  return guarded([&] {
    if (!tensor) {
      return refuse("nereid_tensor_fill_normal", noTensor);
    }
    return failOf(runtime::fillNormal(tensor->tensor, seed));
  });
}

nereid_status nereid_tensor_fill_uniform(nereid_tensor *tensor, uint64_t seed, double low,
                                         double high) {
  return guarded([&] {
    std::string problem = tensor ? problemOfBounds(tensor->tensor.dtype(), low, high) : noTensor;
    if (!problem.empty()) {
      return refuse("nereid_tensor_fill_uniform", problem);
    }
    return failOf(runtime::fillUniform(tensor->tensor, seed, low, high));
  });
}

nereid_status nereid_tensor_fill_integers(nereid_tensor *tensor, uint64_t seed, int64_t low,
                                          int64_t high) {
  return guarded([&] {
    std::string problem = tensor ? problemOfRange(tensor->tensor.dtype(), low, high) : noTensor;
    if (!problem.empty()) {
      return refuse("nereid_tensor_fill_integers", problem);
    }
    return failOf(runtime::fillIntegers(tensor->tensor, seed, low, high));
  });
}
}
