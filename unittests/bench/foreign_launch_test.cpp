// SPDX-License-Identifier: Apache-2.0
// Peers in the language of a device: what its compiler is asked, which tensors are refused, and
// that they work on data of their own. The device is far:0, and its compiler gives one kernel,
// out[i] = 1000 + i.
#include "lib/bench/measurement/CaseMeasurement.h"
#include "lib/bench/measurement/ForeignLaunch.h"
#include "lib/pipeline/Target.h"
#include "lib/support/TemporaryFolder.h"
#include "lib/targets/Targets.h"
#include "unittests/FarDevice.h"
#include "unittests/bench/Cases.h"
#include "unittests/runtime/ObjectBuilder.h"

namespace nereid::bench {
namespace {

using launch::ForeignPeer;
using pipeline::ForeignCode;
using pipeline::ForeignSource;
using runtime::test::FarDevice;

/// What the compiler of the target "far" does next, and what it was asked.
struct Compiler {
  std::optional<Diagnostic> error;
  ForeignCode code;
  std::optional<ForeignSource> asked;
} compiler;

class FarTarget final : public pipeline::Target {
public:
  std::string name() const override { return "far:away0"; }
  std::string features() const override { return ""; }
  void registerDialects(mlir::DialectRegistry &) const override {}
  std::span<const pipeline::Phase> phases() const override { return {}; }
  Result<ForeignCode> compileForeign(const ForeignSource &source) const override {
    compiler.asked = source;
    return compiler.error ? Result<ForeignCode>(*compiler.error) : compiler.code;
  }
};

Result<std::unique_ptr<pipeline::Target>> makeFarTarget(std::string_view, const Machine *) {
  return std::unique_ptr<pipeline::Target>(new FarTarget);
}

class ForeignLaunchTest : public CaseFolder {
protected:
  ForeignLaunchTest() {
    far = &FarDevice::get();
    pipeline::registerTarget("far", {.make = makeFarTarget});
    registerTargets();
    compiler = {};
    compiler.code.object = runtime::test::addThousandObject();
    compiler.code.symbol = "kernel";
    compiler.code.threads = 64;
    compiler.code.compiler = "the compiler";
    write("/own.far", "the text");
    write("/count.py", "import triton\nimport triton.language as tl\n\n@triton.jit\n"
                       "def count(out, n, s, BLOCK: tl.constexpr, FLAG: tl.constexpr, "
                       "SCALE: tl.constexpr):\n"
                       "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
                       "    tl.store(out + i, i + 1000, i < n)\n");
    one.name = "counting";
    one.kernel = folder + "/count.py:count";
    one.signature = "out=*i32, n=i32, s=fp32, BLOCK=16, FLAG=True, SCALE=0.5";
    one.grid = "cdiv(n, BLOCK)";
    one.arguments = {"out=empty(16)", "n=16", "s=2"};
    one.given = {"index=arange(16)"};
    one.reference = {{"out", "index * 1.0 + 1000.0"}};
    one.foreignPeers = {{.path = folder + "/own.far", .function = "kernel", .arguments = {"out"}}};
    one.foreignPeers[0].grid = "n";
  }
  void write(const std::string &name, const std::string &text) const {
    EXPECT_TRUE(bool(writeFileAtomically(folder + name, text)));
  }
  Result<std::unique_ptr<ForeignLaunch>> make() {
    Diagnostics diags;
    if (!prepared) {
      auto made = launch::prepareCase(one, {.interpret = true}, diags);
      EXPECT_TRUE(bool(made)) << diags.render();
      prepared = std::move(*made);
    }
    return ForeignLaunch::make(one, one.foreignPeers[0], *prepared, {.target = "far:0"});
  }
  std::string codeOf() {
    auto made = make();
    return made ? "" : made.error().code + ": " + made.error().message;
  }

  FarDevice *far = nullptr;
  launch::KernelCase one;
  std::optional<launch::PreparedCase> prepared;
};

TEST_F(ForeignLaunchTest, ComputesOnDataOfItsOwn) {
  auto made = make();
  ASSERT_TRUE(bool(made)) << render(made.error());
  const runtime::Tensor &out = prepared->arguments.tensors.at("out");
  out.set(3, 7);
  EXPECT_EQ((*made)->verify(), "");
  EXPECT_EQ(out.at(3), 7);
  const TimedLaunch timed = (*made)->timed();
  EXPECT_EQ(timed.name, "own.far:kernel");
  const int copies = far->copies, launches = far->launches;
  timed.prepare();
  EXPECT_EQ(far->copies, copies + 1);
  double seconds = 0;
  EXPECT_EQ(timed.timedRuns(3, seconds), "");
  EXPECT_EQ(far->launches, launches + 3);
  one.reference = {{"out", "index * 1.0 + 1001.0"}};
  EXPECT_EQ((*made)->verify().substr(0, 12), "wrong result");
  one.reference.clear();
  one.peer = {{"out", "f(x)"}};
  EXPECT_EQ((*made)->verify(), "") << "nothing to compare with";
}

TEST_F(ForeignLaunchTest, ItsCompilerIsAskedForTheArgumentsAndTheConstexprs) {
  one.foreignPeers[0].arguments.clear();
  one.foreignPeers[0].flags = {"--quick"};
  ASSERT_EQ(codeOf(), "");
  ASSERT_TRUE(compiler.asked);
  EXPECT_EQ(compiler.asked->text, "the text");
  EXPECT_EQ(compiler.asked->function, "kernel");
  EXPECT_EQ(compiler.asked->flags, std::vector<std::string>{"--quick"});
  using Macros = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(compiler.asked->macros, (Macros{{"BLOCK", "16"}, {"FLAG", "1"}, {"SCALE", "0.5"}}));
  const auto &arguments = compiler.asked->arguments;
  ASSERT_EQ(arguments.size(), 3u);
  using Kind = runtime::ArgumentKind;
  EXPECT_TRUE(arguments[0].kind == Kind::Pointer && arguments[0].dtype == DType::I32);
  EXPECT_TRUE(arguments[1].kind == Kind::Integer && arguments[1].dtype == DType::I32);
  EXPECT_TRUE(arguments[2].kind == Kind::Float && arguments[2].dtype == DType::F32);
  EXPECT_EQ(arguments[2].name, "s");
  one.foreignPeers[0].arguments = {"s", "out"};
  ASSERT_EQ(codeOf(), "");
  EXPECT_EQ(compiler.asked->arguments.front().name, "s");
}

TEST_F(ForeignLaunchTest, AnArgumentThatTheCaseHasNotIsRefused) {
  one.foreignPeers[0].arguments = {"out", "m"};
  EXPECT_EQ(codeOf(), "E0016: peer 'own.far:kernel' of case 'counting' expects the argument 'm', "
                      "which the case has not");
  one.foreignPeers[0].arguments = {"BLOCK"};
  EXPECT_EQ(codeOf().substr(0, 5), "E0016") << "a macro, and no argument";
}

TEST_F(ForeignLaunchTest, TensorsWithGapsAreRefused) {
  ASSERT_EQ(codeOf(), "");
  runtime::Tensor &out = prepared->arguments.tensors.at("out");
  const runtime::Tensor whole = runtime::Tensor::empty({4, 8}, DType::I32);
  out = std::get<runtime::Tensor>(whole.view(0, {4, 4}, {8, 1}));
  EXPECT_EQ(codeOf(), "E0317: peer 'own.far:kernel' expects a contiguous tensor 'out', but got one "
                      "of shape [4, 4] with strides [8, 1]");
}

TEST_F(ForeignLaunchTest, ShapesAreThoseThatAreStated) {
  one.foreignPeers[0].shapes = {{"out", "n"}};
  EXPECT_EQ(codeOf(), "");
  one.foreignPeers[0].shapes = {{"out", "min(n, 3), cdiv(n, 4)"}};
  EXPECT_EQ(codeOf(), "E0317: peer 'own.far:kernel' expects 'out' of shape [3, 4] = (min(n, 3), "
                      "cdiv(n, 4)), but got [16]");
  one.foreignPeers[0].shapes = {{"out", "m"}};
  EXPECT_EQ(codeOf().substr(0, 5), "E0282");
  one.foreignPeers[0].shapes = {{"n", "1"}};
  EXPECT_EQ(codeOf(), "E0016: peer 'own.far:kernel' states a shape for 'n', which is no tensor "
                      "argument");
}

TEST_F(ForeignLaunchTest, ThreadsAreTheSourcesOrTheCases) {
  compiler.code.threads = 0;
  EXPECT_EQ(codeOf().substr(0, 46), "E0316: nothing says how many threads a program");
  one.foreignPeers[0].threads = "n * 2";
  EXPECT_EQ(codeOf(), "");
  compiler.code.threads = 31;
  EXPECT_NE(codeOf().find("expects at most 31 threads, but the case gives 32"), std::string::npos);
  compiler.code.threads = 64;
  EXPECT_EQ(codeOf(), "");
  compiler.code.isThreadsMost = false;
  EXPECT_NE(codeOf().find("expects 64 threads, but the case gives 32"), std::string::npos);
  for (const char *wrong : {"0", "n - 17", "n << 40"}) {
    one.foreignPeers[0].threads = wrong;
    EXPECT_EQ(codeOf().substr(0, 5), "E0316") << wrong;
  }
}

TEST_F(ForeignLaunchTest, ErrorsOfCompilerAndDeviceAreTold) {
  compiler.error = makeError("E0314", "it does not compile");
  EXPECT_EQ(codeOf(), "E0314: it does not compile");
  compiler.error.reset();
  compiler.code.symbol = "other";
  EXPECT_EQ(codeOf().substr(0, 5), "E0390");
  compiler.code.object.resize(10);
  EXPECT_NE(codeOf().find("cannot be loaded on 'far:0'"), std::string::npos);
  one.foreignPeers[0].path = folder + "/none.far";
  EXPECT_EQ(codeOf().substr(0, 5), "E0001");
}

TEST_F(ForeignLaunchTest, WithoutItsDeviceTheCaseIsMeasuredWithAWarning) {
  Diagnostics diags;
  const auto row =
      measureKernel(one, {{.target = "cpu", .useCache = false}, 0.01}, Machine(), diags);
  ASSERT_TRUE(row) << diags.render();
  EXPECT_EQ(row->failure, "");
  EXPECT_TRUE(row->isVerified);
  EXPECT_FALSE(row->hasPeer());
  const auto &all = diags.all();
  const auto warning = std::find_if(all.begin(), all.end(),
                                    [](const Diagnostic &one) { return one.code == "E0313"; });
  ASSERT_NE(warning, all.end());
  EXPECT_EQ(warning->severity, Severity::Warning);
  EXPECT_NE(warning->message.find("own.far"), std::string::npos);
}

} // namespace
} // namespace nereid::bench
