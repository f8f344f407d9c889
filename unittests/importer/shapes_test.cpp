// SPDX-License-Identifier: Apache-2.0
// Shapes that follow from operators, with sizes that are open and sizes that are computed.
#include "unittests/importer/Models.h"

namespace nereid::importer {
namespace {

TEST(Shapes, PointwiseBroadcasts) {
  ModelMaker maker;
  maker.input("x", {"N", 1, 3}).input("y", {4, 1}).node("Add", {"x", "y"}, {"z"}).output("z");
  EXPECT_EQ(shapeOf(inferred(maker), "z"), "[N, 4, 3]");
  EXPECT_EQ(shapeOf(inferred(maker, {{"N", 7}}), "z"), "[7, 4, 3]");
}

TEST(Shapes, ProductsAndTheirErrors) {
  ModelMaker maker;
  maker.input("x", {"N", 5, 8}).input("w", {8, 16}).node("MatMul", {"x", "w"}, {"z"}).output("z");
  EXPECT_EQ(shapeOf(inferred(maker), "z"), "[N, 5, 16]");
  ModelMaker wrong;
  wrong.input("x", {5, 8}).input("w", {9, 16}).node("MatMul", {"x", "w"}, {"z"}).output("z");
  Read read = inferred(wrong);
  EXPECT_EQ(read.code(), "E0635");
  EXPECT_EQ(read.message(),
            "node 0 'the_z' (MatMul): a product of [5, 8] and [9, 16]: expects 8 == 9");
  ModelMaker gemm;
  gemm.input("x", {8, 5}).input("w", {16, 8}).node("Gemm", {"x", "w"}, {"z"}).output("z");
  gemm.integer("transA", 1).integer("transB", 1);
  EXPECT_EQ(shapeOf(inferred(gemm), "z"), "[5, 16]");
}

TEST(Shapes, WindowsOverImages) {
  auto conv = [](std::vector<int64_t> strides, std::vector<int64_t> pads,
                 std::vector<int64_t> dilations) {
    ModelMaker maker;
    maker.input("x", {"N", 3, 32, 31}).input("w", {8, 3, 3, 5}).node("Conv", {"x", "w"}, {"y"});
    maker.list("strides", strides).list("pads", pads).list("dilations", dilations).output("y");
    return shapeOf(inferred(maker), "y");
  };
  EXPECT_EQ(conv({1, 1}, {0, 0, 0, 0}, {1, 1}), "[N, 8, 30, 27]");
  EXPECT_EQ(conv({2, 2}, {1, 2, 1, 2}, {1, 1}), "[N, 8, 16, 16]");
  EXPECT_EQ(conv({1, 1}, {0, 0, 0, 0}, {2, 3}), "[N, 8, 28, 19]");
  ModelMaker pool;
  pool.input("x", {1, 4, 7, 7}).node("MaxPool", {"x"}, {"y"}).list("kernel_shape", {2, 2});
  pool.list("strides", {2, 2}).integer("ceil_mode", 1).output("y");
  EXPECT_EQ(shapeOf(inferred(pool), "y"), "[1, 4, 4, 4]");
}

TEST(Shapes, SizesThatAreComputed) {
  // As exporters write a flattening: x.reshape(x.shape[0], -1).
  ModelMaker maker;
  maker.input("x", {"N", 6, 4}).integers("zero", {0}).integers("rest", {-1});
  maker.node("Shape", {"x"}, {"shape"}).node("Gather", {"shape", "zero"}, {"n"}).integer("axis", 0);
  maker.node("Concat", {"n", "rest"}, {"sizes"}).integer("axis", 0);
  maker.node("Reshape", {"x", "sizes"}, {"y"}).output("y");
  EXPECT_EQ(shapeOf(inferred(maker, {{"N", 5}}), "y"), "[5, 24]");
}

TEST(Shapes, ReductionsWithAxesAsAttributeAndAsInput) {
  ModelMaker old(13);
  old.input("x", {2, 3, 4}).node("ReduceMean", {"x"}, {"y"}).list("axes", {-1, 0}).output("y");
  EXPECT_EQ(shapeOf(inferred(old), "y"), "[1, 3, 1]");
  ModelMaker now(18);
  now.input("x", {2, 3, 4}).integers("axes", {1}).node("ReduceMean", {"x", "axes"}, {"y"});
  now.integer("keepdims", 0).output("y");
  EXPECT_EQ(shapeOf(inferred(now), "y"), "[2, 4]");
}

TEST(Shapes, ArrangementsOfElements) {
  ModelMaker maker;
  maker.input("x", {4, 6}).integers("s", {1}).integers("e", {-1}).integers("a", {1});
  maker.integers("st", {2}).node("Slice", {"x", "s", "e", "a", "st"}, {"slice"});
  maker.node("Transpose", {"x"}, {"t"}).node("Flatten", {"x"}, {"f"}).integer("axis", 0);
  maker.integers("p", {0, 1, 0, 2}).node("Pad", {"x", "p"}, {"padded"});
  maker.node("Split", {"x"}, {"l", "r"}).integer("axis", 1);
  maker.node("Unsqueeze", {"x", "a"}, {"u"}).node("Concat", {"x", "x"}, {"c"}).integer("axis", 1);
  for (const char *name : {"slice", "t", "f", "padded", "r", "u", "c"}) {
    maker.output(name);
  }
  Read read = inferred(maker);
  EXPECT_EQ(shapeOf(read, "slice"), "[4, 2]") << read.diags.render();
  EXPECT_EQ(shapeOf(read, "t"), "[6, 4]");
  EXPECT_EQ(shapeOf(read, "f"), "[1, 24]");
  EXPECT_EQ(shapeOf(read, "padded"), "[4, 9]");
  EXPECT_EQ(shapeOf(read, "r"), "[4, 3]");
  EXPECT_EQ(shapeOf(read, "u"), "[4, 1, 6]");
  EXPECT_EQ(shapeOf(read, "c"), "[4, 12]");
}

TEST(Shapes, TheRestOfAReshapeMayBeANamedSize) {
  ModelMaker maker; // heads of keys, once for each of their queries
  maker.input("k", {"B", 2, 4, "S", 16}).integers("heads", {0, 8, -1, 16});
  maker.integers("fewer", {0, 4, -1, 16}).node("Reshape", {"k", "heads"}, {"r"}).output("r");
  maker.node("Reshape", {"k", "fewer"}, {"f"}).output("f");
  Read read = inferred(maker);
  EXPECT_EQ(shapeOf(read, "r"), "[B, 8, S, 16]") << read.diags.render();
  EXPECT_EQ(shapeOf(read, "f"), "[B, 4, ?, 16]") << "twice that name";
}

TEST(Shapes, WhatTheModelDeclaresIsHeldAgainstIt) {
  ModelMaker maker;
  maker.input("x", {2, 3}).node("Relu", {"x"}, {"y"}).output("y", {3, 2});
  Read read = inferred(maker);
  EXPECT_EQ(read.code(), "E0635");
  EXPECT_EQ(read.message(),
            "node 0 'the_y' (Relu): the model declares 'y' as [3, 2], but its inputs make it "
            "[2, 3]");
}

TEST(Shapes, OpenSizesAreAskedForByName) {
  ModelMaker maker;
  maker.input("x", {"batch", -1}).node("Relu", {"x"}, {"y"}).output("y");
  Read read = readBytes(maker.bytes());
  ASSERT_TRUE(read.model);
  ASSERT_TRUE(bindSizes(*read.model, {}));
  auto open = findOpenSize(*read.model);
  ASSERT_TRUE(open);
  EXPECT_EQ(open->code, "E0634");
  EXPECT_EQ(open->help, "give them: --size batch=… --size x.1=…");
  ASSERT_TRUE(bindSizes(*read.model, {{"batch", 2}, {"x.1", 3}}));
  EXPECT_FALSE(findOpenSize(*read.model));
  auto unknown = bindSizes(*read.model, {{"bach", 2}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, "E0634");
}

} // namespace
} // namespace nereid::importer
