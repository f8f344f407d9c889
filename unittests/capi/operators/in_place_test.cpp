// SPDX-License-Identifier: Apache-2.0
// Operators that write into their inputs, and outputs that the caller gives: what is written and
// what stays, which memory may be shared, strides.
#include "nereid/operator.hpp"
#include "unittests/capi/Errors.h"

#include <vector>

namespace {

using nereid::DType;
using nereid::Sizes;
using nereid::Tensor;

Tensor normal(const Sizes &shape, DType dtype, uint64_t seed) {
  Tensor tensor = Tensor::empty(shape, dtype);
  tensor.fillNormal(seed);
  return tensor;
}

nereid::Operator operatorOf(const std::string &body, const std::string &more = "") {
  return nereid::Operator::loadSource(
      "[operator]\nname = \"op\"\nsummary = \"s\"\ndtypes = [\"float32\", \"float16\", "
      "\"float64\"]\nbody = \"\"\"\n" +
      body +
      "\n\"\"\"\n[inputs.x]\nshape = [\"M\", \"N\"]\n[inputs.y]\nshape = [\"M\", \"N\"]\n"
      "[outputs.out]\nshape = [\"M\", \"N\"]\n" +
      more + "[performance]\ncases = [{ M = 2, N = 4 }]\n");
}

bool areEqual(const Tensor &a, const Tensor &b) {
  bool areSame = a.shape() == b.shape();
  for (int64_t i = 0; areSame && i < a.elementCount(); ++i) {
    areSame = a.at(i) == b.at(i);
  }
  return areSame;
}

Tensor copyOf(const Tensor &tensor) { return tensor.to(tensor.dtype()); }

/// x of the given strides in memory of 7s.
struct Strided {
  Strided(const Sizes &shape, const Sizes &strides, int64_t first, DType dtype)
      : memory(Tensor::empty({4096}, dtype)) {
    memory.fill(7);
    view = memory.view(first, shape, strides);
    const Tensor values = normal(shape, dtype, 3);
    std::vector<bool> isOwn(4096);
    for (int64_t i = 0; i < view.elementCount(); ++i) {
      view.set(i, values.at(i));
    }
    for (int64_t row = 0; row < shape[0]; ++row) {
      for (int64_t column = 0; column < shape[1]; ++column) {
        isOwn[static_cast<size_t>(first + row * strides[0] + column * strides[1])] = true;
      }
    }
    for (int64_t i = 0; i < 4096; ++i) {
      if (!isOwn[static_cast<size_t>(i)]) {
        gaps.push_back(i);
      }
    }
  }
  bool areGapsWhole() const {
    bool areWhole = true;
    for (int64_t i : gaps) {
      areWhole = areWhole && memory.at(i) == 7;
    }
    return areWhole;
  }
  Tensor memory, view = Tensor::empty({0}, DType::F32);
  std::vector<int64_t> gaps;
};

TEST(InPlaceCalls, WriteTheInputAndReturnIt) {
  const nereid::Operator add = operatorOf("out = x.add_(y)");
  for (DType dtype : add.dtypes()) {
    for (const Sizes &shape : {Sizes{1, 1}, Sizes{5, 33}, Sizes{64, 257}}) {
      const Tensor x = normal(shape, dtype, 1), y = normal(shape, dtype, 2);
      const Tensor before = copyOf(x), other = copyOf(y);
      const Tensor out = add(x, y);
      EXPECT_EQ(out.data(), x.data());
      EXPECT_TRUE(add.verify({before, other}, {x}).agrees);
      EXPECT_TRUE(areEqual(y, other));
      EXPECT_FALSE(areEqual(x, before));
      add(x, y); // once more, from where it was
      const Tensor twice = nereid::Operator("add")(nereid::Operator("add")(before, y), y);
      EXPECT_TRUE(areEqual(x, twice));
    }
  }
  EXPECT_EQ(add(Tensor::empty({0, 4}, DType::F32), Tensor::empty({0, 4}, DType::F32)).shape(),
            (Sizes{0, 4}));
  EXPECT_EQ(add.outputs()[0].memory, "x");
  EXPECT_EQ(nereid::Operator("add").outputs()[0].memory, "");
  EXPECT_EQ(add.inputs()[0].memory, "");
}

TEST(InPlaceCalls, OfOtherPlacesThanTheyWrite) {
  for (const char *body :
       {"out = x.copy_(torch.flip(x, (0,)))", "out = x.sub_(x.mean(dim=-1, keepdim=True))",
        "out = x.copy_(torch.softmax(x * y, dim=-1))", "out = x.cumsum_(0)",
        "out = x.add_(torch.roll(x, 1, dims=(0,)))"}) {
    const nereid::Operator op = operatorOf(body);
    for (const Sizes &shape : {Sizes{3, 5}, Sizes{300, 517}, Sizes{2, 20000}, Sizes{3000, 2}}) {
      const Tensor x = normal(shape, DType::F32, 1), y = normal(shape, DType::F32, 2);
      const Tensor before = copyOf(x);
      op(x, y);
      const nereid::Verdict verdict = op.verify({before, y}, {x});
      EXPECT_TRUE(verdict.agrees) << body << ": " << verdict.text;
    }
  }
}

TEST(InPlaceCalls, OfSeveralInputs) {
  const nereid::Operator swap = operatorOf("t = x * 1\nx.copy_(y)\ny.copy_(t)\nout = x\nother = y",
                                           "[outputs.other]\nshape = [\"M\", \"N\"]\n");
  const Tensor x = normal({65, 129}, DType::F32, 1), y = normal({65, 129}, DType::F32, 2);
  const Tensor a = copyOf(x), b = copyOf(y);
  const auto [first, second] = swap(x, y).as<2>();
  EXPECT_EQ(first.data(), x.data());
  EXPECT_EQ(second.data(), y.data());
  EXPECT_TRUE(areEqual(x, b));
  EXPECT_TRUE(areEqual(y, a));
  const nereid::Error error = errorOf([&] { swap(x, x); });
  EXPECT_EQ(error.code(), "E0612") << error.what();
}

TEST(InPlaceCalls, MemoryThatIsShared) {
  const nereid::Operator add = operatorOf("out = x.add_(y)");
  const Tensor memory = normal({4096}, DType::F32, 1);
  const auto matrix = [&](int64_t first) { return memory.view(first, {8, 16}); };
  const auto code = [&](const Tensor &x, const Tensor &y) {
    return errorOf([&] { add(x, y); }).code();
  };
  EXPECT_EQ(code(matrix(0), matrix(1)), "E0612");
  EXPECT_EQ(code(matrix(0), matrix(127)), "E0612");
  EXPECT_EQ(code(matrix(0), memory.view(0, {8, 16}, {1, 8})), "E0612");
  EXPECT_EQ(code(memory.view(0, {8, 16}, {0, 1}), matrix(1024)), "E0612");
  EXPECT_EQ(code(memory.view(0, {8, 16}, {8, 1}), matrix(1024)), "E0612");
  EXPECT_NE(errorOf([&] { add(matrix(0), matrix(1)); }).what(), nullptr);
  // Side by side, between each other's rows, and the very same one.
  add(matrix(0), matrix(128));
  const Tensor left = memory.view(0, {8, 16}, {32, 1}), right = memory.view(16, {8, 16}, {32, 1});
  const Tensor before = copyOf(left), other = copyOf(right);
  add(left, right);
  EXPECT_TRUE(add.verify({before, other}, {left}).agrees);
  EXPECT_TRUE(areEqual(right, other));
  const Tensor both = normal({5, 7}, DType::F32, 2), once = copyOf(both);
  add(both, both);
  EXPECT_TRUE(add.verify({once, once}, {both}).agrees);
  // A plan that was made for other memory is not taken.
  add(both, once);
  EXPECT_TRUE(areEqual(both, nereid::Operator("add")(nereid::Operator("add")(once, once), once)));
}

TEST(InPlaceCalls, StridedInputs) {
  const nereid::Operator add = operatorOf("out = x.add_(y)");
  for (DType dtype : {DType::F32, DType::F16}) {
    for (const auto &[strides, first] : {std::pair<Sizes, int64_t>{{40, 1}, 3},
                                         {{1, 6}, 0},
                                         {{40, 2}, 1},
                                         {{-40, 1}, 400},
                                         {{1, -11}, 900}}) {
      const Strided x({5, 16}, strides, first, dtype);
      const Tensor before = copyOf(x.view), y = normal({5, 16}, dtype, 2);
      add(x.view, y);
      EXPECT_TRUE(add.verify({before, y}, {x.view}).agrees) << strides[0] << " " << strides[1];
      EXPECT_TRUE(x.areGapsWhole());
      add(x.view, x.view);
      EXPECT_TRUE(x.areGapsWhole());
    }
  }
}

/// What is only read has rows with gaps, in which what is written lies.
TEST(InPlaceCalls, RowsInEachOthersGaps) {
  const nereid::Operator add = operatorOf("out = x.add_(y.mean(-1, keepdim=True))");
  const Tensor memory = normal({20, 64}, DType::F32, 4);
  const Tensor x = memory.view(0, {20, 30}, {64, 1}), y = memory.view(32, {20, 30}, {64, 1});
  const Tensor before = copyOf(x), beside = copyOf(y);
  add(x, y);
  EXPECT_TRUE(add.verify({before, beside}, {x}).agrees);
  EXPECT_TRUE(areEqual(y, beside));
  const Tensor dense = copyOf(x), own = copyOf(x);
  add(dense, y);
  EXPECT_TRUE(add.verify({own, beside}, {dense}).agrees);
  EXPECT_TRUE(areEqual(y, beside));
}

TEST(GivenOutputs, OfAnyStrides) {
  const nereid::Operator fused("add"),
      program = operatorOf("out = x.t().t() + torch.flip(y, (0,))");
  for (const nereid::Operator &op : {fused, program}) {
    const Tensor x = normal({5, 16}, DType::F32, 1), y = normal({5, 16}, DType::F32, 2);
    for (const Sizes &strides : {Sizes{16, 1}, Sizes{40, 1}, Sizes{1, 6}, Sizes{40, 2}}) {
      const Strided out({5, 16}, strides, 3, DType::F32);
      op.into({out.view}, x, y);
      EXPECT_TRUE(op.verify({x, y}, {out.view}).agrees) << strides[0] << " " << strides[1];
      EXPECT_TRUE(out.areGapsWhole());
    }
  }
}

TEST(GivenOutputs, MayBeAnInput) {
  const nereid::Operator fused("add"), program = operatorOf("out = x + torch.flip(y, (0,))");
  for (const nereid::Operator &op : {fused, program}) {
    for (const bool isSecond : {false, true}) {
      const Tensor x = normal({50, 160}, DType::F32, 1), y = normal({50, 160}, DType::F32, 2);
      const Tensor a = copyOf(x), b = copyOf(y);
      op.into({isSecond ? y : x}, x, y);
      EXPECT_TRUE(op.verify({a, b}, {isSecond ? y : x}).agrees) << isSecond;
      EXPECT_TRUE(areEqual(isSecond ? x : y, isSecond ? a : b));
    }
  }
}

TEST(GivenOutputs, MayBeAnInputWithGapsOrLieInThem) {
  const nereid::Operator fused("add"), program = operatorOf("out = x + torch.flip(y, (0,))");
  for (const nereid::Operator &op : {fused, program}) {
    const Tensor y = normal({20, 30}, DType::F32, 2);
    const Strided x({20, 30}, {40, 1}, 3, DType::F32);
    const Tensor before = copyOf(x.view);
    op.into({x.view}, x.view, y);
    EXPECT_TRUE(op.verify({before, y}, {x.view}).agrees);
    EXPECT_TRUE(x.areGapsWhole());
    const Tensor memory = normal({20, 64}, DType::F32, 4);
    const Tensor left = memory.view(0, {20, 30}, {64, 1}),
                 right = memory.view(32, {20, 30}, {64, 1});
    const Tensor given = copyOf(left);
    op.into({right}, left, y);
    EXPECT_TRUE(areEqual(left, given));
    EXPECT_TRUE(op.verify({given, y}, {right}).agrees);
  }
}

TEST(GivenOutputs, RefuseWhatDoesNotFit) {
  const nereid::Operator fused("add"), program = operatorOf("out = x + torch.flip(y, (0,))"),
                                       add = operatorOf("out = x.add_(y)");
  const Tensor memory = normal({4096}, DType::F32, 1);
  const Tensor x = memory.view(0, {8, 16}), y = memory.view(1024, {8, 16});
  for (const nereid::Operator &op : {fused, program}) {
    const auto code = [&](const Tensor &out) {
      return errorOf([&] { op.into({out}, x, y); }).code();
    };
    EXPECT_EQ(code(Tensor::empty({8, 15}, DType::F32)), "E0612");
    EXPECT_EQ(code(Tensor::empty({16, 8}, DType::F32)), "E0612");
    EXPECT_EQ(code(Tensor::empty({1, 8, 16}, DType::F32)), "E0612");
    EXPECT_EQ(code(Tensor::empty({8, 16}, DType::F16)), "E0612");
    EXPECT_EQ(code(Tensor::empty({8, 16}, DType::F64)), "E0612");
    EXPECT_EQ(code(memory.view(1, {8, 16})), "E0612") << "over part of x";
    EXPECT_EQ(code(memory.view(1020, {8, 16})), "E0612") << "over part of y";
    EXPECT_EQ(code(memory.view(2048, {8, 16}, {0, 1})), "E0612") << "expanded";
    EXPECT_EQ(code(memory.view(2048, {8, 16}, {8, 1})), "E0612") << "rows over each other";
    op.into({memory.view(2048, {8, 16})}, x, y);
  }
  EXPECT_EQ(errorOf([&] { add.into({memory.view(2048, {8, 16})}, x, y); }).code(), "E0612");
  const Tensor before = copyOf(x);
  add.into({x}, x, y);
  EXPECT_TRUE(add.verify({before, y}, {x}).agrees);
}

TEST(GivenOutputs, OnAStreamNothingIsCopied) {
  const nereid::Operator add = operatorOf("out = x.add_(y)");
  const nereid::Stream stream("cpu");
  const Tensor x = normal({5, 16}, DType::F32, 1), y = normal({5, 16}, DType::F32, 2);
  const Tensor before = copyOf(x);
  const nereid::Graph graph = stream.capture([&] { add.on(stream)(x, y); });
  EXPECT_TRUE(areEqual(x, before)) << "nothing runs before the graph does";
  stream.launch(graph);
  stream.synchronize();
  EXPECT_TRUE(add.verify({before, y}, {x}).agrees);
  const Strided wide({5, 16}, {40, 2}, 0, DType::F32);
  const auto captured = [&](const Tensor &a, const Tensor &b) {
    return errorOf([&] { stream.capture([&] { add.on(stream)(a, b); }); });
  };
  EXPECT_EQ(captured(wide.view, y).code(), "E0612");
  EXPECT_EQ(captured(x, x).code(), "E0612");
}

} // namespace
