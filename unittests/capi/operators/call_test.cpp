// SPDX-License-Identifier: Apache-2.0
// Operators called by name or from text on the CPU: results beside the float64 reference, what is
// refused and with which code, calls of several threads.
#include "nereid/operator.hpp"
#include "unittests/ShippedOperators.h"
#include "unittests/capi/Errors.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>
#include <unistd.h>

namespace {

using nereid::DType;
using nereid::Sizes;
using nereid::Tensor;

Tensor normal(const Sizes &shape, DType dtype, uint64_t seed) {
  Tensor tensor = Tensor::empty(shape, dtype);
  tensor.fillNormal(seed);
  return tensor;
}

/// A tensor for a declared shape, "[..., D]" or "[B, 1, 1, K]": the sizes of names as given, the
/// leading ones [2, 3].
Tensor inputFor(const nereid::Parameter &parameter, std::map<std::string, int64_t> sizes,
                int64_t otherwise, DType dtype, uint64_t seed) {
  Sizes shape;
  std::string word;
  for (char letter : parameter.shape.substr(1)) {
    if (letter != ',' && letter != ']' && letter != ' ') {
      word += letter;
      continue;
    }
    if (word == "...") {
      shape.insert(shape.end(), {2, 3});
    } else if (!word.empty()) {
      const bool isNumber = std::isdigit(static_cast<unsigned char>(word[0])) != 0;
      shape.push_back(isNumber ? std::stoll(word) : sizes.contains(word) ? sizes[word] : otherwise);
    }
    word.clear();
  }
  return normal(shape, parameter.dtype.value_or(dtype), seed);
}

std::string textOf(const char *body, const char *inputs, const char *more = "") {
  return std::string("[operator]\nname = \"op\"\nsummary = \"s\"\n") + more +
         "dtypes = [\"float32\", \"float16\"]\nbody = \"\"\"\n" + body + "\n\"\"\"\n" + inputs +
         "[outputs.out]\nshape = [\"M\", \"N\"]\n[performance]\ncases = [{ M = 2, N = 4 }]\n";
}
constexpr const char *matrix = "[inputs.x]\nshape = [\"M\", \"N\"]\n";
constexpr const char *outer = "[inputs.x]\nshape = [\"M\", 1]\n[inputs.y]\nshape = [\"N\"]\n";

TEST(OperatorCalls, ShippedOperatorsAreRight) {
  std::vector<std::string> names = nereid::sampledOperators();
  for (const std::string &name : nereid::sampledProgramOperators()) {
    names.push_back(name);
  }
  for (const std::string &name : names) {
    const nereid::Operator op(name);
    EXPECT_EQ(op.name(), name);
    for (DType dtype : op.dtypes()) {
      for (const auto &[other, last] : {std::pair<int64_t, int64_t>{3, 33}, {1, 1}, {2, 256}}) {
        std::vector<Tensor> inputs;
        std::vector<nereid_argument> raw;
        uint64_t seed = 1;
        for (const nereid::Parameter &parameter : op.inputs()) {
          if (!parameter.isNumber) {
            inputs.push_back(inputFor(parameter, {{"D", last}, {"K", last}}, other, dtype, seed++));
          }
        }
        for (const Tensor &input : inputs) {
          raw.push_back(nereid::Argument(input).get());
        }
        std::vector<nereid_tensor *> results(op.outputs().size(), nullptr);
        ASSERT_EQ(nereid_operator_call(op.get(), raw.data(), raw.size(), results.data(),
                                       results.size(), nullptr),
                  NEREID_OK)
            << name << ": " << nereid_last_error();
        std::vector<Tensor> outputs(results.begin(), results.end());
        const nereid::Verdict verdict = op.verify(inputs, outputs);
        EXPECT_TRUE(verdict.agrees) << name << " " << nereid::name(dtype) << ": " << verdict.text;
      }
    }
  }
}

TEST(OperatorCalls, TakeNumbersByPlaceByNameAndByDefault) {
  const nereid::Operator norm("layer_norm");
  const Tensor x = normal({4, 32}, DType::F32, 1), weight = normal({32}, DType::F32, 2),
               bias = normal({32}, DType::F32, 3);
  const Tensor usual = norm(x, weight, bias), same = norm(x, weight, bias, 1e-5),
               placed = norm(x, weight, bias, 0.5),
               given = norm(x, weight, bias, nereid::named("eps", 0.5));
  EXPECT_TRUE(nereid::compare(usual, same, 0, 0).passed);
  EXPECT_TRUE(nereid::compare(placed, given, 0, 0).passed);
  EXPECT_FALSE(nereid::compare(usual, given, 0, 0).passed);
  EXPECT_TRUE(norm.verify({x, weight, bias, Tensor::scalar(0.5, DType::F32)}, {given}).agrees);
  const auto code = [&](auto... more) {
    return errorOf([&] { norm(x, weight, bias, more...); }).code();
  };
  EXPECT_EQ(code(-1.0), "E0617") << "eps > 0";
  EXPECT_EQ(code(0.5, 0.5), "E0401");
  EXPECT_EQ(code(x), "E0409");
  const Tensor byName = norm(x, nereid::named("bias", bias), nereid::named("weight", weight));
  EXPECT_TRUE(nereid::compare(usual, byName, 0, 0).passed);
  EXPECT_EQ(errorOf([&] { norm(x, nereid::named("bias", bias)); }).code(), "E0409");
  const nereid::Error unknown = errorOf([&] { norm(x, weight, bias, nereid::named("epz", 1)); });
  EXPECT_STREQ(
      unknown.what(),
      "'layer_norm' expects an argument named 'x', 'weight', 'bias', 'eps', but got 'epz'");
  EXPECT_EQ(errorOf([&] { norm(x, weight); }).code(), "E0401");
  EXPECT_EQ(errorOf([&] { norm(x, weight, 3); }).code(), "E0409");
}

TEST(OperatorCalls, TellTheirSignature) {
  const nereid::Operator norm("layer_norm");
  const std::vector<nereid::Parameter> inputs = norm.inputs(), outputs = norm.outputs();
  ASSERT_EQ(inputs.size(), 4u);
  EXPECT_EQ(inputs[0].name, "x");
  EXPECT_EQ(inputs[1].shape, "[D]");
  EXPECT_EQ(inputs[3].name, "eps");
  EXPECT_TRUE(inputs[3].isNumber && !inputs[3].isInteger);
  EXPECT_EQ(inputs[3].value, 1e-5);
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].shape, "[..., D]");
  EXPECT_FALSE(outputs[0].dtype);
  EXPECT_EQ(norm.dtypes(), (std::vector<DType>{DType::F32, DType::F16, DType::BF16}));
  EXPECT_EQ(nereid_operator_dtype(norm.get(), 3), NEREID_OWN_DTYPE);
  nereid_parameter parameter;
  EXPECT_EQ(nereid_operator_input(norm.get(), 4, &parameter), NEREID_ERROR_ARGUMENT);
  EXPECT_EQ(nereid_operator_output(norm.get(), -1, &parameter), NEREID_ERROR_ARGUMENT);
}

TEST(OperatorCalls, BroadcastAndInferFromText) {
  const nereid::Operator op = nereid::Operator::loadSource(textOf("out = x * y", outer));
  const Tensor x = normal({5, 1}, DType::F16, 1), y = normal({7}, DType::F16, 2);
  EXPECT_EQ(op.infer(x, y), (std::vector<nereid::Layout>{{{5, 7}, DType::F16}}));
  const Tensor out = op(x, y);
  EXPECT_EQ(out.shape(), (Sizes{5, 7}));
  EXPECT_TRUE(op.verify({x, y}, {out}).agrees);
}

TEST(OperatorCalls, TakeEmptyTensorsAndGaps) {
  const nereid::Operator op = nereid::Operator::loadSource(textOf("out = x + 1", matrix));
  const Tensor none = op(Tensor::empty({0, 4}, DType::F32));
  EXPECT_EQ(none.shape(), (Sizes{0, 4}));
  EXPECT_EQ(op.infer(Tensor::empty({3, 0}, DType::F32))[0].shape, (Sizes{3, 0}));
  const Tensor whole = normal({6, 40}, DType::F32, 1);
  for (const Sizes &strides : {Sizes{40, 1}, Sizes{1, 6}, Sizes{40, 2}, Sizes{0, 1}}) {
    const Tensor part = whole.view(1, {5, 16}, strides);
    EXPECT_TRUE(op.verify({part}, {op(part)}).agrees) << strides[0] << " " << strides[1];
  }
  const Tensor wide = Tensor::empty({5, 40}, DType::F32);
  wide.fill(7);
  const Tensor part = whole.view(0, {5, 16}, {40, 1}), rows = wide.view(0, {5, 16}, {40, 1});
  op.into({rows}, part);
  EXPECT_TRUE(op.verify({part}, {rows}).agrees);
  EXPECT_EQ(wide.at(16), 7) << "between the rows";
  const Tensor spread = wide.view(0, {5, 16}, {40, 2});
  op.into({spread}, part);
  EXPECT_TRUE(op.verify({part}, {spread}).agrees);
}

TEST(OperatorCalls, RefuseWhatDoesNotFit) {
  const nereid::Operator relu("bias_relu"), softmax("softmax");
  const Tensor x = normal({4, 8}, DType::F32, 1), bias = normal({8}, DType::F32, 2);
  const auto code = [](const auto &body) { return errorOf(body).code(); };
  EXPECT_EQ(code([&] { relu(x, normal({7}, DType::F32, 2)); }), "E0612");
  EXPECT_EQ(code([&] { relu(x, bias.to(DType::F16)); }), "E0612");
  EXPECT_EQ(code([&] { relu(x.to(DType::I32), bias.to(DType::I32)); }), "E0606");
  const nereid::Operator norm("rms_norm"), leaky("leaky_relu"); // with a number
  EXPECT_EQ(code([&] { norm(x.to(DType::I32), bias.to(DType::I32)); }), "E0606");
  EXPECT_EQ(code([&] { leaky(x.to(DType::I64), 2); }), "E0606");
  EXPECT_EQ(code([&] { relu.infer(x, x); }), "E0612");
  EXPECT_EQ(code([&] { softmax(Tensor::empty({4, 0}, DType::F32)); }), "E0617");
  EXPECT_EQ(code([&] { relu.into({normal({4, 7}, DType::F32, 1)}, x, bias); }), "E0612");
  EXPECT_EQ(code([&] { relu.into({x.to(DType::F16)}, x, bias); }), "E0612");
  EXPECT_EQ(code([&] { relu.into({}, x, bias); }), "E0031");
  EXPECT_EQ(code([&] { relu(x, bias).as<2>(); }), "");
  nereid_argument arguments[2] = {nereid::Argument(x).get(), nereid::Argument(bias).get()};
  nereid_tensor *out = nullptr;
  const auto tryKind = [&](nereid_argument_kind kind) {
    arguments[1].kind = kind;
    arguments[1].value.tensor = nullptr;
    EXPECT_EQ(nereid_operator_call(relu.get(), arguments, 2, &out, 1, nullptr),
              NEREID_ERROR_ARGUMENT);
    EXPECT_EQ(out, nullptr);
    return std::string(nereid_last_error_code());
  };
  EXPECT_EQ(tryKind(NEREID_ARGUMENT_TENSOR), "E0408");
  EXPECT_EQ(tryKind(NEREID_ARGUMENT_DLPACK), "E0408");
  EXPECT_EQ(tryKind(NEREID_ARGUMENT_DEFAULT), "E0409");
  EXPECT_EQ(tryKind(77), "E0409");
}

TEST(OperatorCalls, WholeNumbersAreWhole) {
  std::string text =
      textOf("out = x + n", "[inputs.x]\nshape = [\"M\", \"N\"]\n[inputs.n]\nvalue = 3\n");
  text.replace(text.find("\"float32\", \"float16\""), 20, "\"int32\"");
  const nereid::Operator op = nereid::Operator::loadSource(text);
  EXPECT_TRUE(op.inputs()[1].isInteger);
  const Tensor x = Tensor::empty({2, 5}, DType::I32);
  x.fill(10);
  EXPECT_EQ(op(x).at(9), 13);
  EXPECT_EQ(op(x, -4).at(9), 6);
  EXPECT_EQ(op(x, 5.0).at(0), 15);
  for (double number : {2.5, std::nan(""), 1e300, -HUGE_VAL}) {
    EXPECT_EQ(errorOf([&] { op(x, number); }).code(), "E0612") << number;
  }
}

TEST(OperatorCalls, AreFoundByName) {
  const nereid::Error unknown = errorOf([] { nereid::Operator("sofmax"); });
  EXPECT_EQ(unknown.code(), "E0601");
  EXPECT_EQ(unknown.status(), NEREID_ERROR_FILE);
  EXPECT_NE(std::string(unknown.what()).find("did you mean 'softmax"), std::string::npos);
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::temp_directory_path() / ("nereid_by_name_" + std::to_string(getpid()));
  fs::create_directories(folder / "below");
  std::ofstream(folder / "below" / "softmax.toml") << textOf("out = x + 1", matrix);
  ::setenv("NEREID_OPERATOR_PATH", ("/none::" + folder.string()).c_str(), 1);
  EXPECT_EQ(nereid::Operator("softmax").name(), "op") << "given folders come first";
  EXPECT_EQ(nereid::Operator("bias_relu").name(), "bias_relu");
  ::unsetenv("NEREID_OPERATOR_PATH");
  fs::remove_all(folder);
  const std::string noText = "[operator]\nname = 1\n";
  EXPECT_EQ(errorOf([&] { nereid::Operator::loadSource(noText); }).code(), "E0602");
}

TEST(OperatorCalls, OfSeveralThreads) {
  const nereid::Operator softmax("softmax");
  std::vector<std::thread> threads;
  std::vector<std::string> wrong(8);
  for (size_t number = 0; number < wrong.size(); ++number) {
    threads.emplace_back([&, number] {
      for (int64_t columns : {17, 64, 17, 300}) {
        const Tensor x = normal({3, columns}, DType::F32, number + 1);
        const nereid::Verdict verdict = softmax.verify({x}, {softmax(x)});
        wrong[number] += verdict.agrees ? "" : verdict.text;
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, std::vector<std::string>(8));
}

TEST(OperatorCalls, OnAStreamOfTheHost) {
  const nereid::Operator softmax("softmax");
  const nereid::Stream stream("cpu");
  const Tensor x = normal({3, 20}, DType::F32, 1), y = Tensor::empty({3, 20}, DType::F32);
  EXPECT_TRUE(softmax.verify({x}, {softmax.on(stream)(x)}).agrees);
  const nereid::Graph graph = stream.capture([&] { softmax.on(stream).into({y}, x); });
  x.fillNormal(2);
  stream.launch(graph);
  stream.synchronize();
  EXPECT_TRUE(softmax.verify({x}, {y}).agrees);
}

/// No fused kernel computes these: a product, and a normalisation whose second kernel reads what
/// the first one leaves in memory of the call's own.
TEST(OperatorCalls, OfKernelsOfPrograms) {
  const nereid::Operator product = nereid::Operator::loadSource(
      textOf("out = x @ w * scale", "[inputs.x]\nshape = [\"M\", \"N\"]\n[inputs.w]\nshape = "
                                    "[\"N\", \"N\"]\n[inputs.scale]\nvalue = 1.0\n"));
  const Tensor two = Tensor::scalar(2.0, DType::F32), three = Tensor::scalar(3.0, DType::F32);
  for (DType dtype : product.dtypes()) {
    const Tensor x = normal({5, 70}, dtype, 1), w = normal({70, 70}, dtype, 2);
    const Tensor out = product(x, w, 2.0);
    EXPECT_EQ(out.shape(), (Sizes{5, 70}));
    EXPECT_TRUE(product.verify({x, w, two}, {out}).agrees);
    EXPECT_FALSE(product.verify({x, w, three}, {out}).agrees);
    const Tensor turned = w.view(0, {70, 70}, {1, 70});
    EXPECT_TRUE(product.verify({x, turned, two}, {product(x, turned, 2.0)}).agrees);
    EXPECT_FALSE(product.verify({x, turned, two}, {out}).agrees);
    EXPECT_EQ(errorOf([&] { product(x, x); }).code(), "E0612");
  }
  EXPECT_EQ(product(Tensor::empty({0, 8}, DType::F32), normal({8, 8}, DType::F32, 1)).shape(),
            (Sizes{0, 8}));

  const nereid::Operator shares = nereid::Operator::loadSource(
      textOf("rows = torch.sum(x * x, dim=-1, keepdim=True)\nout = x * rows / torch.sum(rows, "
             "dim=0, keepdim=True)",
             matrix));
  const nereid::Stream stream("cpu");
  const Tensor x = normal({7, 40}, DType::F32, 1), y = Tensor::empty({7, 40}, DType::F32);
  EXPECT_TRUE(shares.verify({x}, {shares(x)}).agrees);
  EXPECT_TRUE(shares.verify({x}, {shares.on(stream)(x)}).agrees);
  const nereid::Graph graph = stream.capture([&] { shares.on(stream).into({y}, x); });
  x.fillNormal(2);
  stream.launch(graph);
  stream.synchronize();
  EXPECT_TRUE(shares.verify({x}, {y}).agrees);
}

} // namespace
