// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/programs/DeepStack.h"

#include <pthread.h>

namespace nereid::generator {

static constexpr size_t stackBytes = size_t{1} << 30;

static void *run(void *work) {
  (*static_cast<const std::function<void()> *>(work))();
  return nullptr;
}

void onDeepStack(const std::function<void()> &work) {
  pthread_attr_t attributes;
  pthread_t thread{};
  pthread_attr_init(&attributes);
  const bool isStarted =
      pthread_attr_setstacksize(&attributes, stackBytes) == 0 &&
      pthread_create(&thread, &attributes, run, const_cast<std::function<void()> *>(&work)) == 0;
  pthread_attr_destroy(&attributes);
  if (isStarted) {
    pthread_join(thread, nullptr);
  } else {
    work();
  }
}

} // namespace nereid::generator
