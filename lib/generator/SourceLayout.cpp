// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/SourceLayout.h"

#include <algorithm>
#include <sstream>

namespace nereid::generator {
namespace {

constexpr size_t columnLimit = 100;

/// The pieces after `head`, whose last line is `margin` wide.
std::string filled(const std::string &head, const std::vector<std::string> &pieces, size_t margin) {
  std::string text = head;
  size_t used = margin;
  bool isFirst = true;
  for (const std::string &piece : pieces) {
    if (!isFirst && used + 1 + piece.size() > columnLimit) {
      text += "\n" + std::string(margin, ' ');
      used = margin;
      isFirst = true;
    }
    text += (isFirst ? "" : " ") + piece;
    used += piece.size() + (isFirst ? 0 : 1);
    isFirst = false;
  }
  return text;
}

} // namespace

std::string packed(const std::string &head, const std::vector<std::string> &items,
                   const std::string &tail, const std::string &separator) {
  if (items.empty()) {
    return head + tail;
  }
  const std::string lastLine = tail.substr(0, tail.find('\n')), rest = tail.substr(lastLine.size());
  std::vector<std::string> pieces = items;
  for (size_t i = 0; i + 1 < pieces.size(); ++i) {
    pieces[i] += separator;
  }
  pieces.back() += lastLine;
  size_t widest = 0;
  for (const std::string &piece : pieces) {
    widest = std::max(widest, piece.size());
  }
  const size_t indentation = std::min(head.find_first_not_of(' '), head.size());
  const std::string pad(indentation + 4, ' ');
  auto layOut = [&](const std::string &before, const std::string &line) {
    return line.size() + widest <= columnLimit
               ? filled(before + line, pieces, line.size())
               : filled(before + line + "\n" + pad, pieces, pad.size());
  };
  auto lines = [](const std::string &text) { return std::count(text.begin(), text.end(), '\n'); };
  std::string text = layOut("", head);
  const size_t equals = head.find(" = ");
  if (lines(text) > 0 && head.back() == '(' && equals != std::string::npos) {
    std::string broken = layOut(head.substr(0, equals + 2) + "\n", pad + head.substr(equals + 3));
    text = lines(broken) <= lines(text) ? broken : text;
  }
  return text + rest;
}

std::string commentLines(const std::string &text) {
  std::istringstream words(text);
  std::string result, line = "//";
  for (std::string word; words >> word;) {
    if (line.size() + 1 + word.size() > columnLimit) {
      result += line + "\n";
      line = "//";
    }
    line += " " + word;
  }
  return result + line + "\n";
}

} // namespace nereid::generator
