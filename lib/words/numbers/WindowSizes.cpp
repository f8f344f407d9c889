// SPDX-License-Identifier: Apache-2.0
#include "lib/words/numbers/WindowSizes.h"

#include <algorithm>
#include <optional>

namespace nereid::words {
namespace {

/// "kernel_size", "stride" and "padding" by their values.
using Numbers = std::map<std::string, int64_t>;

/// The argument that a stem, or the last character of a Chinese word, is about; "" of any other.
std::string argumentCalled(const std::string &word) {
  static const std::map<std::string, std::string> arguments = {{"kernel", "kernel_size"},
                                                               {"window", "kernel_size"},
                                                               {"filter", "kernel_size"},
                                                               {"核", "kernel_size"},
                                                               {"口", "kernel_size"},
                                                               {stem("stride"), "stride"},
                                                               {"长", "stride"},
                                                               {"幅", "stride"},
                                                               {stem("padding"), "padding"},
                                                               {"充", "padding"},
                                                               {stem("dilation"), "dilation"},
                                                               {stem("dilated"), "dilation"},
                                                               {"桶", "bins"}};
  const auto found = arguments.find(word);
  return found == arguments.end() ? "" : found->second;
}

void addWindow(const Facts &facts, Numbers &said) {
  for (const ShapeFact &shape : facts.shapes) {
    if (isWindowShape(facts, shape)) {
      said["kernel_size"] = shape.sizes[0];
    }
  }
}

bool isOfWindows(const std::string &function) {
  return function.find("pool") != std::string::npos || function.find("conv") != std::string::npos ||
         function == "unfold" || function == "fold";
}

/// Of a convolution: as its filters' shape has it; nothing where that is open.
std::optional<int64_t> filterSize(const definition::Operator &op) {
  for (const definition::Parameter &parameter : op.parameters) {
    const bool isFilter = parameter.name == "w" || parameter.name == "weight";
    if (isFilter && parameter.shape.size() > 2 && parameter.shape.back().symbol.empty()) {
      return parameter.shape.back().constant;
    }
  }
  return std::nullopt;
}

/// Of the body's calls, with PyTorch's defaults; -1 of several that are not the same. Empty where
/// there are none, or where its windows are no numbers.
Numbers windowsIn(const Shipped &shipped) {
  Numbers numbers;
  bool isSame = false, isConvolution = false;
  for (const BodyArgument &argument : shipped.arguments) {
    if (!isOfWindows(argument.function)) {
      continue;
    }
    if (argument.function.starts_with("adaptive")) {
      return {};
    }
    isConvolution |= argument.function.find("conv") != std::string::npos;
    isSame |= argument.isWord && argument.text == "same";
    if (!argument.values.empty()) {
      numbers[argument.name] =
          isMixed(argument) ? -1 : static_cast<int64_t>(argument.values.front());
    }
  }
  isConvolution |= shipped.body.contains("conv2d");
  if (const auto size = isConvolution ? filterSize(shipped.op) : std::nullopt) {
    numbers["kernel_size"] = *size;
  }
  if (!numbers.contains("kernel_size")) {
    return {};
  }
  const int64_t kernel = numbers["kernel_size"];
  const bool isPool = !isConvolution && shipped.op.name.find("pool") != std::string::npos;
  numbers.emplace("stride", isPool ? kernel : 1);
  numbers.emplace("padding", isSame ? (kernel - 1) / 2 : 0);
  numbers.emplace("dilation", 1);
  return numbers;
}

} // namespace

bool isArgumentCalled(const std::string &argument, const std::string &word) {
  if (word.empty() || argument.empty() || argument == "dim" || argument == "dims") {
    return false;
  }
  const auto tokens = tokenize("", argument);
  return argumentCalled(word) == argument ||
         (tokens && std::any_of(tokens->begin(), tokens->end(), [&](const Token &token) {
            return token.kind == TokenKind::Word && token.text == word;
          }));
}

bool hasWindowsOf(const Shipped &shipped, const Facts &facts) {
  const bool isWindowed =
      shipped.op.name.find("pool") != std::string::npos ||
      std::any_of(shipped.arguments.begin(), shipped.arguments.end(),
                  [](const BodyArgument &argument) { return isOfWindows(argument.function); });
  if (!isWindowed) {
    return true;
  }
  Numbers said;
  addWindow(facts, said);
  for (const LooseNumber &number : facts.loose) {
    if (const std::string argument = argumentCalled(number.before); !argument.empty()) {
      said[argument] = static_cast<int64_t>(number.value);
    }
  }
  if (said.empty()) {
    return true;
  }
  const Numbers own = windowsIn(shipped);
  return std::all_of(said.begin(), said.end(), [&](const auto &one) {
    const auto found = own.find(one.first);
    return found != own.end() && found->second == one.second;
  });
}

} // namespace nereid::words
