// SPDX-License-Identifier: Apache-2.0
// Atomics element by element: every kind, every type that it takes, masks, scalars, results used or
// not, orderings; and that no load moves across one. Expected values are computed here.
#include "unittests/target_cpu/LowerHarness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

using namespace nereid;
using namespace nereid::cpu::test;

namespace {

std::string replaced(std::string text, const std::string &what, const std::string &by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
  return text;
}

/// 24 elements, the first %n take part; what was read goes to %old.
const char *const tileKernel = R"(
func.func @kernel(%p: !tile.ptr<T>, %v: !tile.ptr<T>, %old: !tile.ptr<T>, %n: i32)
    attributes {tile.kernel} {
  %i = tile.make_range 0 to 24 : tensor<24xi32>
  %ns = tile.splat %n : i32 -> tensor<24xi32>
  %mask = arith.cmpi slt, %i, %ns : tensor<24xi32>
  %p0 = tile.splat %p : !tile.ptr<T> -> tensor<24x!tile.ptr<T>>
  %ps = tile.addptr %p0, %i : tensor<24x!tile.ptr<T>>, tensor<24xi32>
  %v0 = tile.splat %v : !tile.ptr<T> -> tensor<24x!tile.ptr<T>>
  %vs = tile.addptr %v0, %i : tensor<24x!tile.ptr<T>>, tensor<24xi32>
  %o0 = tile.splat %old : !tile.ptr<T> -> tensor<24x!tile.ptr<T>>
  %os = tile.addptr %o0, %i : tensor<24x!tile.ptr<T>>, tensor<24xi32>
  %x = tile.load %vs : tensor<24x!tile.ptr<T>> -> tensor<24xT>
  ATOMIC
  tile.store %os, %r mask %mask : tensor<24xi1> : tensor<24x!tile.ptr<T>>, tensor<24xT>
  return
})";

const char *const update =
    "%r = tile.atomic_rmw KIND %ps, %x mask %mask : tensor<24xi1> {sem = SEM "
    ": i32} : tensor<24x!tile.ptr<T>>, tensor<24xT>";

template <class Number> struct Kind {
  const char *name;
  Number (*apply)(Number, Number);
};

template <class Number>
void checkKinds(const char *type, const std::vector<Kind<Number>> &kinds,
                const std::vector<Number> &memory, const std::vector<Number> &values) {
  for (const std::string &architecture : runnableArchitectures()) {
    int semantics = 0;
    for (const Kind<Number> &kind : kinds) {
      std::string text = replaced(replaced(tileKernel, "ATOMIC", update), "KIND", kind.name);
      text = replaced(replaced(text, "SEM", std::to_string(semantics++ % 4)), "<T>",
                      std::string("<") + type + ">");
      text = replaced(text, "xT>", std::string("x") + type + ">");
      LoweredKernel kernel = lowerKernel(text, architecture);
      ASSERT_EQ(kernel.error, "") << text;
      for (size_t n : {0, 1, 13, 24}) {
        std::vector<Number> p(memory), old(24, values[3]);
        ASSERT_TRUE(
            kernel.launch({1, 1, 1}, {address(p.data()), address(values.data()),
                                      address(old.data()), number(static_cast<int64_t>(n))}));
        for (size_t i = 0; i < 24; ++i) {
          Number expected = i < n ? kind.apply(memory[i], values[i]) : memory[i];
          Number expectedOld = i < n ? memory[i] : values[3];
          EXPECT_EQ(std::memcmp(&p[i], &expected, sizeof(Number)), 0)
              << architecture << " " << type << " " << kind.name << " at " << i;
          EXPECT_EQ(std::memcmp(&old[i], &expectedOld, sizeof(Number)), 0)
              << architecture << " " << type << " " << kind.name << " old at " << i;
        }
      }
    }
  }
}

template <class Signed> void checkIntegers(const char *type) {
  using Unsigned = std::make_unsigned_t<Signed>;
  std::vector<Signed> memory(24), values(24);
  for (size_t i = 0; i < 24; ++i) {
    memory[i] = static_cast<Signed>(i * 0x9E3779B97F4A7C15ull >> (i % 3 ? 56 : 1));
    values[i] = static_cast<Signed>((23 - i) * 0xD1B54A32D192ED03ull >> (i % 2 ? 58 : 2));
  }
  memory[4] = std::numeric_limits<Signed>::max();
  values[5] = std::numeric_limits<Signed>::min();
  checkKinds<Signed>(
      type,
      {{"add",
        [](Signed a, Signed b) {
          return static_cast<Signed>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
        }},
       {"and", [](Signed a, Signed b) { return static_cast<Signed>(a & b); }},
       {"or", [](Signed a, Signed b) { return static_cast<Signed>(a | b); }},
       {"xor", [](Signed a, Signed b) { return static_cast<Signed>(a ^ b); }},
       {"max", [](Signed a, Signed b) { return std::max(a, b); }},
       {"min", [](Signed a, Signed b) { return std::min(a, b); }},
       {"umax",
        [](Signed a, Signed b) {
          return static_cast<Signed>(std::max(static_cast<Unsigned>(a), static_cast<Unsigned>(b)));
        }},
       {"umin",
        [](Signed a, Signed b) {
          return static_cast<Signed>(std::min(static_cast<Unsigned>(a), static_cast<Unsigned>(b)));
        }},
       {"xchg", [](Signed, Signed b) { return b; }}},
      memory, values);
}

TEST(Atomic, Integers) {
  checkIntegers<int8_t>("i8");
  checkIntegers<int16_t>("i16");
  checkIntegers<int32_t>("i32");
  checkIntegers<int64_t>("i64");
}

/// Multiples of 1/4 below 8: sums are exact in every type. One NaN meets a number.
template <class Float> void checkFloats(const char *type) {
  std::vector<Float> memory(24), values(24);
  for (size_t i = 0; i < 24; ++i) {
    memory[i] = static_cast<Float>(static_cast<double>(i * 7 % 31) / 4 - 4);
    values[i] = static_cast<Float>(static_cast<double>(i * 11 % 29) / 4 - 3);
  }
  checkKinds<Float>(type,
                    {{"fadd", [](Float a, Float b) { return a + b; }},
                     {"fmax", [](Float a, Float b) { return std::max(a, b); }},
                     {"fmin", [](Float a, Float b) { return std::min(a, b); }},
                     {"xchg", [](Float, Float b) { return b; }}},
                    memory, values);
  std::vector<Float> withNan(memory);
  withNan[2] = std::numeric_limits<Float>::quiet_NaN();
  checkKinds<Float>(type,
                    {{"fmax", [](Float a, Float b) { return std::fmax(a, b); }},
                     {"fmin", [](Float a, Float b) { return std::fmin(a, b); }}},
                    withNan, values);
}

TEST(Atomic, Floats) {
  checkFloats<float>("f32");
  checkFloats<double>("f64");
}

template <uint16_t (*Encode)(double), float (*Decode)(uint16_t)>
void checkHalves(const char *type) {
  std::vector<uint16_t> memory(24), values(24);
  for (size_t i = 0; i < 24; ++i) {
    memory[i] = Encode(static_cast<double>(i * 7 % 31) / 4 - 4);
    values[i] = Encode(static_cast<double>(i * 11 % 29) / 4 - 3);
  }
  checkKinds<uint16_t>(
      type,
      {{"fadd", [](uint16_t a, uint16_t b) { return Encode(double{Decode(a)} + Decode(b)); }},
       {"fmax", [](uint16_t a, uint16_t b) { return Encode(std::max(Decode(a), Decode(b))); }},
       {"fmin", [](uint16_t a, uint16_t b) { return Encode(std::min(Decode(a), Decode(b))); }},
       {"xchg", [](uint16_t, uint16_t b) { return b; }}},
      memory, values);
}

uint16_t encodeHalf(double value) { return toHalf(value); }
uint16_t encodeBrain(double value) { return toBFloat16(value); }

TEST(Atomic, Halves) {
  checkHalves<encodeHalf, fromHalf>("f16");
  checkHalves<encodeBrain, fromBFloat16>("bf16");
}

TEST(Atomic, CompareAndSwapOfTiles) {
  const char *text = R"(
func.func @kernel(%p: !tile.ptr<T>, %c: !tile.ptr<T>, %v: !tile.ptr<T>, %old: !tile.ptr<T>)
    attributes {tile.kernel} {
  %i = tile.make_range 0 to 8 : tensor<8xi32>
  %p0 = tile.splat %p : !tile.ptr<T> -> tensor<8x!tile.ptr<T>>
  %ps = tile.addptr %p0, %i : tensor<8x!tile.ptr<T>>, tensor<8xi32>
  %c0 = tile.splat %c : !tile.ptr<T> -> tensor<8x!tile.ptr<T>>
  %cs = tile.addptr %c0, %i : tensor<8x!tile.ptr<T>>, tensor<8xi32>
  %v0 = tile.splat %v : !tile.ptr<T> -> tensor<8x!tile.ptr<T>>
  %vs = tile.addptr %v0, %i : tensor<8x!tile.ptr<T>>, tensor<8xi32>
  %o0 = tile.splat %old : !tile.ptr<T> -> tensor<8x!tile.ptr<T>>
  %os = tile.addptr %o0, %i : tensor<8x!tile.ptr<T>>, tensor<8xi32>
  %compare = tile.load %cs : tensor<8x!tile.ptr<T>> -> tensor<8xT>
  %value = tile.load %vs : tensor<8x!tile.ptr<T>> -> tensor<8xT>
  %r = tile.atomic_cas %ps, %compare, %value : tensor<8x!tile.ptr<T>>, tensor<8xT>
  tile.store %os, %r : tensor<8x!tile.ptr<T>>, tensor<8xT>
  return
})";
  struct Row {
    const char *type;
    size_t bytes;
  };
  for (auto [type, bytes] : {Row{"i16", 2}, Row{"i32", 4}, Row{"i64", 8}, Row{"f16", 2},
                             Row{"bf16", 2}, Row{"f32", 4}, Row{"f64", 8}}) {
    std::string typed = replaced(replaced(text, "<T>", std::string("<") + type + ">"), "xT>",
                                 std::string("x") + type + ">");
    LoweredKernel kernel = lowerKernel(typed);
    ASSERT_EQ(kernel.error, "");
    // Bits are compared: +0 is not -0, a NaN is itself.
    uint8_t memory[64], compare[64], value[64], old[64] = {}, expected[64];
    for (size_t i = 0; i < 64; ++i) {
      memory[i] = static_cast<uint8_t>(i / bytes % 4 == 2 ? 0 : i / bytes % 4 == 1 ? 0xFF : i);
      value[i] = static_cast<uint8_t>(200 - i);
    }
    std::memcpy(compare, memory, 64);
    compare[3 * bytes] ^= 1;
    compare[3 * bytes - 1] = 0x80; // element 2 is +0, and this -0
    for (size_t i = 0; i < 8 * bytes; ++i) {
      bool isEqual = i / bytes != 2 && i / bytes != 3;
      expected[i] = isEqual ? value[i] : memory[i];
    }
    uint8_t before[64];
    std::memcpy(before, memory, 64);
    ASSERT_TRUE(kernel.launch({1, 1, 1},
                              {address(memory), address(compare), address(value), address(old)}));
    EXPECT_EQ(std::memcmp(memory, expected, 8 * bytes), 0) << type;
    EXPECT_EQ(std::memcmp(old, before, 8 * bytes), 0) << type;
  }
}

TEST(Atomic, ScalarsWithAndWithoutMask) {
  const char *text = R"(
func.func @kernel(%p: !tile.ptr<i32>, %f: !tile.ptr<f32>, %out: !tile.ptr<i32>, %on: i1)
    attributes {tile.kernel} {
  %five = arith.constant 5 : i32
  %half = arith.constant 0.5 : f32
  %a = tile.atomic_rmw add %p, %five : !tile.ptr<i32>, i32
  %b = tile.atomic_rmw add %p, %five mask %on : i1 : !tile.ptr<i32>, i32
  %c = tile.atomic_cas %p, %five, %a : !tile.ptr<i32>, i32
  %d = tile.atomic_rmw fadd %f, %half : !tile.ptr<f32>, f32
  %o = arith.addi %a, %c : i32
  tile.store %out, %o : !tile.ptr<i32>, i32
  return
})";
  LoweredKernel kernel = lowerKernel(text);
  ASSERT_EQ(kernel.error, "");
  EXPECT_EQ(kernel.loops.find("nereid.blocking"), std::string::npos);
  int32_t memory = 0, out = 0;
  float sum = 1;
  ASSERT_TRUE(kernel.launch({1, 1, 1}, {address(&memory), address(&sum), address(&out), 0}));
  EXPECT_EQ(memory, 0); // 0 + 5, then exchanged for the 0 that was read first
  EXPECT_EQ(out, 5);
  EXPECT_EQ(sum, 1.5f);
  memory = 7;
  ASSERT_TRUE(kernel.launch({1, 1, 1}, {address(&memory), address(&sum), address(&out), 1}));
  EXPECT_EQ(memory, 17);
  EXPECT_EQ(out, 7 + 17);
}

TEST(Atomic, OneAddressManyElements) {
  // A histogram: the addresses come from a load, and several elements have the same one.
  const char *text = R"(
func.func @kernel(%p: !tile.ptr<f32>, %bins: !tile.ptr<i32>) attributes {tile.kernel} {
  %i = tile.make_range 0 to 64 : tensor<64xi32>
  %b0 = tile.splat %bins : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>>
  %bs = tile.addptr %b0, %i : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  %bin = tile.load %bs : tensor<64x!tile.ptr<i32>> -> tensor<64xi32>
  %p0 = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %ps = tile.addptr %p0, %bin : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %one = arith.constant dense<1.0> : tensor<64xf32>
  %r = tile.atomic_rmw fadd %ps, %one {sem = 0 : i32} : tensor<64x!tile.ptr<f32>>, tensor<64xf32>
  return
})";
  for (const std::string &architecture : runnableArchitectures()) {
    LoweredKernel kernel = lowerKernel(text, architecture);
    ASSERT_EQ(kernel.error, "");
    std::vector<int32_t> bins(64);
    float counts[5] = {}, expected[5] = {};
    for (size_t i = 0; i < 64; ++i) {
      bins[i] = static_cast<int32_t>(i * i % 5);
      expected[bins[i]] += 1;
    }
    ASSERT_TRUE(kernel.launch({1, 1, 1}, {address(counts), address(bins.data())}));
    EXPECT_EQ(std::memcmp(counts, expected, sizeof counts), 0);
  }
}

TEST(Atomic, LoadsStayOnTheirSide) {
  // %before is read before the exchange writes the same elements in reverse, and used only after
  // it; %after is read from what the exchange left.
  const char *text = R"(
func.func @kernel(%p: !tile.ptr<i32>, %out: !tile.ptr<i32>) attributes {tile.kernel} {
  %i = tile.make_range 0 to 32 : tensor<32xi32>
  %last = arith.constant dense<31> : tensor<32xi32>
  %back = arith.subi %last, %i : tensor<32xi32>
  %size = arith.constant dense<32> : tensor<32xi32>
  %j = arith.addi %i, %size : tensor<32xi32>
  %p0 = tile.splat %p : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>>
  %ps = tile.addptr %p0, %i : tensor<32x!tile.ptr<i32>>, tensor<32xi32>
  %qs = tile.addptr %p0, %back : tensor<32x!tile.ptr<i32>>, tensor<32xi32>
  %o0 = tile.splat %out : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>>
  %os = tile.addptr %o0, %i : tensor<32x!tile.ptr<i32>>, tensor<32xi32>
  %us = tile.addptr %o0, %j : tensor<32x!tile.ptr<i32>>, tensor<32xi32>
  %before = tile.load %ps : tensor<32x!tile.ptr<i32>> -> tensor<32xi32>
  %r = tile.atomic_rmw xchg %qs, %before : tensor<32x!tile.ptr<i32>>, tensor<32xi32>
  %after = tile.load %ps : tensor<32x!tile.ptr<i32>> -> tensor<32xi32>
  tile.store %os, %before : tensor<32x!tile.ptr<i32>>, tensor<32xi32>
  tile.store %us, %after : tensor<32x!tile.ptr<i32>>, tensor<32xi32>
  return
})";
  for (const std::string &architecture : runnableArchitectures()) {
    LoweredKernel kernel = lowerKernel(text, architecture);
    ASSERT_EQ(kernel.error, "");
    std::vector<int32_t> p(32), out(64);
    for (int32_t i = 0; i < 32; ++i) {
      p[static_cast<size_t>(i)] = i * i;
    }
    ASSERT_TRUE(kernel.launch({1, 1, 1}, {address(p.data()), address(out.data())}));
    for (int32_t i = 0; i < 32; ++i) {
      auto at = static_cast<size_t>(i);
      EXPECT_EQ(p[at], (31 - i) * (31 - i));
      EXPECT_EQ(out[at], i * i);
      EXPECT_EQ(out[at + 32], (31 - i) * (31 - i));
    }
  }
}

TEST(Atomic, OrderingsAndVolatileReachTheCode) {
  const char *text = R"(
func.func @kernel(%p: !tile.ptr<i32>, %m: !tile.ptr<i32>) attributes {tile.kernel} {
  %one = arith.constant 1 : i32
  %a = tile.atomic_rmw add %p, %one {sem = 0 : i32} : !tile.ptr<i32>, i32
  %b = tile.atomic_rmw add %p, %one {sem = 1 : i32} : !tile.ptr<i32>, i32
  %c = tile.atomic_rmw add %p, %one {sem = 2 : i32} : !tile.ptr<i32>, i32
  %d = tile.atomic_rmw add %p, %one : !tile.ptr<i32>, i32
  %e = tile.atomic_cas %p, %one, %a {sem = 2 : i32} : !tile.ptr<i32>, i32
  %f = tile.atomic_cas %p, %one, %a : !tile.ptr<i32>, i32
  %i = tile.make_range 0 to 8 : tensor<8xi32>
  %m0 = tile.splat %m : !tile.ptr<i32> -> tensor<8x!tile.ptr<i32>>
  %ms = tile.addptr %m0, %i : tensor<8x!tile.ptr<i32>>, tensor<8xi32>
  %five = arith.constant dense<5> : tensor<8xi32>
  %mask = arith.cmpi slt, %i, %five : tensor<8xi32>
  %x = tile.load %ms mask %mask : tensor<8xi1> {isVolatile} : tensor<8x!tile.ptr<i32>> -> tensor<8xi32>
  %y = tile.load %ms mask %mask : tensor<8xi1> {isVolatile} : tensor<8x!tile.ptr<i32>> -> tensor<8xi32>
  %z = arith.addi %x, %y : tensor<8xi32>
  tile.store %ms, %z mask %mask : tensor<8xi1> : tensor<8x!tile.ptr<i32>>, tensor<8xi32>
  return
})";
  LoweredKernel kernel = lowerKernel(text);
  ASSERT_EQ(kernel.error, "");
  for (const char *ordering : {" monotonic ", " acquire ", " release ", " acq_rel ",
                               " release monotonic", " acq_rel acquire"}) {
    EXPECT_NE(kernel.loops.find(ordering), std::string::npos) << ordering << "\n" << kernel.loops;
  }
  EXPECT_GE(countOf(kernel.loops, "llvm.load volatile"), 2u) << kernel.loops;
  int32_t p = 0, m[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  ASSERT_TRUE(kernel.launch({1, 1, 1}, {address(&p), address(m)}));
  EXPECT_EQ(p, 4);
  EXPECT_EQ(m[4], 10);
  EXPECT_EQ(m[5], 6);
}

} // namespace
