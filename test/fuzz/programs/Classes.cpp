// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/programs/Classes.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::fuzz {
namespace {

const char *const singles[] = {
#define FUZZ_CLASS(NAME, TEXT) TEXT,
#include "test/fuzz/programs/Classes.def"
#undef FUZZ_CLASS
};

size_t placeOf(const std::vector<std::string> &list, const std::string &text) {
  return static_cast<size_t>(std::find(list.begin(), list.end(), text) - list.begin());
}

std::string literalText(const std::string &size, const std::string &type) {
  return fmt::format("a literal {} beside {}", size, type);
}

std::string signsText(const std::string &one, const std::string &other) {
  return fmt::format("{} beside {}", one, other);
}

} // namespace

const std::vector<std::string> &literalSizes() {
  static const std::vector<std::string> list = {"of 8 bits",  "of 16 bits", "of 32 bits",
                                                "of 64 bits", "negative",   "real"};
  return list;
}

const std::vector<std::string> &signedTypes() {
  static const std::vector<std::string> list = {"int8", "int16", "int32", "int64"};
  return list;
}

const std::vector<std::string> &unsignedTypes() {
  static const std::vector<std::string> list = {"uint8", "uint16", "uint32", "uint64"};
  return list;
}

const std::vector<std::string> &literalTypes() {
  static const std::vector<std::string> list = {"int8",    "int16",   "int32",    "int64",
                                                "uint8",   "uint16",  "uint32",   "uint64",
                                                "float16", "float32", "bfloat16", "float64"};
  return list;
}

size_t numberOf(Class one) { return static_cast<size_t>(one); }

int64_t bitsOf(const std::string &type) {
  return std::stoll(type.substr(type.find_first_of("0123456789")));
}

bool fits(const std::string &size, const std::string &type) {
  if (size == "negative") {
    return !type.starts_with("uint");
  }
  return size == "real" || std::stoll(size.substr(3)) <= bitsOf(type);
}

size_t numberOfLiteral(const std::string &size, const std::string &type) {
  return placeOf(classTexts(), literalText(size, type));
}

size_t numberOfSigns(const std::string &signedType, const std::string &unsignedType) {
  return placeOf(classTexts(), signsText(signedType, unsignedType));
}

const std::vector<std::string> &classTexts() {
  static const std::vector<std::string> list = [] {
    std::vector<std::string> texts(std::begin(singles), std::end(singles));
    for (const std::string &size : literalSizes()) {
      for (const std::string &type : literalTypes()) {
        if (fits(size, type)) {
          texts.push_back(literalText(size, type));
        }
      }
    }
    for (const std::string &one : signedTypes()) {
      for (const std::string &other : unsignedTypes()) {
        texts.push_back(signsText(one, other));
      }
    }
    return texts;
  }();
  return list;
}

} // namespace nereid::fuzz
