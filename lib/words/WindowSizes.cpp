// SPDX-License-Identifier: Apache-2.0
#include "lib/words/WindowSizes.h"

#include <algorithm>
#include <regex>

namespace nereid::words {
namespace {

/// "kernel_size", "stride" and "padding" by their values.
using Numbers = std::map<std::string, int64_t>;

constexpr int64_t largestWindow = 16;

/// The argument that a stem, or the last character of a Chinese word, is about; "" of any other.
std::string argumentCalled(const std::string &word) {
  static const std::map<std::string, std::string> arguments = {
      {"kernel", "kernel_size"}, {"window", "kernel_size"},    {"核", "kernel_size"},
      {"口", "kernel_size"},     {stem("stride"), "stride"},   {"长", "stride"},
      {"幅", "stride"},          {stem("padding"), "padding"}, {"充", "padding"}};
  const auto found = arguments.find(word);
  return found == arguments.end() ? "" : found->second;
}

/// "2x2" beside a pooling is its window: an image is larger.
void addWindow(const Facts &facts, Numbers &said) {
  for (const ShapeFact &shape : facts.shapes) {
    const std::vector<int64_t> &sizes = shape.sizes;
    const bool isWindow = (sizes.size() == 2 || sizes.size() == 3) && sizes[0] <= largestWindow &&
                          std::count(sizes.begin(), sizes.end(), sizes[0]) ==
                              static_cast<std::ptrdiff_t>(sizes.size());
    if (isWindow) {
      said["kernel_size"] = sizes[0];
    }
  }
}

/// Of the body's call of a pooling, with PyTorch's defaults; empty where there is none, or where
/// its windows are no numbers.
Numbers windowsIn(const std::string &body) {
  static const std::regex call(R"((\w*)pool\w*\(\w+, (?:kernel_size=)?(\d+)([^)]*)\))");
  std::smatch found;
  if (!std::regex_search(body, found, call) || found[1].str().find("adaptive") == 0) {
    return {};
  }
  const std::string rest = found[3];
  const int64_t kernel = std::stoll(found[2]);
  const auto named = [&](const std::string &name, int64_t otherwise) {
    std::smatch number;
    return std::regex_search(rest, number, std::regex(name + "=(\\d+)")) ? std::stoll(number[1])
                                                                         : otherwise;
  };
  return {{"kernel_size", kernel},
          {"stride", named("stride", kernel)},
          {"padding", named("padding", 0)}};
}

} // namespace

bool hasWindowsOf(const Shipped &shipped, const Facts &facts) {
  if (facts.isDocument || shipped.op.name.find("pool") == std::string::npos) {
    return true;
  }
  Numbers said;
  addWindow(facts, said);
  for (const LooseNumber &number : facts.loose) {
    if (const std::string argument = argumentCalled(number.before); !argument.empty()) {
      said[argument] = static_cast<int64_t>(number.value);
    }
  }
  const Numbers own = windowsIn(shipped.op.body);
  return std::all_of(said.begin(), said.end(), [&](const auto &one) {
    const auto found = own.find(one.first);
    return found != own.end() && found->second == one.second;
  });
}

} // namespace nereid::words
