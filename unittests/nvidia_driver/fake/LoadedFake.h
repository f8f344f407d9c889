// SPDX-License-Identifier: Apache-2.0
// The driver of unittests/nvidia_driver/fake for programs that look for libcuda.so.1.
#pragma once

#include "unittests/nvidia_driver/fake/FakeCuda.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace nereid::nvidia::test {

/// Loaded at the first call; it is the libcuda.so.1 of this program from then on.
inline FakeCuda &fake() {
  static FakeCuda &loaded = *[] {
    void *library = ::dlopen(NEREID_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    auto *entry =
        library ? reinterpret_cast<FakeCudaEntry>(::dlsym(library, "nereidFakeCuda")) : nullptr;
    if (!entry) {
      std::fprintf(stderr, "no fake driver: %s\n", ::dlerror());
      std::abort();
    }
    return entry();
  }();
  return loaded;
}

} // namespace nereid::nvidia::test
