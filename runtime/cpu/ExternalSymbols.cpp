// SPDX-License-Identifier: Apache-2.0
// The table of functions that compiled code may call.
#include "runtime/cpu/ExternalSymbols.h"

#include "runtime/core/KernelSupport.h"

#include <cmath>
#include <cstring>

namespace nereid::runtime {
namespace {

struct Row {
  std::string_view name;
  void *address;
};

template <class Function> void *addressOf(Function *function) {
  return reinterpret_cast<void *>(function);
}

} // namespace

void *externalSymbol(std::string_view name) {
  static const Row rows[] = {
      {"memcpy", addressOf(&std::memcpy)},
      {"memmove", addressOf(&std::memmove)},
      {"memset", addressOf(&std::memset)},
      {"fmod", addressOf(static_cast<double (*)(double, double)>(&::fmod))},
      {"fmodf", addressOf(static_cast<float (*)(float, float)>(&::fmodf))},
      {"nereid_rt_assert_fail", addressOf(&nereid_rt_assert_fail)},
      {"nereid_rt_print", addressOf(&nereid_rt_print)},
      {"nereid_rt_yield", addressOf(&nereid_rt_yield)},
      {"nereid_rt_privatise", addressOf(&nereid_rt_privatise)},
      {"nereid_rt_add_private", addressOf(&nereid_rt_add_private)},
  };
  for (const Row &row : rows) {
    if (row.name == name) {
      return row.address;
    }
  }
  return nullptr;
}

} // namespace nereid::runtime
