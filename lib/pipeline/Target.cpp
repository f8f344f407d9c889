// SPDX-License-Identifier: Apache-2.0
// The registry of targets: factories by vendor, and the targets already made by full name.
#include "lib/pipeline/Target.h"

#include <map>
#include <mutex>

namespace nereid::pipeline {
namespace {

struct Registry {
  std::mutex lock;
  std::map<std::string, TargetFactory> factories;
  std::map<std::string, std::unique_ptr<Target>> targets; // by what was asked for
};

Registry &registry() {
  // Never destroyed: kernels may be compiled while the process shuts down.
  static Registry *instance = new Registry;
  return *instance;
}

} // namespace

bool Target::assemble(std::string_view, std::vector<uint8_t> &, Diagnostics &diags) {
  diags.add(makeError("E0310", "target '" + name() + "' does not compile ahead of time")
                .withHelp("the cpu target does"));
  return false;
}

void registerTarget(std::string vendor, TargetFactory factory) {
  Registry &all = registry();
  std::lock_guard guard(all.lock);
  all.factories[std::move(vendor)] = factory;
}

Result<Target *> findTarget(std::string_view spec) {
  Registry &all = registry();
  std::lock_guard guard(all.lock);
  std::string name(spec);
  auto known = all.targets.find(name);
  if (known != all.targets.end()) {
    return known->second.get();
  }
  size_t colon = name.find(':');
  std::string vendor = name.substr(0, colon);
  auto factory = all.factories.find(vendor);
  if (factory == all.factories.end()) {
    std::string vendors;
    for (const auto &[registered, function] : all.factories) {
      vendors += (vendors.empty() ? "" : ", ") + registered;
    }
    return makeError("E0303", "unknown target '" + name + "'")
        .note("supported vendors: " + (vendors.empty() ? "none in this program" : vendors))
        .withHelp("write 'cpu' for this machine");
  }
  auto made = factory->second(
      colon == std::string::npos ? std::string_view() : std::string_view(name).substr(colon + 1));
  if (!made) {
    return made.error();
  }
  Target *target = made->get();
  all.targets[name] = std::move(*made);
  return target;
}

} // namespace nereid::pipeline
