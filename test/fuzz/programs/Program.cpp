// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/programs/Program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>

namespace nereid::fuzz {
namespace {

bool names(const std::string &line, const std::string &word) {
  auto isPart = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t at = 0; (at = line.find(word, at)) != std::string::npos; ++at) {
    size_t end = at + word.size();
    if ((at == 0 || !isPart(line[at - 1])) && (end == line.size() || !isPart(line[end]))) {
      return true;
    }
  }
  return false;
}

/// Made once, as filling takes longer than running many a program.
const runtime::Tensor &contentsOf(const Buffer &buffer) {
  static std::map<std::string, runtime::Tensor> made;
  auto [at, isNew] = made.try_emplace(buffer.name);
  if (isNew) {
    at->second = runtime::Tensor::empty({buffer.count}, buffer.type);
    if (buffer.low == buffer.high) {
      at->second.poison();
    } else {
      uint64_t seed = static_cast<uint64_t>(buffer.name[0]) * 131 + std::strlen(buffer.name);
      runtime::fillIntegers(at->second, seed, buffer.low, buffer.high);
    }
  }
  return at->second;
}

} // namespace

const std::vector<Buffer> &buffers() {
  // Numbers whose products and sums are exact; of 8-bit floats, those that exist.
  static const std::vector<Buffer> list = {{"A", DType::I32, inputElements, -1000, 1000},
                                           {"B", DType::I8, inputElements, -128, 128},
                                           {"C", DType::I16, inputElements, -1000, 1000},
                                           {"D", DType::U8, inputElements, 0, 256},
                                           {"E", DType::F8E4M3FN, inputElements, -8, 9},
                                           {"F", DType::F8E5M2, inputElements, -4, 5},
                                           {"G", DType::BF16, inputElements, -64, 65},
                                           {"H", DType::F16, inputElements, -64, 65},
                                           {"L", DType::I64, inputElements, -1000, 1000},
                                           {"M", DType::U16, inputElements, 0, 1000},
                                           {"U", DType::U32, inputElements, 0, 1000},
                                           {"X", DType::F32, inputElements, -64, 65},
                                           {"S", DType::I32, 256, 0, 6},
                                           {"T", DType::U8, inputElements, 0, 3},
                                           {"P", DType::F32, inputElements, -64, 65},
                                           {"Q", DType::I32, inputElements, -1000, 1000},
                                           {"SUMS", DType::I32, 1024, -4, 5},
                                           {"REALS", DType::F32, 1024, -4, 5},
                                           {"FLAGS", DType::I32, 64, 0, 1}, // zeros
                                           {"OUT", DType::I64, outputElements * 4, 0, 0},
                                           {"Y", DType::F32, outputElements, 0, 0},
                                           {"W", DType::I32, outputElements, 0, 0},
                                           {"Z", DType::F16, outputElements, 0, 0}};
  return list;
}

const Buffer *findBuffer(const std::string &name) {
  auto at = std::find_if(buffers().begin(), buffers().end(),
                         [&](const Buffer &buffer) { return buffer.name == name; });
  return at == buffers().end() ? nullptr : &*at;
}

std::vector<View> Program::parameters() const {
  std::vector<View> all = views, named;
  for (const Buffer &buffer : buffers()) {
    all.push_back({buffer.name, buffer.name});
  }
  for (const View &view : all) {
    if (std::any_of(lines.begin(), lines.end(),
                    [&](const std::string &line) { return names(line, view.name); })) {
      named.push_back(view);
    }
  }
  return named;
}

std::string Program::signature() const {
  std::string text;
  for (const View &view : parameters()) {
    text += fmt::format("{}=*{}, ", view.name, kernelName(findBuffer(view.buffer)->type));
  }
  return text + "n=i32, m=i32, h=i32";
}

std::string Program::source() const {
  std::string text = "import triton\nimport triton.language as tl\n\n\n"
                     "@triton.jit\ndef compose(a1, b1, a2, b2):\n"
                     "    return a1 * a2, b1 * a2 + b2\n\n\n"
                     "@triton.jit\ndef both(a1, b1, a2, b2):\n    return a1 + a2, b1 ^ b2\n\n\n"
                     "@triton.jit\ndef smaller(a1, b1, a2, b2):\n"
                     "    first = (a1 < a2) | ((a1 == a2) & (b1 < b2))\n"
                     "    return tl.where(first, a1, a2), tl.where(first, b1, b2)\n\n\n"
                     "@triton.jit\ndef kernel(";
  for (const View &view : parameters()) {
    text += view.name + ", ";
  }
  text += "n, m, h):\n";
  for (const std::string &line : lines) {
    text += "    " + line + "\n";
  }
  return lines.empty() ? text + "    pass\n" : text;
}

Memory::Memory(const Program &program) {
  std::vector<View> parameters = program.parameters();
  parts.reserve(parameters.size());
  for (const Buffer &buffer : buffers()) {
    if (std::none_of(parameters.begin(), parameters.end(),
                     [&](const View &view) { return view.buffer == buffer.name; })) {
      continue;
    }
    names.emplace_back(buffer.name);
    tensors.push_back(runtime::Tensor::empty({buffer.count}, buffer.type));
    const runtime::Tensor &contents = contentsOf(buffer);
    std::memcpy(tensors.back().data(), contents.data(), contents.byteCount());
  }
  for (const View &view : parameters) {
    size_t number =
        static_cast<size_t>(std::find(names.begin(), names.end(), view.buffer) - names.begin());
    const runtime::Tensor &whole = tensors[number];
    parts.push_back(std::get<0>(whole.view(view.offset, {whole.elementCount() - view.offset})));
    values.emplace_back(&parts.back());
  }
  for (int64_t number : {program.n, program.m, program.h}) {
    values.emplace_back(number);
  }
}

std::string Memory::difference(const Memory &other, const std::string &here,
                               const std::string &there) const {
  for (size_t k = 0; k < tensors.size(); ++k) {
    const runtime::Tensor &a = tensors[k], &b = other.tensors[k];
    if (std::memcmp(a.data(), b.data(), a.byteCount()) == 0) {
      continue;
    }
    size_t bytes = sizeInBytes(a.dtype());
    for (int64_t i = 0; i < a.elementCount(); ++i) {
      const char *left = a.as<char>() + static_cast<size_t>(i) * bytes;
      const char *right = b.as<char>() + static_cast<size_t>(i) * bytes;
      double mine = loadAsDouble(left, a.dtype()), its = loadAsDouble(right, a.dtype());
      if (std::memcmp(left, right, bytes) != 0 && !(isFloat(a.dtype()) && mine == its)) {
        return fmt::format("{}[{}]: {} has {}, {} has {}", names[k], i, here, mine, there, its);
      }
    }
  }
  return "";
}

} // namespace nereid::fuzz
