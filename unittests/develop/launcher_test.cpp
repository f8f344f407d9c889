// SPDX-License-Identifier: Apache-2.0
// The C++ launcher of an operator on a device: it loads its kernel there, and obeys the form that a
// mode chose. What is generated around it is tested as text and on the CPU.
#include "lib/definition/Graph.h"
#include "lib/generator/Generator.h"
#include "lib/measure/peaks/DeviceChip.h"
#include "lib/support/AtomicFile.h"
#include "unittests/FarDevice.h"
#include "unittests/develop/FarTarget.h"

// Behind the runtime's headers: each has a DType.
#include "nereid/operator.hpp"

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
  Doubled(const generator::LaunchEntry &kernel, const std::string &path, const std::string &form,
          const nereid::Tensor &x, const nereid::Tensor &out) {
    constexpr int64_t block = 256;
    for (const generator::LaunchArgument &argument : kernel.arguments) {
      if (argument.kind == generator::StageArgument::Kind::Memory) {
        addTensor(argument.name, x.dtype(), argument.value == "x" ? contiguous(x) : out);
      } else {
        addSize(argument.name, rows * columns);
      }
    }
    addStep(path, kernel.function,
            {{kernel.constexprs.at(0).name, block}, {"EVEN_Y", 0}, {"WIDE", 0}},
            nereid::Grid(nereid::cdiv(rows * columns, block)));
    takeForm(form);
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
    EXPECT_TRUE(bool(writeFileAtomically(path, generator::writeTriton(generation))));
  }
  ~Launcher() override {
    ::unlink(path.c_str());
    far.hasGraphs = false;
  }

  Doubled launchOf(const std::string &form, const nereid::Tensor &x,
                   const nereid::Tensor &out) const {
    return {generation.program.tables.begin()->second.kernels.at(0), path, form, x, out};
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
  const nereid::Tensor x = tensor(), out = tensor();
  x.fillNormal(1);
  out.poison();
  const Doubled launch = launchOf("launches", x, out);
  const int replays = far.replays;
  launch.run();
  expectDoubled(x, out);
  EXPECT_EQ(far.replays, replays);
  EXPECT_EQ(launch.form(), "launches");
  EXPECT_FALSE(launch.isReplayed());
}

TEST_F(Launcher, ReplaysWhereTheGraphWasChosen) {
  const nereid::Tensor x = tensor(), out = tensor();
  out.poison();
  const Doubled launch = launchOf("graph", x, out);
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
  const nereid::Tensor x = tensor("cpu"), out = tensor("cpu");
  x.fillNormal(1);
  const Doubled launch = launchOf("graph", x, out);
  launch.run();
  expectDoubled(x, out);
  EXPECT_EQ(launch.form(), "graph");
  EXPECT_FALSE(launch.isReplayed());
}

/// The eager form is not the launcher's: the kernel stands in its place, and that can be asked.
TEST_F(Launcher, OfTheEagerFormTheKernelStandsInThePlace) {
  const nereid::Tensor x = tensor(), out = tensor();
  x.fillNormal(1);
  const Doubled launch = launchOf("eager", x, out);
  launch.run();
  expectDoubled(x, out);
  EXPECT_EQ(launch.form(), "eager");
}

TEST_F(Launcher, TensorsOfTwoDevicesAreRefused) {
  const nereid::Tensor x = tensor(), out = tensor("cpu");
  const Doubled launch = launchOf("launches", x, out);
  try {
    launch.run();
    FAIL() << "the launch was made";
  } catch (const nereid::Error &error) {
    EXPECT_NE(std::string(error.what()).find("E0416"), std::string::npos) << error.what();
  }
}

} // namespace
} // namespace nereid::develop
