// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/verification/OtherData.h"

#include "lib/launch/CaseReference.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <random>

namespace nereid::bench {

using launch::KernelArguments;
using launch::KernelCase;

using definition::Data;
using definition::DataKind;

namespace {
/// Of all tensors; the reference takes its time.
constexpr int64_t mostElements = 1 << 20;
constexpr size_t mostSpecialInputs = 3;
} // namespace

int64_t elementsOf(const KernelArguments &arguments) {
  int64_t elements = 0;
  for (const auto &[name, tensor] : arguments.tensors) {
    elements += tensor.elementCount();
  }
  return elements;
}

std::string typesOf(const KernelCase &testCase, const KernelArguments &arguments) {
  std::string types = testCase.kernel;
  for (const auto &[name, tensor] : arguments.tensors) {
    types += fmt::format(", {} {}", name, torchName(tensor.dtype()));
  }
  return types;
}

std::vector<std::string> replaceableInputs(const KernelCase &testCase,
                                           const KernelArguments &arguments) {
  std::vector<std::string> inputs;
  const bool isJudged = boundType(testCase, arguments).has_value() && arguments.views.empty();
  if (!isJudged || elementsOf(arguments) > mostElements) {
    return inputs;
  }
  const std::set<std::string> outputs = outputNames(testCase);
  for (const auto &[name, tensor] : arguments.tensors) {
    const bool isRandom =
        std::any_of(testCase.arguments.begin(), testCase.arguments.end(),
                    [&](const std::string &text) { return text.starts_with(name + "=randn("); });
    const bool isRead = !outputs.contains(name) || namesBefore(testCase, name);
    if (isRandom && isFloat(tensor.dtype()) && isRead) {
      inputs.push_back(name);
    }
  }
  return inputs;
}

std::string dataGroup(const KernelCase &testCase, const std::vector<std::string> &inputs,
                      const KernelArguments &arguments) {
  std::string group = testCase.kernel;
  for (const std::string &name : inputs) {
    group += fmt::format(", {} {}", name, torchName(arguments.tensors.at(name).dtype()));
  }
  return group;
}

std::vector<OtherData> otherData(const std::vector<std::string> &inputs, int64_t fewestRows,
                                 uint64_t seed) {
  std::mt19937_64 random(seed);
  auto drawn = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  std::vector<OtherData> all;
  const bool hasFewRows = fewestRows < definition::specialTurns;
  for (size_t i = 0; i < std::min(inputs.size(), mostSpecialInputs); ++i) {
    const std::string input = inputs.size() == 1 ? "" : inputs[(i + seed) % inputs.size()];
    // Rows go on in turn: of many only the first one's number is left to choose.
    const int turns = hasFewRows ? definition::turnsOfFewRows : 2;
    const int step =
        hasFewRows ? 1 : 1 + static_cast<int>(drawn() * (definition::specialTurns - 1));
    for (int turn = 0; turn < turns; ++turn) {
      const int first = definition::nanFirst + turn * step;
      all.push_back({{DataKind::Special, 0, first}, input, hasFewRows || turn == 0});
    }
  }
  for (const Data &data :
       {Data{DataKind::Scaled, 0.5 + drawn() / 2}, Data{DataKind::Scaled, -0.5 - drawn() / 2},
        // Near enough to 1 that products of two of them stay numbers.
        Data{DataKind::Scaled, 0.05 + drawn() / 5}, Data{DataKind::Scaled, -0.05 - drawn() / 5},
        Data{DataKind::Decades, drawn()}, Data{DataKind::Negative}, Data{DataKind::Zeros},
        Data{DataKind::Ones}, Data{DataKind::ConstantRows}, Data{DataKind::SortedRows},
        Data{DataKind::Cancelling, 1}}) {
    all.push_back({data, "", false});
  }
  std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(seed % all.size()), all.end());
  return all;
}

int64_t shortestRow(const std::vector<std::string> &inputs, const KernelArguments &arguments) {
  int64_t shortest = std::numeric_limits<int64_t>::max();
  for (const std::string &name : inputs) {
    const runtime::Tensor &tensor = arguments.tensors.at(name);
    shortest = std::min<int64_t>(shortest, tensor.shape().empty() ? 1 : tensor.shape().back());
  }
  return shortest;
}

int64_t fewestRows(const std::vector<std::string> &inputs, const KernelArguments &arguments) {
  int64_t fewest = std::numeric_limits<int64_t>::max();
  for (const std::string &name : inputs) {
    const runtime::Tensor &tensor = arguments.tensors.at(name);
    const int64_t length = tensor.shape().empty() ? 1 : std::max<int64_t>(1, tensor.shape().back());
    fewest = std::min(fewest, tensor.elementCount() / length);
  }
  return fewest;
}

/// What holds the input's numbers in front of a launch.
static const runtime::Tensor &inputOf(const KernelArguments &arguments, const std::string &name) {
  const auto before = arguments.before.find(name);
  return before == arguments.before.end() ? arguments.tensors.at(name) : before->second;
}

std::map<std::string, runtime::Tensor> normalInputs(const std::vector<std::string> &inputs,
                                                    uint64_t seed,
                                                    const KernelArguments &arguments) {
  std::map<std::string, runtime::Tensor> normals;
  for (const std::string &name : inputs) {
    const runtime::Tensor &tensor = inputOf(arguments, name);
    auto normal = runtime::Tensor::empty(tensor.shape(), tensor.dtype());
    ++seed;
    if (tensor.isContiguous() && normal.isValid()) {
      runtime::fillNormal(normal, seed);
      normals.emplace(name, std::move(normal));
    }
  }
  return normals;
}

void replaceInputs(const std::vector<std::string> &inputs, const OtherData &other, uint64_t seed,
                   const KernelArguments &arguments,
                   const std::map<std::string, runtime::Tensor> &normals) {
  for (const std::string &name : inputs) {
    const bool isPlain = !other.input.empty() && name != other.input;
    const auto normal = normals.find(name);
    definition::fillData(inputOf(arguments, name), isPlain ? Data{} : other.data, ++seed, {},
                         normal == normals.end() ? nullptr : &normal->second);
  }
}

} // namespace nereid::bench
