// SPDX-License-Identifier: Apache-2.0
// Attention whose operands are computed, and whose result is computed on, is one kernel beside
// those around it.
#include "lib/generator/fuse/InnerChains.h"

#include "lib/generator/fuse/Chain.h"
#include "lib/generator/launch/Table.h"
#include "lib/generator/lower/Lower.h"
#include "lib/generator/normalise/Normalise.h"
#include "unittests/generator/template/Expect.h"

namespace nereid::generator {
namespace {

const std::string tensors = "[inputs.x]\nshape = [\"T\", 8]\n"
                            "[inputs.wq]\nshape = [8, 8]\n"
                            "[inputs.wk]\nshape = [8, 8]\n"
                            "[inputs.wv]\nshape = [8, 8]\n"
                            "[inputs.b]\nshape = [\"T\", \"T\"]\n";
const std::string heads = "q = (x @ wq).reshape(T, 2, 4).permute(1, 0, 2)\n"
                          "k = (x @ wk).reshape(T, 2, 4).permute(1, 2, 0)\n"
                          "v = (x @ wv).reshape(T, 2, 4).permute(1, 0, 2)\n";
const std::string joined = ".permute(1, 0, 2).reshape(T, 8)";
const std::string layer =
    heads + "y = (F.softmax(q @ k * 0.5 + b, dim=-1) @ v)" + joined + "\nout = y @ wq + x";
/// Two of whose products need one sum of rows.
const std::string behindNorm = "x = F.layer_norm(x, (8,))\n" + heads +
                               "y = (F.softmax(q @ k, dim=-1) @ v)" + joined + "\nout = y @ wq + y";
const std::string ofRows = "\"T\", 8";

Sample sampleOf(const std::string &body, int64_t length) {
  return {body, tensors, ofRows, {{length, 8}, {8, 8}, {8, 8}, {8, 8}, {length, length}}, {length}};
}

definition::Operator operatorOf(const std::string &body, DType dtype) {
  return made(body, tensors, ofRows, "\"" + std::string(torchName(dtype)) + "\"");
}

/// How many stages are chains, and how many there are.
std::pair<size_t, size_t> chainsOf(const std::string &body, DType dtype = DType::F32) {
  auto program = lower(operatorOf(body, dtype), dtype);
  EXPECT_TRUE(bool(program));
  normalise(*program);
  cutOutChains(*program);
  size_t count = 0;
  for (const Stage &stage : program->stages) {
    count += chainOf(*program, stage.stores) ? 1 : 0;
  }
  return {count, program->stages.size()};
}

TEST(InnerChains, AreCutOutOfLayers) {
  EXPECT_EQ(chainsOf(layer), std::pair(size_t{1}, size_t{3})) << "operands, chain, what follows";
  EXPECT_EQ(chainsOf(layer, DType::F16), std::pair(size_t{1}, size_t{3}));
  EXPECT_EQ(chainsOf(heads + "out = (F.softmax(q @ k, dim=-1) @ v)" + joined).first, 1u)
      << "operands alone";
  EXPECT_EQ(chainsOf("out = F.softmax(x @ x.mT, dim=-1) @ x @ wq").first, 1u)
      << "what follows alone";
  EXPECT_EQ(chainsOf("n = F.layer_norm(x, (8,))\nout = F.softmax(n @ n.mT, dim=-1) @ n").first, 1u);
}

TEST(InnerChains, AreSeveralOfSeveralLayers) {
  const std::string two = "h = F.softmax(x @ x.mT, dim=-1) @ x\n"
                          "h = h @ wq\nout = F.softmax(h @ h.mT, dim=-1) @ h";
  EXPECT_EQ(chainsOf(two).first, 2u);
  auto program = lower(operatorOf(two, DType::F32), DType::F32);
  normalise(*program);
  auto kernels = makeKernels(*program, "t");
  ASSERT_TRUE(bool(kernels));
  std::set<std::string> names;
  for (const StageKernel &kernel : kernels->kernels) {
    EXPECT_TRUE(names.insert(kernel.tree.name).second) << kernel.tree.name;
  }
}

TEST(InnerChains, AreNoneOfTheirNeighbours) {
  EXPECT_EQ(chainsOf("out = torch.sigmoid(x @ x.mT) @ x @ wq"), std::pair(size_t{0}, size_t{1}));
  EXPECT_EQ(chainsOf("out = F.softmax(x @ x.mT, dim=0) @ x @ wq").first, 0u) << "along the queries";
}

TEST(InnerChains, AreTheReference) {
  RunOptions onDevice, onProcessor{RunOn::Cpu, false, false};
  onDevice.site.isDevice = true;
  for (const std::string &body :
       {layer, behindNorm,
        std::string("n = F.layer_norm(x, (8,))\nout = F.softmax(torch.where(b > 0, n @ n.mT, "
                    "float(\"-inf\")), dim=-1) @ (n * 2) @ wk")}) {
    for (const int64_t length : {1, 5, 37}) {
      const Sample sample = sampleOf(body, length);
      for (DType dtype : {DType::F32, DType::F16}) {
        for (const RunOptions &options : {onDevice, onProcessor}) {
          expectReference(operatorOf(body, dtype), sample, dtype, options);
        }
      }
    }
  }
}

} // namespace
} // namespace nereid::generator
