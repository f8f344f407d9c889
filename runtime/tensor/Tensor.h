// SPDX-License-Identifier: Apache-2.0
// A strided tensor on a device, mostly the CPU, owning or borrowed, exchanged with other libraries
// by DLPack and with files by NumPy's .npy format.
#pragma once

#include "runtime/LaunchError.h"
#include "runtime/elements/DType.h"

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

struct DLManagedTensor;

namespace nereid::runtime {

class Device;

/// Copies, elements, conversions and fills may be asked of a tensor on any device: it is copied to
/// the host and back for that. Everything else that looks at elements expects host memory.
class Tensor {
public:
  Tensor() = default;
  /// Uninitialised, contiguous, aligned to 64 bytes (to 2 MiB, with huge pages advised, from 4 MiB
  /// on). Check isValid(): false when the memory cannot be had or the size overflows.
  static Tensor empty(std::vector<int64_t> shape, DType dtype);
  /// In the device's memory.
  static Tensor empty(std::vector<int64_t> shape, DType dtype, Device &device);
  /// In host memory that the device copies from and to by itself (Device::allocateHost).
  static Tensor emptyPinned(std::vector<int64_t> shape, DType dtype, Device &device);
  /// In memory of the device that has room for it and lives as long as the tensor; contiguous.
  static Tensor within(std::shared_ptr<void> memory, std::vector<int64_t> shape, DType dtype,
                       Device &device);
  /// Borrows memory the caller keeps alive; strides in elements, empty = contiguous. Invalid when
  /// a size is negative or the strides are not one for each dimension.
  static Tensor borrow(void *data, std::vector<int64_t> shape, DType dtype,
                       std::vector<int64_t> strides = {});
  static Tensor borrow(void *data, std::vector<int64_t> shape, DType dtype,
                       std::vector<int64_t> strides, Device &device);
  /// Part of this tensor, sharing its memory: starts `offset` elements after the first one;
  /// strides empty = contiguous. Error text when an element lies outside this tensor's extent.
  std::variant<Tensor, std::string> view(int64_t offset, std::vector<int64_t> shape,
                                         std::vector<int64_t> strides = {}) const;
  /// A tensor of the same type, shape and strides on a device, uninitialised; E0506.
  std::variant<Tensor, LaunchError> likeThisOn(Device &device) const;
  /// A tensor of the same shape, strides and bytes, those between elements included, on a device;
  /// E0506 or what the device says.
  std::variant<Tensor, LaunchError> copyTo(Device &device) const;
  /// This tensor, or where it is on another device a copy in host memory.
  std::variant<Tensor, LaunchError> onHost() const;
  /// Takes over the elements of a tensor of the same type, shape and strides on any device, and
  /// leaves the bytes between them; E0410 for another one.
  LaunchError copyFrom(const Tensor &other) const;
  /// Takes over a DLPack tensor (its deleter runs when the last copy dies); error text otherwise,
  /// also for a device that this program does not know.
  static std::variant<Tensor, std::string> fromDlpack(DLManagedTensor *managed);
  /// Shares this tensor's memory; the receiver must call the deleter.
  DLManagedTensor *toDlpack() const;

  bool isValid() const { return address != nullptr || elementCount() == 0; }
  Device &device() const;
  bool isOnHost() const { return !place; }
  /// Of the first element, in the memory of the device.
  void *data() const { return address; }
  template <class T> T *as() const { return static_cast<T *>(address); }
  DType dtype() const { return type; }
  const std::vector<int64_t> &shape() const { return sizes; }
  const std::vector<int64_t> &strides() const { return steps; } ///< in elements
  int64_t elementCount() const;
  /// Bytes of the elements, without gaps.
  size_t byteCount() const { return static_cast<size_t>(elementCount()) * sizeInBytes(type); }
  bool isContiguous() const;
  /// Row-major element number i as double, whatever the strides; NaN when its device fails.
  double at(int64_t i) const;
  /// The same, and why its device failed.
  LaunchError get(int64_t i, double &value) const;
  LaunchError set(int64_t i, double value) const;
  /// Contiguous copy in another type, on the same device; invalid when there is no memory.
  Tensor to(DType dtype) const;
  /// Every byte set to 0xCD, floats to NaN: reads as wrong wherever a kernel did not write.
  LaunchError poison() const;

private:
  using Allocation = std::shared_ptr<void> (Device::*)(uint64_t bytes);
  /// Contiguous, on the host as far as it knows.
  static Tensor make(std::vector<int64_t> shape, DType dtype, Device &device, Allocation allocate);

  void *address = nullptr;
  Device *place = nullptr; ///< null: the CPU
  DType type = DType::F32;
  std::vector<int64_t> sizes, steps;
  std::shared_ptr<void> owner;
};

/// NumPy .npy version 1 and 2, C or Fortran order, every DType but BF16 (E text otherwise).
/// 8-bit floats are written as uint8 and read back as U8.
std::variant<Tensor, std::string> loadNpy(const std::string &path);
/// Empty text = written (atomically).
std::string saveNpy(const Tensor &tensor, const std::string &path);

/// Reproducible data, the same on every machine and thread count (counter-based generator). An
/// error is of the tensor's device.
LaunchError fillNormal(const Tensor &tensor, uint64_t seed);
LaunchError fillUniform(const Tensor &tensor, uint64_t seed, double low, double high);
/// In [low, high).
LaunchError fillIntegers(const Tensor &tensor, uint64_t seed, int64_t low, int64_t high);
LaunchError fillConstant(const Tensor &tensor, double value);

} // namespace nereid::runtime
