// SPDX-License-Identifier: Apache-2.0
// Gradients of attention and their like: which programs are chains with rows, and that their
// kernels compute what the reference does without a score in memory.
#include "lib/generator/fuse/RowChains.h"

#include "lib/generator/kernel/Printer.h"
#include "lib/generator/lower/Lower.h"
#include "lib/generator/normalise/Normalise.h"
#include "unittests/generator/template/Expect.h"

namespace nereid::generator {
namespace {

const std::string tensors = "[inputs.q]\nshape = [\"B\", \"Q\", \"D\"]\n"
                            "[inputs.k]\nshape = [\"B\", \"S\", \"D\"]\n"
                            "[inputs.v]\nshape = [\"B\", \"S\", \"E\"]\n"
                            "[inputs.g]\nshape = [\"B\", \"Q\", \"E\"]\n"
                            "[inputs.b]\nshape = [\"Q\", \"S\"]\n"
                            "[inputs.taps]\nshape = [\"D\", 3]\n";
const std::string scores = "s = q @ k.mT * 0.5 + b\n";
const std::string weights = scores + "w = F.softmax(s, dim=-1)\n";
const std::string gradients = weights + "dw = g @ v.mT\n"
                                        "ds = w * (dw - (w * dw).sum(dim=-1, keepdim=True))\n";

Sample sampleOf(const std::string &body, const std::string &outShape,
                const std::vector<int64_t> &sizes) {
  const int64_t b = sizes[0], q = sizes[1], d = sizes[2], s = sizes[3], e = sizes[4];
  return {
      body, tensors, outShape, {{b, q, d}, {b, s, d}, {b, s, e}, {b, q, e}, {q, s}, {d, 3}}, sizes};
}
definition::Operator operatorOf(const Sample &sample, DType dtype) {
  return made(sample.body, sample.inputs, sample.outShape,
              "\"" + std::string(torchName(dtype)) + "\"");
}

/// "rows rows chain", what the kernels are in order; "" where the program is none.
std::string stepsOf(const std::string &body, const std::string &outShape,
                    DType dtype = DType::F32) {
  auto program = lower(operatorOf(sampleOf(body, outShape, {1, 1, 1, 1, 1}), dtype), dtype);
  EXPECT_TRUE(bool(program));
  normalise(*program);
  const size_t buffers = program->buffers.size();
  const auto chains = rowChainsOf(*program);
  EXPECT_EQ(program->buffers.size(), buffers + (chains ? chains->saved.size() : 0));
  std::string text;
  for (const RowChains::Step &step : chains ? chains->steps : std::vector<RowChains::Step>()) {
    text += (text.empty() ? "" : " ") + std::string(step.chain  ? "chain"
                                                    : step.rows ? "rows"
                                                                : "reduce");
  }
  return text;
}

const std::string rounded = scores + "w = F.softmax(s, dim=-1, dtype=torch.float32)";
const std::string ofQueries = "\"B\", \"Q\", \"D\"", ofResult = "\"B\", \"Q\", \"E\"",
                  ofKeys = "\"B\", \"S\", \"D\"", ofValues = "\"B\", \"S\", \"E\"";

TEST(RowChains, AreGradientsOfAttention) {
  EXPECT_EQ(stepsOf(gradients + "out = ds @ k * 0.5", ofQueries), "rows rows chain");
  EXPECT_EQ(stepsOf(gradients + "out = ds.mT @ q * 0.5", ofKeys, DType::F16), "rows rows chain");
  EXPECT_EQ(stepsOf(weights + "out = w.mT @ g", ofValues), "rows chain");
  EXPECT_EQ(stepsOf(weights + "out = (w * (g @ v.mT - (g * g).sum(dim=-1, keepdim=True))) @ k",
                    ofQueries),
            "rows reduce chain")
      << "a sum of inputs";
  EXPECT_EQ(stepsOf(scores + "w = F.softmax(s, dim=1)\nout = w @ k", ofQueries), "rows chain")
      << "along the queries";
  EXPECT_EQ(stepsOf(rounded + ".to(q.dtype)\nout = w @ v", ofResult, DType::F16), "rows chain")
      << "shares as they are rounded";
}

TEST(RowChains, AreNoneOfTheirNeighbours) {
  EXPECT_EQ(stepsOf(scores + "out = torch.tanh(s) @ k", ofQueries), "")
      << "nothing of a row has to be left";
  EXPECT_EQ(stepsOf(weights + "out = w.mT @ g + v.sum(dim=1, keepdim=True)", ofValues), "")
      << "another reduction beside it";
  EXPECT_EQ(stepsOf(weights + "out = w.mT @ (g * g.amax(dim=-1, keepdim=True))", ofValues), "")
      << "values that are reductions themselves";
  EXPECT_EQ(stepsOf(scores + "w = s * s.amax(dim=-1, keepdim=True)\nout = w @ k", ofQueries), "")
      << "a maximum without its sum";
  EXPECT_EQ(stepsOf(weights + "out = (w * s.amin(dim=-1, keepdim=True)) @ k", ofQueries), "")
      << "found behind rows that could be left";
  EXPECT_EQ(stepsOf(gradients + "out = ds", "\"B\", \"Q\", \"S\""), "") << "scores are the result";
  EXPECT_EQ(stepsOf(gradients + "out = ds @ k", ofQueries, DType::F64), "");
  EXPECT_EQ(
      stepsOf("out = (q.unfold(1, 3, 1) * taps).sum(dim=-1) @ k.mT", "\"B\", \"Q - 2\", \"S\""), "")
      << "a sum over windows, whose places are sums of iterators";
}

TEST(RowChains, AreTheReference) {
  RunOptions onDevice, onProcessor{RunOn::Cpu, false, false}, inInterpreter;
  onDevice.site.isDevice = true;
  onDevice.chosen = onProcessor.chosen = inInterpreter.chosen = {{"chain.FUSED", 1}};
  for (const auto &[body, outShape] :
       {std::pair(gradients + "out = ds @ k * 0.5", ofQueries),
        std::pair(gradients + "out = ds.mT @ q", ofKeys),
        std::pair(weights + "out = torch.relu(w.mT @ g) + 1", ofValues),
        std::pair(std::string("s = torch.where(b > -9, q @ k.mT, float(\"-inf\"))\n"
                              "out = F.softmax(s, dim=-1).mT @ g"),
                  ofValues),
        std::pair(scores + "out = F.softmax(s, dim=1) @ k", ofQueries),
        std::pair(rounded + ".to(q.dtype)\nout = w @ v", ofResult),
        std::pair(rounded + ".to(torch.bfloat16)\nout = (w @ v.to(torch.bfloat16)).to(q.dtype)",
                  ofResult),
        std::pair(rounded + ".to(torch.bfloat16).float()\nout = (w @ v.float()).to(q.dtype)",
                  ofResult)}) {
    for (const std::vector<int64_t> &sizes :
         {std::vector<int64_t>{2, 19, 20, 37, 12}, {1, 1, 16, 1, 1}, {2, 67, 3, 40, 17}}) {
      const Sample sample = sampleOf(body, outShape, sizes);
      for (DType dtype : {DType::F32, DType::F16, DType::BF16}) {
        for (const RunOptions &options : {onDevice, onProcessor, inInterpreter}) {
          expectReference(operatorOf(sample, dtype), sample, dtype, options);
        }
      }
    }
  }
}

/// Whether a kernel without scores in memory multiplies the shares in 16 bits.
bool multipliesHalves(const std::string &body) {
  auto program =
      lower(operatorOf(sampleOf(body, ofResult, {1, 1, 1, 1, 1}), DType::F16), DType::F16);
  normalise(*program);
  auto made = makeKernels(*program, "t");
  EXPECT_TRUE(bool(made));
  std::string text;
  for (const StageKernel &kernel : made->kernels) {
    text += kernel.tree.name.find("chain_2") == std::string::npos ? "" : kernel::text(kernel.tree);
  }
  EXPECT_NE(text, "");
  return text.find("acc = tl.dot(factor, v, acc") != std::string::npos;
}

TEST(RowChains, RoundedSharesAreMultipliedAsTheyAre) {
  EXPECT_TRUE(multipliesHalves(rounded + ".to(q.dtype)\nout = w @ v"));
  EXPECT_FALSE(
      multipliesHalves(rounded + ".to(torch.bfloat16).float()\nout = (w @ v.float()).to(q.dtype)"));
}

/// Whether a launch has no scores in memory unasked.
bool isFused(const std::string &body, const std::string &outShape, int64_t batch, int64_t queries,
             LaunchSite site) {
  auto program =
      lower(operatorOf(sampleOf(body, outShape, {1, 1, 1, 1, 1}), DType::F16), DType::F16);
  normalise(*program);
  auto made = makeKernels(*program, "t");
  EXPECT_TRUE(bool(made));
  auto launches = bindLaunch(
      made->table, {{"B", batch}, {"Q", queries}, {"D", 64}, {"S", 1024}, {"E", 64}}, site);
  EXPECT_TRUE(bool(launches));
  return std::any_of(launches->begin(), launches->end(), [](const BoundLaunch &each) {
    return each.programs > 0 && each.function.find("chain") != std::string::npos;
  });
}

TEST(RowChains, AreTakenWhereMatrixUnitsMultiply) {
  const LaunchSite device = {132, /*isDevice=*/true};
  const std::string body = rounded + ".to(q.dtype)\nout = w @ v";
  EXPECT_TRUE(isFused(body, ofResult, 66, 64, device));
  EXPECT_FALSE(isFused(body, ofResult, 65, 64, device))
      << "tiles for fewer than half of the processors";
  EXPECT_FALSE(isFused(body, ofResult, 132, 63, device)) << "of few queries";
  EXPECT_FALSE(isFused(body, ofResult, 66, 64, {132}));
  EXPECT_TRUE(isFused(body, ofResult, 1024, 1024, {132})) << "4 GiB of scores";
  EXPECT_FALSE(isFused(gradients + "out = ds @ k", ofQueries, 66, 64, device))
      << "weights of float32";
  EXPECT_TRUE(isFused(gradients + "out = ds @ k", ofQueries, 1024, 1024, device));
}

TEST(RowChains, LeaveNoScoresInMemory) {
  const Sample sample = sampleOf(gradients + "out = ds @ k", ofQueries, {2, 19, 20, 37, 12});
  auto program = lower(operatorOf(sample, DType::F16), DType::F16);
  normalise(*program);
  const auto chains = rowChainsOf(*program);
  ASSERT_TRUE(chains);
  EXPECT_EQ(chains->saved.size(), 3u);
  for (BufferId buffer : chains->saved) {
    EXPECT_EQ(program->buffers[buffer].sizes.size(), 2u) << "of batch and row";
  }
}

} // namespace
} // namespace nereid::generator
