// SPDX-License-Identifier: Apache-2.0
// The C++ launcher of an operator on a device: it loads its kernel there, and obeys the form that a
// mode chose. What is generated around it is tested as text and on the CPU.
#include "lib/definition/Graph.h"
#include "lib/generator/Generator.h"
#include "lib/measure/peaks/DeviceChip.h"
#include "lib/support/AtomicFile.h"
#include "nereid/operator.hpp"
#include "unittests/FarDevice.h"
#include "unittests/develop/FarTarget.h"

#include <gtest/gtest.h>

#include <unistd.h>

namespace nereid::develop {
namespace {

using runtime::test::FarDevice;

constexpr const char *doubled = R"(
[operator]
name = "doubled"
summary = "each number twice"
dtypes = ["float32"]
body = "out = x * 2"
[inputs.x]
shape = ["...", "N"]
[outputs.out]
shape = ["...", "N"]
[performance]
cases = [{ name = "small", "..." = [64], N = 48 }]
)";

constexpr int64_t rows = 64, columns = 48;

/// As `doubled_kernel.hpp` has it, for tensors of one size.
class Doubled : public nereid::OperatorLaunch {
public:
  Doubled(const nereid::ScheduleTable &table, const nereid::Tensor &x, const nereid::Tensor &out) {
    const nereid::Schedule schedule = table.find(x.dtype(), rows, columns, 2 * x.byteCount());
    addTensor("x_ptr", x.dtype(), contiguous(x));
    addTensor("out_ptr", x.dtype(), out);
    addSize("elements", rows * columns);
    grid = nereid::Grid(nereid::cdiv(rows * columns, schedule.get("BLOCK")));
    prepare(table, schedule, false);
  }
};

class Launcher : public testing::Test {
protected:
  Launcher() {
    test::registerFarTarget();
    far.hasGraphs = true;
    Diagnostics diags;
    auto op = definition::parseOperator("doubled.toml", doubled, diags);
    EXPECT_TRUE(bool(op)) << diags.render();
    generation = *generator::generate(*op, measure::describeDevice(far), nullptr);
    for (auto &entry : generation.table.entries) {
      // The launcher above is that of the flat kernel.
      entry.schedule = {generator::KernelVariant::Flat, {{"BLOCK", 256}, {"STREAMING", 0}}};
    }
  }
  ~Launcher() override {
    ::unlink(path.c_str());
    far.hasGraphs = false;
  }

  nereid::ScheduleTable table(generator::Form form) {
    for (const auto &entry : generation.table.entries) {
      generation.table.setForm(entry.caseClass, form);
    }
    EXPECT_TRUE(bool(writeFileAtomically(path, generator::writeTriton(generation))));
    nereid::OperatorKernels kernels;
    kernels.flat = "doubled_flat_kernel";
    return nereid::ScheduleTable(path, kernels);
  }
  static nereid::Tensor tensor(const char *device = "far:0") {
    return nereid::Tensor::empty({rows, columns}, nereid::v0::DType::F32, device);
  }
  static void expectDoubled(const nereid::Tensor &x, const nereid::Tensor &out) {
    for (int64_t i = 0; i < rows * columns; i += 97) {
      ASSERT_EQ(out.at(i), 2 * x.at(i)) << i;
    }
  }

  FarDevice &far = FarDevice::get();
  generator::Generation generation;
  const std::string path = testing::TempDir() + "/doubled_" + std::to_string(::getpid()) + ".py";
};

TEST_F(Launcher, RunsWhereItsTensorsAre) {
  const auto schedules = table(generator::Form::Launches);
  const nereid::Tensor x = tensor(), out = tensor();
  x.fillNormal(1);
  out.poison();
  const Doubled launch(schedules, x, out);
  const int replays = far.replays;
  launch.run();
  expectDoubled(x, out);
  EXPECT_EQ(far.replays, replays);
  EXPECT_EQ(launch.form(), "launches");
  EXPECT_FALSE(launch.isReplayed());
}

TEST_F(Launcher, ReplaysWhereTheGraphWasChosen) {
  const auto schedules = table(generator::Form::Graph);
  const nereid::Tensor x = tensor(), out = tensor();
  out.poison();
  const Doubled launch(schedules, x, out);
  EXPECT_EQ(launch.form(), "graph");
  EXPECT_TRUE(launch.isReplayed());
  const int replays = far.replays;
  for (uint64_t seed : {1u, 2u}) { // what lies behind the addresses may change
    x.fillNormal(seed);
    launch.run();
    expectDoubled(x, out);
  }
  EXPECT_EQ(far.replays, replays + 2);
  x.fillNormal(3);
  const nereid::Stream stream("far:0");
  launch.queue(stream);
  stream.synchronize();
  expectDoubled(x, out);
  EXPECT_EQ(far.replays, replays + 3);
}

TEST_F(Launcher, TheHostHasNoGraphs) {
  const auto schedules = table(generator::Form::Graph);
  const nereid::Tensor x = tensor("cpu"), out = tensor("cpu");
  x.fillNormal(1);
  const Doubled launch(schedules, x, out);
  launch.run();
  expectDoubled(x, out);
  EXPECT_EQ(launch.form(), "graph");
  EXPECT_FALSE(launch.isReplayed());
}

/// The eager form is not the launcher's: the kernel stands in its place, and that can be asked.
TEST_F(Launcher, OfTheEagerFormTheKernelStandsInThePlace) {
  const auto schedules = table(generator::Form::Eager);
  const nereid::Tensor x = tensor(), out = tensor();
  x.fillNormal(1);
  const Doubled launch(schedules, x, out);
  launch.run();
  expectDoubled(x, out);
  EXPECT_EQ(launch.form(), "eager");
}

TEST_F(Launcher, TensorsOfTwoDevicesAreRefused) {
  const auto schedules = table(generator::Form::Launches);
  const nereid::Tensor x = tensor(), out = tensor("cpu");
  const Doubled launch(schedules, x, out);
  try {
    launch.run();
    FAIL() << "the launch was made";
  } catch (const nereid::Error &error) {
    EXPECT_NE(std::string(error.what()).find("E0416"), std::string::npos) << error.what();
  }
}

} // namespace
} // namespace nereid::develop
