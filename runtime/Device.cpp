// SPDX-License-Identifier: Apache-2.0
// Devices by name and by DLPack's numbers.
#include "runtime/Device.h"

#include "runtime/DeviceKinds.h"

#include <dlpack/dlpack.h>

#include <charconv>
#include <map>
#include <mutex>

namespace nereid::runtime {
namespace {

struct Kind {
  int32_t dlpackType = 0;
  DeviceFactory factory = nullptr;
  std::map<int32_t, Device *> devices; ///< for ever, so that tensors may outlive all else
};

struct Registry {
  std::mutex lock;
  std::map<std::string, Kind, std::less<>> kinds;
};

Registry &registry() {
  static Registry &all = *[] {
    auto *made = new Registry;
    Device &cpu = cpuDevice();
    made->kinds[cpu.kind()] = {cpu.dlpackType(), nullptr, {{cpu.id(), &cpu}}};
    return made;
  }();
  return all;
}

LaunchError unknown(const std::string &what, const Registry &all) {
  std::string known;
  for (const auto &[name, kind] : all.kinds) {
    known += (known.empty() ? "'" : ", '") + name + "'";
  }
  return {"E0415", "expects a device of the kinds " + known + ", but got " + what};
}

/// Kinds are never taken out of the registry, so that `kind` may be used without its lock.
std::variant<Device *, LaunchError> findOf(std::unique_lock<std::mutex> &guard,
                                           const std::string &name, Kind &kind, int32_t id) {
  if (id < 0) {
    return LaunchError{"E0415", "expects the number of a device of kind '" + name + "', but got " +
                                    std::to_string(id)};
  }
  if (const auto made = kind.devices.find(id); made != kind.devices.end()) {
    return made->second;
  }
  if (!kind.factory) {
    return LaunchError{"E0415", "expects the only device of kind '" + name + "', '" + name +
                                    ":0', but got '" + name + ":" + std::to_string(id) + "'"};
  }
  const DeviceFactory factory = kind.factory;
  guard.unlock(); // a factory may ask for other devices
  auto made = factory(id);
  guard.lock();
  if (LaunchError *error = std::get_if<LaunchError>(&made)) {
    return std::move(*error);
  }
  // Of two threads that made it at once, the first one's stays.
  auto &own = std::get<std::unique_ptr<Device>>(made);
  const auto [place, isFirst] = kind.devices.try_emplace(id, own.get());
  if (isFirst) {
    (void)own.release();
  }
  return place->second;
}

} // namespace

void registerDevices(std::string kind, int32_t dlpackType, DeviceFactory factory) {
  Registry &all = registry();
  std::lock_guard guard(all.lock);
  Kind &made = all.kinds[std::move(kind)];
  made.dlpackType = dlpackType;
  made.factory = factory;
}

std::vector<std::string> deviceKinds() {
  Registry &all = registry();
  std::lock_guard guard(all.lock);
  std::vector<std::string> names;
  for (const auto &[name, kind] : all.kinds) {
    names.push_back(name);
  }
  return names;
}

std::variant<Device *, LaunchError> findDevice(std::string_view name) {
  Registry &all = registry();
  std::unique_lock guard(all.lock);
  const size_t colon = name.find(':');
  const auto kind = all.kinds.find(name.substr(0, colon));
  if (kind == all.kinds.end()) {
    return unknown("'" + std::string(name) + "'", all);
  }
  int32_t id = 0;
  if (colon != std::string_view::npos) {
    const char *end = name.data() + name.size();
    const auto read = std::from_chars(name.data() + colon + 1, end, id);
    if (read.ec != std::errc() || read.ptr != end || id < 0) {
      return LaunchError{"E0415", "expects a device such as '" + kind->first + "' or '" +
                                      kind->first + ":0', but got '" + std::string(name) + "'"};
    }
  }
  return findOf(guard, kind->first, kind->second, id);
}

std::variant<Device *, LaunchError> findDevice(int32_t dlpackType, int32_t id) {
  if (dlpackType == kDLCPU || dlpackType == kDLCUDAHost || dlpackType == kDLROCMHost) {
    return &cpuDevice(); // whatever number another library gives to the only host
  }
  Registry &all = registry();
  std::unique_lock guard(all.lock);
  for (auto &[name, kind] : all.kinds) {
    if (kind.dlpackType == dlpackType) {
      return findOf(guard, name, kind, id);
    }
  }
  return unknown("DLPack device type " + std::to_string(dlpackType), all);
}

} // namespace nereid::runtime
