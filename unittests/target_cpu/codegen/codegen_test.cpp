// SPDX-License-Identifier: Apache-2.0
// Loops level to machine code: structure operations, both scalar and vector, run and compared with
// plain C++; what the object may call; LLVM IR text read back.
#include "unittests/target_cpu/CodegenHarness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace nereid::cpu::test {
namespace {

const char *const levels[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4", ""};

class Codegen : public testing::TestWithParam<const char *> {
protected:
  /// Skips where this machine cannot run the code.
  CompiledLoops compile(const std::string &text) { return compileLoops(text, GetParam()); }
};

TEST_P(Codegen, AddsVectors) {
  CompiledLoops kernel = compile(
      elementwiseKernel("f32", "f32", 16, 2, "    %y = arith.addf %x0, %x1 : vector<16xf32>"));
  ASSERT_EQ(kernel.error, "");
  std::vector<float> a(64), b(64), y(64);
  for (int i = 0; i < 64; ++i) {
    a[i] = 0.5f * i;
    b[i] = 100.0f - i;
  }
  kernel.call({slot(a.data()), slot(b.data()), slot(y.data()), 64});
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(y[i], a[i] + b[i]) << i;
  }
}

TEST_P(Codegen, CarriesValuesThroughLoopsAndBranches) {
  CompiledLoops kernel = compile(R"(
func.func @kernel(%slots: !llvm.ptr, %id: !llvm.ptr, %count: !llvm.ptr, %scratch: !llvm.ptr) attributes {tile.kernel} {
  %out = llvm.load %slots : !llvm.ptr -> !llvm.ptr
  %s1 = llvm.getelementptr %slots[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %n64 = llvm.load %s1 : !llvm.ptr -> i64
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = arith.index_cast %n64 : i64 to index
  %first = arith.constant dense<0.0> : vector<8xf32>
  %sum = scf.for %i = %zero to %n step %one iter_args(%acc = %first) -> vector<8xf32> {
    %i64 = arith.index_cast %i : index to i64
    %two = arith.constant 2 : i64
    %rest = arith.remui %i64, %two : i64
    %isOdd = arith.trunci %rest : i64 to i1
    %next = scf.if %isOdd -> vector<8xf32> {
      %f = arith.sitofp %i64 : i64 to f32
      %v = vector.broadcast %f : f32 to vector<8xf32>
      %a = arith.addf %acc, %v : vector<8xf32>
      scf.yield %a : vector<8xf32>
    } else {
      scf.yield %acc : vector<8xf32>
    }
    scf.yield %next : vector<8xf32>
  }
  %lane = vector.reduction <add>, %sum : vector<8xf32> into f32
  %start = arith.constant 1 : i64
  %limit = arith.constant 1000 : i64
  %power = scf.while (%p = %start) : (i64) -> i64 {
    %less = arith.cmpi slt, %p, %limit : i64
    scf.condition(%less) %p : i64
  } do {
  ^bb0(%p: i64):
    %double = arith.addi %p, %p : i64
    scf.yield %double : i64
  }
  %pf = arith.sitofp %power : i64 to f32
  %total = arith.addf %lane, %pf : f32
  llvm.store %total, %out : f32, !llvm.ptr
  return
}
)");
  ASSERT_EQ(kernel.error, "");
  float result = 0;
  kernel.call({slot(&result), 10});
  EXPECT_EQ(result, 8 * (1 + 3 + 5 + 7 + 9) + 1024.0f);
}

TEST_P(Codegen, MasksLoadsAndStores) {
  CompiledLoops kernel = compile(R"(
func.func @kernel(%slots: !llvm.ptr, %id: !llvm.ptr, %count: !llvm.ptr, %scratch: !llvm.ptr) attributes {tile.kernel} {
  %in = llvm.load %slots : !llvm.ptr -> !llvm.ptr
  %s1 = llvm.getelementptr %slots[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %out = llvm.load %s1 : !llvm.ptr -> !llvm.ptr
  %s2 = llvm.getelementptr %slots[2] : (!llvm.ptr) -> !llvm.ptr, i64
  %n = llvm.load %s2 : !llvm.ptr -> i64
  %n32 = arith.trunci %n : i64 to i32
  %limit = vector.broadcast %n32 : i32 to vector<8xi32>
  %lanes = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : vector<8xi32>
  %mask = arith.cmpi slt, %lanes, %limit : vector<8xi32>
  %other = arith.constant dense<-1.0> : vector<8xf32>
  %x = llvm.intr.masked.load %in, %mask, %other {alignment = 4 : i32} : (!llvm.ptr, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
  %seven = arith.constant dense<7> : vector<8xi32>
  %reversed = arith.subi %seven, %lanes : vector<8xi32>
  %addresses = llvm.getelementptr %out[%reversed] : (!llvm.ptr, vector<8xi32>) -> !llvm.vec<8 x ptr>, f32
  %all = arith.constant dense<true> : vector<8xi1>
  llvm.intr.masked.scatter %x, %addresses, %all {alignment = 4 : i32} : vector<8xf32>, vector<8xi1> into !llvm.vec<8 x ptr>
  return
}
)");
  ASSERT_EQ(kernel.error, "");
  float in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8] = {};
  kernel.call({slot(in), slot(out), 5});
  const float expected[8] = {-1, -1, -1, 5, 4, 3, 2, 1};
  EXPECT_EQ(std::memcmp(out, expected, sizeof(out)), 0);
}

TEST_P(Codegen, RoundsToIntegers) {
  struct Case {
    const char *op;
    float (*reference)(float);
  };
  for (Case c : {Case{"floor", std::floor}, Case{"ceil", std::ceil}, Case{"trunc", std::trunc},
                 Case{"round", std::round}, Case{"roundeven", std::nearbyint},
                 Case{"sqrt", std::sqrt}, Case{"absf", std::fabs}}) {
    for (int lanes : {1, 4, 16}) {
      std::string type = lanes == 1 ? "f32" : "vector<" + std::to_string(lanes) + "xf32>";
      CompiledLoops kernel = compile(elementwiseKernel(
          "f32", "f32", lanes, 1, std::string("    %y = math.") + c.op + " %x0 : " + type));
      ASSERT_EQ(kernel.error, "") << c.op;
      std::vector<float> x = {-2.5f, -1.5f,  -0.5f,    -0.0f,     0.0f,  0.49999997f,
                              0.5f,  1.5f,   2.5f,     3.49f,     1e10f, 0x1p23f,
                              -7.7f, 1e-40f, INFINITY, 8388607.5f};
      std::vector<float> y(x.size());
      kernel.call({slot(x.data()), slot(y.data()), x.size()});
      for (size_t i = 0; i < x.size(); ++i) {
        float expected = c.reference(x[i]);
        if (std::isnan(expected)) {
          EXPECT_TRUE(std::isnan(y[i])) << c.op << x[i];
        } else {
          EXPECT_EQ(y[i], expected) << c.op << " " << x[i];
          EXPECT_EQ(std::signbit(y[i]), std::signbit(expected)) << c.op << " " << x[i];
        }
      }
    }
  }
}

TEST_P(Codegen, FusedMultiplyAddIsExact) {
  for (const char *type : {"f32", "f64"}) {
    CompiledLoops kernel = compile(elementwiseKernel(
        type, type, 8, 3, std::string("    %y = math.fma %x0, %x1, %x2 : vector<8x") + type + ">"));
    ASSERT_EQ(kernel.error, "");
    if (std::string(type) == "f32") {
      float a[8] = {1 + 0x1p-12f, 3, 0x1.fffffep0f, 1e20f, -0.1f, 0.1f, 7, 0x1.000002p0f};
      float b[8] = {1 - 0x1p-12f, 1.0f / 3, 0x1.fffffep0f, 1e-20f,
                    10,           10,       0x1.8p-24f,    0x1.000002p0f};
      float c[8] = {-1, -1, -4, -1, 1, -1, 1, 0x1p-60f}, y[8];
      kernel.call({slot(a), slot(b), slot(c), slot(y), 8});
      for (int i = 0; i < 8; ++i) {
        EXPECT_EQ(y[i], std::fma(a[i], b[i], c[i])) << GetParam() << i;
      }
    } else {
      double a[8] = {1 + 0x1p-30, 3, 0x1.fffffffffffffp0, 1e20, -0.1, 0.1, 7, 0x1.0000000000001p0};
      double b[8] = {1 - 0x1p-30, 1.0 / 3, 0x1.fffffffffffffp0, 1e-20,
                     10,          10,      0x1.8p-53,           0x1.0000000000001p0};
      double c[8] = {-1, -1, -4, -1, 1, -1, 1, 0x1p-120}, y[8];
      kernel.call({slot(a), slot(b), slot(c), slot(y), 8});
      for (int i = 0; i < 8; ++i) {
        EXPECT_EQ(y[i], std::fma(a[i], b[i], c[i])) << GetParam() << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, Codegen, testing::ValuesIn(levels), [](const auto &info) {
  std::string name = info.param[0] ? info.param : "host";
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(CodegenObject, NamesUndefinedSymbols) {
  CompiledLoops kernel = compileLoops(
      elementwiseKernel("f32", "f32", 8, 2, "    %y = arith.remf %x0, %x1 : vector<8xf32>"));
  ASSERT_EQ(kernel.error, "");
  EXPECT_EQ(undefinedSymbols(kernel.object), std::vector<std::string>{"fmodf"});
  EXPECT_TRUE(undefinedSymbols({1, 2, 3}).empty());
}

TEST(CodegenObject, RefusesAnUnknownLibraryCall) {
  CompiledLoops kernel = compileLoops(R"(
llvm.func @surprise()
func.func @kernel(%slots: !llvm.ptr, %id: !llvm.ptr, %count: !llvm.ptr, %scratch: !llvm.ptr) attributes {tile.kernel} {
  llvm.call @surprise() : () -> ()
  return
}
)");
  EXPECT_NE(kernel.error.find("E0390"), std::string::npos) << kernel.error;
  EXPECT_NE(kernel.error.find("'surprise'"), std::string::npos) << kernel.error;
}

/// One generator compiles kernel after kernel with the same passes: what it did before must not
/// show.
TEST(CodegenObject, StaysTheSameInAGeneratorThatWasUsed) {
  const std::string first =
      elementwiseKernel("f32", "f32", 16, 1, "    %y = math.exp %x0 : vector<16xf32>");
  const std::string second =
      elementwiseKernel("f64", "f64", 4, 2, "    %y = arith.divf %x0, %x1 : vector<4xf64>");
  CodeGenerator used(*parseMachine("x86-64-v3"));
  auto objectOf = [](CodeGenerator &generator, const std::string &llvmText) {
    Diagnostics diags;
    auto code = generator.parse(llvmText, "kernel.ll", diags);
    std::vector<uint8_t> object;
    EXPECT_TRUE(code && generator.emitObject(*code, object, diags)) << diags.render();
    return object;
  };
  const std::string texts[] = {compileLoops(first, "x86-64-v3").llvmText,
                               compileLoops(second, "x86-64-v3").llvmText};
  for (int which : {0, 1, 1, 0}) {
    CodeGenerator fresh(*parseMachine("x86-64-v3"));
    EXPECT_EQ(objectOf(used, texts[which]), objectOf(fresh, texts[which])) << which;
  }
}

/// What the patterns of the conversion must do: fast math, index, types that LLVM does not have.
TEST_P(Codegen, ConvertsWhatHasNoDirectCounterpart) {
  CompiledLoops kernel = compileLoops(R"(
func.func @kernel(%slots: !llvm.ptr, %id: !llvm.ptr, %count: !llvm.ptr, %scratch: !llvm.ptr) attributes {tile.kernel} {
  %out = llvm.load %slots : !llvm.ptr -> !llvm.ptr
  %seven = arith.constant 7 : index
  %two = arith.constant 2 : index
  %nine = arith.addi %seven, %two : index
  %wide = arith.index_cast %nine : index to i64
  %less = arith.cmpi ult, %two, %seven : index
  %one = arith.constant 1.5 : f32
  %sum = arith.addf %one, %one fastmath<reassoc> : f32
  %bits = arith.constant 0x38 : i8
  %eight = arith.bitcast %bits : i8 to f8E4M3FN
  %lanes = vector.broadcast %eight : f8E4M3FN to vector<4xf8E4M3FN>
  %bytes = arith.bitcast %lanes : vector<4xf8E4M3FN> to vector<4xi8>
  %flag = arith.extui %less : i1 to i64
  %total = arith.addi %wide, %flag overflow<nsw> : i64
  llvm.store %total, %out : i64, !llvm.ptr
  %second = llvm.getelementptr %out[1] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %sum, %second : f32, !llvm.ptr
  %third = llvm.getelementptr %out[2] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %bytes, %third : vector<4xi8>, !llvm.ptr
  return
}
)",
                                      GetParam() ? GetParam() : "");
  ASSERT_EQ(kernel.error, "");
  if (!kernel.entry) {
    return; // compiled for a machine that this one is not
  }
  uint64_t out[3] = {};
  kernel.call({slot(out)});
  float sum = 0;
  std::memcpy(&sum, &out[1], 4);
  EXPECT_EQ(out[0], 10u);
  EXPECT_EQ(sum, 3.0f);
  EXPECT_EQ(out[2] & 0xffffffffu, 0x38383838u);
}

TEST(CodegenObject, ReadsLlvmTextBack) {
  CompiledLoops kernel =
      compileLoops(elementwiseKernel("f32", "f32", 8, 1, "    %y = math.exp %x0 : vector<8xf32>"));
  ASSERT_EQ(kernel.error, "");
  CodeGenerator generator(*parseMachine(""));
  Diagnostics diags;
  auto code = generator.parse(kernel.llvmText, "kernel.ll", diags);
  ASSERT_NE(code, nullptr) << diags.render();
  code->attachKernelInfo("{\"name\": \"kernel\"}");
  auto again = generator.parse(code->text(), "kernel.ll", diags);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->kernelInfo(), "{\"name\": \"kernel\"}");
  std::vector<uint8_t> object;
  EXPECT_TRUE(generator.emitObject(*again, object, diags));
  EXPECT_FALSE(generator.parse("define void @f( {", "broken.ll", diags));
  EXPECT_NE(diags.render().find("broken.ll:1:"), std::string::npos) << diags.render();
}

TEST(CpuMachine, ReadsTargetNames) {
  Result<CpuMachine> v3 = parseMachine("x86-64-v3");
  ASSERT_TRUE(v3);
  EXPECT_EQ(v3->vectorBytes, 32);
  EXPECT_EQ(v3->vectorRegisters, 16);
  EXPECT_TRUE(v3->hasFma);
  EXPECT_FALSE(v3->hasAvx512);
  EXPECT_NE(v3->featureText().find("+avx2"), std::string::npos);
  Result<CpuMachine> v4 = parseMachine("x86-64-v4,+avx512bf16");
  ASSERT_TRUE(v4);
  EXPECT_EQ(v4->vectorBytes, 64);
  EXPECT_EQ(v4->vectorRegisters, 32);
  EXPECT_TRUE(v4->hasBf16);
  EXPECT_EQ(v4->targetName, "x86-64-v4+avx512bf16");
  EXPECT_FALSE(parseMachine("x86-64-v2")->hasFma);
  for (const char *bad : {"rv32gc", "x86-64-v9", "x86-64-v4,+nonsense", "x86-64-v3,+avx512bf16",
                          ",", "aarch64+zvl256b", "rv64gcv+sve", "aarch64+avx512bf16"}) {
    Result<CpuMachine> machine = parseMachine(bad);
    ASSERT_FALSE(machine) << bad;
    EXPECT_EQ(machine.error().code, "E0303") << bad;
  }
  std::string unknown = render(parseMachine("rv32gc").error());
  for (const char *known : {"x86-64-v3", "+avx512bf16", "aarch64", "+sve256", "rv64gcv"}) {
    EXPECT_NE(unknown.find(known), std::string::npos) << known << "\n" << unknown;
  }
}

TEST(CpuMachine, DescribesOtherArchitectures) {
  Result<CpuMachine> neon = parseMachine("aarch64");
  ASSERT_TRUE(neon);
  EXPECT_EQ(neon->triple, "aarch64-unknown-linux-gnu");
  EXPECT_EQ(neon->vectorBytes, 16);
  EXPECT_EQ(neon->vectorRegisters, 32);
  EXPECT_TRUE(neon->hasFma && neon->hasHalfConversions);
  EXPECT_FALSE(neon->hasMaskedMoves || neon->hasGather || neon->hasNonTemporalStores);
  EXPECT_EQ(neon->requirementText(), "+fp-armv8,+neon");

  // "+x" and ",+x" are the same; the length is a requirement that LLVM has no feature for.
  Result<CpuMachine> sve = parseMachine("aarch64,+lse,+sve256");
  ASSERT_TRUE(sve);
  EXPECT_EQ(sve->targetName, "aarch64+lse+sve256");
  EXPECT_EQ(parseMachine("aarch64+lse+sve256")->targetName, sve->targetName);
  EXPECT_EQ(sve->vectorBytes, 32);
  EXPECT_TRUE(sve->hasMaskedMoves && sve->hasGather);
  EXPECT_EQ(sve->featureText(), "+fp-armv8,+neon,+lse,+sve");
  EXPECT_EQ(sve->requirementText(), "+fp-armv8,+neon,+lse,+sve,+sve256");

  Result<CpuMachine> v = parseMachine("rv64gcv");
  ASSERT_TRUE(v);
  EXPECT_EQ(v->minimumVectorBits, 128);
  EXPECT_FALSE(v->hasHalfConversions || v->hasNonTemporalStores);
  EXPECT_NE(v->requirementText().find("+v"), std::string::npos);
  EXPECT_EQ(parseMachine("rv64gcv+zvl256b")->minimumVectorBits, 256);

  // Another choice of instructions, but nothing that a machine must have.
  Result<CpuMachine> emulated = parseMachine("rv64gcv+qemu7");
  ASSERT_TRUE(emulated);
  EXPECT_TRUE(v->hasVectorTruncation && !emulated->hasVectorTruncation);
  EXPECT_EQ(emulated->requirementText(), v->requirementText());
}

TEST(CpuMachine, TakesTheMostThatAMachineOffers) {
  EXPECT_EQ(machineOffering("aarch64", {"fp-armv8", "neon", "crc"})->targetName, "aarch64");
  Result<CpuMachine> sve =
      machineOffering("aarch64", {"sve256", "fp-armv8", "sve", "lse", "neon", "sve2"});
  ASSERT_TRUE(sve);
  EXPECT_EQ(sve->targetName, "aarch64+lse+sve+sve256");
  EXPECT_EQ(sve->vectorBytes, 32);
  EXPECT_EQ(
      machineOffering("riscv64", {"a", "c", "d", "f", "m", "v", "zvl128b", "zvl256b"})->targetName,
      "rv64gcv+zvl256b");
  for (const auto &[architecture, features] :
       {std::pair("riscv64", std::vector<std::string>{"a", "c", "d", "f", "m"}),
        {"x86-64", {"sse2"}},
        {"s390x", {"vector"}}}) {
    Result<CpuMachine> machine = machineOffering(architecture, features);
    ASSERT_FALSE(machine) << architecture;
    EXPECT_EQ(machine.error().code, "E0303");
  }
  EXPECT_NE(render(machineOffering("x86-64", {"sse2"}).error()).find("offers only sse2"),
            std::string::npos);
}

TEST(CpuMachine, RestrictsTheHost) {
  setenv("NEREID_CPU_FEATURES", "x86-64-v2", 1);
  EXPECT_EQ(parseMachine("")->vectorBytes, 16);
  setenv("NEREID_CPU_FEATURES", "-avx512f", 1);
  EXPECT_LE(parseMachine("")->vectorBytes, 32);
  setenv("NEREID_CPU_FEATURES", "quick", 1);
  EXPECT_FALSE(parseMachine(""));
  unsetenv("NEREID_CPU_FEATURES");
}

} // namespace
} // namespace nereid::cpu::test
