// SPDX-License-Identifier: Apache-2.0
// What bench says of tensors that were written next to, of inputs that changed, and of times that
// cannot be or say that the roofline is wrong.
#include "lib/definition/Graph.h"
#include "lib/develop/performance/Bench.h"

#include <gtest/gtest.h>

namespace nereid::develop {
namespace {

/// 64 rows of 64 sums in float32: 32 KiB are read and written, 4096 additions.
class BenchTest : public testing::Test {
protected:
  BenchTest() {
    Diagnostics diags;
    auto op = definition::parseOperator("add.toml", R"(
[operator]
name = "add"
summary = "a sum"
dtypes = ["float32"]
body = """
out = x + bias
"""
[inputs.x]
shape = ["M", "N"]
[inputs.bias]
shape = ["N"]
[outputs.out]
shape = ["M", "N"]
[performance]
cases = [{ M = 64, N = 64 }]
)",
                                        diags);
    EXPECT_TRUE(bool(op)) << diags.render();
    chip.cores = 2;
    chip.caches = {{"L2", 1 << 20, 1, 50e9, 100e9}};
    chip.copyBandwidth = 10e9;
    chip.peakFlops["fp32"] = 1e11;
    generation = *generator::generate(*op, chip, nullptr);
  }
  OperatorBench make() {
    return OperatorBench::make(generation, generation.op().performanceCases.front(), DType::F32,
                               chip, {});
  }
  /// A row that took `seconds`.
  PerformanceRow rated(double seconds) {
    PerformanceRow row = make().row;
    row.kernel.samples.assign(20, seconds);
    measure::judgeSamples(row.kernel, measure::TimerOptions());
    judgeSpeed(row, chip);
    return row;
  }

  Machine chip;
  generator::Generation generation;
};

TEST_F(BenchTest, AWriteNextToATensorNamesIt) {
  OperatorBench bench = make();
  ASSERT_EQ(bench.row.skipped, "");
  uint8_t *out = bench.tensors.outputs[0].as<uint8_t>();
  uint8_t &behind = out[bench.tensors.outputs[0].byteCount() + 4];
  behind ^= 0xFF;
  EXPECT_EQ(bench.bench.check.verify(), "writes outside 'out', 4 bytes behind the end");
  behind ^= 0xFF;
  uint8_t *bias = bench.tensors.inputs[1].as<uint8_t>();
  bias[-1] ^= 0xFF;
  EXPECT_EQ(bench.bench.check.verify(), "writes outside 'bias', 1 bytes in front");
}

TEST_F(BenchTest, AChangedInputAndAWrongOutputAreTold) {
  OperatorBench bench = make();
  EXPECT_EQ(bench.bench.check.verify().substr(0, 12), "wrong result") << "only poison";
  for (int64_t i = 0; i < 64 * 64; ++i) {
    bench.tensors.outputs[0].set(i, bench.tensors.inputs[0].at(i) +
                                        bench.tensors.inputs[1].at(i % 64));
  }
  EXPECT_EQ(bench.bench.check.verify(), "");
  bench.tensors.inputs[0].set(5, 1e6);
  EXPECT_EQ(bench.bench.check.verify(), "an input is changed: nereid verify says which");
}

TEST_F(BenchTest, TimesAreJudgedByTheCacheThatHoldsTheTensors) {
  const double floor = make().row.bytes / 100e9; // all threads in L2
  const PerformanceRow plain = rated(2 * floor);
  EXPECT_NEAR(plain.rooflineShare(), 0.5, 1e-9);
  EXPECT_EQ(plain.rooflineFault() + plain.failure, "");
  const PerformanceRow tooGood = rated(0.8 * floor);
  EXPECT_EQ(tooGood.failure, "");
  EXPECT_EQ(tooGood.rooflineFault(),
            "roofline too low (125 % of it): calibrate again, nereid chips --recalibrate");
  EXPECT_NE(performanceTable({tooGood}).find("in cache, roofline too low"), std::string::npos);
  EXPECT_NE(performanceJson({tooGood}).find("\"roofline_fraction\": null"), std::string::npos);
  const PerformanceRow impossible = rated(0.4 * floor);
  EXPECT_NE(impossible.failure.find("rejected as impossible"), std::string::npos);
  chip.calibration.uncertainty = "other processes used 40 % of the processors";
  EXPECT_EQ(rated(0.4 * floor).failure, "") << "the rates may be too low";
}

TEST_F(BenchTest, NoisyAndFewAreSaidAtOnce) {
  PerformanceRow row = rated(1e-3);
  row.kernel.samples = {1e-3, 2e-3, 3e-3};
  measure::judgeSamples(row.kernel, measure::TimerOptions());
  EXPECT_NE(performanceTable({row}).find("noisy, few samples, in cache"), std::string::npos);
}

/// The product of bytes is no impossible one, though it is quicker than floats could be.
TEST(RateType, BytesHaveTheirOwnRate) {
  auto operatorOf = [](const std::string &own) {
    Diagnostics diags;
    auto op = definition::parseOperator(
        "t.toml",
        "[operator]\nname='t'\nsummary='s'\ndtypes=['float32','float64']\n"
        "body='out = y + x'\n[inputs.y]\nshape=['N']\n[inputs.x]\nshape=['N']\n" +
            own + "[outputs.out]\nshape=['N']\n[performance]\ncases=[{N=8}]\n",
        diags);
    EXPECT_TRUE(bool(op)) << diags.render();
    return *op;
  };
  const definition::Operator bytes = operatorOf("dtype='int8'\n"), floats = operatorOf("");
  Machine chip;
  chip.peakFlops = {{"fp32", 1e11}, {"i8", 4e11}};
  EXPECT_EQ(rateTypeOf(bytes, DType::F32, chip), DType::I8);
  EXPECT_EQ(rateTypeOf(bytes, DType::F64, chip), DType::F64);
  EXPECT_EQ(rateTypeOf(floats, DType::F32, chip), DType::F32);
  chip.peakFlops = {{"fp32", 1e11}};
  EXPECT_EQ(rateTypeOf(bytes, DType::F32, chip), DType::F32) << "no rate of its own";
}

} // namespace
} // namespace nereid::develop
