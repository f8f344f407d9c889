// SPDX-License-Identifier: Apache-2.0
// Runs one case for one element type on one engine and compares with the reference.
#include "runtime/tensor/Tensor.h"
#include "test/language/Case.h"
#include "test/language/engines/Engine.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

namespace nereid::conformance {
namespace {

std::string replaced(std::string text, const std::string &what, const std::string &by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
  return text;
}

/// tl.float32
std::string languageName(DType type) {
  if (isFloat8(type)) { // "fp8e5" is "tl.float8e5"
    return "tl.float" + std::string(kernelName(type)).substr(2);
  }
  return type == DType::Bool ? "tl.int1" : "tl." + std::string(torchName(type));
}

void put(const runtime::Tensor &tensor, int64_t i, Number value) {
  DType type = tensor.dtype();
  size_t bytes = sizeInBytes(type);
  char *element = tensor.as<char>() + static_cast<size_t>(i) * bytes;
  if (isFloat(type)) {
    storeFromDouble(element, type, static_cast<double>(value));
    return;
  }
  auto word = static_cast<uint64_t>(static_cast<__int128>(value));
  std::memcpy(element, &word, bytes);
}

Number get(const runtime::Tensor &tensor, int64_t i) {
  DType type = tensor.dtype();
  size_t bytes = sizeInBytes(type);
  const char *element = tensor.as<char>() + static_cast<size_t>(i) * bytes;
  if (isFloat(type)) {
    return loadAsDouble(element, type);
  }
  uint64_t word = 0;
  std::memcpy(&word, element, bytes);
  return wrap(type, static_cast<__int128>(word));
}

bool agrees(DType type, Number expected, Number got, double ulps, double absolute) {
  if (std::isnan(expected) || std::isnan(got)) {
    return std::isnan(expected) && std::isnan(got);
  }
  if (!isFloat(type)) {
    return got == expected;
  }
  if (got == expected || got == roundTo(type, expected)) {
    return true;
  }
  if (!std::isfinite(expected) || !std::isfinite(got)) {
    return false;
  }
  // A sliver more than asked: the reference itself is rounded to 64 bits.
  return std::fabs(got - expected) <= ulps * 1.001L * ulpOf(type, expected) + absolute;
}

} // namespace

std::string runCase(const Case &one, DType type, Engine &engine) {
  Run run{type, {}, {}, {}};
  std::string signature;
  std::vector<runtime::Tensor> tensors;
  uint64_t seed = 1;
  for (const Tensor &tensor : one.tensors) {
    DType own = tensor.type.empty() ? type : tensor.type.front();
    run.types[tensor.name] = own;
    run.tensors[tensor.name] = makeValues(tensor, own, seed++);
    bool isDescriptor = !tensor.block.empty();
    signature += tensor.name + "=" +
                 (isDescriptor ? fmt::format("tensordesc<{}[{}]{}>, ", kernelName(own),
                                             tensor.block, tensor.padsWithNan ? ",nan" : "")
                               : fmt::format("*{}, ", kernelName(own)));
    std::vector<int64_t> shape = isDescriptor ? tensor.shape : std::vector{tensor.count};
    tensors.push_back(runtime::Tensor::empty(shape, own));
    tensors.back().poison();
    if (tensor.fill != Fill::Poison) {
      for (int64_t i = 0; i < tensor.count; ++i) {
        put(tensors.back(), i, run.tensors[tensor.name][static_cast<size_t>(i)]);
      }
    }
  }
  std::vector<runtime::ArgumentValue> arguments;
  for (const runtime::Tensor &tensor : tensors) {
    arguments.emplace_back(&tensor);
  }
  for (const auto &[name, value] : one.integers) {
    signature += name + "=i32, ";
    arguments.emplace_back(value);
  }
  signature += one.constants;
  while (!signature.empty() && (signature.back() == ' ' || signature.back() == ',')) {
    signature.pop_back();
  }
  pipeline::CompileInput input;
  input.path = "case.py";
  input.function = "kernel";
  input.signature = replaced(signature, "$T", std::string(kernelName(type)));
  input.source = "import triton\nimport triton.language as tl\n"
                 "from triton.language.extra import libdevice\n\n" +
                 replaced(one.source, "$T", languageName(type));
  if (std::string error = engine.run(input, one.grid, arguments); !error.empty()) {
    return error;
  }
  one.reference(run);
  const bool isApproximate = one.approximateUlps > 0 && engine.approximates();
  const double ulps = isApproximate ? one.approximateUlps : one.ulps;
  for (size_t k = 0; k < tensors.size(); ++k) {
    const std::string &name = one.tensors[k].name;
    DType own = run.types[name];
    for (int64_t i = 0; i < one.tensors[k].count; ++i) {
      auto list = run.expected.find(name);
      bool isSet = list != run.expected.end() && list->second.contains(i);
      Number expected = isSet ? list->second.at(i) : run.tensors[name][static_cast<size_t>(i)];
      Number got = get(tensors[k], i);
      if (!agrees(own, expected, got, isSet ? ulps : 0, isSet ? one.absolute : 0)) {
        return fmt::format("{}[{}] expects {}, but got {}", name, i, static_cast<double>(expected),
                           static_cast<double>(got));
      }
    }
  }
  return "";
}

} // namespace nereid::conformance
