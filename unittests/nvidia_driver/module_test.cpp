// SPDX-License-Identifier: Apache-2.0
// Which code is refused before the driver sees it, and what it says of the rest.
#include "unittests/nvidia_driver/Fixture.h"

#include "lib/targets/nvidia/driver/Code.h"
#include "unittests/nvidia_driver/Kernels.h"

#include <elf.h>

namespace nereid::nvidia::test {
namespace {

class Modules : public WithFakeDriver {
protected:
  LaunchError loadText(std::string_view text) { return errorIn(device().load(bytesOf(text))); }
  std::string ptxFor(const char *target) {
    return std::string("// made by hand\n.version 8.5\n.target ") + target +
           ", debug\n.address_size 64\n";
  }
};

std::string cubin(uint64_t sections, uint16_t machine = 190) {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_machine = machine;
  header.e_shoff = sizeof header;
  header.e_shnum = static_cast<uint16_t>(sections);
  std::string file(reinterpret_cast<const char *>(&header), sizeof header);
  return file + std::string(sections * sizeof(Elf64_Shdr), '\0');
}

std::string fatBinary(uint64_t bytes) {
  std::string file("\x50\xED\x55\xBA\x01\x00\x10\x00", 8);
  file.append(reinterpret_cast<const char *>(&bytes), sizeof bytes);
  return file + std::string(bytes, '\0');
}

TEST_F(Modules, AreMadeOfPtxCubinsAndFatBinaries) {
  EXPECT_FALSE(loadText(ptxFor("sm_80")));
  EXPECT_FALSE(loadText(ptxFor("sm_80") + '\0'));
  EXPECT_FALSE(loadText(cubin(3)));
  EXPECT_FALSE(loadText(fatBinary(40)));
}

TEST_F(Modules, AreCompiledBySomebody) {
  const std::string who = device().compiler();
  EXPECT_EQ(who.find("libfake_cuda.so of "), 0u) << who;
  EXPECT_NE(who.find(" bytes, CUDA 13.0, for 9.0"), who.npos) << who;
  const auto with = [](int version, int capability) {
    fake().version = version;
    fake().capability = capability;
    auto loaded = loadDriver(fakeLibrary);
    std::string text = std::get<0>(NvidiaDevice::make(*std::get<0>(loaded), 1))->compiler();
    fake().version = 13000;
    fake().capability = 90;
    return text;
  };
  EXPECT_EQ(with(13000, 90), who);
  EXPECT_NE(with(12080, 90), who);
  EXPECT_NE(with(13000, 89), who);
}

TEST_F(Modules, TellWhatTheirFunctionsTake) {
  auto loaded = device().load(bytesOf(kernelsPtx));
  const auto *module = std::get_if<std::shared_ptr<runtime::Module>>(&loaded);
  ASSERT_TRUE(module);
  const auto taken = (*module)->resources("narrow");
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->registers, 40);
  EXPECT_EQ(taken->sharedBytes, 1024);
  EXPECT_EQ(taken->localBytes, 16);
  EXPECT_FALSE(taken->spillStoreBytes);
  EXPECT_FALSE((*module)->resources("no_such_kernel"));
  fake().fail("cuFuncGetAttribute", cuda::InvalidHandle);
  EXPECT_FALSE((*module)->resources("narrow"));
  EXPECT_EQ(device().processors(), 132);
}

TEST_F(Modules, OfOtherBytesAreRefused) {
  using namespace std::string_view_literals;
  for (const std::string_view text :
       {""sv, "\0"sv, "hello"sv, ".target sm_80"sv, ".version 8.5\n\0.target sm_80\n"sv}) {
    const LaunchError error = loadText(text);
    EXPECT_EQ(messageOf(error), "E0390: expects PTX with a '.version', a cubin or a fat binary, "
                                "but got " +
                                    std::to_string(text.size()) + " bytes that are none of them");
  }
  EXPECT_EQ(messageOf(loadText(cubin(3, 62))),
            "E0390: expects a cubin, an ELF file for machine 190, but got one for machine 62");
  EXPECT_EQ(fake().count("cuModuleLoadDataEx"), 0u);
}

/// The driver is told no length.
TEST_F(Modules, OfCodeThatIsCutOffAreRefused) {
  for (const std::string &whole : {cubin(3), fatBinary(40)}) {
    ASSERT_FALSE(loadText(whole));
    for (size_t bytes = 4; bytes < whole.size(); ++bytes) {
      ASSERT_EQ(loadText(whole.substr(0, bytes)).code, "E0390") << bytes;
    }
  }
  EXPECT_EQ(messageOf(loadText(cubin(3).substr(0, 100))),
            "E0390: expects a cubin of 256 bytes as its header says, but got 100");
  std::string endless = fatBinary(40);
  std::memset(endless.data() + 8, 0xFF, 8);
  EXPECT_EQ(loadText(endless).code, "E0390");
}

TEST_F(Modules, ForAnotherArchitectureAreRefused) {
  EXPECT_FALSE(loadText(ptxFor("sm_90")));
  EXPECT_FALSE(loadText(ptxFor("sm_90a")));
  EXPECT_EQ(messageOf(loadText(ptxFor("sm_100"))),
            "E0305: the kernel was compiled for sm_100, which expects a device of compute "
            "capability 10.0 or newer, but 'nvidia:1' (NVIDIA Fake) has 9.0");
  EXPECT_EQ(messageOf(loadText(ptxFor("sm_80a"))),
            "E0305: the kernel was compiled for sm_80a, which expects a device of compute "
            "capability 8.0 and no other, but 'nvidia:1' (NVIDIA Fake) has 9.0");
  fake().fail("cuModuleLoadDataEx", cuda::NoBinaryForGpu);
  EXPECT_EQ(messageOf(loadText(cubin(3))),
            "E0305: the kernel has no code for 'nvidia:1' (NVIDIA Fake, compute capability 9.0): "
            "CUDA_ERROR_NO_BINARY_FOR_GPU (no kernel image is available for execution)");
}

TEST_F(Modules, ThatTheDriverIsTooOldForAreRefusedWithBothVersions) {
  fake().fail("cuModuleLoadDataEx", cuda::UnsupportedPtxVersion);
  EXPECT_EQ(messageOf(loadText(ptxFor("sm_80"))),
            "E0418: 'nvidia:1' expects PTX that its driver, for CUDA 13.0, knows, but got version "
            "8.5: CUDA_ERROR_UNSUPPORTED_PTX_VERSION (the provided PTX is unsupported); install a "
            "newer driver");
  fake().fail("cuModuleLoadDataEx", cuda::JitCompilerNotFound);
  EXPECT_EQ(messageOf(loadText(ptxFor("sm_80"))),
            "E0418: 'nvidia:1' does not compile PTX: CUDA_ERROR_JIT_COMPILER_NOT_FOUND (PTX JIT "
            "compiler library not found)");
}

TEST_F(Modules, ThatDoNotCompileSayWhatTheDriversCompilerSays) {
  fake().jitLog =
      "ptxas application ptx input, line 7; error : Not a name of any known instruction\n";
  fake().fail("cuModuleLoadDataEx", cuda::InvalidPtx);
  EXPECT_EQ(messageOf(loadText(ptxFor("sm_80"))),
            "E0390: 'nvidia:1' does not take the code: CUDA_ERROR_INVALID_PTX (a PTX JIT "
            "compilation failed): ptxas application ptx input, line 7; error : Not a name of any "
            "known instruction");
  fake().jitLog = std::string(100000, 'x'); // longer than there is room
  fake().fail("cuModuleLoadDataEx", cuda::InvalidPtx);
  EXPECT_EQ(loadText(ptxFor("sm_80")).code, "E0390");
  fake().jitLog.clear();
  fake().fail("cuModuleLoadDataEx", cuda::OutOfMemory);
  EXPECT_EQ(loadText(ptxFor("sm_80")).code, "E0506");
}

TEST_F(Modules, WhoseFunctionsCannotBeDescribedHaveNone) {
  const auto module = load();
  for (const char *call : {"cuFuncGetAttribute", "cuFuncSetAttribute", "cuModuleGetFunction"}) {
    fake().fail(call, cuda::InvalidValue);
    EXPECT_FALSE(module->symbol("narrow")) << call;
  }
  EXPECT_TRUE(module->symbol("narrow"));
}

TEST(PtxHeaders, AreRead) {
  const PtxHeader header = readPtxHeader("//\n.version 8.5\r\n\t.target\tsm_90a, debug\n");
  EXPECT_EQ(header.version, "8.5");
  EXPECT_EQ(header.target, "sm_90a");
  EXPECT_EQ(header.capability(), 90);
  EXPECT_TRUE(header.isSpecific());
  EXPECT_EQ(readPtxHeader("").target, "");
  EXPECT_EQ(readPtxHeader(".version").version, "");
  EXPECT_EQ(readPtxHeader(".target compute").capability(), 0);
}

} // namespace
} // namespace nereid::nvidia::test
