// SPDX-License-Identifier: Apache-2.0
// Kernels with descriptors run twice in the interpreter: as they are, and after
// `tile-lower-descriptors`. The two share no arithmetic and must leave the same bytes.
#include "EmitTest.h"

#include "lib/tile/transforms/Passes.h"

#include "mlir/Pass/PassManager.h"

#include <numeric>

namespace nereid::language {
namespace {

/// Bytes that make numbers of every type, none of them 0.
std::vector<uint8_t> patternBytes(size_t count) {
  std::vector<uint8_t> bytes(count);
  for (size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<uint8_t>(1 + (i * 37) % 101);
  }
  return bytes;
}

struct Run {
  std::vector<uint8_t> in, out;
};

/// Runs `kernel(x, out, m, n)` over arrays of 12 x 24 elements.
Run run(Emitted &kernel, DType type, int64_t m, int64_t n) {
  const size_t bytes = 12 * 24 * static_cast<size_t>(sizeInBytes(type));
  Run result{patternBytes(bytes), std::vector<uint8_t>(bytes, 0x11)};
  auto tensor = [&](std::vector<uint8_t> &data) {
    return runtime::Tensor::borrow(data.data(), {12, 24}, type);
  };
  runtime::Tensor in = tensor(result.in), out = tensor(result.out);
  runKernel(kernel, {&in, &out, m, n}, 3); // an odd number, which xor does not undo
  return result;
}

void expectSameBothWays(const std::string &body, const std::string &element, int64_t m = 9,
                        int64_t n = 21) {
  SCOPED_TRACE(body + " of " + element);
  Emitted kernel = emitBody("x, out, m, n", body, "*" + element + ", *" + element + ", i32, i32");
  ASSERT_TRUE(kernel.module);
  ASSERT_TRUE(kernel.has("tile.descriptor_")) << kernel.text;
  ASSERT_FALSE(kernel.has("tile.load") || kernel.has("tile.store")) << kernel.text;
  const DType type = *parseDType(element);
  const Run direct = run(kernel, type, m, n);
  mlir::PassManager passes(kernel.context.get());
  passes.addPass(tile::createLowerDescriptorsPass());
  ASSERT_TRUE(mlir::succeeded(passes.run(*kernel.module)));
  kernel.text.clear();
  llvm::raw_string_ostream(kernel.text) << *kernel.module;
  EXPECT_FALSE(kernel.has("descriptor")) << kernel.text;
  const Run lowered = run(kernel, type, m, n);
  EXPECT_EQ(direct.in, lowered.in);
  EXPECT_EQ(direct.out, lowered.out);
  EXPECT_NE(direct.out, std::vector<uint8_t>(direct.out.size(), 0x11)) << "nothing was written";
}

std::string descriptors(const std::string &block, const std::string &padding = "zero") {
  return "d = tl.make_tensor_descriptor(x, [m, n], [24, 1], " + block + ", padding_option='" +
         padding + "')\no = tl.make_tensor_descriptor(out, [12, 24], [24, 1], " + block + ")\n";
}

const char *const elements[] = {"i1",      "i8",       "i16",  "i32",   "i64",     "u8",
                                "u16",     "u32",      "u64",  "fp8e5", "fp8e4nv", "fp8e4b15",
                                "fp8e4b8", "fp8e5b16", "fp16", "bf16",  "fp32",    "fp64"};

TEST(DescriptorLowering, everyElementTypeWithZerosOutside) {
  for (const char *element : elements) {
    expectSameBothWays(descriptors("[8, 16]") + "o.store([0, 0], d.load([4, 8]))", element);
  }
}

TEST(DescriptorLowering, everyFloatWithNaNOutside) {
  for (const char *element :
       {"fp8e5", "fp8e4nv", "fp8e4b8", "fp8e5b16", "fp16", "bf16", "fp32", "fp64"}) {
    expectSameBothWays(descriptors("[8, 16]", "nan") + "o.store([0, 0], d.load([4, 8]))", element);
  }
}

TEST(DescriptorLowering, offsetsOutsideOnEverySide) {
  for (const char *offsets :
       {"[0, 0]", "[-3, 5]", "[2, -7]", "[-8, -16]", "[100, 0]", "[m, n]", "[m - 1, n - 1]",
        "[tl.program_id(0) * 8, tl.program_id(0) - 1]", "[2147483647, 0]", "[1 << 62, 1 << 62]"}) {
    const std::string at = offsets;
    expectSameBothWays(descriptors("[8, 16]", "nan") + "o.store([1, 2], d.load(" + at + "))",
                       "fp32");
    expectSameBothWays(descriptors("[8, 16]") + "o.store([0, 0], d.load([0, 0]))\n" + "d.store(" +
                           at + ", d.load([0, 0]) + 1)",
                       "i32");
  }
}

TEST(DescriptorLowering, sizesBelowTheBlockAndNone) {
  for (auto [m, n] : {std::pair(1, 1), std::pair(0, 5), std::pair(3, 0), std::pair(-1, 7)}) {
    expectSameBothWays(descriptors("[4, 8]", "nan") + "o.store([0, 0], d.load([0, 0]))", "fp32", m,
                       n);
  }
}

TEST(DescriptorLowering, oneAndThreeDimensions) {
  expectSameBothWays("d = tl.make_tensor_descriptor(x, [m * n], [1], [64])\n"
                     "o = tl.make_tensor_descriptor(out, [200], [1], [64])\n"
                     "o.store([160], d.load([n]))",
                     "fp16");
  expectSameBothWays("d = tl.make_tensor_descriptor(x, [3, m, 6], [96, 8, 1], [2, 4, 4])\n"
                     "o = tl.make_tensor_descriptor(out, [3, 4, 8], [96, 24, 1], [2, 4, 4])\n"
                     "o.store([1, 0, 1], d.load([2, m - 2, 3]))",
                     "fp32");
}

TEST(DescriptorLowering, rowsPickedByNumber) {
  const std::string rows = "rows = (tl.arange(0, 8) * 5 + 1) % 13 - 2\n";
  for (const char *type : {"", ".to(tl.int64)", ".to(tl.int16)", ".to(tl.uint32)"}) {
    expectSameBothWays(descriptors("[1, 8]", "nan") + rows + "o.scatter(d.gather(rows" + type +
                           ", n - 4), tl.arange(0, 8), 3)",
                       "fp32");
    expectSameBothWays(descriptors("[1, 8]") + rows + "v = d.gather(tl.arange(0, 8), 0)\n" +
                           "o.scatter(v, rows" + type + ", 20)",
                       "i32");
  }
}

TEST(DescriptorLowering, everyReduction) {
  for (const char *kind : {"add", "min", "max"}) {
    for (const char *element : {"i32", "u32", "i64", "u64", "fp16", "bf16", "fp32", "fp64"}) {
      expectSameBothWays(descriptors("[8, 16]") + "o.atomic_" + kind + "([6, 16], d.load([0, 8]))",
                         element);
    }
  }
  for (const char *kind : {"and", "or", "xor"}) {
    for (const char *element : {"i32", "u32", "i64", "u64"}) {
      expectSameBothWays(descriptors("[8, 16]") + "o.atomic_" + kind + "([-1, 3], d.load([2, 8]))",
                         element);
    }
  }
}

TEST(DescriptorLowering, descriptorsInLoopsAndBranches) {
  expectSameBothWays(descriptors("[4, 8]") + "for i in range(0, m):\n"
                                             "    o.store([i, i], d.load([i, 2 * i]))\n"
                                             "    if i % 2 == 0:\n"
                                             "        d = tl.make_tensor_descriptor(x, [m, i], "
                                             "[24, 1], [4, 8])\n",
                     "fp32");
}

} // namespace
} // namespace nereid::language
