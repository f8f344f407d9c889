// SPDX-License-Identifier: Apache-2.0
// Version, threads and element types of the C interface.
#include "lib/capi/Failure.h"
#include "lib/capi/Handles.h"
#include "lib/capi/Texts.h"

#include <atomic>
#include <memory>

#define NEREID_TEXT_OF(value) #value
#define NEREID_TEXT(value) NEREID_TEXT_OF(value)

namespace nereid::capi {
namespace {

static_assert(
    static_cast<int>(DType::Bool) == NEREID_BOOL && static_cast<int>(DType::I8) == NEREID_I8 &&
    static_cast<int>(DType::U8) == NEREID_U8 && static_cast<int>(DType::F16) == NEREID_F16 &&
    static_cast<int>(DType::BF16) == NEREID_BF16 && static_cast<int>(DType::F32) == NEREID_F32 &&
    static_cast<int>(DType::F64) == NEREID_F64 &&
    static_cast<int>(DType::F8E4M3FN) == NEREID_F8E4M3FN &&
    static_cast<int>(DType::F8E5M2FNUZ) == NEREID_F8E5M2FNUZ &&
    static_cast<int>(DType::F8E4B15) == NEREID_F8E4B15 && dtypeCount == NEREID_F8E4B15 + 1);

std::atomic<runtime::ThreadPool *> chosenPool{nullptr};
std::unique_ptr<runtime::ThreadPool> ownedPool;

} // namespace

runtime::ThreadPool &pool() {
  runtime::ThreadPool *chosen = chosenPool.load(std::memory_order_acquire);
  return chosen ? *chosen : runtime::defaultPool();
}

std::optional<DType> dtypeOf(nereid_dtype dtype) {
  return dtype >= 0 && dtype < dtypeCount ? std::optional(static_cast<DType>(dtype)) : std::nullopt;
}

} // namespace nereid::capi

using namespace nereid;
using namespace nereid::capi;

extern "C" {

const char *nereid_version(void) {
  return NEREID_TEXT(NEREID_VERSION_MAJOR) "." NEREID_TEXT(NEREID_VERSION_MINOR) "." NEREID_TEXT(
      NEREID_VERSION_PATCH);
}

nereid_status nereid_set_thread_count(int threads) {
  return guarded([&] {
    constexpr int limit = 4096;
    if (threads < 0 || threads > limit) {
      return refuse("nereid_set_thread_count", "expects 0 to " + std::to_string(limit) +
                                                   " threads, but got " + std::to_string(threads));
    }
    auto made = std::make_unique<runtime::ThreadPool>(threads);
    chosenPool.store(made.get(), std::memory_order_release);
    ownedPool = std::move(made);
    return NEREID_OK;
  });
}

int nereid_thread_count(void) { return pool().threadCount(); }

nereid_status nereid_dtype_parse(const char *name, nereid_dtype *dtype) {
  return guarded([&] {
    if (std::string problem = problemOfText("a name", name, longestName); !problem.empty()) {
      return refuse("nereid_dtype_parse", problem);
    }
    if (!dtype) {
      return refuse("nereid_dtype_parse", "expects a place for the type, but got a null pointer");
    }
    const std::optional<DType> parsed = parseDType(name);
    if (!parsed) {
      return refuse("nereid_dtype_parse", "expects an element type such as 'float32', but got '" +
                                              std::string(name) + "'");
    }
    *dtype = static_cast<nereid_dtype>(*parsed);
    return NEREID_OK;
  });
}

const char *nereid_dtype_name(nereid_dtype dtype) {
  const std::optional<DType> known = dtypeOf(dtype);
  return known ? torchName(*known).data() : ""; // the table holds literals, which end with a zero
}

size_t nereid_dtype_bytes(nereid_dtype dtype) {
  const std::optional<DType> known = dtypeOf(dtype);
  return known ? sizeInBytes(*known) : 0;
}
}
