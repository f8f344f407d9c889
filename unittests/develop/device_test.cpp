// SPDX-License-Identifier: Apache-2.0
// Operators on a device that is not this processor: what their kernels are verified and timed
// against there, and which form of them is chosen.
#include "lib/definition/Graph.h"
#include "lib/develop/accuracy/Verification.h"
#include "lib/develop/performance/Autotune.h"
#include "lib/develop/performance/Bench.h"
#include "lib/develop/performance/EagerForm.h"
#include "lib/measure/peaks/DeviceChip.h"
#include "lib/support/AtomicFile.h"
#include "unittests/FarDevice.h"
#include "unittests/develop/FarTarget.h"

#include <gtest/gtest.h>

#include <unistd.h>

namespace nereid::develop {
namespace {

using runtime::test::FarDevice;

/// Rows divided by their sum, with a number parameter and a constant on the way.
constexpr const char *shares = R"(
[operator]
name = "shares"
summary = "each number as a share of its row"
dtypes = ["float32", "float16"]
body = """
total = torch.sum(x, dim=-1, keepdim=True)
out = (x * 2) / (total + eps)
"""
[inputs.x]
shape = ["...", "N"]
[inputs.eps]
value = 0.25
[outputs.out]
shape = ["...", "N"]
[performance]
cases = [{ name = "small", "..." = [64], N = 48 }]
)";

class OnADevice : public testing::Test {
protected:
  OnADevice() {
    test::registerFarTarget();
    Diagnostics diags;
    auto op = definition::parseOperator("shares.toml", shares, diags);
    EXPECT_TRUE(bool(op)) << diags.render();
    chip = measure::describeDevice(far);
    generation = *generator::generate(*op, chip, nullptr);
    path = testing::TempDir() + "/shares_" + std::to_string(::getpid()) + ".py";
    write();
    options.source.path = path;
    options.source.target = "far:0";
    options.device = &far;
    options.secondsPerCase = 0.05;
  }
  ~OnADevice() override {
    ::unlink(path.c_str());
    far.hasGraphs = far.losesDevice = far.isLost = false;
    far.nextError.reset();
  }

  void write(const std::string &from = "", const std::string &to = "") {
    std::string text = generator::writeTriton(generation);
    for (size_t at = 0; !from.empty() && (at = text.find(from, at)) != std::string::npos;
         at += to.size()) {
      text.replace(at, from.size(), to);
    }
    EXPECT_TRUE(bool(writeFileAtomically(path, text)));
  }
  const definition::Case &smallCase() const { return generation.op().performanceCases.front(); }
  PerformanceRow measure(DType dtype = DType::F32) {
    return measureCase(generation, smallCase(), dtype, nullptr, chip, options);
  }

  FarDevice &far = FarDevice::get();
  Machine chip;
  generator::Generation generation;
  std::string path;
  PerformanceOptions options;
};

TEST_F(OnADevice, EachOperationIsAKernelOfTheEagerForm) {
  const auto operations = singleOperations(generation.op(), DType::F16);
  ASSERT_EQ(operations.size(), 4u);
  EXPECT_EQ(operations[0].op.nodes.back().op, "sum");
  EXPECT_EQ(operations[1].op.nodes.back().op, "mul");
  EXPECT_EQ(operations[1].op.parameters.size(), 1u);
  EXPECT_EQ(operations[1].op.nodes[1].op, "constant");
  EXPECT_EQ(operations[2].op.nodes.back().op, "add");
  EXPECT_EQ(operations[2].tensors.size(), 1u);
  ASSERT_EQ(operations[2].op.parameters.size(), 2u);
  EXPECT_EQ(operations[2].op.parameters[1].name, "eps");
  EXPECT_EQ(operations[3].op.nodes.back().op, "div");
  EXPECT_EQ(operations[3].tensors.size(), 2u);
}

TEST_F(OnADevice, TheEagerFormComputesWhatTheReferenceDoes) {
  for (DType dtype : {DType::F32, DType::F16}) {
    definition::GridCase grid{"small", smallCase().binding};
    grid.seed = 3;
    auto tensors = *makeTensors(generation, grid, dtype);
    auto form = EagerForm::make(generation.op(), smallCase().binding, dtype, tensors,
                                options.source, chip, far);
    ASSERT_TRUE(bool(form)) << form.error().message;
    EXPECT_EQ((*form)->launches(), 4u);
    EXPECT_FALSE((*form)->send());
    EXPECT_EQ((*form)->verify().substr(0, 12), "wrong result") << "nothing has run";
    const auto error =
        far.runAndWait([&](runtime::Stream &stream) { return (*form)->queue(stream); });
    EXPECT_FALSE(error) << error.message;
    EXPECT_EQ((*form)->verify(), "");
    EXPECT_FALSE((*form)->send());
    EXPECT_EQ((*form)->verify().substr(0, 12), "wrong result") << "it begins anew";
  }
}

TEST_F(OnADevice, AKernelIsTimedBesideTheEagerFormThere) {
  const int launches = far.launches;
  const PerformanceRow row = measure();
  EXPECT_EQ(row.skipped + row.failure + row.missingBaseline, "");
  EXPECT_TRUE(row.isVerified);
  EXPECT_EQ(row.device, "far:0");
  EXPECT_GT(far.launches, launches + 80);
  EXPECT_GE(row.kernel.summary.count, 20u);
  EXPECT_EQ(row.peer.name, "eager");
  EXPECT_GT(row.speedup, 0);
  // Yardsticks of this processor say nothing of the device.
  EXPECT_EQ(row.yardstick.summary.count, 0u);
  EXPECT_EQ(row.copySeconds, 0);
  ASSERT_TRUE(row.choice.has_value());
  EXPECT_EQ(row.choice->clock, "device");
  EXPECT_FALSE(row.choice->graph.has_value());
  const std::string json = performanceJson({row});
  EXPECT_NE(json.find("\"device\": \"far:0\""), std::string::npos);
  EXPECT_NE(json.find("a kernel for each operation, on the device"), std::string::npos);
}

/// One launch leaves a sum to the next, in memory of the device.
TEST_F(OnADevice, SeveralLaunchesShareTheirMemoryThere) {
  Diagnostics diags;
  auto op = definition::parseOperator("turned.toml", R"(
[operator]
name = "turned"
summary = "a transposed tensor by its sum"
dtypes = ["float32"]
body = """
out = x.permute(1, 0) / (torch.sum(x * x) + 1)
"""
[inputs.x]
shape = ["N", "M"]
[outputs.out]
shape = ["M", "N"]
[performance]
cases = [{ name = "small", N = 40, M = 48 }]
)",
                                      diags);
  ASSERT_TRUE(bool(op)) << diags.render();
  auto made = generator::generate(*op, chip, nullptr);
  ASSERT_TRUE(bool(made)) << render(made.error());
  generation = std::move(*made);
  EXPECT_FALSE(generation.program.tables.at(DType::F32).workspaces.empty());
  write();
  const PerformanceRow row = measure();
  EXPECT_EQ(row.skipped + row.failure + row.missingBaseline, "");
  EXPECT_TRUE(row.isVerified);
  EXPECT_EQ(row.device, "far:0");
  EXPECT_FALSE(row.schedule.constants.empty());
}

TEST_F(OnADevice, FloorsAreOfItsDescriptor) {
  chip.copyBandwidth = 1; // a byte a second: nothing can be so quick
  chip.cores = 2;
  chip.caches = {{"L1d", 1 << 20, 1}};
  const std::string failure = measure().failure;
  EXPECT_NE(failure.find("rejected as impossible"), std::string::npos) << failure;
}

TEST_F(OnADevice, AWrongKernelIsNotTimed) {
  write("tl.sum(", "tl.max(");
  const PerformanceRow row = measure();
  EXPECT_NE(row.failure.find("wrong result"), std::string::npos) << row.failure;
  EXPECT_EQ(row.kernel.summary.count, 0u);
  EXPECT_FALSE(row.choice.has_value());
}

TEST_F(OnADevice, AnOperationWithoutAKernelLeavesNoBaseline) {
  far.nextError = runtime::LaunchError{"E0506", "no memory for it"};
  far.callsBeforeError = 0;
  const PerformanceRow row = measure();
  EXPECT_EQ(row.missingBaseline, "no memory for it");
  EXPECT_EQ(row.failure, "");
  ASSERT_TRUE(row.choice.has_value());
  EXPECT_EQ(row.choice->text(), "none: there is no eager form to compare with");
}

TEST_F(OnADevice, AGraphReplaysTheLaunchesOfTheMode) {
  far.hasGraphs = true;
  options.mode = Mode::ReduceOverhead;
  const int replays = far.replays;
  const PerformanceRow row = measure();
  EXPECT_EQ(row.failure, "");
  EXPECT_GT(far.replays, replays + 20);
  ASSERT_TRUE(row.choice && row.choice->graph);
  EXPECT_TRUE(row.choice->isGraph());
  EXPECT_EQ(row.choice->clock, "device, launching counted");
  EXPECT_NE(performanceJson({row}).find("\"mode\": \"reduce-overhead\""), std::string::npos);
}

TEST_F(OnADevice, WithoutGraphsTheModeSaysSo) {
  options.mode = Mode::ReduceOverhead;
  const PerformanceRow row = measure();
  EXPECT_EQ(row.failure, "");
  ASSERT_TRUE(row.choice.has_value());
  EXPECT_FALSE(row.choice->isCompiled());
  EXPECT_NE(row.choice->text().find("none: "), std::string::npos) << row.choice->text();
}

TEST_F(OnADevice, TheWholeSpaceIsTried) {
  const auto space = generation.space(smallCase().binding, DType::F32, chip);
  auto tuning = autotune(generation, smallCase(), DType::F32, chip, options);
  ASSERT_TRUE(bool(tuning)) << tuning.error().message;
  EXPECT_EQ(tuning->tried + tuning->refused, space.size());
  EXPECT_GT(tuning->tried, space.size() / 2);
  EXPECT_NE(tuning->conclusion, "");
}

TEST_F(OnADevice, NoScheduleIsTriedOnALostDevice) {
  far.nextError = runtime::LaunchError{"E0421", "'far:0' is lost to this process"};
  far.callsBeforeError = 40; // in the midst of the schedules
  far.losesDevice = true;
  const auto tuning = autotune(generation, smallCase(), DType::F32, chip, options);
  ASSERT_FALSE(bool(tuning));
  EXPECT_EQ(tuning.error().code, "E0421");
  EXPECT_EQ(tuning.error().message, "'far:0' is lost to this process");
  ASSERT_EQ(tuning.error().notes.size(), 1U);
  EXPECT_EQ(tuning.error().notes.front().find("case 'small' was timed with schedule "), 0U)
      << tuning.error().notes.front();
}

TEST_F(OnADevice, VerificationStopsWhenTheDeviceIsLost) {
  AccuracyOptions accuracy;
  accuracy.dtypes = {DType::F32};
  auto report = verifyAccuracy(generation, options.source, chip, accuracy);
  ASSERT_TRUE(bool(report)) << report.error().message;
  EXPECT_TRUE(report->passed()) << report->firstFailure();
  const size_t all = report->rows.size();
  far.nextError = runtime::LaunchError{"E0421", "'far:0' is lost to this process"};
  far.callsBeforeError = 20;
  report = verifyAccuracy(generation, options.source, chip, accuracy);
  ASSERT_TRUE(bool(report));
  EXPECT_TRUE(report->isDeviceLost);
  EXPECT_FALSE(report->passed());
  EXPECT_LT(report->rows.size(), all);
  EXPECT_NE(report->firstFailure().find("[E0421]"), std::string::npos) << report->firstFailure();
}

} // namespace
} // namespace nereid::develop
