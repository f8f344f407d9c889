// SPDX-License-Identifier: Apache-2.0
#include "lib/language/signature/KernelOptions.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <mutex>

namespace nereid::language {

// clang-format off
static const KernelOption table[] = {
  {"num_warps", &KernelOptions::numWarps, 4, 1, 64, /*isPowerOfTwo=*/true},
  {"num_stages", &KernelOptions::numStages, 3, 0, 64, false},
  {"num_ctas", &KernelOptions::numCtas, 1, 1, 16, /*isPowerOfTwo=*/true},
  {"maxnreg", &KernelOptions::maxRegisters, std::nullopt, 1, 255, false},
};
// clang-format on

std::span<const KernelOption> kernelOptions() { return table; }

namespace {
struct Declared {
  std::mutex lock;
  std::deque<KernelOption> options; // addresses stay
};
} // namespace

static Declared &declared() {
  static Declared *all = new Declared; // kernels may be compiled while the process shuts down
  return *all;
}

void declareKernelOptions(std::span<const KernelOption> options) {
  for (const KernelOption &option : options) {
    if (!findKernelOption(option.name)) {
      std::lock_guard guard(declared().lock);
      declared().options.push_back(option);
    }
  }
}

std::vector<std::string> kernelOptionNames() {
  std::vector<std::string> names;
  for (const KernelOption &option : table) {
    names.emplace_back(option.name);
  }
  std::lock_guard guard(declared().lock);
  for (const KernelOption &option : declared().options) {
    names.emplace_back(option.name);
  }
  return names;
}

const KernelOption *findCommonOption(std::string_view name) {
  for (const KernelOption &option : table) {
    if (option.name == name) {
      return &option;
    }
  }
  return nullptr;
}

const KernelOption *findKernelOption(std::string_view name) {
  if (const KernelOption *option = findCommonOption(name)) {
    return option;
  }
  std::lock_guard guard(declared().lock);
  for (const KernelOption &option : declared().options) {
    if (option.name == name) {
      return &option;
    }
  }
  return nullptr;
}

std::optional<int64_t> valueOf(const KernelOptions &options, const KernelOption &option) {
  if (option.field) {
    return options.*option.field;
  }
  auto given = options.ofTargets.find(std::string(option.name));
  return given == options.ofTargets.end() ? std::nullopt : std::optional(given->second);
}

std::string KernelOption::expected() const {
  return std::string(isPowerOfTwo ? "a power of two" : "an integer") + " from " +
         std::to_string(least) + " to " + std::to_string(most);
}

std::string KernelOptions::text() const {
  std::string out;
  for (const KernelOption &option : table) {
    if (const std::optional<int64_t> &value = this->*option.field) {
      out += "," + std::string(option.name) + "=" + std::to_string(*value);
    }
  }
  for (const auto &[name, value] : ofTargets) {
    out += "," + name + "=" + std::to_string(value);
  }
  return out;
}

std::optional<Diagnostic> setOption(KernelOptions &options, const KernelOption &option,
                                    const ConstValue &value) {
  const auto *number = std::get_if<int64_t>(&value);
  bool isFitting = number && *number >= option.least && *number <= option.most &&
                   !(option.isPowerOfTwo && !std::has_single_bit(static_cast<uint64_t>(*number)));
  if (isFitting && option.field) {
    options.*option.field = *number;
    return std::nullopt;
  }
  if (isFitting) {
    options.ofTargets[std::string(option.name)] = *number;
    return std::nullopt;
  }
  int64_t nearest = option.standard.value_or(option.most);
  if (number) {
    nearest = std::clamp(*number, option.least, option.most);
    nearest = option.isPowerOfTwo
                  ? static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(nearest)))
                  : nearest;
  }
  return makeError("E0235", "the option '" + std::string(option.name) + "' expects " +
                                option.expected() + ", but got " + constantText(value))
      .withHelp("write " + std::string(option.name) + "=" + std::to_string(nearest) +
                ", or leave it out");
}

void completeOptions(KernelOptions &options, const KernelOptions &others) {
  for (const KernelOption &option : table) {
    const std::optional<int64_t> &value = others.*option.field;
    if (!(options.*option.field) && value != option.standard) {
      options.*option.field = value;
    }
  }
}

} // namespace nereid::language
