// SPDX-License-Identifier: Apache-2.0
// Loads and stores: masks, undefined elements, strides, bool bytes, and the bounds check.
#include "RunKernel.h"

#include <cmath>
#include <fstream>

namespace nereid::test {
namespace {

/// Copies x to y under `offsets < n`, `size` elements per program.
std::string copyKernel(const std::string &element, int size, bool masked,
                       const std::string &other = "") {
  const std::string n = std::to_string(size);
  auto tile = [&](const std::string &type) { return "tensor<" + n + "x" + type + ">"; };
  const std::string pointer = "!tile.ptr<" + element + ">";
  const std::string mask = masked ? " mask %m : " + tile("i1") : "";
  const std::string value = other.empty() ? "" : " other %o : " + tile(element);
  return "func.func @k(%x: " + pointer + ", %y: " + pointer +
         ", %n: i32) attributes {tile.kernel,\n"
         "    nereid.arguments = [{name = \"x_ptr\"}, {name = \"y_ptr\"}, {name = \"n\"}]} {\n"
         "  %pid = tile.program_id 0\n  %size = arith.constant " +
         n +
         " : i32\n"
         "  %start = arith.muli %pid, %size : i32\n"
         "  %s = tile.splat %start : i32 -> " +
         tile("i32") +
         "\n"
         "  %r = tile.make_range 0 to " +
         n + " : " + tile("i32") +
         "\n"
         "  %i = arith.addi %s, %r : " +
         tile("i32") +
         "\n"
         "  %ns = tile.splat %n : i32 -> " +
         tile("i32") +
         "\n"
         "  %m = arith.cmpi slt, %i, %ns : " +
         tile("i32") +
         "\n"
         "  %xs = tile.splat %x : " +
         pointer + " -> " + tile(pointer) +
         "\n"
         "  %xp = tile.addptr %xs, %i : " +
         tile(pointer) + ", " + tile("i32") +
         "\n"
         "  %ys = tile.splat %y : " +
         pointer + " -> " + tile(pointer) +
         "\n"
         "  %yp = tile.addptr %ys, %i : " +
         tile(pointer) + ", " + tile("i32") + "\n" +
         (other.empty() ? ""
                        : "  %o = arith.constant dense<" + other + "> : " + tile(element) + "\n") +
         "  %v = tile.load %xp" + mask + value + " : " + tile(pointer) + " -> " + tile(element) +
         "\n"
         "  tile.store %yp, %v" +
         (other.empty() ? mask : "") + " : " + tile(pointer) + ", " + tile(element) +
         "\n  return\n}\n";
}

TEST(Memory, CopiesEveryTypeWithARaggedEnd) {
  const int64_t n = 37;
  for (int d = 0; d < dtypeCount; ++d) {
    const auto dtype = static_cast<DType>(d);
    auto x = runtime::Tensor::empty({n}, dtype), y = runtime::Tensor::empty({n}, dtype);
    for (int64_t i = 0; i < n; ++i) {
      x.set(i, dtype == DType::Bool ? i % 3 == 0 : i + 1);
    }
    y.poison();
    mustRun(copyKernel(typeName(dtype), 16, true), {3, 1, 1}, {&x, &y, n});
    EXPECT_EQ(std::memcmp(x.data(), y.data(), x.byteCount()), 0) << torchName(dtype);
  }
}

TEST(Memory, MaskedElementsTakeOther) {
  auto x = tensorOf<float>(DType::F32, {1, 2, 3}), y = tensorOf<float>(DType::F32, {0, 0, 0, 0, 0});
  mustRun(copyKernel("f32", 5, true, "-7.5"), {1, 1, 1}, {&x, &y, int64_t(3)});
  EXPECT_EQ(valuesOf<float>(y), (std::vector<float>{1, 2, 3, -7.5f, -7.5f}));
}

TEST(Memory, MaskedElementsWithoutOtherAreUndefined) {
  const char *kernel = R"(
    func.func @k(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
      %no = arith.constant false
      %v = tile.load %x mask %no : i1 : !tile.ptr<f32> -> f32
      tile.store %y, %v : !tile.ptr<f32>, f32
      return
    })";
  auto x = tensorOf<float>(DType::F32, {1}), y = tensorOf<float>(DType::F32, {0});
  mustRun(kernel, {1, 1, 1}, {&x, &y});
  EXPECT_TRUE(std::isnan(y.as<float>()[0]));
}

TEST(Memory, MaskedStoreLeavesTheRest) {
  auto x = tensorOf<int16_t>(DType::I16, {1, 2, 3, 4}),
       y = tensorOf<int16_t>(DType::I16, {9, 9, 9, 9});
  mustRun(copyKernel("i16", 4, true), {1, 1, 1}, {&x, &y, int64_t(2)});
  EXPECT_EQ(valuesOf<int16_t>(y), (std::vector<int16_t>{1, 2, 9, 9}));
}

TEST(Memory, BoolsAreOneByteZeroOrOne) {
  auto x = tensorOf<uint8_t>(DType::Bool, {0, 1, 255, 2}),
       y = tensorOf<uint8_t>(DType::Bool, {7, 7, 7, 7});
  mustRun(copyKernel("i1", 4, false), {1, 1, 1}, {&x, &y, int64_t(4)});
  EXPECT_EQ(valuesOf<uint8_t>(y), (std::vector<uint8_t>{0, 1, 1, 1}));
}

TEST(Memory, NegativeOffsetsAndPointerCasts) {
  const char *kernel = R"(
    func.func @k(%x: !tile.ptr<i32>, %y: !tile.ptr<i64>) attributes {tile.kernel} {
      %two = arith.constant 2 : i64
      %back = arith.constant -1 : i8
      %p = tile.addptr %x, %two : !tile.ptr<i32>, i64
      %q = tile.addptr %p, %back : !tile.ptr<i32>, i8
      %n = tile.ptr_to_int %q : !tile.ptr<i32> -> i64
      %four = arith.constant 4 : i64
      %m = arith.subi %n, %four : i64
      %r = tile.int_to_ptr %m : i64 -> !tile.ptr<i8>
      %s = tile.ptr_cast %r : !tile.ptr<i8> -> !tile.ptr<i64>
      %v = tile.load %s : !tile.ptr<i64> -> i64
      tile.store %y, %v : !tile.ptr<i64>, i64
      return
    })";
  auto x = tensorOf<uint32_t>(DType::I32, {0x11111111, 0x22222222, 3});
  auto y = tensorOf<uint64_t>(DType::I64, {0});
  mustRun(kernel, {1, 1, 1}, {&x, &y});
  EXPECT_EQ(y.as<uint64_t>()[0], 0x2222222211111111u);
}

TEST(Memory, ReadBeyondTheEndIsReportedWithItsPlace) {
  // Guard elements on both sides prove that nothing outside is touched even by one element.
  auto whole = tensorOf<float>(DType::F32, {1, 2, 3, 4, 5, 6, 7, 8});
  auto x = runtime::Tensor::borrow(whole.as<float>() + 1, {5}, DType::F32);
  auto y = tensorOf<float>(DType::F32, std::vector<float>(8, 0.f));
  Diagnostics diags;
  EXPECT_FALSE(runText(copyKernel("f32", 4, false), {2, 1, 1}, {&x, &y, int64_t(5)}, diags));
  ASSERT_EQ(diags.all().size(), 1u);
  const Diagnostic &diagnostic = diags.all()[0];
  EXPECT_EQ(diagnostic.code, "E0403");
  EXPECT_EQ(diagnostic.message, "load reads outside every tensor at element [1] of the tile");
  ASSERT_EQ(diagnostic.notes.size(), 3u);
  EXPECT_EQ(diagnostic.notes[0], "in program (1, 0, 0) of the grid (2, 1, 1)");
  EXPECT_EQ(diagnostic.notes[1], "the address is at byte 20 of 'x_ptr', which has 20 bytes, and "
                                 "the element takes 4");
  EXPECT_EQ(diagnostic.notes[2], "3 of 4 elements of this access lie outside");
}

TEST(Memory, WriteOutsideChangesNothing) {
  auto whole = tensorOf<float>(DType::F32, {-1, -1, -1, -1, -1});
  auto y = runtime::Tensor::borrow(whole.as<float>(), {3}, DType::F32);
  auto x = tensorOf<float>(DType::F32, {1, 2, 3, 4});
  Diagnostics diags;
  EXPECT_FALSE(runText(copyKernel("f32", 4, false), {1, 1, 1}, {&x, &y, int64_t(4)}, diags));
  ASSERT_EQ(diags.all().size(), 1u);
  EXPECT_EQ(diags.all()[0].message, "store writes outside every tensor at element [3] of the tile");
  EXPECT_EQ(valuesOf<float>(whole), (std::vector<float>{-1, -1, -1, -1, -1}));
}

TEST(Memory, AccessThatStraddlesTheEndIsOutside) {
  const char *kernel = R"(
    func.func @k(%x: !tile.ptr<i8>) attributes {tile.kernel} {
      %one = arith.constant 1 : i32
      %p = tile.addptr %x, %one : !tile.ptr<i8>, i32
      %q = tile.ptr_cast %p : !tile.ptr<i8> -> !tile.ptr<i32>
      %v = tile.load %q : !tile.ptr<i32> -> i32
      return
    })";
  auto x = tensorOf<int8_t>(DType::I8, {1, 2, 3, 4});
  Diagnostics diags;
  EXPECT_FALSE(runText(kernel, {1, 1, 1}, {&x}, diags));
  auto longer = tensorOf<int8_t>(DType::I8, {1, 2, 3, 4, 5});
  mustRun(kernel, {1, 1, 1}, {&longer});
}

TEST(Memory, AddressBeforeTheStartAndWildAddresses) {
  for (const char *offset : {"-1", "2305843009213693951", "-2305843009213693952"}) {
    Diagnostics diags;
    auto x = tensorOf<float>(DType::F32, {1, 2});
    EXPECT_FALSE(runText("func.func @k(%x: !tile.ptr<f32>) attributes {tile.kernel} {\n"
                         "  %o = arith.constant " +
                             std::string(offset) +
                             " : i64\n"
                             "  %p = tile.addptr %x, %o : !tile.ptr<f32>, i64\n"
                             "  %v = tile.load %p : !tile.ptr<f32> -> f32\n  return\n}",
                         {1, 1, 1}, {&x}, diags))
        << offset;
  }
}

TEST(Memory, StridedTensorsReachFromTheirFirstToTheirLastElement) {
  auto whole = tensorOf<float>(DType::F32, {0, 1, 2, 3, 4, 5, 6, 7});
  // Elements 6, 4, 2: a negative stride.
  auto x = runtime::Tensor::borrow(whole.as<float>() + 6, {3}, DType::F32, {-2});
  auto load = [&](int offset) {
    Diagnostics diags;
    return runText("func.func @k(%x: !tile.ptr<f32>) attributes {tile.kernel} {\n"
                   "  %o = arith.constant " +
                       std::to_string(offset) +
                       " : i32\n"
                       "  %p = tile.addptr %x, %o : !tile.ptr<f32>, i32\n"
                       "  %v = tile.load %p : !tile.ptr<f32> -> f32\n  return\n}",
                   {1, 1, 1}, {&x}, diags);
  };
  EXPECT_TRUE(load(0));
  EXPECT_TRUE(load(-4));
  EXPECT_FALSE(load(-5));
  EXPECT_FALSE(load(1));
}

TEST(Memory, ErrorsShowTheKernelsLineAndItsCallers) {
  const std::string path = testing::TempDir() + "nereid_interpreter_place.py";
  std::ofstream(path) << "import triton\n    x = tl.load(p + 9)\n";
  auto x = tensorOf<float>(DType::F32, {1});
  Diagnostics diags;
  EXPECT_FALSE(runText("func.func @k(%x: !tile.ptr<f32>) attributes {tile.kernel} {\n"
                       "  %o = arith.constant 9 : i32\n"
                       "  %p = tile.addptr %x, %o : !tile.ptr<f32>, i32\n"
                       "  %v = tile.load %p : !tile.ptr<f32> -> f32 loc(callsite(\"" +
                           path + "\":2:9 at \"caller.py\":40:3))\n  return\n}",
                       {1, 1, 1}, {&x}, diags));
  ASSERT_EQ(diags.all().size(), 1u);
  EXPECT_EQ(diags.all()[0].file, path);
  EXPECT_EQ(diags.all()[0].range.line, 2);
  EXPECT_EQ(diags.all()[0].range.column, 9);
  EXPECT_EQ(diags.all()[0].lineText, "    x = tl.load(p + 9)");
  EXPECT_EQ(diags.all()[0].notes[0], "called from caller.py:40");
}

} // namespace
} // namespace nereid::test
