// SPDX-License-Identifier: Apache-2.0
// Chains: which definitions are one kernel, and that it computes what the reference does.
#include "lib/generator/fuse/Chain.h"

#include "lib/generator/lower/Lower.h"
#include "lib/generator/normalise/Normalise.h"
#include "unittests/generator/template/Expect.h"

#include <cmath>
#include <limits>

namespace nereid::generator {
namespace {

const std::string tensors = "[inputs.q]\nshape = [\"B\", \"Q\", \"D\"]\n"
                            "[inputs.k]\nshape = [\"B\", \"S\", \"D\"]\n"
                            "[inputs.v]\nshape = [\"B\", \"S\", \"E\"]\n";
const std::string bias = "[inputs.b]\nshape = [\"Q\", \"S\"]\n";
const std::string outShape = "\"B\", \"Q\", \"E\"";

Sample sampleOf(const std::string &body, bool hasBias, const std::vector<int64_t> &sizes) {
  const int64_t b = sizes[0], q = sizes[1], d = sizes[2], s = sizes[3], e = sizes[4];
  std::vector<std::vector<int64_t>> shapes = {{b, q, d}, {b, s, d}, {b, s, e}};
  if (hasBias) {
    shapes.push_back({q, s});
  }
  return {"out = " + body, tensors + (hasBias ? bias : ""), outShape, shapes, sizes};
}

bool isChain(const std::string &body, DType dtype = DType::F32) {
  const bool hasBias = body.find(" b") != std::string::npos || body.find("(b") != std::string::npos;
  const Sample sample = sampleOf(body, hasBias, {1, 1, 1, 1, 1});
  const definition::Operator op = made(sample.body, sample.inputs, sample.outShape,
                                       "\"" + std::string(torchName(dtype)) + "\"");
  auto program = lower(op, dtype);
  EXPECT_TRUE(bool(program));
  normalise(*program);
  return chainOf(*program, program->stages.at(0).stores).has_value();
}

TEST(Chain, IsAProductWithASoftmaxOfAnother) {
  EXPECT_TRUE(isChain("F.softmax(q @ k.permute(0, 2, 1), dim=-1) @ v"));
  EXPECT_TRUE(isChain("F.softmax(q @ k.permute(0, 2, 1) * 0.5 + b, dim=2) @ v", DType::F16));
  EXPECT_TRUE(isChain("F.softmax(torch.tanh(q @ k.permute(0, 2, 1) / 30) * 30, dim=-1) @ v"));
  EXPECT_TRUE(isChain("torch.relu(F.softmax(q @ k.permute(0, 2, 1), dim=-1) @ v) * 2"));
}

constexpr const char *seesSome =
    "torch.where(torch.any(b > 0.5, dim=-1, keepdim=True), F.softmax(torch.where(b > 0.5, "
    "q @ k.permute(0, 2, 1), float(\"-inf\")), dim=-1) @ v, 0.0)";
constexpr const char *seesFinite =
    "torch.where(torch.amax(b, dim=-1, keepdim=True) > 0.5, "
    "F.softmax(q @ k.permute(0, 2, 1) + b, dim=-1) @ v, 0.0) + b.sum(dim=-1, keepdim=True)";

TEST(Chain, TakesReductionsAlongItsKeysBesideIt) {
  EXPECT_TRUE(isChain(seesSome));
  EXPECT_TRUE(isChain(seesFinite, DType::F16));
  const std::string chain = "F.softmax(q @ k.permute(0, 2, 1), dim=-1) @ v";
  EXPECT_TRUE(isChain(chain + " * k[:, :, 0].sum(dim=-1)[:, None, None]")) << "of a batch";
  EXPECT_FALSE(isChain(chain + " + v.sum(dim=1, keepdim=True)")) << "one for each column";
  EXPECT_FALSE(isChain(chain + " * b.sum(dim=0).amax()")) << "of another reduction";
  EXPECT_FALSE(isChain(chain + " * b.amax()")) << "of all queries";
}

const std::string shares = "F.softmax(q @ k.permute(0, 2, 1), dim=-1)";

TEST(Chain, ScalesAndDropsShares) {
  EXPECT_TRUE(isChain("F.dropout(" + shares + ", 0.25, seed=3) @ v", DType::F16));
  EXPECT_TRUE(isChain("(torch.where(b > 0, " + shares + ", 0.0) * 1.5) @ v"));
  EXPECT_TRUE(isChain("(2 * " + shares + ".masked_fill(b > 0, 0.0) / 3) @ v"));
  EXPECT_TRUE(isChain("torch.where(b > 0, torch.where(b < 1, " + shares + ", 0.0), 0.0) @ v"));
  EXPECT_FALSE(isChain("torch.where(b > 0, " + shares + ", 1.0) @ v")) << "no share of 0";
  EXPECT_FALSE(isChain("(" + shares + " * b) @ v")) << "a factor for each share";
  EXPECT_FALSE(isChain("(1 / " + shares + ") @ v"));
  EXPECT_FALSE(isChain("torch.where(b > b.amax(), " + shares + ", 0.0) @ v"))
      << "a condition of a reduction";
  const std::string named = "F.softmax(q @ k.permute(0, 2, 1) + b, dim=-1)";
  EXPECT_FALSE(isChain("torch.where(torch.isnan(" + named + "), 0.0, " + named + ") @ v"))
      << "a condition of the shares";
}

TEST(Chain, IsNoneOfItsNeighbours) {
  EXPECT_FALSE(isChain("F.softmax(q @ k.permute(0, 2, 1), dim=1) @ v")) << "along the queries";
  EXPECT_FALSE(isChain("F.sigmoid(q @ k.permute(0, 2, 1)) @ v"));
  EXPECT_FALSE(isChain("torch.exp(q @ k.permute(0, 2, 1)) @ v"));
  EXPECT_FALSE(isChain("F.softmax(q @ k.permute(0, 2, 1), dim=-1) @ v", DType::F64));
  EXPECT_FALSE(isChain("F.softmax(q @ k.permute(0, 2, 1), dim=-1) @ v + "
                       "q.sum(dim=-1, keepdim=True)"))
      << "another reduction beside it";
}

TEST(Chain, IsTheReference) {
  RunOptions onDevice;
  onDevice.site.isDevice = true;
  const std::vector<std::string> bodies = {
      "F.softmax(q @ k.permute(0, 2, 1) * 0.25, dim=-1) @ v",
      "F.softmax(torch.where(b > -9, q @ k.permute(0, 2, 1), float(\"-inf\")), dim=-1) @ v",
      "torch.relu(F.softmax(torch.tanh(q @ k.permute(0, 2, 1)) + b, dim=-1) @ v) + 1",
      seesSome,
      seesFinite,
      "F.dropout(" + shares + ", 0.3, seed=3) @ v",
      "(2 * torch.where(b > 0, " + shares + ", 0.0).masked_fill(b > 1, 0.0)) @ v",
  };
  for (const std::string &body : bodies) {
    const bool hasBias =
        body.find("b >") != std::string::npos || body.find("+ b") != std::string::npos;
    for (const std::vector<int64_t> &sizes :
         {std::vector<int64_t>{2, 19, 20, 37, 12}, {1, 1, 16, 1, 1}, {3, 33, 1, 40, 17}}) {
      const Sample sample = sampleOf(body, hasBias, sizes);
      for (DType dtype : {DType::F32, DType::F16, DType::BF16}) {
        const definition::Operator op = made(sample.body, sample.inputs, sample.outShape,
                                             "\"" + std::string(torchName(dtype)) + "\"");
        for (const RunOptions &options : {RunOptions{RunOn::Interpreter, true, false},
                                          RunOptions{RunOn::Interpreter, false, true}, onDevice,
                                          RunOptions{RunOn::Cpu, false, false}}) {
          expectReference(op, sample, dtype, options);
        }
      }
    }
  }
}

TEST(Chain, InPartsOfItsKeysIsTheReference) {
  RunOptions inInterpreter, onProcessor{RunOn::Cpu, false, false};
  inInterpreter.chosen = onProcessor.chosen = {{"chain.SPLIT", 1}};
  for (const std::string &body :
       {std::string("torch.relu(F.softmax(q @ k.permute(0, 2, 1) * 0.25, dim=-1) @ v) + 1"),
        std::string("F.softmax(torch.where(b > 0, q @ k.permute(0, 2, 1), float(\"-inf\")), "
                    "dim=-1) @ v")}) {
    const bool hasBias = body.find("b >") != std::string::npos;
    // Fewer blocks of keys than parts, and more; a row may see none.
    for (const std::vector<int64_t> &sizes :
         {std::vector<int64_t>{2, 1, 20, 37, 12}, {1, 3, 16, 700, 17}, {2, 2, 8, 1, 1}}) {
      const Sample sample = sampleOf(body, hasBias, sizes);
      for (DType dtype : {DType::F32, DType::BF16}) {
        const definition::Operator op = made(sample.body, sample.inputs, sample.outShape,
                                             "\"" + std::string(torchName(dtype)) + "\"");
        expectReference(op, sample, dtype, inInterpreter);
        expectReference(op, sample, dtype, onProcessor);
      }
    }
  }
}

TEST(Chain, TakesTheKeysForValues) {
  const std::string queries = "\"B\", \"Q\", \"D\"";
  Sample sample = sampleOf("F.softmax(q @ k.mT, dim=-1) @ k", false, {2, 19, 20, 37, 20});
  sample.outShape = queries;
  for (DType dtype : {DType::F32, DType::F16}) {
    const definition::Operator op = made(sample.body, sample.inputs, sample.outShape,
                                         "\"" + std::string(torchName(dtype)) + "\"");
    auto program = lower(op, dtype);
    ASSERT_TRUE(bool(program));
    normalise(*program);
    EXPECT_TRUE(chainOf(*program, program->stages.at(0).stores).has_value());
    expectReference(op, sample, dtype, {});
    expectReference(op, sample, dtype, {RunOn::Cpu, false, false});
  }
}

/// The result of two keys of which the second one's score is by `distance` less than the first's.
double ofTwoKeys(DType dtype, double distance, std::vector<double> values, bool isDevice) {
  const definition::Operator op =
      made("out = F.softmax(q @ k.permute(0, 2, 1), dim=-1) @ v", tensors, outShape,
           "\"" + std::string(torchName(dtype)) + "\"");
  auto program = lower(op, dtype);
  normalise(*program);
  const EvaluationInput input{
      {1, 1, 1, 2, 1}, {}, {{"q", {1}}, {"k", {0, -distance}}, {"v", std::move(values)}}};
  RunOptions options;
  options.site.isDevice = isDevice;
  auto memory = run(*program, input, options);
  EXPECT_TRUE(bool(memory)) << memory.error().message;
  return memory ? memory->at("out")[0] : -1;
}

/// What the second key adds to a value of 0.
double addedFrom(double distance, bool isDevice) {
  return ofTwoKeys(DType::F32, -distance, {0, 0x1p127}, isDevice);
}

/// Of two queries, of which the first one's mask is -inf everywhere; the second one sees key 0.
std::vector<double> ofBlindQuery(const std::string &body) {
  const definition::Operator op = made("out = " + body, tensors + bias, outShape, "\"float32\"");
  auto program = lower(op, DType::F32);
  normalise(*program);
  EXPECT_TRUE(chainOf(*program, program->stages.at(0).stores).has_value()) << body;
  const double none = -std::numeric_limits<double>::infinity();
  const EvaluationInput input{{1, 2, 1, 3, 1},
                              {},
                              {{"q", {1, 1}},
                               {"k", {1, 2, 3}},
                               {"v", {4, 5, 6}},
                               {"b", {none, none, none, 0, none, none}}}};
  auto memory = run(*program, input, RunOptions());
  EXPECT_TRUE(bool(memory)) << memory.error().message;
  return memory ? memory->at("out") : std::vector<double>(2);
}

TEST(Chain, AQueryThatSeesNothingIsNanUnlessTheBodySaysOtherwise) {
  const std::string attended = "F.softmax(q @ k.permute(0, 2, 1) + b, dim=-1) @ v";
  const std::vector<double> plain = ofBlindQuery(attended);
  EXPECT_TRUE(std::isnan(plain[0])) << "as in PyTorch";
  EXPECT_EQ(plain[1], 4);
  const std::vector<double> chosen = ofBlindQuery(
      "torch.where(torch.amax(b, dim=-1, keepdim=True) > float(\"-inf\"), " + attended + ", 0.0)");
  EXPECT_EQ(chosen, (std::vector<double>{0, 4}));
}

/// Of two queries whose scores are the keys, the first of which drops all shares.
std::vector<double> ofDropped(std::vector<double> keys, std::vector<double> values) {
  const definition::Operator op =
      made("out = torch.where(b > 0, F.softmax(q @ k.permute(0, 2, 1), dim=-1) / 0.5, 0.0) @ v",
           tensors + bias, outShape, "\"float32\"");
  auto program = lower(op, DType::F32);
  normalise(*program);
  EXPECT_TRUE(chainOf(*program, program->stages.at(0).stores).has_value());
  const auto count = static_cast<int64_t>(keys.size());
  std::vector<double> kept(2 * keys.size(), 0);
  kept.back() = 1;
  const EvaluationInput input{
      {1, 2, 1, count, 1}, {}, {{"q", {1, 1}}, {"k", keys}, {"v", values}, {"b", kept}}};
  auto memory = run(*program, input, RunOptions());
  EXPECT_TRUE(bool(memory)) << memory.error().message;
  return memory ? memory->at("out") : std::vector<double>(2);
}

TEST(Chain, WhatIsDroppedIsZeroBesideSharesThatAreNan) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const std::vector<double> &keys : {std::vector<double>{1, std::nan(""), 2},
                                          {infinity, 1, 2},
                                          {-infinity, -infinity, -infinity}}) {
    const std::vector<double> found = ofDropped(keys, {4, 5, 6});
    EXPECT_EQ(found[0], 0) << "a query that keeps nothing";
    EXPECT_TRUE(std::isnan(found[1])) << "a query that keeps a share";
  }
  std::vector<double> many(40, 1); // more than one block
  many[0] = infinity;
  EXPECT_EQ(ofDropped(many, std::vector<double>(40, 1))[0], 0);
  EXPECT_TRUE(std::isnan(ofDropped({1, 2, 3}, {infinity, 5, 6})[0])) << "0 times an infinity";
  EXPECT_NEAR(ofDropped({0, 0}, {4, 6})[1], 6, 1e-6);
}

TEST(Chain, DropsWeightsBelowTheNormalNumbersOnProcessors) {
  EXPECT_EQ(addedFrom(-88, false), 0);
  EXPECT_GT(addedFrom(-88, true), 1);
  EXPECT_GT(addedFrom(-87.25, false), 2) << "a normal number";
}

TEST(Chain, WeightsInPartsAreThoseOfFloat32) {
  const double infinite = std::numeric_limits<double>::infinity();
  for (const DType dtype : {DType::F16, DType::BF16}) {
    for (const double distance : {0.5, 3.0, 9.0, 16.0, 24.0}) {
      const double weight = 1 / (1 + std::exp(distance));
      const double value = dtype == DType::F16 ? 61440 : 0x1p100;
      // The result of float16 is a multiple of 2^-24.
      const double share =
          dtype == DType::F16 ? std::max(0.001, 0x1p-24 / (weight * value)) : 0.004;
      EXPECT_NEAR(ofTwoKeys(dtype, distance, {0, value}, true) / (weight * value), 1, share)
          << torchName(dtype) << " " << distance;
      EXPECT_NEAR(ofTwoKeys(dtype, distance, {1, 1}, true), 1, 1e-6) << torchName(dtype);
    }
    // No part of a weight is 0 or negative.
    for (const double distance : {1.0, 12.0, 40.0, 80.0, 87.0}) {
      EXPECT_EQ(ofTwoKeys(dtype, distance, {1, infinite}, true), infinite)
          << torchName(dtype) << " " << distance;
      EXPECT_EQ(ofTwoKeys(dtype, distance, {-infinite, 1}, true), -infinite)
          << torchName(dtype) << " " << distance;
    }
    EXPECT_TRUE(std::isnan(ofTwoKeys(dtype, 200, {1, infinite}, true))) << "0 times infinity";
  }
}

/// Of 16 columns, ptxas of CUDA 12.8 makes loops that are wrong, see docs/definitions.md.
TEST(Chain, ColumnsOfHalvesAre32AtLeast) {
  const std::string body = "F.softmax(q @ k.permute(0, 2, 1), dim=-1) @ v";
  for (const auto &[dtype, columns] : {std::pair(DType::F32, "BLOCK_E=16,"),
                                       {DType::F16, "BLOCK_E=32,"},
                                       {DType::BF16, "BLOCK_E=32,"}}) {
    const Sample sample = sampleOf(body, false, {1, 1, 1, 1, 1});
    auto program = lower(made(sample.body, sample.inputs, sample.outShape,
                              "\"" + std::string(torchName(dtype)) + "\""),
                         dtype);
    normalise(*program);
    auto kernels = makeKernels(*program, "t");
    ASSERT_TRUE(bool(kernels));
    auto launches = bindLaunch(kernels->table,
                               {{"B", 3}, {"Q", 33}, {"D", 20}, {"S", 33}, {"E", 12}}, {132, true});
    ASSERT_TRUE(bool(launches));
    std::string signature;
    for (const BoundLaunch &each : *launches) {
      signature += each.programs > 0 ? each.signature : "";
    }
    EXPECT_NE(signature.find(columns), std::string::npos) << signature;
  }
}

} // namespace
} // namespace nereid::generator
