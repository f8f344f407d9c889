// SPDX-License-Identifier: Apache-2.0
// The registry of targets: vendors and the targets already made, by name.
#include "lib/pipeline/Target.h"

#include "runtime/Device.h"

#include "llvm/ADT/StringExtras.h"

#include <map>
#include <mutex>
#include <optional>

namespace nereid::pipeline {
namespace {

struct Registry {
  std::mutex lock;
  std::map<std::string, TargetVendor> vendors;
  std::map<std::string, std::unique_ptr<Target>> targets; ///< by Target::name
  std::map<std::string, Target *, std::less<>> known;     ///< by what was asked for without a chip
};

Registry &registry() {
  // Never destroyed: kernels may be compiled while the process shuts down.
  static Registry *instance = new Registry;
  return *instance;
}

/// Names of all vendors, in order.
std::vector<std::string> namesOf(const Registry &all) {
  std::vector<std::string> names;
  for (const auto &[name, ignored] : all.vendors) {
    names.push_back(name);
  }
  return names;
}

/// Of the target `spec`; E0303.
Result<TargetVendor> vendorOf(const Registry &all, std::string_view spec) {
  const std::string name(spec.substr(0, spec.find(':')));
  auto vendor = all.vendors.find(name);
  if (vendor != all.vendors.end()) {
    return vendor->second;
  }
  const std::string known = llvm::join(namesOf(all), ", ");
  return makeError("E0303", "unknown target '" + std::string(spec) + "'")
      .note("supported vendors: " + (known.empty() ? "none in this program" : known))
      .withHelp("write 'cpu' for this machine");
}

/// What stands behind the colon.
std::string_view architectureIn(std::string_view spec) {
  const size_t colon = spec.find(':');
  return colon == std::string_view::npos ? std::string_view() : spec.substr(colon + 1);
}

/// The architecture that is asked for: of a device's name, the device's.
Result<std::string> architectureOf(std::string_view spec) {
  if (!namesDevice(spec)) {
    return std::string(architectureIn(spec));
  }
  auto found = runtime::findDevice(spec);
  if (const auto *error = std::get_if<runtime::LaunchError>(&found)) {
    return makeError(error->code, error->message)
        .withHelp("an architecture in the place of the number needs no device to compile for");
  }
  return std::get<runtime::Device *>(found)->architecture();
}

} // namespace

bool namesDevice(std::string_view spec) {
  const std::string_view number = architectureIn(spec);
  return !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
}

bool runsOnDevice(std::string_view spec) {
  const std::string vendor(spec.substr(0, spec.find(':')));
  Result<Target *> target = findTarget(targetAnywhere(vendor));
  return target && !(*target)->deviceRuntime().empty();
}

Result<runtime::Device *> deviceNamed(std::string_view name) {
  auto found = runtime::findDevice(name);
  if (const auto *error = std::get_if<runtime::LaunchError>(&found)) {
    return makeError(error->code, error->message)
        .withHelp("'nereid compile' makes code for it; launching needs the device");
  }
  return std::get<runtime::Device *>(found);
}

Result<runtime::Device *> deviceFor(std::string_view spec) {
  return deviceNamed(namesDevice(spec) ? spec : spec.substr(0, spec.find(':')));
}

std::string targetAnywhere(std::string_view spec) {
  Registry &all = registry();
  std::lock_guard guard(all.lock);
  const auto vendor = all.vendors.find(std::string(spec));
  const bool isAlone = vendor != all.vendors.end() && !vendor->second.anyArchitecture.empty();
  return std::string(spec) + (isAlone ? ":" + std::string(vendor->second.anyArchitecture) : "");
}

TileLayouts Target::layouts(const CompileState &) const { return {}; }

Result<std::vector<uint8_t>> Target::machineCode(std::span<const uint8_t>) const {
  return std::vector<uint8_t>();
}

static Diagnostic withoutOccupation(const std::string &name) {
  return makeError("E0310", "a processor of target '" + name +
                                "' runs one program at a time, and has no occupancy")
      .withHelp("a target of devices has; 'nereid bench' measures on every target");
}

Result<CodeAccount> Target::account(std::span<const uint8_t>) const {
  return withoutOccupation(name());
}

Result<Occupation> Target::occupation(const runtime::FunctionResources &,
                                      const runtime::KernelInfo &) const {
  return withoutOccupation(name());
}

Result<ForeignCode> Target::compileForeign(const ForeignSource &source) const {
  return makeError("E0313", "target '" + name() + "' has no compiler for '" + source.path +
                                "', which is no kernel in the Triton language")
      .withHelp("a peer in CUDA C++ is compiled for NVIDIA GPUs");
}

bool Target::assemble(std::string_view, std::vector<uint8_t> &, Diagnostics &diags) {
  diags.add(makeError("E0310", "target '" + name() + "' does not compile ahead of time")
                .withHelp("the cpu target does"));
  return false;
}

void registerTarget(std::string name, TargetVendor vendor) {
  Registry &all = registry();
  std::lock_guard guard(all.lock);
  language::declareKernelOptions(vendor.options);
  all.vendors[std::move(name)] = vendor;
}

std::span<const language::KernelOption> targetOptions(std::string_view spec) {
  Registry &all = registry();
  std::lock_guard guard(all.lock);
  Result<TargetVendor> vendor = vendorOf(all, spec);
  return vendor ? vendor->options : std::span<const language::KernelOption>();
}

Result<Target *> findTarget(std::string_view spec, const std::string &chipFile) {
  std::optional<Machine> chip;
  if (!chipFile.empty()) {
    Result<Machine> loaded = loadMachine(chipFile);
    if (!loaded) {
      return loaded.error();
    }
    chip = std::move(*loaded);
  }
  Registry &all = registry();
  std::unique_lock guard(all.lock);
  const std::string name(spec);
  if (auto known = all.known.find(name); !chip && known != all.known.end()) {
    return known->second;
  }
  Result<TargetVendor> vendor = vendorOf(all, name);
  if (!vendor) {
    return vendor.error();
  }
  guard.unlock(); // a factory may ask for other targets
  Result<std::string> architecture = architectureOf(name);
  if (!architecture) {
    return architecture.error();
  }
  auto made = vendor->make(*architecture, chip ? &*chip : nullptr);
  if (!made) {
    return made.error();
  }
  guard.lock();
  // Of several with one name, which make equal code, the first one stays.
  const std::string own = (*made)->name();
  Target *target = all.targets.try_emplace(own, std::move(*made)).first->second.get();
  if (!chip) {
    all.known[name] = target;
  }
  return target;
}

std::vector<std::string> targetVendors() {
  Registry &all = registry();
  std::lock_guard guard(all.lock);
  return namesOf(all);
}

std::vector<TargetTool> targetTools() {
  std::map<std::string, TargetVendor> vendors;
  {
    Registry &all = registry();
    std::lock_guard guard(all.lock);
    vendors = all.vendors;
  }
  std::vector<TargetTool> found;
  for (const auto &[name, vendor] : vendors) {
    for (TargetTool &one : vendor.tools ? vendor.tools() : std::vector<TargetTool>()) {
      found.push_back(std::move(one));
    }
  }
  return found;
}

Result<std::string> targetNameOn(std::string_view spec, std::string_view architecture,
                                 const std::vector<std::string> &features) {
  Registry &all = registry();
  std::lock_guard guard(all.lock);
  Result<TargetVendor> vendor = vendorOf(all, spec);
  if (!vendor) {
    return vendor.error();
  }
  if (namesDevice(spec)) {
    return makeError("E0303", "'" + std::string(spec) +
                                  "' is a device of this machine, and code "
                                  "for another one was asked for")
        .withHelp("name an architecture, or the vendor alone for the machine of the runner");
  }
  if (!vendor->nameFor) {
    return makeError("E0303", "target '" + std::string(spec) + "' has no code for other machines")
        .withHelp("launch it without a runner");
  }
  if (spec.find(':') != std::string_view::npos) {
    return std::string(spec);
  }
  return vendor->nameFor(architecture, features);
}

} // namespace nereid::pipeline
