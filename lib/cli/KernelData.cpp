// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/KernelData.h"

#include <algorithm>
#include <random>

namespace nereid::cli {

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

std::vector<std::string> replaceableInputs(const KernelCase &testCase,
                                           const KernelArguments &arguments) {
  std::vector<std::string> inputs;
  const bool isJudged = comparesByBounds(testCase, arguments) && arguments.views.empty();
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

std::vector<OtherData> dataForCase(size_t index, size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  auto drawn = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  std::vector<OtherData> all;
  for (size_t input = 0; input < mostSpecialInputs; ++input) {
    for (int turn = 0; turn < definition::specialTurns; ++turn) {
      all.push_back({{DataKind::Special, 0, turn}, input});
    }
  }
  for (const Data &data :
       {Data{DataKind::Scaled, 0.5 + drawn() / 2}, Data{DataKind::Scaled, -0.5 - drawn() / 2},
        Data{DataKind::Decades, drawn()}, Data{DataKind::Negative}, Data{DataKind::Zeros},
        Data{DataKind::Ones}, Data{DataKind::ConstantRows}, Data{DataKind::SortedRows},
        Data{DataKind::Cancelling, 1}}) {
    all.push_back({data});
  }
  std::vector<OtherData> own;
  for (size_t i = index; i < std::max(all.size(), count); i += count) {
    own.push_back(all[(i + seed) % all.size()]);
  }
  return own;
}

std::string replaceInputs(const std::vector<std::string> &inputs, const OtherData &other,
                          uint64_t seed, const KernelArguments &arguments) {
  const bool isOne = other.data.kind == DataKind::Special && inputs.size() > 1;
  const std::string chosen = isOne ? inputs[other.input % inputs.size()] : "";
  for (const std::string &name : inputs) {
    const bool isPlain = isOne && name != chosen;
    const auto before = arguments.before.find(name);
    const runtime::Tensor &tensor =
        before == arguments.before.end() ? arguments.tensors.at(name) : before->second;
    definition::fillData(tensor, isPlain ? Data{} : other.data, ++seed, false);
  }
  return chosen;
}

} // namespace nereid::cli
