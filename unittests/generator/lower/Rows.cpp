// SPDX-License-Identifier: Apache-2.0
// Rows as operators, see Rows.h.
#include "unittests/generator/lower/Rows.h"

#include <cmath>
#include <random>

namespace nereid::generator {

using runtime::Tensor;

std::vector<Tensor> dataFor(const definition::Operator &op, const Sample &sample, DType dtype,
                            unsigned number) {
  std::mt19937 seed(number);
  std::vector<Tensor> result;
  for (size_t i = 0; i < op.parameters.size(); ++i) {
    Tensor tensor = Tensor::empty(sample.shapes[i], op.parameters[i].fixedDtype.value_or(dtype));
    const bool isMask = tensor.dtype() == DType::Bool;
    for (int64_t at = 0; at < tensor.elementCount(); ++at) {
      double value = std::uniform_real_distribution<double>(-3, 3)(seed);
      tensor.set(at, isMask ? value > 0 : isFloat(dtype) ? value : std::trunc(4 * value));
    }
    result.push_back(std::move(tensor));
  }
  return result;
}

std::vector<Sample> products() {
  auto input = [](const char *name, const char *shape) {
    return "[inputs." + std::string(name) + "]\nshape = [" + shape + "]\n";
  };
  const std::string batch = input("x", "\"B\", \"N\", \"M\""), vector = input("x", "\"M\"");
  const std::vector<Sample> samples = {
      {"out = torch.relu(torch.matmul(x, w) + b)",
       batch + input("w", "\"M\", \"K\"") + input("b", "\"K\""),
       "\"B\", \"N\", \"K\"",
       {{2, 3, 4}, {4, 5}, {5}},
       {2, 3, 4, 5}},
      {"out = x @ w",
       batch + input("w", "\"B\", \"M\", \"K\""),
       "\"B\", \"N\", \"K\"",
       {{2, 3, 4}, {2, 4, 5}},
       {2, 3, 4, 5}},
      {"out = x @ w", batch + input("w", "\"M\""), "\"B\", \"N\"", {{2, 3, 4}, {4}}, {2, 3, 4}},
      {"out = x @ w",
       vector + input("w", "\"B\", \"M\", \"K\""),
       "\"B\", \"K\"",
       {{4}, {2, 4, 5}},
       {4, 2, 5}},
      {"out = (x @ w) * 2", vector + input("w", "\"M\""), "", {{4}, {4}}, {4}},
  };
  return samples;
}

std::vector<Sample> convolutions() {
  auto image = [](const char *x, const char *w) {
    return "[inputs.x]\nshape = [" + std::string(x) + "]\n[inputs.w]\nshape = [" + w + "]\n";
  };
  const std::string bias = "[inputs.b]\nshape = [\"F\"]\n";
  const char *numbers = "\"N\", 4, 7, 6", *symbols = "\"N\", \"C\", \"H\", \"W\"";
  return {
      {"out = conv2d(x, w)",
       image(numbers, "5, 4, 3, 3"),
       "\"N\", 5, 5, 4",
       {{2, 4, 7, 6}, {5, 4, 3, 3}},
       {2}},
      {"out = torch.relu(conv2d(x, w, b, stride=2, padding=1))",
       image(numbers, "\"F\", 4, 3, 2") + bias,
       "\"N\", \"F\", 4, 4",
       {{2, 4, 7, 6}, {5, 4, 3, 2}, {5}},
       {2, 5}},
      {"out = conv2d(x, w, padding=(2, 1), dilation=(2, 1), stride=(1, 3))",
       image(numbers, "3, 4, 3, 3"),
       "\"N\", 3, 7, 2",
       {{1, 4, 7, 6}, {3, 4, 3, 3}},
       {1}},
      {"out = conv2d(x, w, groups=2, padding=1)",
       image(numbers, "6, 2, 3, 3"),
       "\"N\", 6, 7, 6",
       {{2, 4, 7, 6}, {6, 2, 3, 3}},
       {2}},
      {"out = conv2d(x, w, groups=4)",
       image(numbers, "4, 1, 3, 3"),
       "\"N\", 4, 5, 4",
       {{2, 4, 7, 6}, {4, 1, 3, 3}},
       {2}},
      {"out = conv2d(x, w, b, padding=\"same\")",
       image(symbols, "\"F\", \"C\", 3, 2") + bias,
       "\"N\", \"F\", \"H\", \"W\"",
       {{2, 3, 5, 4}, {5, 3, 3, 2}, {5}},
       {2, 3, 5, 4, 5}},
      {"out = conv2d(x, w)",
       image("4, 5, 6", "3, 4, 2, 2"),
       "3, 4, 5",
       {{4, 5, 6}, {3, 4, 2, 2}},
       {}},
  };
}

std::vector<std::string> pointwiseRows() {
  std::vector<std::string> names;
  for (const std::string &name : definition::operationNames()) {
    const definition::Operation *operation = definition::findOperation(name);
    if (operation->name == name && operation->kind == definition::OperationKind::Pointwise) {
      names.push_back(name);
    }
  }
  return names;
}

Sample call(const std::string &name, bool givesAll) {
  const definition::Operation &operation = *definition::findOperation(name);
  Sample sample{"", "", "\"N\", \"M\"", {}, {3, 8}};
  std::string arguments;
  for (const definition::Argument &argument : operation.arguments) {
    const bool isRequired = !argument.hasDefault;
    if (argument.type == definition::ArgumentType::Reduction) {
      arguments += std::string(arguments.empty() ? "" : ", ") + argument.name + "=\"none\"";
    } else if (isRequired && (argument.type == definition::ArgumentType::Integer ||
                              argument.type == definition::ArgumentType::Bool)) {
      const bool isNumber = argument.type == definition::ArgumentType::Integer;
      arguments += (arguments.empty() ? "" : ", ") + argument.name + "=" +
                   (isNumber   ? givesAll ? "2" : "0"
                    : givesAll ? "True"
                               : "False");
    }
    if (argument.type != definition::ArgumentType::Operand || (argument.hasDefault && !givesAll)) {
      continue;
    }
    const bool isMask = argument.name == "mask" || argument.name == "condition";
    // The second operand is a row for all.
    const bool isRow = sample.shapes.size() == 1 && !isMask;
    arguments += (arguments.empty() ? "" : ", ") + argument.name + "=" + argument.name + "_in";
    sample.inputs += "[inputs." + argument.name + "_in]\nshape = [" +
                     (isRow ? "\"M\"" : "\"N\", \"M\"") + "]\n" +
                     (isMask ? "dtype = \"bool\"\n" : "");
    sample.shapes.push_back(isRow ? std::vector<int64_t>{8} : std::vector<int64_t>{3, 8});
  }
  sample.body = "out = torch." + name + "(" + arguments + ")";
  return sample;
}

std::optional<definition::Operator> rowOf(const std::string &name, Sample &sample, DType dtype) {
  using Result = definition::ResultType;
  const Result result = definition::findOperation(name)->result;
  const bool takes = isFloat(dtype) ? result != Result::IntegerOnly : result != Result::FloatOnly;
  if (!takes) {
    return std::nullopt;
  }
  if (name == "pow" && !isFloat(dtype)) { // of integers, for literal exponents
    sample.body = "out = torch.pow(input_in, 3) * exponent_in";
  }
  const bool becomesFloat = result == Result::Float && !isFloat(dtype);
  return made(sample.body, sample.inputs, sample.outShape,
              "\"" + std::string(torchName(dtype)) + "\"",
              result == Result::Bool ? "bool"
              : becomesFloat         ? "float32"
                                     : "");
}

} // namespace nereid::generator
