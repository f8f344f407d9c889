// SPDX-License-Identifier: Apache-2.0
// Kernels in CUDA C++ by a program in the place of nvcc, and by the compiler that this machine has.
#include "lib/targets/nvidia/cuda/CudaCompiler.h"

#include "lib/targets/nvidia/cuda/CudaKernel.h"
#include "unittests/target_nvidia/cuda/Environment.h"

#include <algorithm>
#include <dlfcn.h>
#include <gnu/libc-version.h>

namespace nereid::nvidia::test {
namespace {

using pipeline::ForeignCode;
using pipeline::ForeignSource;
using runtime::ArgumentInfo;
using runtime::ArgumentKind;

/// x, out and n, as the cases of kernels/gelu have them.
ForeignSource asked(const std::string &function, std::string text) {
  return {.path = "gelu.cu",
          .text = std::move(text),
          .function = function,
          .arguments = {{.name = "x", .kind = ArgumentKind::Pointer, .dtype = DType::F32},
                        {.name = "out", .kind = ArgumentKind::Pointer, .dtype = DType::F32},
                        {.name = "n", .kind = ArgumentKind::Integer, .dtype = DType::I32}},
          .macros = {{"BLOCK", "256"}}};
}

class FakeNvcc : public WithFakeNvcc {
protected:
  size_t runs() const {
    const std::string all = words();
    return static_cast<size_t>(std::count(all.begin(), all.end(), '\n'));
  }
  static std::string entry(const std::string &name, const std::string &limits = "") {
    return ".visible .entry " + name + "(.param .u64 a, .param .u64 b, .param .u32 c)\n" + limits +
           "\n{\n ret;\n}\n";
  }
};

TEST_F(FakeNvcc, GetsArchitectureMacrosAndFlagsAndGivesTheKernel) {
  ForeignSource source = asked("gelu", "PTX\n" + entry("gelu", ".maxntid 64, 2, 1"));
  source.path = "some/folder/gelu.cu";
  source.flags = {"--use_fast_math"};
  const Result<ForeignCode> code = compileCuda(source, "sm_86");
  ASSERT_TRUE(bool(code)) << render(code.error());
  EXPECT_EQ(code->symbol, "gelu");
  EXPECT_EQ(code->threads, 128u);
  EXPECT_EQ(code->compiler, "'" + program + "'");
  EXPECT_EQ(std::string(code->object.begin(), code->object.end()),
            entry("gelu", ".maxntid 64, 2, 1"));
  EXPECT_EQ(words().find("-ptx -arch=sm_86 -Isome/folder -DBLOCK=256 --use_fast_math -o "), 0u)
      << words();
}

TEST_F(FakeNvcc, WhatItPrintsNamesTheUsersFile) {
  const auto code =
      compileCuda(asked("gelu", "int x;\nfloat y\nLOG (2): error: expected a \";\"\n"), "sm_90a");
  ASSERT_FALSE(bool(code));
  EXPECT_EQ(code.error().code, "E0314");
  EXPECT_EQ(code.error().file, "gelu.cu");
  EXPECT_EQ(code.error().range.line, 2);
  EXPECT_EQ(code.error().lineText, "float y");
}

TEST_F(FakeNvcc, IsAskedOnceForTheSameText) {
  const ForeignSource source = asked("gelu", "PTX\n" + entry("gelu"));
  for (bool isFromCache : {false, true, true}) {
    const auto code = compileCuda(source, "sm_90a");
    ASSERT_TRUE(bool(code));
    EXPECT_EQ(code->isFromCache, isFromCache);
  }
  EXPECT_EQ(runs(), 1u);
  ForeignSource other = source;
  other.macros.front().second = "512";
  EXPECT_FALSE(compileCuda(other, "sm_90a")->isFromCache);
  other = source;
  other.flags = {"-O1"};
  EXPECT_FALSE(compileCuda(other, "sm_90a")->isFromCache);
  other = source;
  other.text += "// \n";
  EXPECT_FALSE(compileCuda(other, "sm_90a")->isFromCache);
  EXPECT_FALSE(compileCuda(source, "sm_80")->isFromCache);
  other = source;
  other.useCache = false;
  EXPECT_FALSE(compileCuda(other, "sm_90a")->isFromCache);
  EXPECT_TRUE(compileCuda(source, "sm_90a")->isFromCache);
}

TEST_F(FakeNvcc, IsAskedAgainWhenWhatIsIncludedHasChanged) {
  ForeignSource source =
      asked("gelu", "#include \"one.cuh\"\n #  include <three.h>\nPTX\n" + entry("gelu"));
  source.path = folder.path + "/gelu.cu";
  write(folder.path + "/one.cuh", "#include \"two.cuh\"\n");
  write(folder.path + "/two.cuh", "// two\n");
  const auto isFromCache = [&] { return compileCuda(source, "sm_90a")->isFromCache; };
  EXPECT_FALSE(isFromCache());
  EXPECT_TRUE(isFromCache());
  write(folder.path + "/two.cuh", "// three\n");
  EXPECT_FALSE(isFromCache());
  EXPECT_TRUE(isFromCache());
  write(folder.path + "/three.h", "// stands before the toolkit's\n");
  EXPECT_FALSE(isFromCache());
  EXPECT_TRUE(isFromCache());
  std::filesystem::remove(folder.path + "/three.h");
  EXPECT_TRUE(isFromCache()) << "as it was";
}

TEST_F(FakeNvcc, IsAskedEachTimeWhereTheTextDoesNotSayWhatItIncludes) {
  for (const char *head : {"#include HEADER\n", "#if __has_include(\"a.h\")\n#endif\n"}) {
    const ForeignSource source = asked("gelu", head + ("PTX\n" + entry("gelu")));
    EXPECT_FALSE(compileCuda(source, "sm_90a")->isFromCache);
    EXPECT_FALSE(compileCuda(source, "sm_90a")->isFromCache) << head;
  }
  ForeignSource source = asked("gelu", "PTX\n" + entry("gelu"));
  source.flags = {"-Isomewhere"};
  EXPECT_FALSE(compileCuda(source, "sm_90a")->isFromCache);
  EXPECT_FALSE(compileCuda(source, "sm_90a")->isFromCache);
}

TEST_F(FakeNvcc, ANameThatIsNoneHasNearOnes) {
  const auto code =
      compileCuda(asked("gleu", "PTX\n" + entry("gelu") + entry("_Z4reluPKfPfi")), "sm_90a");
  ASSERT_FALSE(bool(code));
  EXPECT_EQ(render(code.error()),
            "error: 'gelu.cu' has no kernel 'gleu' [E0315]\n"
            "  note: nearest name: 'gelu'\n"
            "  note: its kernels: gelu, relu\n"
            "  help: write __global__ void gleu(float *x, float *out, int n), with or without "
            "extern \"C\"\n");
  const auto none = compileCuda(asked("gelu", "void gelu();\nPTX\n"), "sm_90a");
  ASSERT_FALSE(bool(none));
  EXPECT_EQ(none.error().code, "E0315");
  EXPECT_NE(none.error().notes[0].find("no __global__ function"), std::string::npos);
  EXPECT_EQ(none.error().notes[1], "it has no kernel at all");
}

TEST_F(FakeNvcc, OfSeveralTheOneIsMeantThatTakesTheArguments) {
  const std::string both = "PTX\n" + entry("_Z4geluPKdPdi") + entry("_Z4geluPKfPfi");
  const auto code = compileCuda(asked("gelu", both), "sm_90a");
  ASSERT_TRUE(bool(code)) << render(code.error());
  EXPECT_EQ(code->symbol, "_Z4geluPKfPfi");
  const auto two = compileCuda(
      asked("gelu", "PTX\n" + entry("_Z4geluPKfPfi") + entry("_ZN1a4geluEPKfPfi")), "sm_90a");
  ASSERT_FALSE(bool(two));
  EXPECT_EQ(two.error().code, "E0315");
  EXPECT_EQ(two.error().notes,
            (std::vector<std::string>{"there is gelu(float const*, float*, int)",
                                      "there is a::gelu(float const*, float*, int)"}));
  ForeignSource halves = asked("gelu", both);
  halves.arguments[0].dtype = DType::F16;
  const auto wrong = compileCuda(halves, "sm_90a");
  ASSERT_FALSE(bool(wrong));
  EXPECT_EQ(wrong.error().code, "E0316");
  EXPECT_EQ(wrong.error().notes.size(), 2u);
}

TEST_F(FakeNvcc, AnotherNumberOfArgumentsIsRefused) {
  ForeignSource source = asked("gelu", "PTX\n" + entry("gelu"));
  source.arguments.pop_back();
  const auto code = compileCuda(source, "sm_90a");
  ASSERT_FALSE(bool(code));
  EXPECT_EQ(code.error().code, "E0316");
  EXPECT_EQ(code.error().message,
            "kernel 'gelu' of 'gelu.cu' does not take the arguments of the case: it expects 3 "
            "arguments, but the case gives 2");
}

TEST(CudaCompiler, ThatIsMissingIsTold) {
  {
    const Environment knob("NEREID_CUDA_COMPILER", "none");
    const auto found = findCudaCompiler();
    ASSERT_FALSE(bool(found));
    EXPECT_EQ(found.error().code, "E0028");
    EXPECT_EQ(found.error().notes.front(), "NEREID_CUDA_COMPILER is 'none'");
  }
  for (const char *file : {"/nowhere/nvcc", "/nowhere/libnvrtc.so", "/etc/passwd"}) {
    const Environment knob("NEREID_CUDA_COMPILER", file);
    const auto found = findCudaCompiler();
    ASSERT_FALSE(bool(found));
    EXPECT_EQ(found.error().code, "E0028");
    EXPECT_NE(found.error().message.find(file), std::string::npos) << found.error().message;
  }
  // A library, and another one; sanitizers have functions like strtol in the program itself.
  Dl_info libc{};
  ASSERT_NE(::dladdr(reinterpret_cast<void *>(&::gnu_get_libc_version), &libc), 0);
  const TemporaryFolder folder;
  const std::string other = folder.path + "/libnvrtc-other.so";
  std::filesystem::create_symlink(libc.dli_fname, other);
  const Environment knob("NEREID_CUDA_COMPILER", other);
  EXPECT_NE(findCudaCompiler().error().message.find("functions of NVRTC"), std::string::npos)
      << findCudaCompiler().error().message;
}

TEST(CudaCompiler, OfAProgramThatDoesNotRunSaysSo) {
  const TemporaryFolder folder;
  const std::string program = folder.path + "/nvcc";
  ASSERT_TRUE(bool(writeFileAtomically(program, "#!/bin/sh\nexit 3\n")));
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const Environment knob("NEREID_CUDA_COMPILER", program);
  const auto code = compileCuda(asked("gelu", ""), "sm_90a");
  ASSERT_FALSE(bool(code));
  EXPECT_EQ(code.error().notes.front(), "it ended with status 3 and printed nothing");
}

/// NVRTC, or nvcc, where this machine has one.
class RealCompiler : public testing::Test {
protected:
  void SetUp() override {
    if (!findCudaCompiler()) {
      GTEST_SKIP() << "neither NVRTC nor nvcc";
    }
  }
  static Result<ForeignCode> compile(ForeignSource source, const char *architecture = "sm_90a") {
    source.useCache = false;
    return compileCuda(source, architecture);
  }
};

TEST_F(RealCompiler, CompilesTheKernelsThatAreShipped) {
  const auto text = readTextFile(NEREID_SOURCE_DIR "/kernels/gelu/gelu.cu");
  ASSERT_TRUE(bool(text));
  for (const char *architecture : {"sm_80", "sm_90", "sm_90a"}) {
    for (const char *tanh : {"0", "1"}) {
      for (const auto &[function, threads] :
           {std::pair("gelu", 1024u), std::pair("gelu_vector", 256u)}) {
        ForeignSource source = asked(function, *text);
        source.macros = {{"BLOCK", "1024"}, {"TANH", tanh}};
        const auto code = compile(source, architecture);
        ASSERT_TRUE(bool(code)) << render(code.error());
        EXPECT_EQ(code->symbol, function);
        EXPECT_EQ(code->threads, threads);
        const std::string ptx(code->object.begin(), code->object.end());
        EXPECT_NE(ptx.find(std::string(".target ") + architecture), std::string::npos);
        EXPECT_NE(ptx.find("ld.global.v4"), ptx.npos) << "of gelu_vector";
      }
    }
  }
}

TEST_F(RealCompiler, ErrorsHaveTheirPlace) {
  const auto code = compile(asked("gelu", "extern \"C\" __global__ void gelu(const float *x, float "
                                          "*out, int n) {\n  out[n] = tanhff(x[n]);\n}\n"));
  ASSERT_FALSE(bool(code));
  EXPECT_EQ(code.error().code, "E0314");
  EXPECT_EQ(code.error().file, "gelu.cu");
  EXPECT_EQ(code.error().range.line, 2);
  EXPECT_EQ(code.error().range.column, 12);
  EXPECT_NE(code.error().message.find("tanhff"), std::string::npos);
}

TEST_F(RealCompiler, AFunctionNeedsNoCLinkageAndHasItsTypes) {
  const char *text =
      "__global__ void gelu(const float *x, float *out, int n) { out[n] = x[n]; }\n"
      "__global__ void gelu(const double *x, double *out, int n) { out[n] = x[n]; }\n"
      "template <class T> __global__ void copy(const T *x, T *out, int n) { out[n] = "
      "x[n]; }\ntemplate __global__ void copy<float>(const float *, float *, int);\n"
      "__device__ void helper(const float *x, float *out, int n) {}\n";
  EXPECT_EQ(compile(asked("gelu", text))->symbol, "_Z4geluPKfPfi");
  EXPECT_EQ(compile(asked("copy", text))->symbol, "_Z4copyIfEvPKT_PS0_i");
  EXPECT_EQ(compile(asked("helper", text)).error().code, "E0315");
}

TEST_F(RealCompiler, WhatIsIncludedIsLookedForBesideTheSource) {
  const TemporaryFolder folder;
  ASSERT_TRUE(bool(writeFileAtomically(folder.path + "/half.cuh",
                                       "__device__ float half_of(float x) { return x / 2; }\n")));
  ForeignSource source = asked(
      "gelu", "#include \"half.cuh\"\nextern \"C\" __global__ void gelu(const float *x, float "
              "*out, int n) { out[n] = half_of(x[n]); }\n");
  source.path = folder.path + "/gelu.cu";
  const auto code = compile(source);
  EXPECT_TRUE(bool(code)) << render(code.error());
  EXPECT_EQ(code->threads, 0u);
}

} // namespace
} // namespace nereid::nvidia::test
