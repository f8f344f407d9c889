// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/driver/Driver.h"

#include "lib/targets/nvidia/driver/Errors.h"

#include <cstdlib>
#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

namespace nereid::nvidia {
namespace {

/// Where the library was found, or the name when the system does not say.
std::string pathOf(void *handle, const char *name) {
  link_map *map = nullptr;
  const bool known = ::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && *map->l_name;
  return known ? map->l_name : name;
}

std::string buildOf(const std::string &library) {
  const std::unique_ptr<char, decltype(&std::free)> found(::realpath(library.c_str(), nullptr),
                                                          &std::free);
  const std::string file = found ? found.get() : library;
  struct stat status{};
  const auto bytes = ::stat(file.c_str(), &status) == 0 ? status.st_size : 0;
  return file.substr(file.rfind('/') + 1) + " of " + std::to_string(bytes) + " bytes";
}

LaunchError tooOld(const std::string &library, const std::string &but) {
  return {"E0420", "expects an NVIDIA driver for CUDA " + cudaVersionText(cuda::oldestVersion) +
                       " or newer, but '" + library + "' " + but + ": install a newer driver"};
}

template <class Call> bool find(void *handle, const char *symbol, Call *&function) {
  function = reinterpret_cast<Call *>(::dlsym(handle, symbol));
  return function != nullptr;
}

/// The name of the first function that is missing, or null.
const char *findAll(void *handle, Driver &driver) {
#define NEREID_CUDA(name, symbol, parameters)                                                      \
  if (!find(handle, #symbol, driver.name)) {                                                       \
    return #symbol;                                                                                \
  }
#include "lib/targets/nvidia/driver/CudaFunctions.def"
  return nullptr;
}

LaunchError noDevice(const Driver &driver, cuda::Result result) {
  std::string message = "expects an NVIDIA GPU, but the driver '" + driver.library +
                        "' finds none: " + describe(driver, result);
  if (const char *visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
    message += "; CUDA_VISIBLE_DEVICES is '" + std::string(visible) + "'";
  }
  return {"E0415", std::move(message)};
}

} // namespace

std::string cudaVersionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::variant<std::unique_ptr<Driver>, LaunchError> loadDriver(const char *library) {
  void *handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    return LaunchError{
        "E0419", "expects NVIDIA's driver, but it cannot be loaded: " + std::string(::dlerror()) +
                     "; install the driver of the GPU, no toolkit is needed"};
  }
  auto driver = std::make_unique<Driver>();
  driver->library = pathOf(handle, library);
  driver->build = buildOf(driver->library);
  // The version first: what a driver is too old for is said better by it than by a missing name.
  if (find(handle, "cuDriverGetVersion", driver->driverGetVersion) &&
      driver->driverGetVersion(&driver->version) == cuda::Success &&
      driver->version < cuda::oldestVersion) {
    return tooOld(driver->library, "is for CUDA " + cudaVersionText(driver->version));
  }
  if (const char *missing = findAll(handle, *driver)) {
    return tooOld(driver->library, "lacks '" + std::string(missing) + "'");
  }
  const cuda::Result result = driver->init(0);
  if (result == cuda::NoDevice) {
    return noDevice(*driver, result);
  }
  if (result != cuda::Success) {
    return LaunchError{"E0419", "expects NVIDIA's driver, but '" + driver->library +
                                    "' does not start: " + describe(*driver, result)};
  }
  return driver;
}

const std::variant<const Driver *, LaunchError> &driver() {
  static const auto &loaded = *[] {
    auto found = loadDriver("libcuda.so.1");
    using Loaded = std::variant<const Driver *, LaunchError>;
    if (LaunchError *error = std::get_if<LaunchError>(&found)) {
      return new Loaded(std::move(*error));
    }
    return new Loaded(std::get<0>(found).release());
  }();
  return loaded;
}

} // namespace nereid::nvidia
