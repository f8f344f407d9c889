// SPDX-License-Identifier: Apache-2.0
// The compiled-kernel cache: a second compilation runs no phase, anything that changes the code
// changes the key, damage only costs time.
#include "unittests/pipeline/EchoTarget.h"

#include "lib/pipeline/KernelCache.h"
#include "lib/pipeline/Target.h"
#include "lib/pipeline/kernel/KernelInfo.h"
#include "lib/support/DiskCache.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace nereid::pipeline::test {
namespace {

const char *const kernelText = "@triton.jit\ndef copy(x, y):\n    tl.store(y, tl.load(x))\n";

class KernelCache : public testing::Test {
protected:
  void SetUp() override {
    registerEchoTarget();
    echoControl() = {};
    // Unlike what other tests cached.
    std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    text = "# " + name + "\n" + kernelText;
    input = {folder.write("copy.py", text), "copy", "*fp32, *fp32"};
    options.target = "echo";
  }

  std::optional<CompileOutput> run() { return compile(input, options, diags); }
  std::string key() { return kernelCacheKey(text, input, (*findTarget(options.target))->name()); }

  TemporaryFolder folder;
  std::string text;
  CompileInput input;
  CompileOptions options;
  Diagnostics diags;
};

TEST_F(KernelCache, SecondCompilationRunsNoPhase) {
  auto first = run();
  ASSERT_TRUE(first) << diags.render();
  EXPECT_FALSE(first->fromCache);
  auto second = run();
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->fromCache);
  EXPECT_EQ(echoControl().lowered, 1);
  EXPECT_EQ(second->object, first->object);
  EXPECT_EQ(toJson(second->info), toJson(first->info));
  options.useCache = false;
  EXPECT_FALSE(run()->fromCache);
  EXPECT_EQ(echoControl().lowered, 2);
}

TEST_F(KernelCache, EveryInputChangesTheKey) {
  ASSERT_TRUE(run());
  options.target = "echo:loud";
  EXPECT_FALSE(run()->fromCache);
  options.target = "echo";
  input.signature = "*fp32:16, *fp32";
  EXPECT_FALSE(run()->fromCache);
  input.signature = "*fp32, *fp32";
  EXPECT_TRUE(run()->fromCache);
  folder.write("copy.py", text + "\n");
  EXPECT_FALSE(run()->fromCache);
}

TEST_F(KernelCache, OtherPhasesAndDumpsAreNotCached) {
  ASSERT_TRUE(run());
  options.to = "tile";
  EXPECT_FALSE(run()->fromCache);
  options.to = "silence";
  options.dumpTo = folder.path() + "/dump";
  EXPECT_FALSE(run()->fromCache);
  EXPECT_TRUE(folder.has("dump/copy-1-tile.mlir"));
}

TEST_F(KernelCache, DamagedEntriesAreRebuilt) {
  auto first = run();
  ASSERT_TRUE(first);
  std::string path = DiskCache::forKernels().entryPath(key());
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    ASSERT_TRUE(file.good()) << path;
    file.seekp(-10, std::ios::end);
    file.put('\x7f');
  }
  auto second = run();
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->fromCache);
  EXPECT_EQ(second->object, first->object);
  EXPECT_TRUE(run()->fromCache);
}

TEST_F(KernelCache, IntactEntriesThatMakeNoSenseAreRebuilt) {
  const uint8_t nonsense[] = {200, 0, 0, 0, '{', '}'};
  ASSERT_TRUE(DiskCache::forKernels().write(key(), nonsense));
  auto output = run();
  ASSERT_TRUE(output) << diags.render();
  EXPECT_FALSE(output->fromCache);
  EXPECT_TRUE(run()->fromCache);
}

TEST_F(KernelCache, RefusesAnObjectThatCannotBeLoaded) {
  // An echo object is no machine code: said so, and the cache is not believed twice.
  echoControl().features = "";
  EXPECT_FALSE(compileKernel(input, options, diags));
  EXPECT_FALSE(compileKernel(input, options, diags));
  for (const Diagnostic &diagnostic : diags.all()) {
    EXPECT_EQ(diagnostic.code, "E0390");
  }
  EXPECT_EQ(echoControl().lowered, 2);
}

/// What a device says is no bug of this program, and compiling once more would not change it.
TEST_F(KernelCache, TellsWhyADeviceDoesNotLoadTheCode) {
  echoControl().features = "";
  for (const char *code : {"E0506", "E0418"}) {
    echoControl().loadError = runtime::LaunchError{code, "the drawer is full"};
    EXPECT_FALSE(compileKernel(input, options, diags));
    EXPECT_EQ(diags.all().back().code, code);
    EXPECT_TRUE(
        diags.all().back().message.ends_with("cannot be loaded on 'echo:0': the drawer is full"))
        << diags.render();
    EXPECT_TRUE(diags.all().back().help.empty());
  }
  EXPECT_EQ(echoControl().lowered, 1);
  echoControl().loadError.reset();
}

TEST_F(KernelCache, RefusesCodeForAnotherMachineBeforeLoadingIt) {
  echoControl().features = "+nonexistent,-avx2,+another";
  for (int round = 0; round < 2; ++round) { // compiled, then from the cache
    EXPECT_FALSE(compileKernel(input, options, diags));
  }
  ASSERT_EQ(diags.all().size(), 2u);
  for (const Diagnostic &diagnostic : diags.all()) {
    EXPECT_EQ(diagnostic.code, "E0305");
    EXPECT_NE(diagnostic.message.find("needs 'nonexistent', 'another', which this "),
              std::string::npos)
        << diagnostic.message;
  }
  EXPECT_EQ(echoControl().lowered, 1);
}

TEST_F(KernelCache, CompilesForDevicesThatAreNotHereAndLoadsNothing) {
  options.target = "deaf";
  EXPECT_FALSE(compileKernel(input, options, diags));
  ASSERT_EQ(diags.all().size(), 1u);
  EXPECT_EQ(diags.all()[0].code, "E0415") << diags.render();
  EXPECT_TRUE(compile(input, options, diags));
}

/// The kernel calls a function of another file.
class ImportingKernelCache : public KernelCache {
protected:
  void SetUp() override {
    KernelCache::SetUp();
    text = "# " + folder.path() + R"py(
import triton
import triton.language as tl
from tools import change
@triton.jit
def copy(x, y):
    tl.store(y, change(tl.load(x)))
)py";
    folder.write("copy.py", text);
    writeTools("tools.py", 2);
  }
  void writeTools(const std::string &name, int factor) {
    folder.write(name, "import triton\n@triton.jit\ndef change(x):\n    return x * " +
                           std::to_string(factor) + "\n");
  }
  bool isCached() {
    auto output = run();
    EXPECT_TRUE(output) << diags.render();
    return output && output->fromCache;
  }
};

TEST_F(ImportingKernelCache, HitsWhileNothingChanges) {
  EXPECT_FALSE(isCached());
  EXPECT_TRUE(isCached());
  folder.write("unrelated.py", "x = 1\n");
  EXPECT_TRUE(isCached());
  writeTools("tools.py", 2); // a new file with the same content
  EXPECT_TRUE(isCached());
}

TEST_F(ImportingKernelCache, AChangedHelperIsCompiledAgain) {
  auto first = run();
  ASSERT_TRUE(first) << diags.render();
  writeTools("tools.py", 3);
  auto second = run();
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->fromCache);
  EXPECT_NE(second->object, first->object);
  EXPECT_TRUE(isCached());
}

TEST_F(ImportingKernelCache, AFileThatShadowsIsNoticed) {
  ASSERT_FALSE(isCached());
  std::filesystem::create_directory(folder.path() + "/tools");
  writeTools("tools/__init__.py", 4);
  EXPECT_FALSE(isCached());
  EXPECT_TRUE(isCached());
  std::filesystem::remove_all(folder.path() + "/tools");
  EXPECT_FALSE(isCached());
}

TEST_F(ImportingKernelCache, AMissingHelperIsAnErrorDespiteTheCache) {
  ASSERT_FALSE(isCached());
  std::filesystem::remove(folder.path() + "/tools.py");
  EXPECT_FALSE(run());
  EXPECT_TRUE(diags.hasErrors());
}

TEST_F(ImportingKernelCache, TheSameKernelElsewhereHasItsOwnHelper) {
  auto first = run();
  ASSERT_TRUE(first);
  TemporaryFolder other;
  input.path = other.write("copy.py", text);
  other.write("tools.py", "import triton\n@triton.jit\ndef change(x):\n    return x - 1\n");
  auto second = run();
  ASSERT_TRUE(second) << diags.render();
  EXPECT_FALSE(second->fromCache);
  EXPECT_NE(second->object, first->object);
}

TEST_F(ImportingKernelCache, ImportPathsAreOfTheKey) {
  TemporaryFolder first, second;
  std::filesystem::remove(folder.path() + "/tools.py");
  first.write("tools.py", "import triton\n@triton.jit\ndef change(x):\n    return x - 1\n");
  second.write("tools.py", "import triton\n@triton.jit\ndef change(x):\n    return x - 2\n");
  input.importPaths = {first.path(), second.path()};
  auto one = run();
  ASSERT_TRUE(one) << diags.render();
  input.importPaths = {second.path(), first.path()};
  auto two = run();
  ASSERT_TRUE(two);
  EXPECT_FALSE(two->fromCache);
  EXPECT_NE(two->object, one->object);
  EXPECT_TRUE(isCached());
  // The variable's folders come behind.
  input.importPaths = {};
  ::setenv("NEREID_IMPORT_PATH", (":" + first.path() + ":" + second.path()).c_str(), 1);
  auto three = run();
  ::unsetenv("NEREID_IMPORT_PATH");
  ASSERT_TRUE(three) << diags.render();
  EXPECT_EQ(three->object, one->object);
  EXPECT_FALSE(run());
}

TEST_F(KernelCache, WithoutImportsAnEntryServesEveryFolder) {
  ASSERT_TRUE(run());
  TemporaryFolder other;
  input.path = other.write("copy.py", text);
  input.importPaths = {other.path()};
  EXPECT_TRUE(run()->fromCache);
}

TEST(KernelInfoText, ComesBackUnchanged) {
  runtime::KernelInfo info;
  info.name = "quote\"and\\newline\n";
  info.signature = "x=*fp32:16";
  info.features = "+avx2";
  info.scratchBytes = 1u << 20;
  info.threads = 256;
  info.isBlocking = true;
  info.takesRanges = true;
  info.addsFloats = true;
  info.arguments = {{"x", runtime::ArgumentKind::Pointer, DType::BF16, 16},
                    {"n", runtime::ArgumentKind::Integer, DType::U64, 1},
                    {"eps", runtime::ArgumentKind::Float, DType::F64, 1}};
  auto again = kernelInfoFromJson(toJson(info));
  ASSERT_TRUE(again);
  EXPECT_EQ(toJson(*again), toJson(info));
  EXPECT_EQ(again->threads, 256u);
  EXPECT_TRUE(again->isBlocking);
  EXPECT_TRUE(again->takesRanges);
  EXPECT_TRUE(again->addsFloats);
  EXPECT_EQ(again->arguments[1].dtype, DType::U64);
  EXPECT_EQ(again->arguments[2].kind, runtime::ArgumentKind::Float);
  for (const char *bad : {"", "[]", "{", "{\"name\":1}", "{\"name\":\"k\",\"arguments\":3}"}) {
    EXPECT_FALSE(kernelInfoFromJson(bad)) << bad;
  }
  std::string text = toJson(info);
  for (size_t cut = 0; cut < text.size(); ++cut) {
    EXPECT_FALSE(kernelInfoFromJson(text.substr(0, cut))) << cut;
  }
}

TEST(KernelInfoText, EntriesSurviveTruncation) {
  runtime::KernelInfo info;
  info.name = "k";
  const std::vector<uint8_t> object = {1, 2, 3};
  const std::vector<language::FileState> files = {{"/a/b.py", "0123"},
                                                  {"/a b/\n.py", language::absentFile}};
  std::vector<uint8_t> bytes = encodeCachedKernel({info, object, files});
  auto whole = decodeCachedKernel(bytes);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->object, object);
  EXPECT_EQ(whole->dependencies, files);
  for (size_t cut = 0; cut + object.size() < bytes.size(); ++cut) {
    EXPECT_FALSE(decodeCachedKernel(std::span(bytes).first(cut))) << cut;
  }
}

TEST(CompilerBuildId, IsStable) {
  EXPECT_FALSE(compilerBuildId().empty());
  EXPECT_EQ(compilerBuildId(), compilerBuildId());
}

} // namespace
} // namespace nereid::pipeline::test
