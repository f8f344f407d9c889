// SPDX-License-Identifier: Apache-2.0
// Reads the header's dictionary: quoted keys, a quoted descriptor, True/False, a tuple of integers.
// Format: NumPy Enhancement Proposal 1.
#include "runtime/tensor/NpyHeader.h"

#include <charconv>

namespace nereid::runtime {
namespace {

struct Row {
  std::string_view descriptor;
  DType type;
};

constexpr Row rows[] = {
    {"|b1", DType::Bool},
    {"|i1", DType::I8},
    {"<i2", DType::I16},
    {"<i4", DType::I32},
    {"<i8", DType::I64},
    {"|u1", DType::U8},
    {"<u2", DType::U16},
    {"<u4", DType::U32},
    {"<u8", DType::U64},
    {"<f2", DType::F16},
    {"<f4", DType::F32},
    {"<f8", DType::F64},
    // NumPy has no such floats; their bits are written and come back as uint16 and uint8.
    {"<u2", DType::BF16},
    {"|u1", DType::F8E4M3FN},
    {"|u1", DType::F8E5M2},
    {"|u1", DType::F8E4M3FNUZ},
    {"|u1", DType::F8E5M2FNUZ},
    {"|u1", DType::F8E4B15},
};

constexpr size_t maxRank = 64;

std::optional<DType> typeOf(std::string_view descriptor) {
  if (descriptor.size() != 3) {
    return std::nullopt;
  }
  for (const Row &row : rows) {
    // One byte has no order, and '=' is the order of the machine that wrote it: little-endian.
    const bool isOrdered = row.descriptor[0] == '<';
    const char order = descriptor[0];
    const bool isOrder = order == '<' || order == '=' || (!isOrdered && order == '|');
    if (isOrder && row.descriptor.substr(1) == descriptor.substr(1)) {
      return row.type;
    }
  }
  return std::nullopt;
}

class Reader {
public:
  explicit Reader(std::string_view text) : text(text) {}

  void skipSpace() {
    while (position < text.size() && (text[position] == ' ' || text[position] == '\n' ||
                                      text[position] == '\t' || text[position] == '\r')) {
      ++position;
    }
  }
  bool take(char c) {
    skipSpace();
    if (position < text.size() && text[position] == c) {
      ++position;
      return true;
    }
    return false;
  }
  std::optional<std::string_view> quoted() {
    for (char quote : {'\'', '"'}) {
      if (take(quote)) {
        const size_t end = text.find(quote, position);
        if (end == std::string_view::npos) {
          return std::nullopt;
        }
        const std::string_view content = text.substr(position, end - position);
        position = end + 1;
        return content;
      }
    }
    return std::nullopt;
  }
  std::optional<bool> boolean() {
    skipSpace();
    for (std::string_view word : {std::string_view("True"), std::string_view("False")}) {
      if (text.substr(position, word.size()) == word) {
        position += word.size();
        return word == "True";
      }
    }
    return std::nullopt;
  }
  std::optional<int64_t> size() {
    skipSpace();
    int64_t value = 0;
    const char *begin = text.data() + position;
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
    if (error != std::errc() || value < 0) {
      return std::nullopt;
    }
    position += static_cast<size_t>(end - begin);
    if (position < text.size() && text[position] == 'L') {
      ++position; // Python 2 marked long integers
    }
    return value;
  }
  bool isAtEnd() {
    skipSpace();
    return position == text.size();
  }

private:
  std::string_view text;
  size_t position = 0;
};

bool readShape(Reader &reader, std::vector<int64_t> &shape) {
  if (!reader.take('(')) {
    return false;
  }
  while (!reader.take(')')) {
    const std::optional<int64_t> size = reader.size();
    if (!size || shape.size() == maxRank) {
      return false;
    }
    shape.push_back(*size);
    if (!reader.take(',')) {
      return reader.take(')');
    }
  }
  return true;
}

} // namespace

std::string_view npyDescriptor(DType type) {
  for (const Row &row : rows) {
    if (row.type == type) {
      return row.descriptor;
    }
  }
  return {};
}

std::variant<NpyHeader, std::string> parseNpyHeader(std::string_view text) {
  Reader reader(text);
  NpyHeader header;
  bool hasType = false, hasOrder = false, hasShape = false;
  if (!reader.take('{')) {
    return std::string("its header does not start with '{'");
  }
  while (!reader.take('}')) {
    const std::optional<std::string_view> key = reader.quoted();
    if (!key || !reader.take(':')) {
      return std::string("its header is no dictionary");
    }
    if (*key == "descr" && !hasType) {
      const std::optional<std::string_view> descriptor = reader.quoted();
      const std::optional<DType> type = descriptor ? typeOf(*descriptor) : std::nullopt;
      if (!type) {
        return "expects an element type such as '<f4', but got '" +
               std::string(descriptor ? descriptor->substr(0, 40) : "a structure") + "'";
      }
      header.dtype = *type;
      hasType = true;
    } else if (*key == "fortran_order" && !hasOrder) {
      const std::optional<bool> order = reader.boolean();
      if (!order) {
        return std::string("expects True or False for 'fortran_order'");
      }
      header.isFortranOrder = *order;
      hasOrder = true;
    } else if (*key == "shape" && !hasShape) {
      if (!readShape(reader, header.shape)) {
        return std::string("expects a tuple of sizes for 'shape'");
      }
      hasShape = true;
    } else {
      return "its header has the unexpected key '" + std::string(key->substr(0, 40)) + "'";
    }
    if (!reader.take(',')) {
      if (!reader.take('}')) {
        return std::string("its header is no dictionary");
      }
      break;
    }
  }
  if (!hasType || !hasOrder || !hasShape || !reader.isAtEnd()) {
    return std::string("its header expects the keys 'descr', 'fortran_order' and 'shape'");
  }
  return header;
}

} // namespace nereid::runtime
