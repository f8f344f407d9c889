// SPDX-License-Identifier: Apache-2.0
// What generated baselines and accuracy tests call: eager operations and comparison, each a thin
// layer over the library that owns it. Timing.cpp has what performance tests call.
#include "lib/capi/Failure.h"
#include "lib/capi/Handles.h"
#include "lib/capi/Texts.h"
#include "lib/eager/Compare.h"
#include "lib/eager/baseline/Eager.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace nereid::capi {
namespace {

using Json = nlohmann::json;

/// Most inputs an operation may be given; the operations table asks for fewer.
constexpr size_t mostInputs = 64;

/// Nothing for another kind of value and for a number that int64 does not hold.
std::optional<int64_t> integerOf(const Json &value) {
  const bool isTooLarge = value.is_number_unsigned() &&
                          value.get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()};
  return value.is_number_integer() && !isTooLarge ? std::optional(value.get<int64_t>())
                                                  : std::nullopt;
}

std::optional<std::vector<int64_t>> integersOf(const Json &list) {
  std::vector<int64_t> integers;
  for (const Json &item : list) {
    const std::optional<int64_t> integer = integerOf(item);
    if (!integer) {
      return std::nullopt;
    }
    integers.push_back(*integer);
  }
  return integers;
}

/// JSON has no infinities and no NaN; they come as these texts.
std::optional<double> specialNumber(const std::string &text) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return text == "inf"    ? std::optional(infinity)
         : text == "-inf" ? std::optional(-infinity)
         : text == "nan"  ? std::optional(std::numeric_limits<double>::quiet_NaN())
                          : std::nullopt;
}

std::optional<eager::Attribute> attributeOf(const Json &value) {
  if (value.is_boolean()) {
    return value.get<bool>();
  }
  if (value.is_number_integer()) {
    const std::optional<int64_t> integer = integerOf(value);
    return integer ? std::optional<eager::Attribute>(*integer) : std::nullopt;
  }
  if (value.is_number()) {
    return value.get<double>();
  }
  if (value.is_string()) {
    const std::string text = value.get<std::string>();
    const std::optional<double> number = specialNumber(text);
    return number ? eager::Attribute(*number) : eager::Attribute(text);
  }
  if (value.is_array()) {
    std::optional<std::vector<int64_t>> integers = integersOf(value);
    return integers ? std::optional<eager::Attribute>(std::move(*integers)) : std::nullopt;
  }
  return std::nullopt;
}

std::string excerptOf(const std::string &text) {
  size_t end = 200;
  if (text.size() <= end) {
    return text;
  }
  while (end > 0 && (text[end] & 0xC0) == 0x80) {
    --end; // never within a character
  }
  return text.substr(0, end) + " …";
}

/// Lists and objects may be nested deeper than a recursive printer can follow.
std::string textOf(const Json &value) {
  return value.is_structured() ? std::string("an ") + value.type_name() + " of other values"
                               : "'" + excerptOf(value.dump()) + "'";
}

Result<std::map<std::string, eager::Attribute>> attributesOf(const char *text) {
  std::map<std::string, eager::Attribute> attributes;
  if (std::string problem = problemOfOptionalText("attributes", text, longestList);
      !problem.empty()) {
    return makeError("E0031", "'nereid_eager' " + problem);
  }
  const Json json = Json::parse(text && *text ? text : "{}", nullptr, false);
  if (!json.is_object()) {
    return makeError("E0031", "'nereid_eager' expects attributes as a JSON object such as "
                              "{\"dim\": -1}, but got '" +
                                  excerptOf(text) + "'");
  }
  for (const auto &[name, value] : json.items()) {
    std::optional<eager::Attribute> attribute = attributeOf(value);
    if (!attribute) {
      return makeError("E0031", "'nereid_eager' expects a boolean, number, text or list of "
                                "integers for attribute '" +
                                    excerptOf(name) + "', but got " + textOf(value));
    }
    attributes.emplace(name, std::move(*attribute));
  }
  return attributes;
}

} // namespace
} // namespace nereid::capi

using namespace nereid;
using namespace nereid::capi;

extern "C" {

nereid_status nereid_eager(const char *operation, const nereid_tensor *const *inputs, size_t count,
                           const char *attributes, nereid_tensor **out) {
  return guarded([&] {
    if (std::string problem = problemOfText("an operation", operation, longestName);
        !problem.empty()) {
      return refuse("nereid_eager", problem);
    }
    if ((count > 0 && !inputs) || !out) {
      return refuse("nereid_eager",
                    "expects inputs and a place for the result, but got a null pointer");
    }
    if (count > mostInputs) {
      return refuse("nereid_eager", "expects at most " + std::to_string(mostInputs) +
                                        " inputs, but got " + std::to_string(count));
    }
    std::vector<runtime::Tensor> tensors;
    for (size_t i = 0; i < count; ++i) {
      if (!inputs[i]) {
        return refuse("nereid_eager", "got a null pointer as input " + std::to_string(i));
      }
      if (nereid_status status = hostTensor(*inputs[i], tensors.emplace_back())) {
        return status;
      }
    }
    auto parsed = attributesOf(attributes);
    if (!parsed) {
      return fail(NEREID_ERROR_ARGUMENT, parsed.error());
    }
    auto result = eager::runOperation(operation, tensors, *parsed, pool());
    if (!result) {
      const bool isMemory = result.error().code == "E0506";
      return fail(isMemory ? NEREID_ERROR_MEMORY : NEREID_ERROR_ARGUMENT, result.error());
    }
    *out = new nereid_tensor{std::move(*result)};
    return NEREID_OK;
  });
}

nereid_status nereid_compare(const nereid_tensor *actual, const nereid_tensor *expected,
                             double relative, double absolute, nereid_comparison *result) {
  return guarded([&] {
    if (!actual || !expected || !result) {
      return refuse("nereid_compare",
                    "expects two tensors and a place for the result, but got a null pointer");
    }
    for (double tolerance : {relative, absolute}) {
      if (!std::isfinite(tolerance) || tolerance < 0) {
        return refuse("nereid_compare", "expects tolerances that are finite and not negative, but "
                                        "got " +
                                            fmt::format("{}", tolerance));
      }
    }
    if (actual->tensor.shape() != expected->tensor.shape()) {
      return refuse("nereid_compare", "expects two tensors of one shape");
    }
    runtime::Tensor given, wanted;
    for (nereid_status status : {hostTensor(*actual, given), hostTensor(*expected, wanted)}) {
      if (status) {
        return status;
      }
    }
    const eager::Comparison found = eager::compare(given, wanted, relative, absolute);
    *result = {found.passed() ? 1 : 0, found.mismatches,         found.first.index,
               found.first.actual,     found.first.expected,     found.maxAbsoluteError,
               found.maxRelativeError, found.meanAbsoluteError()};
    return NEREID_OK;
  });
}
}
