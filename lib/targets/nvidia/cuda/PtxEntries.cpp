// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/cuda/PtxEntries.h"

#include <algorithm>
#include <charconv>

namespace nereid::nvidia {
namespace {

/// Behind `at`: the number there, 0 without one.
uint32_t numberAt(std::string_view text, size_t at) {
  uint32_t number = 0;
  at = std::min(text.find_first_not_of(" \t", at), text.size());
  (void)std::from_chars(text.data() + at, text.data() + text.size(), number);
  return number;
}

/// ".param .u64 .ptr .align 1 a", ".param .align 2 .b8 b[2]".
PtxParameter parameterOf(std::string_view text) {
  PtxParameter parameter;
  for (size_t at = text.find('.'); at != text.npos; at = text.find('.', at + 1)) {
    const char letter = at + 1 < text.size() ? text[at + 1] : ' ';
    const uint32_t bits = std::string_view("usfb").find(letter) == std::string_view::npos
                              ? 0
                              : numberAt(text, at + 2);
    if (bits == 0) {
      continue; // .param, .align, .ptr, .global
    }
    const size_t open = text.find('[', at);
    parameter.kind = letter == 'f'                 ? PtxParameter::Kind::Float
                     : open != text.npos           ? PtxParameter::Kind::Bytes
                     : letter == 'b' && bits == 16 ? PtxParameter::Kind::Bytes
                                                   : PtxParameter::Kind::Integer;
    const uint32_t count = open == text.npos ? 1 : numberAt(text, open + 1);
    parameter.bytes = static_cast<int>(bits / 8 * count);
    break;
  }
  return parameter;
}

/// The product of the sizes behind the directive, 0 without it.
uint32_t threadsBehind(std::string_view limits, std::string_view directive) {
  const size_t found = limits.find(directive);
  if (found == limits.npos) {
    return 0;
  }
  const std::string_view rest = limits.substr(found + directive.size());
  const std::string_view sizes = rest.substr(0, rest.find_first_of(".\n{"));
  uint32_t product = std::max(numberAt(sizes, 0), 1u);
  for (size_t comma = sizes.find(','); comma != sizes.npos; comma = sizes.find(',', comma + 1)) {
    product *= std::max(numberAt(sizes, comma + 1), 1u);
  }
  return product;
}

} // namespace

std::vector<PtxEntry> readPtxEntries(std::string_view ptx) {
  constexpr std::string_view word = ".entry ";
  std::vector<PtxEntry> entries;
  for (size_t at = ptx.find(word); at != ptx.npos; at = ptx.find(word, at + 1)) {
    const size_t line = ptx.rfind('\n', at) == ptx.npos ? 0 : ptx.rfind('\n', at) + 1;
    if (ptx.substr(line, at - line).find("//") != ptx.npos) {
      continue;
    }
    const std::string_view rest = ptx.substr(at + word.size());
    const size_t open = rest.find('('), body = rest.find('{');
    PtxEntry entry;
    entry.name = rest.substr(0, rest.find_first_of("( \t\r\n"));
    size_t limits = entry.name.size();
    if (open < body) { // a kernel without parameters may have no list of them
      const size_t close = std::min(rest.find(')', open), rest.size());
      const std::string_view list = rest.substr(open + 1, close - open - 1);
      for (size_t begin = list.find(".param"); begin != list.npos;) {
        const size_t next = list.find(".param", begin + 1);
        entry.parameters.push_back(parameterOf(list.substr(begin + 6, next - begin - 6)));
        begin = next;
      }
      limits = close;
    }
    const std::string_view directives = rest.substr(limits, body - limits);
    const uint32_t exactly = threadsBehind(directives, ".reqntid");
    entry.threads = exactly ? exactly : threadsBehind(directives, ".maxntid");
    entry.isThreadsMost = exactly == 0;
    entries.push_back(std::move(entry));
  }
  return entries;
}

} // namespace nereid::nvidia
