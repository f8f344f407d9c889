// SPDX-License-Identifier: Apache-2.0
#include "lib/pipeline/kernel/FittingConfigs.h"

#include "lib/language/host/KernelDecorators.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <tuple>

namespace nereid::pipeline {

using language::KernelConfig;
using language::ParamType;
using language::Signature;

namespace {

/// Each compiles the kernel once, at the end of a command that has failed.
constexpr size_t mostConfigs = 24, mostSmaller = 12;

const int64_t *integerOf(const ParamType &param) {
  return param.kind == ParamType::Kind::Constexpr ? std::get_if<int64_t>(&param.constant) : nullptr;
}

bool isSize(const ParamType &param) {
  const int64_t *value = integerOf(param);
  return value && *value >= 2 && std::has_single_bit(static_cast<uint64_t>(*value));
}

std::string stagesText(int64_t stages) { return "num_stages=" + std::to_string(stages); }

/// Steps between two sizes, each a halving or doubling.
double halvings(int64_t from, int64_t to) {
  return std::fabs(std::log2(static_cast<double>(to) / static_cast<double>(from)));
}

/// What `to` has otherwise than `from`.
NearbySignature compared(const Signature &from, Signature to) {
  NearbySignature nearby;
  const auto tell = [&](const std::string &text, double distance) {
    nearby.text += (nearby.text.empty() ? "" : ",") + text;
    nearby.distance += distance;
  };
  for (size_t i = 0; i < from.params.size(); ++i) {
    const ParamType &before = from.params[i], &after = to.params[i];
    const int64_t *old = integerOf(before), *now = integerOf(after);
    if (language::paramTypeText(before) == language::paramTypeText(after)) {
      continue;
    }
    const bool areSizes = old && now && *old > 0 && *now > 0;
    tell(after.name + "=" + language::paramTypeText(after), areSizes ? halvings(*old, *now) : 1);
  }
  if (from.options.warps() != to.options.warps()) {
    tell("num_warps=" + std::to_string(to.options.warps()),
         halvings(from.options.warps(), to.options.warps()));
  }
  if (from.options.stages() != to.options.stages()) {
    tell(stagesText(to.options.stages()),
         static_cast<double>(std::abs(to.options.stages() - from.options.stages())));
  }
  nearby.signature = std::move(to);
  return nearby;
}

void keepNearest(std::vector<NearbySignature> &all, size_t most) {
  std::sort(all.begin(), all.end(), [](const auto &a, const auto &b) {
    return std::tie(a.distance, a.text) < std::tie(b.distance, b.text);
  });
  all.resize(std::min(all.size(), most));
}

} // namespace

std::vector<NearbySignature> otherConfigs(const Signature &from,
                                          const std::vector<KernelConfig> &configs, size_t most) {
  std::vector<NearbySignature> all;
  for (const KernelConfig &config : configs) {
    if (config.problem) {
      continue;
    }
    Signature to = from;
    for (const auto &[name, value] : config.values) {
      for (ParamType &param : to.params) {
        if (param.name == name && param.kind == ParamType::Kind::Constexpr) {
          param.constant = value;
        }
      }
    }
    to.options.numWarps = config.options.numWarps;
    to.options.numStages = config.options.numStages;
    NearbySignature nearby = compared(from, std::move(to));
    if (!nearby.text.empty()) {
      all.push_back(std::move(nearby));
    }
  }
  keepNearest(all, most);
  return all;
}

std::vector<NearbySignature> smallerSignatures(const Signature &from, size_t most) {
  std::vector<NearbySignature> all;
  std::set<std::string> seen = {from.text()};
  std::vector<Signature> last = {from};
  const auto add = [&](Signature to, std::vector<Signature> &next) {
    if (all.size() < most && seen.insert(to.text()).second) {
      next.push_back(to);
      all.push_back(compared(from, std::move(to)));
    }
  };
  while (!last.empty() && all.size() < most) { // those one step further
    std::vector<Signature> next;
    for (const Signature &one : last) {
      if (one.options.stages() > 1) {
        Signature to = one;
        to.options.numStages = one.options.stages() - 1;
        add(std::move(to), next);
      }
      for (size_t i = 0; i < one.params.size(); ++i) {
        if (isSize(one.params[i])) {
          Signature to = one;
          to.params[i].constant = *integerOf(one.params[i]) / 2;
          add(std::move(to), next);
        }
      }
    }
    last = std::move(next);
  }
  return all;
}

std::vector<NearbySignature> scaledSignatures(const Signature &from) {
  constexpr int64_t mostWarps = 32;
  std::vector<NearbySignature> all;
  bool isLast = false;
  for (int64_t times = 2; !isLast; times *= 2) {
    isLast = true;
    if (const int64_t warps = from.options.warps() * times; warps <= mostWarps) {
      Signature to = from;
      to.options.numWarps = warps;
      all.push_back(compared(from, std::move(to)));
      isLast = false;
    }
    for (size_t i = 0; i < from.params.size(); ++i) {
      if (isSize(from.params[i]) && *integerOf(from.params[i]) >= times) {
        Signature to = from;
        to.params[i].constant = *integerOf(from.params[i]) / times;
        all.push_back(compared(from, std::move(to)));
        isLast = false;
      }
    }
  }
  return all;
}

std::string fittingText(const Signature &from, const std::vector<KernelConfig> &configs,
                        bool hasWarps,
                        const std::function<std::optional<bool>(const Signature &)> &fits) {
  const std::vector<NearbySignature> declared = otherConfigs(from, configs, mostConfigs);
  std::string nearest;
  size_t count = 0, asked = 0;
  for (const NearbySignature &one : declared) {
    const std::optional<bool> answer = fits(one.signature);
    if (!answer) {
      break;
    }
    ++asked;
    if (*answer) {
      nearest = nearest.empty() ? one.text : nearest;
      ++count;
    }
  }
  if (count > 0) {
    return nearest + " fits; " + std::to_string(count) + " of the " + std::to_string(asked) +
           (asked < configs.size() - 1 ? " nearest" : "") + " other configs fit" +
           (count == 1 ? "s" : "");
  }
  std::vector<NearbySignature> smaller = smallerSignatures(from, mostSmaller);
  // A step of warps changes nothing of what a program computes: before sizes as near.
  for (NearbySignature &one : hasWarps ? scaledSignatures(from) : std::vector<NearbySignature>()) {
    const auto before = std::find_if(smaller.begin(), smaller.end(), [&](const auto &other) {
      return other.distance >= one.distance;
    });
    const bool isThere = std::any_of(smaller.begin(), smaller.end(),
                                     [&](const auto &other) { return other.text == one.text; });
    if (!isThere) {
      smaller.insert(before, std::move(one));
    }
  }
  for (const NearbySignature &one : smaller) {
    const std::optional<bool> answer = fits(one.signature);
    if (!answer) {
      break;
    }
    if (*answer) {
      return one.text + " fits";
    }
  }
  return {};
}

} // namespace nereid::pipeline
