// SPDX-License-Identifier: Apache-2.0
// The phase list on a target that only echoes: the way from any phase to any later one, what is
// dumped, what a failure says.
#include "unittests/pipeline/EchoTarget.h"

#include "lib/pipeline/Target.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace nereid::pipeline::test {
namespace {

const char *const kernelText = R"(
import triton
import triton.language as tl

@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

@triton.jit
def other(x):
    pass
)";

class Phases : public testing::Test {
protected:
  void SetUp() override {
    registerEchoTarget();
    echoControl() = {};
    input.path = folder.write("double.py", kernelText);
    input.function = "double";
    input.signature = "*fp32:16, *fp32, i32, 64";
    options.target = "echo";
    options.useCache = false;
    options.verifyEach = true;
  }

  std::optional<CompileOutput> run(const std::string &from, const std::string &to,
                                   const std::string &path = "") {
    options.from = from;
    options.to = to;
    CompileInput wanted = input;
    if (!path.empty()) {
      wanted.path = path;
    }
    return compile(wanted, options, diags);
  }

  TemporaryFolder folder;
  CompileInput input;
  CompileOptions options;
  Diagnostics diags;
};

TEST_F(Phases, AreNamedInOrder) {
  const std::pair<const char *, const char *> expected[] = {
      {"source", ".py"},   {"tile", ".mlir"}, {"tile-opt", ".mlir"}, {"calls", ".mlir"},
      {"echoes", ".echo"}, {"sound", ".txt"}, {"silence", ".o"}};
  auto names = phaseNames("echo");
  ASSERT_TRUE(names);
  ASSERT_EQ(names->size(), std::size(expected));
  for (size_t i = 0; i < names->size(); ++i) {
    EXPECT_EQ((*names)[i].name, expected[i].first);
    EXPECT_EQ((*names)[i].extension, expected[i].second);
    EXPECT_FALSE((*names)[i].summary.empty());
    EXPECT_EQ((*names)[i].isSideExit, (*names)[i].name == "sound");
  }
  EXPECT_EQ(phaseNames("abacus").error().code, "E0303");
}

TEST_F(Phases, EndWithTheTargetsLastWhenNoneIsNamed) {
  auto output = run("source", "");
  ASSERT_TRUE(output) << diags.render();
  EXPECT_EQ(output->times.back().phase, "silence");
  EXPECT_FALSE(output->object.empty());
}

TEST_F(Phases, StopAfterAnyPhase) {
  const auto names = phaseNames("echo");
  ASSERT_TRUE(names);
  for (const auto &[phase, extension, summary, isSideExit] : *names) {
    auto output = run("source", phase);
    ASSERT_TRUE(output) << phase << diags.render();
    EXPECT_EQ(output->times.back().phase, phase);
    EXPECT_EQ(output->text.empty(), phase == "silence") << phase;
    EXPECT_EQ(output->object.empty(), phase != "silence") << phase;
  }
  EXPECT_NE(run("source", "tile")->text.find("tile.load"), std::string::npos);
  EXPECT_NE(run("source", "calls")->text.find("nereid.scratch_bytes"), std::string::npos);
  EXPECT_EQ(run("source", "sound")->text, "echo\n");
}

TEST_F(Phases, DescribeTheKernel) {
  auto output = run("source", "silence");
  ASSERT_TRUE(output) << diags.render();
  const runtime::KernelInfo &info = output->info;
  EXPECT_EQ(info.name, "double");
  EXPECT_EQ(info.features, "+echo");
  EXPECT_EQ(info.scratchBytes, 640u);
  EXPECT_EQ(info.threads, 96u);
  EXPECT_TRUE(info.isBlocking);
  EXPECT_NE(info.signature.find("BLOCK=64"), std::string::npos) << info.signature;
  ASSERT_EQ(info.arguments.size(), 3u);
  EXPECT_EQ(info.arguments[0].name, "x");
  EXPECT_EQ(info.arguments[0].kind, runtime::ArgumentKind::Pointer);
  EXPECT_EQ(info.arguments[0].divisibility, 16);
  EXPECT_EQ(info.arguments[1].divisibility, 1);
  EXPECT_EQ(info.arguments[2].kind, runtime::ArgumentKind::Integer);
  EXPECT_EQ(info.arguments[2].dtype, DType::I32);
}

TEST_F(Phases, ResumeFromEveryDump) {
  options.dumpTo = folder.path() + "/dump";
  auto whole = run("source", "silence");
  ASSERT_TRUE(whole) << diags.render();
  options.dumpTo.clear();
  const std::pair<std::string, std::string> dumps[] = {{"source", "double-0-source.py"},
                                                       {"tile", "double-1-tile.mlir"},
                                                       {"tile-opt", "double-2-tile-opt.mlir"},
                                                       {"calls", "double-3-calls.mlir"},
                                                       {"echoes", "double-4-echoes.echo"}};
  for (const auto &[phase, file] : dumps) {
    ASSERT_TRUE(folder.has("dump/" + file)) << file;
    auto resumed = run(phase, "silence", folder.path() + "/dump/" + file);
    ASSERT_TRUE(resumed) << phase << diags.render();
    EXPECT_EQ(resumed->object, whole->object) << phase;
    EXPECT_EQ(resumed->info.arguments.size(), 3u) << phase;
    EXPECT_EQ(resumed->info.signature, whole->info.signature) << phase;
    EXPECT_EQ(resumed->info.scratchBytes, 640u) << phase;
    EXPECT_EQ(resumed->info.threads, 96u) << phase;
    EXPECT_TRUE(resumed->info.isBlocking) << phase;
  }
  EXPECT_TRUE(folder.has("dump/double-6-silence.o"));
}

TEST_F(Phases, TakeTileIrWrittenByHand) {
  std::string path = folder.write("hand.mlir", R"(
func.func @hand(%x: !tile.ptr<bf16> {tile.divisibility = 32 : i64}, %n: i64, %s: f32) attributes {tile.kernel} {
  return
}
)");
  input.function.clear();
  auto output = run("tile", "silence", path);
  ASSERT_TRUE(output) << diags.render();
  ASSERT_EQ(output->info.arguments.size(), 3u);
  EXPECT_EQ(output->info.arguments[0].dtype, DType::BF16);
  EXPECT_EQ(output->info.arguments[0].divisibility, 32);
  EXPECT_EQ(output->info.arguments[1].dtype, DType::I64);
  EXPECT_EQ(output->info.arguments[2].kind, runtime::ArgumentKind::Float);
}

TEST_F(Phases, RefuseWaysThatDoNotExist) {
  EXPECT_FALSE(run("source", "loops")); // another target's
  EXPECT_FALSE(run("ecoes", "silence"));
  EXPECT_FALSE(run("echoes", "tile"));
  EXPECT_FALSE(run("silence", "silence"));
  for (const Diagnostic &diagnostic : diags.all()) {
    EXPECT_EQ(diagnostic.code, "E0392");
    EXPECT_FALSE(diagnostic.help.empty());
  }
  ASSERT_EQ(diags.all().size(), 4u);
  EXPECT_EQ(
      diags.all()[0].help,
      "the phases of target 'echo:' are source, tile, tile-opt, calls, echoes, sound, silence");
  EXPECT_EQ(diags.all()[1].notes.at(0), "nearest phase: 'echoes'");
  EXPECT_EQ(diags.all()[3].help, "start from one of source, tile, tile-opt, calls, echoes");
}

TEST_F(Phases, RefuseUnknownTargets) {
  options.target = "abacus";
  EXPECT_FALSE(run("source", "silence"));
  options.target = "echo:quiet";
  EXPECT_FALSE(run("source", "silence"));
  ASSERT_EQ(diags.all().size(), 2u);
  EXPECT_EQ(diags.all()[0].code, "E0303");
  EXPECT_NE(diags.render().find("echo"), std::string::npos);
  EXPECT_EQ(diags.all()[1].code, "E0303");
}

TEST_F(Phases, RefuseBadInput) {
  struct Case {
    const char *file, *text, *function, *signature, *from, *code;
  };
  const Case cases[] = {
      {"a.py", kernelText, "doubel", "*fp32, *fp32, i32, 64", "source", "E0014"},
      {"a.py", kernelText, "", "*fp32, *fp32, i32, 64", "source", "E0014"},
      {"b.py", "x = 1\n", "", "", "source", "E0014"},
      {"a.py", kernelText, "double", "*fp32, i32", "source", "E0206"},
      {"c.py", "@triton.jit\ndef f(x):\n    y = (x\n", "f", "*fp32", "source", "E01"},
      {"d.mlir", "func.func @f( {", "", "", "tile", "E0391"},
      {"e.mlir", "func.func @f() { return }", "", "", "tile", "E0014"},
      {"f.echo", "nonsense", "", "", "echoes", "E0391"},
      {"g.echo", "; {\"name\": 3}\nbody", "", "", "echoes", "E0391"},
  };
  for (const Case &c : cases) {
    diags = {};
    input.function = c.function;
    input.signature = c.signature;
    EXPECT_FALSE(run(c.from, "silence", folder.write(c.file, c.text))) << c.file;
    ASSERT_TRUE(diags.hasErrors()) << c.file;
    EXPECT_EQ(diags.all().front().code.substr(0, std::string(c.code).size()), c.code)
        << diags.render();
  }
  diags = {};
  EXPECT_FALSE(run("source", "silence", folder.path() + "/missing.py"));
  EXPECT_EQ(diags.all().front().code, "E0001");
}

TEST_F(Phases, PointIntoTheKernelOnErrors) {
  std::string path = folder.write("bad.py", "@triton.jit\ndef f(x):\n    tl.store(x, undefined)\n");
  input.function = "f";
  input.signature = "*fp32";
  EXPECT_FALSE(run("source", "silence", path));
  ASSERT_TRUE(diags.hasErrors());
  EXPECT_EQ(diags.all().front().range.line, 3);
  EXPECT_EQ(diags.all().front().file, path);
}

TEST_F(Phases, ReportAPhaseThatFailsSilently) {
  echoControl().lowerFailsSilently = true;
  EXPECT_FALSE(run("source", "silence"));
  ASSERT_EQ(diags.all().size(), 1u);
  const Diagnostic &error = diags.all().front();
  EXPECT_EQ(error.code, "E0390");
  EXPECT_NE(error.message.find("'calls'"), std::string::npos);
  ASSERT_FALSE(error.notes.empty());
  size_t start = error.notes[0].find('\'') + 1;
  std::string path = error.notes[0].substr(start, error.notes[0].rfind('\'') - start);
  ASSERT_TRUE(std::filesystem::exists(path)) << error.notes[0];
  // The reproducer is the failing phase's input, complete enough to run on from there.
  echoControl().lowerFailsSilently = false;
  EXPECT_TRUE(run("tile-opt", "silence", path)) << diags.render();
}

TEST_F(Phases, VerifyAfterEachPhaseWhenAsked) {
  echoControl().lowerMakesInvalidIr = true;
  EXPECT_FALSE(run("source", "calls"));
  ASSERT_TRUE(diags.hasErrors());
  EXPECT_EQ(diags.all().back().code, "E0390");
}

TEST_F(Phases, AskThePhasesOwnVerifierAfterItRanWhenAsked) {
  echoControl().lowerLeavesTooLittle = true;
  options.verifyEach = false;
  EXPECT_TRUE(run("source", "silence")) << diags.render();
  options.verifyEach = true;
  EXPECT_FALSE(run("source", "silence"));
  EXPECT_EQ(diags.all().back().code, "E0390") << diags.render();
  EXPECT_NE(diags.render().find("nothing echoes here"), std::string::npos);
}

TEST_F(Phases, AskThePhasesOwnVerifierOfWhatIsFedIn) {
  options.verifyEach = false;
  auto tile = run("source", "tile-opt");
  ASSERT_TRUE(tile) << diags.render();
  EXPECT_FALSE(run("calls", "silence", folder.write("tile.mlir", tile->text)));
  ASSERT_EQ(diags.all().size(), 1u) << diags.render();
  EXPECT_EQ(diags.all()[0].code, "E0391");
  EXPECT_EQ(diags.all()[0].message, "nothing echoes here");
  EXPECT_EQ(echoControl().lowered, 0);
}

TEST_F(Phases, ReportAnUnwritableDumpFolder) {
  options.dumpTo = "/proc/nereid/dump";
  EXPECT_FALSE(run("source", "silence"));
  ASSERT_TRUE(diags.hasErrors());
  EXPECT_EQ(diags.all().front().code, "E0003");
}

} // namespace
} // namespace nereid::pipeline::test
