// SPDX-License-Identifier: Apache-2.0
// What generated baselines, accuracy tests and performance tests call: eager operations, comparison
// and timing, each a thin layer over the library that owns it.
#include "lib/capi/Failure.h"
#include "lib/capi/Handles.h"
#include "lib/eager/Eager.h"
#include "lib/measure/Chip.h"
#include "lib/measure/Compare.h"
#include "lib/measure/Timer.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace nereid::capi {
namespace {

using Json = nlohmann::json;

std::optional<std::vector<int64_t>> integersOf(const Json &list) {
  std::vector<int64_t> integers;
  for (const Json &item : list) {
    if (!item.is_number_integer()) {
      return std::nullopt;
    }
    integers.push_back(item.get<int64_t>());
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
    return value.get<int64_t>();
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

Result<std::map<std::string, eager::Attribute>> attributesOf(const char *text) {
  std::map<std::string, eager::Attribute> attributes;
  const Json json = Json::parse(text && *text ? text : "{}", nullptr, false);
  if (!json.is_object()) {
    return makeError("E0031", "'nereid_eager' expects attributes as a JSON object such as "
                              "{\"dim\": -1}, but got '" +
                                  std::string(text) + "'");
  }
  for (const auto &[name, value] : json.items()) {
    std::optional<eager::Attribute> attribute = attributeOf(value);
    if (!attribute) {
      return makeError("E0031", "'nereid_eager' expects a boolean, number, text or list of "
                                "integers for attribute '" +
                                    name + "', but got '" + value.dump() + "'");
    }
    attributes.emplace(name, std::move(*attribute));
  }
  return attributes;
}

nereid_samples samplesOf(const measure::Timing &timing) {
  constexpr double nanosPerSecond = 1e9;
  const measure::Summary &summary = timing.summary;
  return {summary.count, summary.median * nanosPerSecond, summary.p90 * nanosPerSecond,
          summary.p99 * nanosPerSecond, summary.relativeDeviation};
}

/// Leaves the timer when a callback reports failure.
struct CallbackFailed {
  int result;
};

void call(nereid_callback callback, void *context) {
  if (const int result = callback(context); result != 0) {
    throw CallbackFailed{result};
  }
}

} // namespace
} // namespace nereid::capi

using namespace nereid;
using namespace nereid::capi;

extern "C" {

nereid_status nereid_eager(const char *operation, const nereid_tensor *const *inputs, size_t count,
                           const char *attributes, nereid_tensor **out) {
  return guarded([&] {
    if (!operation || (count > 0 && !inputs) || !out) {
      return refuse("nereid_eager", "expects an operation, its inputs and a place for the result");
    }
    std::vector<runtime::Tensor> tensors;
    for (size_t i = 0; i < count; ++i) {
      if (!inputs[i]) {
        return refuse("nereid_eager", "got a null pointer as input " + std::to_string(i));
      }
      tensors.push_back(inputs[i]->tensor);
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
      return refuse("nereid_compare", "expects two tensors and a place for the result");
    }
    if (actual->tensor.shape() != expected->tensor.shape()) {
      return refuse("nereid_compare", "expects two tensors of one shape");
    }
    const measure::Comparison found =
        measure::compare(actual->tensor, expected->tensor, relative, absolute);
    *result = {found.passed() ? 1 : 0, found.mismatches,       found.firstMismatch,   found.actual,
               found.expected,         found.maxAbsoluteError, found.maxRelativeError};
    return NEREID_OK;
  });
}

nereid_status nereid_time_pair(nereid_callback first, void *first_context, nereid_callback second,
                               void *second_context, const nereid_time_options *options,
                               nereid_time_pair_result *result) {
  return guarded([&] {
    if (!first || !second || !result) {
      return refuse("nereid_time_pair", "expects two callbacks and a place for the result");
    }
    measure::TimerOptions timer;
    const nereid_time_options chosen = options ? *options : nereid_time_options{};
    if (chosen.minimum_samples > 0) {
      timer.minimumSamples = chosen.minimum_samples;
    }
    timer.maximumSamples = std::max(timer.maximumSamples, timer.minimumSamples);
    timer.secondsBudget = chosen.budget_seconds > 0 ? chosen.budget_seconds : 5;
    const auto prepare = [&chosen] {
      if (chosen.before_sample) {
        call(chosen.before_sample, chosen.context);
      }
    };
    measure::Version versions[2];
    versions[0].name = "first";
    versions[0].run = [&] { call(first, first_context); };
    versions[1].name = "second";
    versions[1].run = [&] { call(second, second_context); };
    versions[0].prepare = versions[1].prepare = prepare;
    try {
      const std::vector<measure::Timing> timings =
          measure::timeInterleaved({versions[0], versions[1]}, timer);
      const double base = timings[1].summary.median;
      *result = {samplesOf(timings[0]), samplesOf(timings[1]),
                 base > 0 ? timings[0].summary.median / base : 0,
                 measure::mannWhitney(timings[0].samples, timings[1].samples).pValue,
                 timings[0].isNoisy || timings[1].isNoisy ? 1 : 0};
      return NEREID_OK;
    } catch (const CallbackFailed &failure) {
      return refuse("nereid_time_pair",
                    "was ended by a callback, which returned " + std::to_string(failure.result));
    }
  });
}

nereid_status nereid_copy_bandwidth(double *bytes_per_second) {
  return guarded([&] {
    if (!bytes_per_second) {
      return refuse("nereid_copy_bandwidth", "expects a place for the result");
    }
    const measure::Chip chip = measure::thisChip();
    *bytes_per_second = pool().threadCount() == 1 ? chip.copyBandwidthOneCore : chip.copyBandwidth;
    return NEREID_OK;
  });
}
}
