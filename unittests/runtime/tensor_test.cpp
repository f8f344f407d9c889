// SPDX-License-Identifier: Apache-2.0
// Tensors: allocation, strides, views, conversion, DLPack in both directions.
#include "runtime/tensor/Dlpack.h"
#include "runtime/tensor/Tensor.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::runtime;

namespace {

TEST(Tensor, AllocatesAligned) {
  for (int64_t count : {1, 3, 1000}) {
    const Tensor tensor = Tensor::empty({count}, DType::F32);
    ASSERT_TRUE(tensor.isValid());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data()) % 64, 0u);
  }
  const Tensor large = Tensor::empty({3, 1 << 20}, DType::F32);
  ASSERT_TRUE(large.isValid());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(large.data()) % (2 << 20), 0u);
  std::memset(large.data(), 1, large.byteCount());
}

TEST(Tensor, RefusesWhatCannotBe) {
  constexpr int64_t big = int64_t{1} << 40;
  EXPECT_FALSE(Tensor::empty({big, big, big}, DType::F64).isValid());
  EXPECT_FALSE(Tensor::empty({big, 1 << 20}, DType::F64).isValid());
  EXPECT_FALSE(Tensor::empty({INT64_MAX}, DType::I8).isValid());
  EXPECT_FALSE(Tensor::empty({-1}, DType::F32).isValid());
  EXPECT_FALSE(Tensor().isValid());
  int value = 0;
  EXPECT_FALSE(Tensor::borrow(&value, {1, 1}, DType::I32, {1}).isValid());
}

TEST(Tensor, EmptyAndScalarShapes) {
  EXPECT_TRUE(Tensor::empty({0, 5}, DType::F32).isValid());
  EXPECT_EQ(Tensor::empty({int64_t{1} << 62, int64_t{1} << 62, 0}, DType::F32).elementCount(), 0);
  const Tensor scalar = Tensor::empty({}, DType::F64);
  scalar.set(0, 2.5);
  EXPECT_EQ(scalar.elementCount(), 1);
  EXPECT_EQ(scalar.at(0), 2.5);
}

TEST(Tensor, StridesAreHonoured) {
  float data[12];
  for (int i = 0; i < 12; ++i) {
    data[i] = static_cast<float>(i);
  }
  const Tensor transposed = Tensor::borrow(data, {4, 3}, DType::F32, {1, 4});
  EXPECT_FALSE(transposed.isContiguous());
  EXPECT_EQ(transposed.at(1), 4); // [0, 1]
  EXPECT_EQ(transposed.at(3), 1); // [1, 0]
  const Tensor dense = transposed.to(DType::I64);
  EXPECT_TRUE(dense.isContiguous());
  EXPECT_EQ(dense.as<int64_t>()[4], 5); // [1, 1]
  const Tensor reversed = Tensor::borrow(data + 11, {12}, DType::F32, {-1});
  EXPECT_EQ(reversed.at(0), 11);
  EXPECT_EQ(reversed.to(DType::F32).as<float>()[11], 0);
  EXPECT_TRUE(Tensor::borrow(data, {1, 12}, DType::F32, {99, 1}).isContiguous());
}

TEST(Tensor, ConvertsAcrossTypes) {
  const Tensor from = Tensor::empty({2000}, DType::F32);
  for (int64_t i = 0; i < 2000; ++i) {
    from.set(i, static_cast<double>(i) * 0.25 - 100);
  }
  for (int type = 0; type < dtypeCount; ++type) {
    const Tensor to = from.to(static_cast<DType>(type));
    for (int64_t i : {0, 1, 400, 401, 511, 512, 1999}) {
      double expected[1];
      storeFromDouble(expected, static_cast<DType>(type), from.at(i));
      EXPECT_EQ(to.at(i), loadAsDouble(expected, static_cast<DType>(type))) << type << " " << i;
    }
  }
}

TEST(Tensor, IntegersConvertWithoutLoss) {
  const Tensor from = Tensor::empty({2}, DType::I64);
  from.as<int64_t>()[0] = INT64_MAX;
  from.as<int64_t>()[1] = -1;
  EXPECT_EQ(from.to(DType::I64).as<int64_t>()[0], INT64_MAX);
  EXPECT_EQ(from.to(DType::U64).as<uint64_t>()[1], UINT64_MAX);
  EXPECT_EQ(from.to(DType::U8).as<uint8_t>()[0], 255);
  const Tensor wide = Tensor::empty({1}, DType::U64);
  wide.as<uint64_t>()[0] = UINT64_MAX;
  EXPECT_EQ(wide.to(DType::F32).as<float>()[0], 18446744073709551616.0f);
  // One rounding, not two: this integer is just above the middle of two float32 numbers.
  from.as<int64_t>()[0] = (int64_t{1} << 61) + (int64_t{1} << 37) + 1;
  EXPECT_EQ(from.to(DType::F32).as<float>()[0], std::ldexp(1.0f, 61) + std::ldexp(1.0f, 38));
}

TEST(Tensor, PoisonReadsAsWrong) {
  for (DType type : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
    const Tensor tensor = Tensor::empty({700}, type);
    tensor.poison();
    EXPECT_TRUE(std::isnan(tensor.at(0)) && std::isnan(tensor.at(699)));
  }
  const Tensor integers = Tensor::empty({3}, DType::I16);
  integers.poison();
  EXPECT_EQ(integers.as<uint16_t>()[2], 0xCDCD);
  float data[4] = {1, 2, 3, 4};
  Tensor::borrow(data, {2}, DType::F32, {2}).poison();
  EXPECT_TRUE(std::isnan(data[2]));
  EXPECT_EQ(data[1], 2) << "gaps are not touched";
}

TEST(Tensor, ViewsStayInside) {
  const Tensor whole = Tensor::empty({4, 6}, DType::I32);
  fillIntegers(whole, 1, 0, 1000);
  const auto column = whole.view(2, {4}, {6});
  ASSERT_TRUE(std::holds_alternative<Tensor>(column));
  EXPECT_EQ(std::get<Tensor>(column).at(3), whole.at(3 * 6 + 2));
  EXPECT_TRUE(std::holds_alternative<Tensor>(whole.view(23, {6, 4}, {-1, -6})));
  EXPECT_TRUE(std::holds_alternative<std::string>(whole.view(1, {24})));
  EXPECT_TRUE(std::holds_alternative<std::string>(whole.view(-1, {1})));
  EXPECT_TRUE(std::holds_alternative<std::string>(whole.view(0, {2, 2}, {1})));
  EXPECT_TRUE(std::holds_alternative<std::string>(whole.view(0, {INT64_MAX}, {INT64_MAX})));
}

int deletions = 0;

TEST(Dlpack, TakesOverAndRunsTheDeleterOnce) {
  deletions = 0;
  float data[7] = {0, 1, 2, 3, 4, 5, 6};
  int64_t shape[] = {2, 3};
  DLManagedTensor managed{};
  managed.dl_tensor = {data, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, nullptr, 4};
  managed.deleter = [](DLManagedTensor *) { ++deletions; };
  {
    auto taken = Tensor::fromDlpack(&managed);
    ASSERT_TRUE(std::holds_alternative<Tensor>(taken));
    const Tensor copy = std::get<Tensor>(taken);
    EXPECT_EQ(copy.at(0), 1) << "byte_offset counts";
    EXPECT_EQ(copy.strides(), (std::vector<int64_t>{3, 1}));
    EXPECT_EQ(deletions, 0);
  }
  EXPECT_EQ(deletions, 1);
}

TEST(Dlpack, RefusesOtherDevicesAndTypesWithoutTakingOver) {
  deletions = 0;
  float data[2] = {};
  int64_t shape[] = {2}, negative[] = {-2};
  const auto refused = [&](DLTensor description) {
    DLManagedTensor managed{};
    managed.dl_tensor = description;
    managed.deleter = [](DLManagedTensor *) { ++deletions; };
    return std::holds_alternative<std::string>(Tensor::fromDlpack(&managed));
  };
  EXPECT_TRUE(refused({data, {kDLCUDA, 0}, 1, {kDLFloat, 32, 1}, shape, nullptr, 0}));
  EXPECT_TRUE(refused({data, {kDLCPU, 0}, 1, {kDLComplex, 64, 1}, shape, nullptr, 0}));
  EXPECT_TRUE(refused({data, {kDLCPU, 0}, 1, {kDLFloat, 32, 4}, shape, nullptr, 0}));
  EXPECT_TRUE(refused({data, {kDLCPU, 0}, 1, {kDLFloat, 8, 1}, shape, nullptr, 0}));
  EXPECT_TRUE(refused({data, {kDLCPU, 0}, -1, {kDLFloat, 32, 1}, shape, nullptr, 0}));
  EXPECT_TRUE(refused({data, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, nullptr, nullptr, 0}));
  EXPECT_TRUE(refused({data, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, negative, nullptr, 0}));
  EXPECT_TRUE(refused({nullptr, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape, nullptr, 0}));
  EXPECT_EQ(deletions, 0);
  EXPECT_TRUE(std::holds_alternative<std::string>(Tensor::fromDlpack(nullptr)));
}

TEST(Dlpack, EveryTypeComesBack) {
  for (int i = 0; i < dtypeCount; ++i) {
    const DType type = static_cast<DType>(i);
    DLManagedTensor *exported;
    {
      const Tensor tensor = Tensor::empty({2, 3}, type);
      fillConstant(tensor, 1);
      exported = tensor.toDlpack();
    } // the export keeps the memory alive
    EXPECT_EQ(exported->dl_tensor.dtype.bits, sizeInBytes(type) * 8);
    auto back = Tensor::fromDlpack(exported);
    ASSERT_TRUE(std::holds_alternative<Tensor>(back));
    const bool isByte = isFloat8(type); // what DLPack before 1.1 has no names for
    EXPECT_EQ(std::get<Tensor>(back).dtype(), isByte ? DType::U8 : type);
    double bits = 0;
    storeFromDouble(&bits, type, 1);
    EXPECT_EQ(std::get<Tensor>(back).at(5), isByte ? *reinterpret_cast<const uint8_t *>(&bits) : 1);
  }
}

TEST(Dlpack, LaterVersionsNameEightBitFloats) {
  uint8_t data[2] = {0x38, 0xC0};
  int64_t shape[1] = {2};
  const std::pair<uint8_t, DType> codes[] = {
      {10, DType::F8E4M3FN}, {11, DType::F8E4M3FNUZ}, {12, DType::F8E5M2}, {13, DType::F8E5M2FNUZ}};
  for (const auto &[code, type] : codes) {
    DLManagedTensor managed{};
    managed.dl_tensor = {data, {kDLCPU, 0}, 1, {code, 8, 1}, shape, nullptr, 0};
    auto tensor = Tensor::fromDlpack(&managed);
    ASSERT_TRUE(std::holds_alternative<Tensor>(tensor));
    EXPECT_EQ(std::get<Tensor>(tensor).dtype(), type);
  }
  DLManagedTensor unknown{};
  unknown.dl_tensor = {data, {kDLCPU, 0}, 1, {7, 8, 1}, shape, nullptr, 0}; // e3m4
  EXPECT_TRUE(std::holds_alternative<std::string>(Tensor::fromDlpack(&unknown)));
}

/// What to() must give, one element at a time.
std::vector<uint8_t> convertedOneByOne(const Tensor &from, DType dtype) {
  const size_t bytes = sizeInBytes(dtype);
  std::vector<uint8_t> expected(static_cast<size_t>(from.elementCount()) * bytes);
  for (int64_t i = 0; i < from.elementCount(); ++i) {
    storeFromDouble(expected.data() + static_cast<size_t>(i) * bytes, dtype, from.at(i));
  }
  return expected;
}

void expectSameBits(const Tensor &from) {
  for (DType dtype : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
    if (dtype == from.dtype()) {
      continue; // a copy keeps signalling NaN
    }
    const Tensor to = from.to(dtype);
    const std::vector<uint8_t> expected = convertedOneByOne(from, dtype);
    const size_t bytes = sizeInBytes(dtype);
    for (size_t i = 0; i < static_cast<size_t>(from.elementCount()); ++i) {
      ASSERT_EQ(0, std::memcmp(to.as<uint8_t>() + i * bytes, expected.data() + i * bytes, bytes))
          << torchName(from.dtype()) << " to " << torchName(dtype) << ": element " << i << ", "
          << from.at(static_cast<int64_t>(i));
    }
  }
}

TEST(Tensor, ConversionsOfEvery16BitPatternAreExact) {
  for (DType dtype : {DType::F16, DType::BF16}) {
    const Tensor all = Tensor::empty({65536}, dtype);
    for (int i = 0; i < 65536; ++i) {
      all.as<uint16_t>()[i] = static_cast<uint16_t>(i);
    }
    expectSameBits(all);
  }
}

/// Number i of six for each 16-bit pattern: the number itself and the middle to its successor,
/// each exactly and a little to both sides.
double nearPattern(DType dtype, int64_t i) {
  const auto bits = static_cast<uint16_t>(i / 6);
  auto decode = [&](uint16_t pattern) {
    return static_cast<double>(dtype == DType::F16 ? fromHalf(pattern) : fromBFloat16(pattern));
  };
  double value = decode(bits);
  if (i % 2) {
    value = (value + decode(static_cast<uint16_t>(bits + 1))) / 2;
  }
  return i % 6 < 2   ? value
         : i % 6 < 4 ? std::nextafter(value, HUGE_VAL)
                     : std::nextafter(value, -HUGE_VAL);
}

TEST(Tensor, ConversionsRoundOnce) {
  constexpr int64_t count = 65536 * 6;
  const Tensor doubles = Tensor::empty({count}, DType::F64);
  const Tensor floats = Tensor::empty({count}, DType::F32);
  for (DType dtype : {DType::F16, DType::BF16}) {
    for (int64_t i = 0; i < count; ++i) {
      doubles.as<double>()[i] = nearPattern(dtype, i);
      floats.as<float>()[i] = static_cast<float>(nearPattern(dtype, i));
    }
    expectSameBits(doubles);
    expectSameBits(floats);
  }
}

TEST(Tensor, ConversionsOfAnyBits) {
  constexpr int64_t count = 300007;
  const Tensor doubles = Tensor::empty({count}, DType::F64);
  const Tensor floats = Tensor::empty({count}, DType::F32);
  uint64_t state = 1;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    std::memcpy(doubles.as<double>() + i, &state, 8);
    std::memcpy(floats.as<float>() + i, reinterpret_cast<uint8_t *>(&state) + 4, 4);
  }
  expectSameBits(doubles);
  expectSameBits(floats);
}

} // namespace
