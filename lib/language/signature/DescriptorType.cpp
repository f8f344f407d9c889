// SPDX-License-Identifier: Apache-2.0
#include "lib/language/signature/DescriptorType.h"

#include "lib/language/syntax/Characters.h"

#include <charconv>

namespace nereid::language {

static constexpr std::string_view opening = "tensordesc<";

bool isDescriptorType(std::string_view text) { return text.starts_with("tensordesc"); }

static Diagnostic malformed(std::string_view text, const std::string &why) {
  return makeError("E0207", "the type '" + std::string(text) + "' " + why)
      .withHelp("write a tensor descriptor as tensordesc<fp16[128,64]>: the element type and the "
                "sizes of a block, which are powers of two");
}

std::optional<Diagnostic> readDescriptorType(std::string_view text, ParamType &out) {
  size_t bracket = text.find('[');
  size_t end = text.find(']', std::min(bracket, text.size()));
  if (!text.starts_with(opening) || end == std::string_view::npos || !text.ends_with(">")) {
    return malformed(text, "lacks its '<', '[', ']' or '>'");
  }
  std::string_view padding = trimmed(text.substr(end + 1, text.size() - end - 2), " ");
  bool isNan = padding.starts_with(',') && trimmed(padding.substr(1), " ") == "nan";
  if (!padding.empty() && !isNan) {
    return malformed(text,
                     "expects '>' or ',nan>' behind ']', but got '" + std::string(padding) + "'");
  }
  std::string_view element = trimmed(text.substr(opening.size(), bracket - opening.size()), " ");
  std::optional<DType> type = parseDType(element);
  if (!type) {
    return malformed(text, "has the unknown element type '" + std::string(element) + "'");
  }
  if (isNan && (!isFloat(*type) || *type == DType::F8E4B15)) {
    return malformed(text, "has no NaN to pad with");
  }
  std::string_view sizes = text.substr(bracket + 1, end - bracket - 1);
  out.blockShape.clear();
  while (true) {
    size_t comma = std::min(sizes.find(','), sizes.size());
    std::string_view digits = trimmed(sizes.substr(0, comma), " ");
    int64_t size = 0;
    auto [last, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
    bool isNumber = failure == std::errc() && last == digits.data() + digits.size();
    if (!isNumber || size <= 0 || size > (int64_t(1) << 30) || (size & (size - 1)) != 0) {
      return malformed(text,
                       "expects powers of two as sizes, but got '" + std::string(digits) + "'");
    }
    out.blockShape.push_back(size);
    if (comma == sizes.size()) {
      break;
    }
    sizes.remove_prefix(comma + 1);
  }
  out.kind = ParamType::Kind::Descriptor;
  out.padsWithNan = isNan;
  out.dtype = *type;
  return std::nullopt;
}

std::string descriptorTypeText(const ParamType &param) {
  std::string sizes;
  for (int64_t size : param.blockShape) {
    sizes += (sizes.empty() ? "" : ",") + std::to_string(size);
  }
  return std::string(opening) + std::string(kernelName(param.dtype)) + "[" + sizes +
         (param.padsWithNan ? "],nan>" : "]>");
}

} // namespace nereid::language
