// SPDX-License-Identifier: Apache-2.0
#include "test/language/engines/ToyDevice.h"

#include "lib/interpreter/Interpreter.h"
#include "lib/pipeline/Session.h"
#include "lib/pipeline/kernel/KernelFunction.h"
#include "test/language/engines/ToyStream.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <cstring>

namespace nereid::conformance {

using runtime::ArgumentInfo;
using runtime::ArgumentKind;
using runtime::LaunchError;

void *otherSide(const void *address) {
  constexpr uint64_t farBit = uint64_t{1} << 62;
  return reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(address) ^ farBit);
}

namespace {

class ToyModule final : public runtime::Module {
public:
  explicit ToyModule(runtime::Device &device) : Module(device) {}
  ~ToyModule() override { module = {}; } // before its context goes to the next one

  bool parse(const std::string &text) { // ended by a zero, as the parser wants it
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &session.context());
    return module && pipeline::kernelFunctions(*module).size() == 1;
  }
  void *symbol(std::string_view name) const override {
    mlir::Operation *kernel = pipeline::kernelFunctions(*module).front();
    return pipeline::readKernelInfo(kernel).name == name ? const_cast<ToyModule *>(this) : nullptr;
  }
  LaunchError launch(runtime::Grid grid, std::span<const runtime::ArgumentValue> arguments) {
    std::lock_guard guard(lock);
    Diagnostics diags;
    if (!interpret(*module, grid, arguments, diags)) {
      return {diags.all().front().code, diags.all().front().message};
    }
    return {};
  }

private:
  std::mutex lock; ///< one stream at a time
  pipeline::Session session{nullptr};
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Of a pointer all that lies behind it; of a descriptor the tensor it describes.
runtime::Tensor tensorOf(ToyDevice &device, const ArgumentInfo &info, const uint64_t *slots) {
  auto *address = static_cast<uint8_t *>(otherSide(reinterpret_cast<void *>(slots[0])));
  if (info.kind == ArgumentKind::Pointer) {
    const auto count = static_cast<int64_t>(device.bytesFrom(address) / sizeInBytes(info.dtype));
    return runtime::Tensor::borrow(address, {count}, info.dtype);
  }
  const auto *parts = reinterpret_cast<const int64_t *>(slots + 1);
  std::vector<int64_t> shape(parts, parts + info.rank);
  std::vector<int64_t> strides(parts + info.rank, parts + 2 * info.rank - 1);
  strides.push_back(1);
  return runtime::Tensor::borrow(address, std::move(shape), info.dtype, std::move(strides));
}

double floatIn(DType dtype, uint64_t slot) {
  if (dtype == DType::F64) {
    double number;
    std::memcpy(&number, &slot, sizeof(number));
    return number;
  }
  float number;
  std::memcpy(&number, &slot, sizeof(number));
  return static_cast<double>(number);
}

std::variant<std::unique_ptr<runtime::Device>, LaunchError> makeToyDevice(int32_t id) {
  if (id > 1) {
    return LaunchError{"E0415",
                       "expects 'toy:0' or 'toy:1', but got 'toy:" + std::to_string(id) + "'"};
  }
  return std::make_unique<ToyDevice>(id);
}

} // namespace

std::shared_ptr<void> ToyDevice::allocate(uint64_t bytes) {
  std::shared_ptr<void> memory = runtime::cpuDevice().allocate(bytes);
  if (!memory) {
    return nullptr;
  }
  std::lock_guard guard(lock);
  sizes[memory.get()] = bytes;
  return std::shared_ptr<void>(otherSide(memory.get()), [this, memory](void *) {
    std::lock_guard guard(lock);
    sizes.erase(memory.get());
  });
}

std::variant<std::shared_ptr<runtime::Module>, LaunchError>
ToyDevice::load(std::span<const uint8_t> code) {
  auto module = std::make_shared<ToyModule>(*this);
  if (!module->parse(std::string(code.begin(), code.end()))) {
    return LaunchError{"E0390", "this is no tile IR with one kernel"};
  }
  return module;
}

std::variant<std::unique_ptr<runtime::Stream>, LaunchError> ToyDevice::makeStream() {
  return makeToyStream(*this);
}

std::variant<std::unique_ptr<runtime::Stream>, LaunchError> ToyDevice::wrapStream(void *handle) {
  if (!handle) {
    return LaunchError{"E0417", "expects a stream of another library, but toys have none of their "
                                "own that has no name"};
  }
  return makeToyStream(*this, static_cast<ToyQueue *>(handle));
}

uint64_t ToyDevice::bytesFrom(uint8_t *address) {
  std::lock_guard guard(lock);
  auto next = sizes.upper_bound(address);
  if (next == sizes.begin()) {
    return 0;
  }
  const auto &[begin, bytes] = *std::prev(next);
  const uint64_t offset = static_cast<uint64_t>(address - static_cast<uint8_t *>(begin));
  return offset < bytes ? bytes - offset : 0;
}

LaunchError launchToy(ToyDevice &device, const runtime::Kernel &kernel, runtime::Grid grid,
                      const uint64_t *slots) {
  std::vector<runtime::Tensor> tensors;
  tensors.reserve(kernel.info.arguments.size()); // addresses stay
  std::vector<runtime::ArgumentValue> arguments;
  for (const ArgumentInfo &info : kernel.info.arguments) {
    if (info.kind == ArgumentKind::Integer) {
      arguments.emplace_back(static_cast<int64_t>(*slots));
    } else if (info.kind == ArgumentKind::Float) {
      arguments.emplace_back(floatIn(info.dtype, *slots));
    } else {
      arguments.emplace_back(&tensors.emplace_back(tensorOf(device, info, slots)));
    }
    slots += info.slots();
  }
  return static_cast<ToyModule *>(kernel.code.get())->launch(grid, arguments);
}

void registerToyDevices() { runtime::registerDevices("toy", ToyDevice::dlpackType, makeToyDevice); }

} // namespace nereid::conformance
