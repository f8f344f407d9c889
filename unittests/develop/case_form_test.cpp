// SPDX-License-Identifier: Apache-2.0
// Forms of a written kernel's reference timed beside it, on this processor and on a device: that
// they compute what the reference says in the case's types, and that a wrong one is not timed.
#include "lib/bench/KernelReport.h"
#include "lib/bench/measurement/CaseMeasurement.h"
#include "lib/develop/performance/CaseForm.h"
#include "lib/support/AtomicFile.h"
#include "lib/support/TemporaryFolder.h"
#include "unittests/FarDevice.h"
#include "unittests/develop/FarTarget.h"

#include <gtest/gtest.h>

namespace nereid::develop {
namespace {

using launch::ReferenceForm;
using runtime::test::FarDevice;

class CaseFormTest : public testing::Test {
protected:
  CaseFormTest() {
    test::registerFarTarget();
    EXPECT_TRUE(bool(writeFileAtomically(
        folder.path + "/scale.py",
        "import triton\nimport triton.language as tl\n\n@triton.jit\n"
        "def scale(x, scales, out, scratch, s, n, BLOCK: tl.constexpr):\n"
        "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        "    value = tl.load(x + i, i < n).to(tl.float32) * tl.load(scales + i, i < n) + s\n"
        "    tl.store(out + i, value, i < n)\n")));
    one.name = "scaling";
    one.kernel = folder.path + "/scale.py:scale";
    one.signature = "x=*fp16, scales=*fp32, out=*fp16, scratch=*i32, s=fp32, n=i32, BLOCK=64";
    one.grid = "cdiv(n, BLOCK)";
    one.arguments = {"x=randn(1000)",   "scales=rand(1000)",
                     "out=empty(1000)", "scratch=zeros(8)",
                     "s=0.5",           "n=1000"};
    one.workspaces = {"scratch"};
    one.reference = {{"out", "x * scales + s"}};
    one.forms = {ReferenceForm::Eager, ReferenceForm::Compiled, ReferenceForm::Graph};
  }
  ~CaseFormTest() override { far.hasGraphs = false; }
  std::optional<bench::KernelRow> measure(const std::string &target) {
    diags = {};
    return bench::measureKernel(one,
                                {.execution = {.target = target, .useCache = false},
                                 .secondsPerCase = 0.02,
                                 .makeForm = maker},
                                Machine(), diags);
  }
  static std::vector<std::string> peersOf(const bench::KernelRow &row) {
    std::vector<std::string> names = {row.peer.name};
    for (const auto &other : row.otherPeers) {
      names.push_back(other.name);
    }
    return names;
  }
  bool hasWarning(const std::string &code) const {
    return std::any_of(diags.all().begin(), diags.all().end(), [&](const Diagnostic &one) {
      return one.code == code && one.severity == Severity::Warning;
    });
  }

  FarDevice &far = FarDevice::get();
  const TemporaryFolder folder;
  launch::KernelCase one;
  bench::FormMaker maker = caseForm;
  Diagnostics diags;
};

TEST_F(CaseFormTest, AreTimedInTurnsOnADevice) {
  far.hasGraphs = true;
  const int replays = far.replays;
  const auto row = measure("far:0");
  ASSERT_TRUE(row) << diags.render();
  EXPECT_EQ(row->failure, "");
  EXPECT_TRUE(row->isVerified);
  EXPECT_EQ(peersOf(*row), (std::vector<std::string>{"eager", "compiled", "graph"}));
  EXPECT_GT(far.replays, replays + 20);
  EXPECT_EQ(bench::kernelJson(*row)["other_peers"][0]["name"], "compiled");
}

TEST_F(CaseFormTest, WithoutGraphsTheOthersAreTimed) {
  for (const char *target : {"far:0", "cpu"}) {
    const auto row = measure(target);
    ASSERT_TRUE(row) << diags.render();
    EXPECT_EQ(row->failure, "") << target;
    EXPECT_EQ(peersOf(*row), (std::vector<std::string>{"eager", "compiled"})) << target;
    EXPECT_TRUE(hasWarning("E0423")) << target;
  }
}

TEST_F(CaseFormTest, TakeTheTypesOfTheCase) {
  maker = [](bench::FormRequest request) {
    const launch::FormOperator &what = request.what;
    EXPECT_EQ(what.dtype, DType::F16);
    EXPECT_EQ(what.op.parameters.size(), 3u) << "the workspace is none, s is a number";
    EXPECT_EQ(what.inputs.size(), 2u);
    EXPECT_EQ(what.outputs.at(0).dtype(), DType::F16);
    for (const auto &parameter : what.op.parameters) {
      EXPECT_EQ(parameter.fixedDtype == DType::F32, parameter.name == "scales");
    }
    return caseForm(std::move(request));
  };
  ASSERT_TRUE(measure("far:0")) << diags.render();
}

TEST_F(CaseFormTest, WhereOneIsWrongNothingIsTimed) {
  one.forms = {ReferenceForm::Compiled};
  maker = [](bench::FormRequest request) {
    auto peer = caseForm(std::move(request));
    EXPECT_EQ(peer->verify(), "");
    peer->verify = [] { return "wrong result"; };
    return peer;
  };
  for (const char *target : {"far:0", "cpu"}) {
    const auto row = measure(target);
    ASSERT_TRUE(row) << diags.render();
    EXPECT_EQ(row->failure, "peer compiled: wrong result");
    EXPECT_TRUE(row->kernel.samples.empty());
  }
}

TEST_F(CaseFormTest, ADevicesErrorIsTold) {
  one.forms = {ReferenceForm::Eager};
  maker = [this](bench::FormRequest request) {
    auto peer = caseForm(std::move(request));
    peer->verify = [this, verify = peer->verify] {
      far.nextError = runtime::LaunchError{"E0420", "the launch was refused"};
      far.callsBeforeError = 0;
      return verify();
    };
    return peer;
  };
  const auto row = measure("far:0");
  far.nextError.reset();
  ASSERT_TRUE(row) << diags.render();
  EXPECT_EQ(row->failure, "peer eager: the launch was refused");
}

TEST_F(CaseFormTest, WhatCannotBeGeneratedIsAnErrorOfTheCase) {
  maker = [](bench::FormRequest) { return makeError("E0607", "no kernel of it"); };
  EXPECT_FALSE(measure("cpu"));
  ASSERT_TRUE(diags.hasErrors());
  EXPECT_NE(diags.render().find("it is the peer 'eager' of case 'scaling'"), std::string::npos);
  maker = nullptr;
  const auto row = measure("cpu");
  ASSERT_TRUE(row) << diags.render();
  EXPECT_FALSE(row->hasPeer());
}

} // namespace
} // namespace nereid::develop
