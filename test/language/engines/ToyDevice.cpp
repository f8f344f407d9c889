// SPDX-License-Identifier: Apache-2.0
#include "test/language/engines/ToyDevice.h"

#include "lib/interpreter/Interpreter.h"
#include "lib/pipeline/Session.h"
#include "lib/pipeline/kernel/KernelFunction.h"
#include "runtime/Device.h"
#include "runtime/Kernel.h"
#include "runtime/core/Clock.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <cstring>
#include <map>
#include <mutex>

namespace nereid::conformance {
namespace {

using runtime::ArgumentInfo;
using runtime::ArgumentKind;
using runtime::LaunchError;

/// Makes a host address one of the device, which no host has, and back.
constexpr uint64_t farBit = uint64_t{1} << 62;

void *otherSide(const void *address) {
  return reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(address) ^ farBit);
}

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
  mlir::ModuleOp get() { return *module; }

private:
  pipeline::Session session{nullptr};
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

class ToyDevice;

class ToyEvent final : public runtime::Event {
public:
  using Event::Event;
  const uint64_t nanos = runtime::nowNanos();
  LaunchError synchronize() override { return {}; }
  std::variant<double, LaunchError> nanosSince(Event &start) override {
    return static_cast<double>(nanos - static_cast<ToyEvent &>(start).nanos);
  }
};

class ToyStream final : public runtime::Stream {
public:
  explicit ToyStream(ToyDevice &device);

  LaunchError launch(const runtime::Kernel &kernel, runtime::Grid grid, const uint64_t *slots,
                     runtime::ProgramOrder) override;
  LaunchError copyIn(void *to, const void *from, uint64_t bytes) override {
    std::memcpy(otherSide(to), from, bytes);
    return {};
  }
  LaunchError copyOut(void *to, const void *from, uint64_t bytes) override {
    std::memcpy(to, otherSide(from), bytes);
    return {};
  }
  std::variant<std::unique_ptr<runtime::Event>, LaunchError> record() override {
    return std::make_unique<ToyEvent>(device());
  }
  LaunchError synchronize() override { return {}; }

private:
  runtime::Tensor tensorOf(const ArgumentInfo &info, const uint64_t *slots);

  ToyDevice &toy;
};

class ToyDevice final : public runtime::Device {
public:
  static constexpr int32_t dlpackType = 12; ///< kDLExtDev, which nothing else in the test uses
  ToyDevice() : Device("toy", dlpackType, 0) {}

  std::shared_ptr<void> allocate(uint64_t bytes) override {
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
  std::variant<std::shared_ptr<runtime::Module>, std::string>
  load(std::span<const uint8_t> code) override {
    auto module = std::make_shared<ToyModule>(*this);
    if (!module->parse(std::string(code.begin(), code.end()))) {
      return std::string("this is no tile IR with one kernel");
    }
    return module;
  }
  std::variant<std::unique_ptr<runtime::Stream>, LaunchError> makeStream() override {
    return std::make_unique<ToyStream>(*this);
  }
  runtime::Stream &defaultStream() override { return stream; }

  /// Bytes from the host address to the end of the allocation that it is in.
  uint64_t bytesFrom(uint8_t *address) {
    std::lock_guard guard(lock);
    auto next = sizes.upper_bound(address);
    if (next == sizes.begin()) {
      return 0;
    }
    const auto &[begin, bytes] = *std::prev(next);
    const uint64_t offset = static_cast<uint64_t>(address - static_cast<uint8_t *>(begin));
    return offset < bytes ? bytes - offset : 0;
  }

private:
  std::mutex lock;
  std::map<void *, uint64_t> sizes; ///< by host address
  ToyStream stream{*this};
};

ToyStream::ToyStream(ToyDevice &device) : Stream(device), toy(device) {}

/// Of a pointer all that lies behind it; of a descriptor the tensor it describes.
runtime::Tensor ToyStream::tensorOf(const ArgumentInfo &info, const uint64_t *slots) {
  auto *address = static_cast<uint8_t *>(otherSide(reinterpret_cast<void *>(slots[0])));
  if (info.kind == ArgumentKind::Pointer) {
    const auto count = static_cast<int64_t>(toy.bytesFrom(address) / sizeInBytes(info.dtype));
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

LaunchError ToyStream::launch(const runtime::Kernel &kernel, runtime::Grid grid,
                              const uint64_t *slots, runtime::ProgramOrder) {
  std::vector<runtime::Tensor> tensors;
  tensors.reserve(kernel.info.arguments.size()); // addresses stay
  std::vector<runtime::ArgumentValue> arguments;
  for (const ArgumentInfo &info : kernel.info.arguments) {
    if (info.kind == ArgumentKind::Integer) {
      arguments.emplace_back(static_cast<int64_t>(*slots));
    } else if (info.kind == ArgumentKind::Float) {
      arguments.emplace_back(floatIn(info.dtype, *slots));
    } else {
      arguments.emplace_back(&tensors.emplace_back(tensorOf(info, slots)));
    }
    slots += info.slots();
  }
  Diagnostics diags;
  auto *module = static_cast<ToyModule *>(kernel.code.get());
  if (!interpret(module->get(), grid, arguments, diags)) {
    return {diags.all().front().code, diags.all().front().message};
  }
  return {};
}

std::variant<std::unique_ptr<runtime::Device>, LaunchError> makeToyDevice(int32_t id) {
  if (id > 0) {
    return LaunchError{"E0415", "expects 'toy:0', but got 'toy:" + std::to_string(id) + "'"};
  }
  return std::make_unique<ToyDevice>();
}

} // namespace

void registerToyDevices() { runtime::registerDevices("toy", ToyDevice::dlpackType, makeToyDevice); }

} // namespace nereid::conformance
