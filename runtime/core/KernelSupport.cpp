// SPDX-License-Identifier: Apache-2.0
// Device assertions and prints, called from generated code on any thread of a pool.
#include "runtime/core/KernelSupport.h"

#include "runtime/core/LaunchFrame.h"
#include "runtime/core/PrintLine.h"

#include <cstdio>

namespace nereid::runtime {

constinit thread_local LaunchFrame *currentLaunchFrame = nullptr;

} // namespace nereid::runtime

extern "C" {

void nereid_rt_assert_fail(const char *message, const int32_t *id) {
  using namespace nereid::runtime;
  LaunchFrame *frame = currentLaunchFrame;
  if (!frame) {
    std::fprintf(stderr, "device assertion failed: %s, program (%d, %d, %d)\n", message, id[0],
                 id[1], id[2]);
    return;
  }
  if (!frame->failure->hasFailed.exchange(1)) {
    frame->failure->message = message;
    for (int axis = 0; axis < 3; ++axis) {
      frame->failure->id[axis] = id[axis];
    }
  }
  if (frame->leaveStack) {
    frame->leaveStack();
  }
  std::longjmp(frame->exit, 1);
}

void nereid_rt_print(const char *description, const int32_t *id, int64_t index, int64_t bits) {
  char line[1024];
  nereid::runtime::formatPrintLine(line, sizeof line, description, id, index, bits);
  const nereid::runtime::LaunchFrame *frame = nereid::runtime::currentLaunchFrame;
  if (frame && frame->printer) {
    frame->printer->print(frame->printer->context, line);
  } else {
    std::puts(line); // one call, so that lines of several threads do not mix
  }
}

void *nereid_rt_privatise(int32_t kind, int64_t elements) {
  using namespace nereid::runtime;
  LaunchFrame *frame = currentLaunchFrame;
  return frame && frame->privatised
             ? frame->privatised->begin(frame->worker, static_cast<AdditionKind>(kind), elements)
             : nullptr;
}

void nereid_rt_add_private(void *sums, const uint64_t *addresses, const void *values,
                           int64_t count) {
  static_cast<nereid::runtime::PrivatisedAtomics *>(sums)->add(addresses, values, count);
}
}
