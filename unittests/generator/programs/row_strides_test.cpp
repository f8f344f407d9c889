// SPDX-License-Identifier: Apache-2.0
// Operands whose rows have gaps between them: of which programs they are taken as they are, what a
// launch passes, and what kernels compute of them.
#include "lib/generator/programs/RowStrides.h"

#include "lib/definition/cases/CaseGrid.h"
#include "lib/definition/operations/Shape.h"
#include "lib/generator/call/CallPlan.h"
#include "lib/generator/lower/Lower.h"
#include "lib/generator/normalise/Normalise.h"
#include "unittests/generator/program/Reading.h"
#include "unittests/generator/template/Expect.h"

#include <cmath>

namespace nereid::generator {
namespace {

constexpr const char *square = "[inputs.x]\nshape = [\"N\", \"M\"]\n";
constexpr const char *image = "[inputs.x]\nshape = [\"B\", \"C\", \"H\", \"W\"]\n";
constexpr const char *row = "[inputs.b]\nshape = [\"M\"]\n";

Program programOf(const definition::Operator &op) {
  auto lowered = lower(op, DType::F32);
  EXPECT_TRUE(bool(lowered)) << (lowered ? "" : render(lowered.error()));
  normalise(*lowered);
  return std::move(*lowered);
}

/// "x: M in rows of 1, out: M in rows of 1".
std::string freedOf(Program program) {
  freeRowStrides(program);
  std::string text;
  for (const RowStride &one : program.rowStrides) {
    text += (text.empty() ? "" : ", ") + program.buffers[one.buffer].name + ": " +
            program.space.symbols.text(one.length) + " of " + std::to_string(one.dims);
  }
  return text;
}
std::string freedOf(const std::string &body, const std::string &inputs, const std::string &out) {
  return freedOf(programOf(made(body, inputs, out, "\"float32\"")));
}

TEST(RowStrides, AreFreeWhereAccessesStepOverWholeRows) {
  EXPECT_EQ(freedOf("out = x.sum(-1)", square, "\"N\""), "x: M of 1");
  EXPECT_EQ(freedOf("out = x + b", std::string(square) + row, "\"N\", \"M\""),
            "x: M of 1, out: M of 1");
  EXPECT_EQ(freedOf("out = F.softmax(x, dim=-1)", "[inputs.x]\nshape = [\"...\", \"M\"]\n",
                    "\"...\", \"M\""),
            "x: M of 1, out: M of 1");
  EXPECT_EQ(freedOf("out = x.sum((-2, -1))", image, "\"B\", \"C\""), "x: H*W of 2");
  EXPECT_EQ(freedOf("out = x.permute(0, 2, 3, 1) * 2", image, "\"B\", \"H\", \"W\", \"C\""),
            "x: H*W of 2, out: C of 1");
}

TEST(RowStrides, StayWhereRowsAndColumnsAreOne) {
  EXPECT_EQ(freedOf("out = x * 2", square, "\"N\", \"M\""), "");
  EXPECT_EQ(freedOf("out = x.sum()", square, ""), "");
  EXPECT_EQ(freedOf("out = -x", "[inputs.x]\nshape = [\"M\"]\n", "\"M\""), "");
  // One value for all columns is a row of one element, a vector for all rows is a row.
  EXPECT_EQ(freedOf("out = x * s", std::string(square) + "[inputs.s]\nshape = [\"N\", 1]\n",
                    "\"N\", \"M\""),
            "x: M of 1, out: M of 1");
}

TEST(RowStrides, StayWhereTheLengthIsANumber) {
  EXPECT_EQ(freedOf("out = x.sum(-1)", "[inputs.x]\nshape = [\"N\", 64]\n", "\"N\""), "");
  EXPECT_EQ(freedOf("out = x.sum(-1)", "[inputs.x]\nshape = [\"N\", \"M\", 3]\n", "\"N\", \"M\""),
            "")
      << "3*M would be the next longer row, of which sums step over a part";
}

TEST(RowStrides, StayOfFactorsOfProducts) {
  EXPECT_EQ(freedOf("out = x @ w", std::string(square) + "[inputs.w]\nshape = [\"M\", \"K\"]\n",
                    "\"N\", \"K\""),
            "");
}

/// Programs that step from row to row in another way as well.
TEST(RowStrides, StayWhereAnAccessLeavesItsRow) {
  const std::string head = "N = size()\nM = size()\n", i = "i = iterator(N)\n",
                    j = "j = iterator(M)\n", out = "y = output(fp32, [N, M], strides=[M, 1])\n";
  const std::string whole = head + "x = input(fp32, [N, M], strides=[M, 1])\n";
  const std::string views[] = {
      // the diagonal
      head + "x = input(fp32, [N, N], strides=[N, 1])\nv = view(x, [N], strides=[N + 1])\n" + out +
          i + j + "stage(\"t\")\ny[i, j] = v[i]\n",
      // backwards
      whole + "v = view(x, [N, M], strides=[-M, 1], offset=N*M - M)\n" + out + i + j +
          "stage(\"t\")\ny[i, j] = v[i, j]\n",
      // across the ends of rows, beside an access that is not
      whole + "v = view(x, [N*M], strides=[1])\n" + out + i + j +
          "k = iterator(N*M)\nstage(\"t\")\ny[i, j] = x[i, j] + sum[k](v[k])\n",
  };
  for (const std::string &text : views) {
    Program read = program(text);
    freeRowStrides(read);
    for (const RowStride &one : read.rowStrides) {
      EXPECT_NE(read.buffers[one.buffer].name, "x") << text;
    }
    EXPECT_EQ(read.rowStrides.size(), 1u) << "those of 'y' are free\n" << text;
  }
}

TEST(RowStrides, OfEverySecondRowAreTwice) {
  Program read = program(R"(
N = size()
M = size()
x = input(fp32, [2*N, M], strides=[M, 1])
v = view(x, [N, M], strides=[2*M, 1])
y = output(fp32, [N, M], strides=[M, 1])
i = iterator(N)
j = iterator(M)
stage("t")
y[i, j] = v[i, j]
)");
  freeRowStrides(read);
  ASSERT_EQ(read.rowStrides.size(), 2u);
  const Buffer &view = read.buffers[*read.find("v")];
  EXPECT_EQ(read.space.symbols.text(view.strides[0]), "2*x_stride");
  EXPECT_EQ(read.space.symbols.text(view.strides[1]), "1");
}

// ---- what kernels compute ----

/// Rows of `length` elements, `stride` apart, NaN between them.
std::vector<double> spread(const std::vector<double> &dense, int64_t length, int64_t stride) {
  const auto rows = static_cast<int64_t>(dense.size()) / length;
  std::vector<double> result(static_cast<size_t>((rows - 1) * stride + length), NAN);
  for (size_t at = 0; at < dense.size(); ++at) {
    const auto place = static_cast<int64_t>(at);
    result[static_cast<size_t>(place / length * stride + place % length)] = dense[at];
  }
  return result;
}

/// The kernels of rows with gaps leave what the program without gaps says.
void expectSameWithGaps(const Sample &sample, const RunOptions &options) {
  SCOPED_TRACE(sample.body);
  const definition::Operator op = made(sample.body, sample.inputs, sample.outShape, "\"float32\"");
  Program dense = programOf(op), freed = programOf(op);
  freeRowStrides(freed);
  ASSERT_FALSE(freed.rowStrides.empty());
  EvaluationInput given{sample.sizes, {}, {}};
  const std::vector<runtime::Tensor> inputs = dataFor(op, sample, DType::F32, 1);
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (int64_t at = 0; at < inputs[i].elementCount(); ++at) {
      given.memory[op.parameters[i].name].push_back(inputs[i].at(at));
    }
  }
  auto expected = evaluate(dense, given);
  ASSERT_TRUE(bool(expected)) << expected.error().message;
  const std::vector<int64_t> symbols = *dense.space.symbols.bind(sample.sizes);
  int64_t gap = 3, length = 0, stride = 0;
  for (const RowStride &one : freed.rowStrides) {
    const std::string &name = freed.buffers[one.buffer].name;
    length = *one.length.evaluate(symbols);
    stride = length + gap;
    given.sizes.push_back(stride);
    if (name != "out") {
      given.memory[name] = spread(given.memory[name], length, stride);
    }
    gap += 2;
  }
  auto memory = run(freed, given, options);
  ASSERT_TRUE(bool(memory)) << memory.error().message;
  const bool isOutSpread = freed.buffers[freed.rowStrides.back().buffer].name == "out";
  const std::vector<double> own =
      isOutSpread ? spread(expected->at("out"), length, stride) : expected->at("out");
  const std::vector<double> &out = memory->at("out");
  ASSERT_EQ(out.size(), own.size());
  for (size_t at = 0; at < out.size(); ++at) {
    ASSERT_TRUE(std::isnan(own[at]) || std::fabs(out[at] - own[at]) <= 1e-5 * std::fabs(own[at]))
        << out[at] << " at " << at << ", not " << own[at] << "\n"
        << textOf(freed);
  }
}

TEST(RowStrides, KernelsComputeTheSameWithGaps) {
  const std::string cube = "[inputs.x]\nshape = [\"B\", \"N\", \"M\"]\n";
  const std::vector<Sample> samples = {
      {"out = x.sum(-1)", square, "\"N\"", {{5, 7}}, {5, 7}},
      {"out = x + b", std::string(square) + row, "\"N\", \"M\"", {{5, 7}, {7}}, {5, 7}},
      {"out = x * y + b",
       std::string(square) + "[inputs.y]\nshape = [\"N\", \"M\"]\n" + row,
       "\"N\", \"M\"",
       {{5, 7}, {5, 7}, {7}},
       {5, 7}},
      {"out = F.softmax(x, dim=-1)", cube, "\"B\", \"N\", \"M\"", {{2, 3, 9}}, {2, 3, 9}},
      {"out = x.amax(-1)", square, "\"N\"", {{4, 33}}, {4, 33}},
      {"out = x.sum(0)", square, "\"M\"", {{9, 5}}, {9, 5}},
      {"out = x.cumsum(-1)", square, "\"N\", \"M\"", {{4, 9}}, {4, 9}},
      {"out = x.permute(1, 0) * 2", square, "\"M\", \"N\"", {{5, 7}}, {5, 7}},
  };
  for (const Sample &sample : samples) {
    for (const RunOptions &options :
         {RunOptions{RunOn::Interpreter, true, false, false},
          RunOptions{RunOn::Interpreter, true, true, true},
          RunOptions{RunOn::Cpu, false, false, false}, RunOptions{RunOn::Cpu, true, false, true}}) {
      expectSameWithGaps(sample, options);
    }
  }
}

// ---- what a launch passes ----

runtime::Tensor floats(const runtime::Tensor &storage, std::vector<int64_t> sizes,
                       std::vector<int64_t> strides = {}) {
  return runtime::Tensor::borrow(storage.data(), std::move(sizes), DType::F32, std::move(strides));
}

int64_t integer(const CallPlan &plan, const std::string &name) {
  for (const LaunchPlan::Argument &argument : plan.launches.at(0).arguments) {
    if (argument.name == name) {
      return std::get<int64_t>(argument.value);
    }
  }
  ADD_FAILURE() << "no argument " << name;
  return -1;
}

class RowLaunch : public testing::Test {
protected:
  const Generation generation = kernelsOf(
      made("out = x * y + b", std::string(square) + "[inputs.y]\nshape = [\"N\", \"M\"]\n" + row,
           "\"N\", \"M\"", "\"float32\", \"float16\""));
  runtime::Tensor storage = runtime::Tensor::empty({200}, DType::F32);
  runtime::Tensor results = runtime::Tensor::empty({200}, DType::F32);
  const runtime::Tensor dense = floats(storage, {4, 17}), b = floats(storage, {17});
  const runtime::Tensor out = floats(results, {4, 17});
};

TEST_F(RowLaunch, TakesRowsWithGapsInPlaceEachWithItsOwnStep) {
  auto plan = planCall(generation, {}, {{floats(storage, {4, 17}, {20, 1}), dense, b}},
                       {{floats(results, {4, 17}, {31, 1})}});
  ASSERT_TRUE(bool(plan)) << render(plan.error());
  EXPECT_TRUE(plan->contiguousCopies.empty());
  EXPECT_EQ(integer(*plan, "x_stride"), 20);
  EXPECT_EQ(integer(*plan, "y_stride"), 17);
  EXPECT_EQ(integer(*plan, "out_stride"), 31);
}

TEST_F(RowLaunch, TakesOneRowForAll) {
  auto plan = planCall(generation, {}, {{floats(storage, {4, 17}, {0, 1}), dense, b}}, {{out}});
  ASSERT_TRUE(bool(plan)) << render(plan.error());
  EXPECT_TRUE(plan->contiguousCopies.empty());
  EXPECT_EQ(integer(*plan, "x_stride"), 0);
  // Results would be written over each other.
  for (const int64_t step : {0, 1, 16}) {
    auto refused =
        planCall(generation, {}, {{dense, dense, b}}, {{floats(results, {4, 17}, {step, 1})}});
    ASSERT_FALSE(bool(refused)) << step;
    EXPECT_EQ(refused.error().code, "E0612");
    EXPECT_NE(refused.error().message.find("elements lie over each other"), std::string::npos)
        << refused.error().message;
  }
  EXPECT_TRUE(
      bool(planCall(generation, {}, {{floats(storage, {1, 17}), floats(storage, {1, 17}), b}},
                    {{floats(results, {1, 17}, {0, 1})}})))
      << "one row overlaps with none";
}

/// A copy has no gaps; the result, which is the tensor itself, has.
TEST_F(RowLaunch, CopiesWithoutGapsWhatIsTheResultToo) {
  const runtime::Tensor gaps = floats(storage, {4, 17}, {20, 1});
  const runtime::Tensor y = floats(results, {4, 17}), row = floats(results, {17});
  auto plan = planCall(generation, {}, {{gaps, y, row}}, {{gaps}});
  ASSERT_TRUE(bool(plan)) << render(plan.error());
  EXPECT_EQ(plan->contiguousCopies, (std::vector<int>{0}));
  EXPECT_EQ(integer(*plan, "x_stride"), 17);
  EXPECT_EQ(integer(*plan, "out_stride"), 20);
  // What is in the gaps of a result stays where it is.
  const runtime::Tensor left = floats(storage, {4, 17}, {40, 1});
  auto right = runtime::Tensor::borrow(storage.as<float>() + 20, {4, 17}, DType::F32, {40, 1});
  auto apart = planCall(generation, {}, {{left, y, row}}, {{right}});
  ASSERT_TRUE(bool(apart)) << render(apart.error());
  EXPECT_TRUE(apart->contiguousCopies.empty());
  EXPECT_EQ(integer(*apart, "x_stride"), 40);
}

TEST_F(RowLaunch, CopiesWhatHasNoRows) {
  runtime::fillNormal(storage, 1);
  const runtime::Tensor turned = floats(storage, {4, 17}, {1, 4});
  const runtime::Tensor apart = floats(storage, {4, 17}, {40, 2});
  const std::vector<runtime::Tensor> inputs = {turned, apart, b}, outputs = {out};
  auto plan = planCall(generation, {}, inputs, outputs);
  ASSERT_TRUE(bool(plan)) << render(plan.error());
  EXPECT_EQ(plan->contiguousCopies, (std::vector<int>{0, 1}));
  EXPECT_EQ(integer(*plan, "x_stride"), 17);
  auto arguments = argumentsOf(*plan, generation.called(), inputs, outputs);
  ASSERT_TRUE(bool(arguments));
  const auto *passed = std::get<const runtime::Tensor *>(arguments->values[0][0]);
  EXPECT_TRUE(passed->isContiguous());
  EXPECT_EQ(passed->at(18), turned.at(18));
  auto refused =
      planCall(generation, {}, {{dense, dense, b}}, {{floats(results, {4, 17}, {1, 4})}});
  ASSERT_FALSE(bool(refused));
  EXPECT_NE(refused.error().message.find("an output with evenly spaced rows"), std::string::npos);
}

/// A map of rows and columns as one has no rows.
TEST(RowLaunches, OfMapsCopyGaps) {
  const Generation generation = kernelsOf(made("out = x * 2", square, "\"N\", \"M\""));
  auto storage = runtime::Tensor::empty({100}, DType::F32);
  auto results = runtime::Tensor::empty({100}, DType::F32);
  auto plan =
      planCall(generation, {}, {{floats(storage, {4, 17}, {20, 1})}}, {{floats(results, {4, 17})}});
  ASSERT_TRUE(bool(plan)) << render(plan.error());
  EXPECT_EQ(plan->contiguousCopies, (std::vector<int>{0}));
  auto refused =
      planCall(generation, {}, {{floats(storage, {4, 17})}}, {{floats(results, {4, 17}, {20, 1})}});
  ASSERT_FALSE(bool(refused));
  EXPECT_NE(refused.error().message.find("expects a contiguous output"), std::string::npos);
}

TEST_F(RowLaunch, PromisesNothingOfAnUnalignedPointer) {
  auto x = runtime::Tensor::borrow(storage.as<float>() + 1, {4, 17}, DType::F32);
  auto plan = planCall(generation, {}, {{x, dense, b}}, {{out}});
  ASSERT_TRUE(bool(plan)) << render(plan.error());
  EXPECT_TRUE(plan->launches[0].signature.starts_with("x_ptr=*fp32, y_ptr=*fp32:16, "))
      << plan->launches[0].signature;
}

TEST_F(RowLaunch, CountsGapsForWideOffsets) {
  const auto isWide = [&](int64_t step) {
    // Nothing is read: a plan looks at addresses and sizes alone.
    const auto nowhere =
        runtime::Tensor::borrow(reinterpret_cast<void *>(int64_t{1} << 52), {200}, DType::F32);
    auto plan =
        planCall(generation, {}, {{floats(nowhere, {4, 17}, {step, 1}), dense, b}}, {{out}});
    EXPECT_TRUE(bool(plan));
    return plan && plan->launches[0].signature.find("WIDE=1") != std::string::npos;
  };
  EXPECT_FALSE(isWide(int64_t{1} << 20));
  EXPECT_TRUE(isWide(int64_t{1} << 29)) << "the fourth row begins behind 3 * 2^29, masked lanes "
                                           "further on behind 2^31";
  EXPECT_TRUE(isWide(int64_t{1} << 33)) << "and is no number of 32 bits";
}

TEST_F(RowLaunch, CountsElementsForWideOffsets) {
  definition::Binding binding{{{"N", int64_t{1} << 20}, {"M", 4096}}, {}};
  const auto isWide = [&] {
    auto plan = planCall(generation, {}, binding, DType::F32);
    EXPECT_TRUE(bool(plan));
    return plan && plan->launches[0].signature.find("WIDE=1") != std::string::npos;
  };
  EXPECT_TRUE(isWide());
  binding.symbols["N"] = int64_t{1} << 18;
  EXPECT_FALSE(isWide());
  // Masked lanes behind the last element count too.
  binding.symbols["N"] = (int64_t{1} << 19) - 1;
  EXPECT_TRUE(isWide());
}

TEST(RowLaunches, OfLeadingSizesThatAreEvenlySpaced) {
  const Generation softmax = kernelsOf(made(
      "out = F.softmax(x, dim=-1)", "[inputs.x]\nshape = [\"...\", \"M\"]\n", "\"...\", \"M\""));
  auto storage = runtime::Tensor::empty({400}, DType::F32);
  auto results = runtime::Tensor::empty({30}, DType::F32);
  const runtime::Tensor out = floats(results, {2, 3, 5});
  auto even = planCall(softmax, {}, {{floats(storage, {2, 3, 5}, {24, 8, 1})}}, {{out}});
  ASSERT_TRUE(bool(even)) << render(even.error());
  EXPECT_TRUE(even->contiguousCopies.empty());
  EXPECT_EQ(integer(*even, "x_stride"), 8);
  auto uneven = planCall(softmax, {}, {{floats(storage, {2, 3, 5}, {30, 8, 1})}}, {{out}});
  ASSERT_TRUE(bool(uneven)) << render(uneven.error());
  EXPECT_EQ(uneven->contiguousCopies, (std::vector<int>{0}));
  auto single = planCall(softmax, {}, {{floats(storage, {2, 1, 5}, {30, 77, 1})}},
                         {{floats(results, {2, 1, 5})}});
  ASSERT_TRUE(bool(single)) << render(single.error());
  EXPECT_EQ(integer(*single, "x_stride"), 30) << "a size of 1 never moves";
}

/// As the cases of verification lay them out.
TEST(RowLaunches, TakeTheGridsResultsWhateverTheirRows) {
  const std::string image = "[inputs.x]\nshape = [\"N\", \"C\", \"H\", \"W\"]\n";
  for (const definition::Operator &op :
       {made("out = x + y", image + "[inputs.y]\nshape = [\"C\", 1, 1]\n",
             "\"N\", \"C\", \"H\", \"W\""),
        made("out = torch.sum(x, dim=(-2, -1))", image, "\"N\", \"C\""),
        made("out = x * 2", image, "\"N\", \"C\", \"H\", \"W\"")}) {
    const Generation generation = kernelsOf(op);
    const definition::Binding binding{{{"N", 2}, {"C", 3}, {"H", 4}, {"W", 5}}, {}};
    std::vector<runtime::Tensor> inputs, outputs;
    std::vector<definition::LaidOut> memory;
    for (const Operand &operand : generation.called().operands) {
      memory.push_back(definition::makeLaidOut(
          *definition::bind(operand.shape, binding), DType::F32,
          definition::LayoutKind::OuterStride,
          operand.isOutput ? generation.denseDimensions(operand, binding) : 1));
      (operand.isOutput ? outputs : inputs).push_back(memory.back().view);
    }
    auto plan = planCall(generation, {}, inputs, outputs);
    EXPECT_TRUE(bool(plan)) << render(plan.error());
  }
}

TEST(RowLaunches, OfWrongShapesAndTypesAreRefused) {
  const Generation add = kernelsOf(shipped("broadcast_add"));
  const auto floatsOf = [](std::vector<int64_t> sizes, DType dtype = DType::F32) {
    return runtime::Tensor::empty(std::move(sizes), dtype);
  };
  const runtime::Tensor x = floatsOf({4, 17}), out = floatsOf({4, 17});
  EXPECT_EQ(planCall(add, {}, {{x, floatsOf({16})}}, {{out}}).error().message,
            "'bias' of operator 'broadcast_add' expects D = 17, but got [16]");
  EXPECT_EQ(planCall(add, {}, {{x, floatsOf({17}, DType::F16)}}, {{out}}).error().message,
            "'bias' of operator 'broadcast_add' expects float32, but got float16");
  EXPECT_EQ(planCall(add, {}, {{x}}, {{out}}).error().code, "E0612");
}

} // namespace
} // namespace nereid::generator
