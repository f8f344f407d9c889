// SPDX-License-Identifier: Apache-2.0
// Figures of the definition document against counts made by hand, and its chapters.
#include "lib/document/Document.h"
#include "lib/document/OperatorClass.h"
#include "lib/document/RooflinePicture.h"
#include "lib/document/SizeSum.h"

#include <gtest/gtest.h>

namespace nereid::document {
namespace {

using definition::Operator;

Operator shipped(const std::string &name) {
  Diagnostics diags;
  auto op = definition::loadOperator(NEREID_SOURCE_DIR "/operators/" + name + ".toml", diags);
  EXPECT_TRUE(op) << diags.render();
  return op ? *op : Operator();
}

/// A definition whose only body line is `out = …`, with two inputs of the given shapes.
Operator made(const std::string &body, const std::string &x, const std::string &y,
              const std::string &out, const std::string &sizes, const std::string &more = "") {
  Diagnostics diags;
  auto op = definition::parseOperator(
      "made.toml",
      "[operator]\nname = \"made\"\nsummary = \"made\"\ndtypes = [\"float32\"]\nbody = \"\"\"\n" +
          body + "\n\"\"\"\n" + more + "[inputs.x]\nshape = [" + x + "]\n[inputs.y]\nshape = [" +
          y + "]\n[outputs.out]\nshape = [" + out + "]\n[performance]\ncases = [{ " + sizes +
          " }]\n",
      diags);
  EXPECT_TRUE(op) << diags.render();
  return op ? *op : Operator();
}

Machine chip() {
  Machine machine;
  machine.name = "a chip";
  machine.cores = 4;
  machine.peakFlops = {{"fp32", 1e11}};
  machine.peakFlopsOneCore = {{"fp32", 2.5e10}};
  machine.copyBandwidth = 2e10;
  machine.copyBandwidthOneCore = 1e10;
  machine.caches = {{"L3", 1 << 20, 4, 0, 0}};
  return machine;
}

LaunchOutline launch(int64_t programs, bool isStreaming = true) {
  LaunchOutline outline;
  outline.kernel = "k";
  outline.schedule = "tiles:BLOCK_M=1";
  outline.grid = {programs, 1, 1};
  outline.elements = outline.tiledElements = 1000;
  outline.isStreaming = isStreaming;
  return outline;
}

std::string documentOf(const Operator &op, const Machine &machine, bool isPlanned = true) {
  DocumentInput input = {op, DType::F32, machine, {}, {}};
  for (size_t i = 0; isPlanned && i < op.performanceCases.size(); ++i) {
    input.plans.push_back({launch(8), launch(4000, false), launch(8)});
  }
  return definitionDocument(input);
}

void expectParts(const std::string &text, const std::vector<std::string> &parts) {
  for (const std::string &part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << "missing: " << part << "\n" << text;
  }
}

TEST(Document, HasEveryChapter) {
  expectParts(documentOf(shipped("bias_gelu"), chip()), {"## 1 Operator",
                                                         "### 1.1 Requirement",
                                                         "### 1.2 Basics",
                                                         "### 1.3 Inputs",
                                                         "### 1.4 Outputs",
                                                         "### 1.5 Rounds",
                                                         "### 1.6 Scenes",
                                                         "## 2 Analysis",
                                                         "### 2.1 Time",
                                                         "### 2.2 Space",
                                                         "### 2.3 Reads",
                                                         "### 2.4 Roofline",
                                                         "### 2.5 Bottleneck",
                                                         "### 2.6 Data flow",
                                                         "### 2.7 Accuracy",
                                                         "## 3 Strategy",
                                                         "### 3.1 Grid",
                                                         "### 3.2 Blocks",
                                                         "### 3.3 Warps and stages",
                                                         "### 3.4 Memory access",
                                                         "### 3.5 Reuse",
                                                         "### 3.6 Changing sizes",
                                                         "## 4 When the target is missed",
                                                         "### 4.1",
                                                         "### 4.2",
                                                         "### 4.3",
                                                         "(bias_gelu_roofline.svg)"});
}

// 512·512 rows of 512 columns: P·D = 134 217 728 elements of 4 bytes are 512 MiB, the bias 2 KiB.
TEST(Document, BroadcastAddByHand) {
  const std::string text = documentOf(shipped("broadcast_add"), chip());
  expectParts(text, {"| class | pointwise with broadcasting |", "Together P·D FLOP", "**O(P·D)**",
                     "134 M in case '512x512x512'", "Together 2·P·D + D elements",
                     "reads: P·D (`x`) + D (`bias`) = P·D + D elements", "writes: P·D (`out`)",
                     "(P·D) / (2·P·D + D)", "There are no intermediate tensors",
                     "| `bias` | caller | D | `out` | P | memory |",
                     "| `x` | caller | P·D | `out` | 1 | memory |"});
  // The other two cases: 1·256·1024·256 floats are 256 MiB, 4099·1023 are 16 773 108 bytes.
  const Operator op = shipped("broadcast_add");
  const auto first = definition::countWork(op, op.performanceCases[0].binding, DType::F32);
  EXPECT_EQ(first.bytesRead, 512.0 * 512 * 512 * 4 + 512 * 4);
  EXPECT_EQ(first.bytesWritten, 512.0 * 512 * 512 * 4);
  const auto odd = definition::countWork(op, op.performanceCases[2].binding, DType::F32);
  EXPECT_EQ(odd.bytesRead, 16773108.0 + 4092);
  EXPECT_EQ(odd.bytesWritten, 16773108.0);
}

// amax, sub, sum and div are one each, exp is 20: 24 for each element; three tensors P·D and two of
// P in between are written and read.
TEST(Document, SoftmaxByHand) {
  const std::string text = documentOf(shipped("softmax"), chip());
  expectParts(text, {"| class | normalisation |", "Together 24·P·D FLOP", "Together 2·P·D elements",
                     "2·P·D + 2·P elements of intermediate tensors", "(24·P·D) / (2·P·D)",
                     "| `maximum` | amax(dim=-1, keepdim=True) | P |", "`shifted` | D | on chip |",
                     "`total`, `out` | 1, 1 | on chip |"});
  const Operator op = shipped("softmax");
  const auto &odd = op.performanceCases[2].binding; // 1823 x 781
  const double elements = 1823.0 * 781;
  EXPECT_EQ(definition::countWork(op, odd, DType::F32).flops, 24 * elements);
  EXPECT_EQ(definition::countWork(op, odd, DType::F16).bytes(), 2 * elements * 2);
  // amax: x, P; sub: x, P, shifted; exp: two; sum: one, P; div: one, P, out.
  EXPECT_EQ(definition::countUnfusedWork(op, odd, DType::F32).bytes(),
            4 * (8 * elements + 4 * 1823));
}

TEST(Document, LayerNormByHand) {
  const Operator op = shipped("layer_norm");
  const std::string text = documentOf(op, chip());
  expectParts(text, {"Together 7·P·D + 3·P FLOP", "Together 2·P·D + 2·D elements",
                     "4·P·D + 4·P elements of intermediate tensors",
                     "reads: P·D (`x`) + D (`weight`) + D (`bias`) = P·D + 2·D elements"});
  const auto work = definition::countWork(op, op.performanceCases[1].binding, DType::F32);
  EXPECT_EQ(work.flops, 7.0 * 4096 * 768 + 3.0 * 4096);
  EXPECT_EQ(work.bytes(), 4 * (2.0 * 4096 * 768 + 2 * 768));
}

TEST(Document, ProductsCountPairs) {
  const Operator op = made("out = torch.relu(x @ y)", "\"M\", \"K\"", "\"K\", \"N\"",
                           "\"M\", \"N\"", "M = 3, K = 5, N = 7");
  EXPECT_EQ(operatorClass(op), "product with pointwise epilogue");
  expectParts(documentOf(op, chip()), {"Together 2·M·K·N + M·N FLOP", "| `x` | caller | M·K |"});
  EXPECT_EQ(definition::countWork(op, op.performanceCases[0].binding, DType::F32).flops,
            2 * 3 * 5 * 7 + 3 * 7);
}

TEST(Document, ClassFollowsFromTheGraph) {
  const std::string d = "\"...\", \"D\"", sizes = "\"...\" = [2], D = 3";
  EXPECT_EQ(operatorClass(made("out = x + y", d, d, d, sizes)), "pointwise");
  EXPECT_EQ(operatorClass(made("out = torch.sum(x * y, dim=-1)", d, d, "\"...\"", sizes)),
            "reduction");
  EXPECT_EQ(operatorClass(made("out = torch.softmax(x + y, dim=-1)", d, d, d, sizes)),
            "normalisation");
}

TEST(Document, RequirementAndScenesStandInIt) {
  const Operator op = made(
      "out = x + y", "\"D\"", "\"D\"", "\"D\"", "D = 4",
      "requirement = \"\"\"\nFast sums.\n\nOf | all sizes.\n\"\"\"\n"
      "[[scene]]\nname = \"residual\"\ndescription = \"behind a layer\"\ncode = \"\"\"\ny = f(x)\n"
      "  z = made(x, y)\n\"\"\"\n");
  ASSERT_EQ(op.scenes.size(), 1u);
  EXPECT_EQ(op.scenes[0].code, "y = f(x)\n  z = made(x, y)");
  expectParts(documentOf(op, chip()),
              {"> Fast sums.\n>\n> Of | all sizes.\n",
               "**1. residual**: behind a layer\n\n```python\ny = f(x)\n  z = made(x, y)\n```"});
}

TEST(Document, SaysWhatItDoesNotKnow) {
  const std::string text = documentOf(shipped("softmax"), Machine(), false);
  expectParts(text, {"has no rates", "Not known without", "No launch was planned"});
  EXPECT_EQ(text.find(".svg"), std::string::npos);
  EXPECT_EQ(text.find("inf"), std::string::npos);
  EXPECT_EQ(text.find("nan"), std::string::npos);
}

TEST(Document, BoundByWhatIsLonger) {
  Machine slow = chip(), quick = chip();
  slow.peakFlops = {{"fp32", 1e9}};
  quick.peakFlops = {{"fp32", 1e15}};
  const Operator op = shipped("bias_gelu");
  expectParts(documentOf(op, slow), {"| arithmetic |", "arithmetic decides everywhere"});
  const std::string memory = documentOf(op, quick);
  expectParts(memory, {"memory decides everywhere"});
  EXPECT_EQ(memory.find("| arithmetic | 1"), std::string::npos);
}

// 200 bytes read and 100 MB written at 20 GB/s are 5 ms, and 10 ms when they are read first; 8
// programs on 4 processors are two waves of a microsecond, 9 are three for the work of 2.25.
TEST(CostModel, ByHand) {
  const definition::Work work = {0, 1e8, 1e6};
  const Machine machine = chip();
  ModelTime time = modelTime(machine, work, launch(8), DType::F32);
  EXPECT_DOUBLE_EQ(time.arithmetic, 1e6 / 1e11);
  EXPECT_NEAR(time.memory, 5e-3, 1e-4); // what fits the cache costs nothing here
  EXPECT_DOUBLE_EQ(time.handOut, 2e-6);
  EXPECT_DOUBLE_EQ(time.tail, 1);
  EXPECT_NEAR(modelTime(machine, work, launch(8, false), DType::F32).memory, 2 * time.memory, 1e-4);
  EXPECT_DOUBLE_EQ(modelTime(machine, work, launch(9), DType::F32).tail, 3 / 2.25);
  LaunchOutline masked = launch(8);
  masked.tiledElements = 4000;
  EXPECT_DOUBLE_EQ(modelTime(machine, work, masked, DType::F32).arithmetic, 4 * time.arithmetic);
  EXPECT_DOUBLE_EQ(masked.maskedShare(), 0.75);
  Machine device = machine;
  device.isDevice = true;
  EXPECT_DOUBLE_EQ(modelTime(device, work, launch(8, false), DType::F32).memory, time.memory);
  EXPECT_DOUBLE_EQ(modelTime(device, work, launch(8), DType::F32).handOut, 0);
}

TEST(Waves, TheLastOneIsCounted) {
  EXPECT_EQ(wavesOf(9, 4).count, 3);
  EXPECT_DOUBLE_EQ(wavesOf(9, 4).lastShare, 0.25);
  EXPECT_DOUBLE_EQ(wavesOf(8, 4).lastShare, 1);
  EXPECT_EQ(wavesOf(0, 4).count, 0);
}

TEST(SizeSum, AddsProducts) {
  Operator op = made("out = x + y", "\"...\", \"P\", \"D\"", "\"D\"", "\"...\", \"P\", \"D\"",
                     "\"...\" = [2, 3], P = 5, D = 7");
  const SizeNames names(op); // "P" is taken
  SizeSum sum;
  sum.add(2, op.parameters[0].shape).add(1, op.parameters[1].shape).add(3, {});
  EXPECT_EQ(sum.text(names), "2·R·P·D + D + 3");
  EXPECT_EQ(sum.order(names), "R·P·D");
  EXPECT_EQ(sum.evaluate(op.performanceCases[0].binding), 2 * 6 * 5 * 7 + 7 + 3);
  SizeSum less = sum;
  less.add(sum, -1);
  EXPECT_TRUE(less.isZero());
  EXPECT_EQ(less.text(names), "0");
  EXPECT_EQ(SizeSum().add(1, {{"", 3}, {"D", 0}}).text(names), "3·D");
  EXPECT_EQ(timesText(op.parameters[0].shape, op.parameters[1].shape, names), "R·P");
  EXPECT_EQ(timesText(op.parameters[1].shape, op.parameters[0].shape, names), "1 / R·P");
}

TEST(Picture, HasCeilingsAndCases) {
  Operator op = shipped("softmax");
  op.performanceCases[0].name = "<a & b>";
  const Machine machine = chip();
  const DocumentInput input = {op, DType::F32, machine, {}, {}};
  const auto picture = rooflinePicture(input);
  ASSERT_TRUE(picture);
  expectParts(*picture, {"<svg ", "</svg>", "&lt;a &amp; b&gt;", ", unfused", "5 FLOP/B",
                         "20.0 GB/s", "100 GFLOP/s"});
  EXPECT_EQ(picture->find("nan"), std::string::npos);
  const Machine unknown;
  EXPECT_FALSE(rooflinePicture({op, DType::F32, unknown, {}, {}}));
}

} // namespace
} // namespace nereid::document
