// SPDX-License-Identifier: Apache-2.0
// What a fused convolution moves, measured: the interpreter's monitor collects the elements that
// each launch reads and writes, however often it does. A launch has to bring in and take out at
// least these; compared are one launch with bias and ReLU, and three launches for the same result.
#include "unittests/target_cpu/LowerHarness.h"

#include "lib/interpreter/Instance.h"
#include "lib/interpreter/Interpreter.h"
#include "lib/interpreter/Monitor.h"

#include "mlir/Parser/Parser.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

using namespace nereid;
using namespace nereid::cpu::test;
using interpreter::Tile;
using runtime::Tensor;

namespace {

/// Addresses that are read and written, each once.
class TrafficMonitor : public interpreter::Monitor {
public:
  int64_t bytes() const { return static_cast<int64_t>(4 * (read.size() + written.size())); }

  void launchBegins(const interpreter::Launch &) override {}
  Tile admit(interpreter::Instance &, mlir::Operation *op, const Tile &pointer, const Tile *mask,
             interpreter::ElementType type) override {
    EXPECT_EQ(type.bytes(), 4u);
    Tile admitted = pointer.like(interpreter::boolType);
    for (size_t i = 0; i < pointer.size(); ++i) {
      admitted.at(i) = mask == nullptr || (*mask)[i] != 0 ? 1 : 0;
      if (admitted[i] != 0) {
        (mlir::isa<tile::StoreOp>(op) ? written : read).insert(pointer[i]);
      }
    }
    return admitted;
  }
  void atomicDone(interpreter::Instance &, mlir::Operation *, uint64_t, interpreter::ElementType,
                  bool) override {}
  void after(interpreter::Instance &, mlir::Operation *) override {}

private:
  std::set<uint64_t> read, written;
};

int64_t bytesMoved(const std::string &source, const std::string &signature, runtime::Grid grid,
                   const Arguments &arguments) {
  std::string error;
  std::string text = tileText(source, signature, error);
  EXPECT_EQ(error, "");
  mlir::DialectRegistry registry;
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  tile::loadDialects(context);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  TrafficMonitor monitor;
  InterpretOptions options;
  options.monitor = &monitor;
  Diagnostics diags;
  EXPECT_TRUE(module && interpret(*module, grid, arguments, diags, options)) << diags.render();
  return monitor.bytes();
}

std::string kernelText(const std::string &name) {
  std::ifstream file(NEREID_SOURCE_DIR "/kernels/conv2d/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

const char *addBias = R"(
@triton.jit
def kernel(y, bias, features, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(y + i, mask=i < n) + tl.load(bias + i % features, mask=i < n)
    tl.store(y + i, v, mask=i < n)
)";

const char *relu = R"(
@triton.jit
def kernel(y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.maximum(tl.load(y + i, mask=i < n), 0.0), mask=i < n)
)";

struct Image {
  int64_t size, channels, features, taps; ///< square; taps in each direction
};

/// Bytes of the fused launch, and of three launches, of conv2d_nhwc.py.
std::pair<int64_t, int64_t> measure(const Image &image) {
  const int64_t pixels = image.size * image.size, results = pixels * image.features;
  Tensor x = randomTensor({pixels, image.channels}, DType::F32, 1);
  Tensor w =
      randomTensor({image.taps * image.taps * image.channels, image.features}, DType::F32, 2);
  Tensor bias = randomTensor({image.features}, DType::F32, 3);
  Tensor y = randomTensor({pixels, image.features}, DType::F32, 4);
  Arguments arguments = {&x,
                         &w,
                         &bias,
                         &y,
                         pixels,
                         image.size,
                         image.size,
                         image.size,
                         image.size,
                         image.channels,
                         image.features};
  auto convolve = [&](int fuse) {
    std::string signature = fmt::format(
        "x=*fp32, w=*fp32, bias=*fp32, y=*fp32, pixels=i32, height=i32, width=i32, out_height=i32, "
        "out_width=i32, channels=i32, features=i32, KH={0}, KW={0}, STRIDE=1, PADDING={1}, "
        "DILATION=1, GROUPS=1, HAS_BIAS={2}, RELU={2}, PACKED=0, BLOCK_P=64, BLOCK_F=32, "
        "BLOCK_C=16",
        image.taps, image.taps / 2, fuse);
    return bytesMoved(kernelText("conv2d_nhwc.py"), signature,
                      {(pixels + 63) / 64, (image.features + 31) / 32, 1}, arguments);
  };
  runtime::Grid blocks{(results + 255) / 256, 1, 1};
  int64_t unfused = convolve(0) +
                    bytesMoved(addBias, "y=*fp32, bias=*fp32, features=i32, n=i32, BLOCK=256",
                               blocks, {&y, &bias, image.features, results}) +
                    bytesMoved(relu, "y=*fp32, n=i32, BLOCK=256", blocks, {&y, results});
  return {convolve(1), unfused};
}

TEST(ConvolutionTraffic, FusedMovesAQuarterLessAtLeast) {
  for (const Image &image : {Image{14, 16, 32, 3}, Image{12, 32, 24, 1}, Image{9, 8, 40, 3}}) {
    auto [fused, unfused] = measure(image);
    const int64_t pixels = image.size * image.size, y = pixels * image.features;
    const int64_t once = pixels * image.channels + y + image.features +
                         image.taps * image.taps * image.channels * image.features;
    EXPECT_EQ(fused, 4 * once); // as cases.toml counts `bytes`
    EXPECT_EQ(unfused, 4 * (once + 4 * y));
    EXPECT_LE(static_cast<double>(fused), 0.75 * static_cast<double>(unfused));
  }
}

} // namespace
