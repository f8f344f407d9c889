// SPDX-License-Identifier: Apache-2.0
// What the reader of ONNX files takes, and what it says of files that contradict themselves.
#include "unittests/importer/Models.h"

#include "lib/importer/onnx/TensorElements.h"
#include "lib/importer/onnx/WireDamage.h"

#include <cstdlib>

namespace nereid::importer {
namespace {

ModelMaker small() {
  ModelMaker maker;
  maker.input("x", {2, 3}).floats("half", {}, {0.5F}).node("Mul", {"x", "half"}, {"y"});
  maker.node("Relu", {"y"}, {"z"}).output("z", {2, 3});
  return maker;
}

TEST(Read, NodesValuesAndElements) {
  Read read = readBytes(small().bytes());
  ASSERT_TRUE(read.model) << read.diags.render();
  const Model &model = *read.model;
  EXPECT_EQ(model.opset, 17);
  ASSERT_EQ(model.nodes.size(), 2U);
  EXPECT_EQ(describe(model.nodes[1]), "node 1 'the_z' (Relu)");
  ASSERT_TRUE(model.initialiser("half"));
  EXPECT_EQ(model.initialiser("half")->floats, std::vector<double>{0.5});
  EXPECT_EQ(text(*model.value("x")->shape), "[2, 3]");
  EXPECT_EQ(model.outputs, std::vector<std::string>{"z"});
}

TEST(Read, OldFilesListInitialisersAmongTheInputs) {
  ModelMaker maker = small();
  maker.input("half", {});
  Read read = readBytes(maker.bytes());
  ASSERT_TRUE(read.model) << read.diags.render();
  EXPECT_EQ(read.model->inputs.size(), 1U);
}

TEST(Read, ConstantNodesAreInitialisers) {
  ModelMaker maker;
  maker.input("x", {4}).node("Constant", {}, {"c"}).number("value_float", 1.5F);
  maker.node("Add", {"x", "c"}, {"y"}).output("y");
  Read read = readBytes(maker.bytes());
  ASSERT_TRUE(read.model) << read.diags.render();
  EXPECT_EQ(read.model->nodes.size(), 1U);
  EXPECT_EQ(read.model->nodes[0].number, 1) << "numbers are those of the file";
  EXPECT_EQ(read.model->initialiser("c")->floats, std::vector<double>{1.5});
}

TEST(Read, AttributesOfAnotherKindAreNotLeftOut) {
  ModelMaker word;
  word.input("x", {4, 3}).node("Softmax", {"x"}, {"y"}).word("axis", "0").output("y");
  EXPECT_EQ(readBytes(word.bytes()).code(), "E0631");
  EXPECT_NE(readBytes(word.bytes()).message().find("'axis': expects an integer, but is a word"),
            std::string::npos);
  ModelMaker misspelt;
  misspelt.input("x", {4, 3}).node("Softmax", {"x"}, {"y"}).integer("axsi", 0).output("y");
  EXPECT_EQ(readBytes(misspelt.bytes()).code(), "E0631");
  EXPECT_NE(readBytes(misspelt.bytes()).message().find("'axsi': no standard operator has it"),
            std::string::npos);
}

TEST(Read, WhatContradictsItselfIsNoModel) {
  EXPECT_EQ(readBytes("").code(), "E0631");
  EXPECT_EQ(readBytes("this is no model").code(), "E0631");
  ModelMaker cycle;
  cycle.input("x", {2}).node("Add", {"x", "b"}, {"a"}).node("Relu", {"a"}, {"b"}).output("b");
  EXPECT_EQ(readBytes(cycle.bytes()).code(), "E0631");
  EXPECT_NE(readBytes(cycle.bytes()).message().find("node 0 'the_a' (Add): reads 'b'"),
            std::string::npos);
  ModelMaker twice = small();
  twice.node("Relu", {"x"}, {"y"});
  EXPECT_NE(readBytes(twice.bytes()).message().find("'y' of node 2"), std::string::npos);
  ModelMaker noOutput = small();
  noOutput.output("nothing");
  EXPECT_EQ(readBytes(noOutput.bytes()).code(), "E0631");
  ModelMaker missing = small();
  missing.file.mutable_graph()->mutable_initializer(0)->set_raw_data("abc");
  EXPECT_NE(readBytes(missing.bytes()).message().find("'half' has 1 elements, but 3"),
            std::string::npos);
  ModelMaker huge = small();
  huge.file.mutable_graph()->mutable_initializer(0)->add_dims(int64_t{1} << 62);
  EXPECT_EQ(readBytes(huge.bytes()).code(), "E0631");
  ModelMaker negative = small();
  negative.file.mutable_graph()->mutable_initializer(0)->add_dims(-1);
  EXPECT_EQ(readBytes(negative.bytes()).code(), "E0631");
}

TEST(Read, SetsOfOperators) {
  EXPECT_EQ(readBytes(ModelMaker(0).input("x", {1}).node("Relu", {"x"}, {"y"}).output("y").bytes())
                .code(),
            "E0632");
  Read future =
      readBytes(ModelMaker(99).input("x", {1}).node("Relu", {"x"}, {"y"}).output("y").bytes());
  EXPECT_EQ(future.code(), "E0632");
  EXPECT_NE(future.message().find("99, but 1 to 28"), std::string::npos);
}

TEST(Read, OperatorsThatAreNotKnown) {
  ModelMaker maker;
  maker.input("x", {1}).node("Sofmax", {"x"}, {"y"}).output("y");
  Read read = readBytes(maker.bytes());
  EXPECT_EQ(read.code(), "E0633");
  EXPECT_NE(read.diags.all()[0].help.find("Softmax"), std::string::npos);
  EXPECT_EQ(read.diags.all()[0].file, "test.onnx");
  maker.last().set_op_type("Relu");
  maker.last().set_domain("com.example");
  EXPECT_NE(readBytes(maker.bytes()).message().find("'com.example'"), std::string::npos);
  maker.last().set_domain("ai.onnx");
  EXPECT_TRUE(readBytes(maker.bytes()).model);
  maker.last().set_op_type("If");
  format::Attribute &branch = *maker.last().add_attribute();
  branch.set_name("then_branch");
  branch.set_type(5);
  branch.set_g("\x0a");
  EXPECT_NE(readBytes(maker.bytes()).message().find("a graph of its own ('then_branch')"),
            std::string::npos);
  EXPECT_EQ(readBytes(ModelMaker(16)
                          .input("x", {2, 2})
                          .input("s", {2})
                          .node("LayerNormalization", {"x", "s"}, {"y"})
                          .output("y")
                          .bytes())
                .code(),
            "E0633");
}

TEST(Read, TensorsInOtherFilesAreNamedAndNotRead) {
  ModelMaker maker = small();
  format::Tensor &tensor = *maker.file.mutable_graph()->mutable_initializer(0);
  tensor.clear_raw_data();
  tensor.set_data_location(1);
  EXPECT_EQ(readBytes(maker.bytes()).code(), "E0631");
  format::Entry &entry = *tensor.add_external_data();
  entry.set_key("location");
  entry.set_value("weights.bin");
  Read read = readBytes(maker.bytes());
  ASSERT_TRUE(read.model) << read.diags.render();
  EXPECT_EQ(read.model->initialiser("half")->externalFile, "weights.bin");
  EXPECT_FALSE(read.model->initialiser("half")->hasElements);
}

TEST(Read, DamageIsToldByItsByte) {
  const std::string bytes = small().bytes();
  EXPECT_FALSE(findDamage(bytes));
  auto damage = findDamage(std::string_view(bytes).substr(0, bytes.size() - 2));
  ASSERT_TRUE(damage);
  EXPECT_LT(damage->offset, bytes.size());
  EXPECT_NE(damage->reason.find("are left"), std::string::npos);
}

/// Bytes of a model changed, cut and doubled: an error or a model, never a crash, and shapes of
/// what is left can be asked for.
TEST(Read, DamagedFilesNeverCrash) {
  ModelMaker maker = small();
  maker.input("w", {4, 3, 3, 3}).input("image", {1, 3, 8, "W"});
  maker.node("Conv", {"image", "w"}, {"c"}).list("strides", {2, 2}).list("pads", {1, 1, 1, 1});
  maker.integers("sizes", {0, -1}).integers("axes", {1});
  maker.node("Reshape", {"c", "sizes"}, {"r"}).node("Shape", {"r"}, {"s"});
  maker.node("Slice", {"s", "axes", "axes"}, {"t"})
      .node("ReduceMean", {"x"}, {"m"})
      .list("axes", {1});
  maker.node("Concat", {"t", "s"}, {"k"}).integer("axis", 0).node("Transpose", {"c"}, {"p"});
  maker.output("r").output("k").output("m").output("p");
  const std::string whole = maker.bytes();
  ASSERT_TRUE(readBytes(whole).model) << readBytes(whole).diags.render();
  uint64_t state = 88172645463325252ULL;
  auto draw = [&](uint64_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
  };
  int models = 0;
  const int rounds =
      std::getenv("NEREID_FUZZ_ROUNDS") ? std::atoi(std::getenv("NEREID_FUZZ_ROUNDS")) : 20000;
  for (int round = 0; round < rounds; ++round) {
    std::string bytes = whole;
    for (uint64_t change = 0, changes = 1 + draw(3); change < changes; ++change) {
      const size_t at = draw(bytes.size());
      switch (draw(4)) {
      case 0:
        bytes[at] = static_cast<char>(draw(256));
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << draw(8)));
        break;
      case 2:
        bytes.resize(std::max<size_t>(at, 1));
        break;
      default:
        bytes.insert(at, bytes.substr(draw(bytes.size()), draw(12)));
      }
    }
    Diagnostics diags;
    auto model = parseModel("damaged.onnx", bytes, diags);
    ASSERT_NE(model.has_value(), diags.hasErrors());
    if (!model) {
      ASSERT_FALSE(diags.render().empty());
      continue;
    }
    ++models;
    ASSERT_TRUE(bindSizes(*model, {}));
    inferShapes(*model, diags);
  }
  EXPECT_GT(models, rounds / 20);
}

} // namespace
} // namespace nereid::importer
