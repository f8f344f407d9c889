// SPDX-License-Identifier: Apache-2.0
// Device assertions and prints, called from generated code on any thread; the counterpart of
// runtime/KernelSupport.h. Lines go to the launch's print function or to standard output.
#include "runtime/KernelSupport.h"
#include "nereid/aot.h"
#include "runtime/PrintLine.h"
#include "runtime/aot/Launch.h"

#include <cstdio>

extern "C" {

NEREID_AOT_API void nereid_rt_assert_fail(const char *message, const int32_t *id) {
  using namespace nereid::aot;
  Frame *frame = currentFrame;
  if (!frame) {
    return; // the kernel was called past the launcher
  }
  Run &run = *frame->run;
  if (run.hasFailed.exchange(1) == 0) {
    run.assertion = message;
    for (int axis = 0; axis < 3; ++axis) {
      run.failedId[axis] = id[axis];
    }
  }
  if (frame->leaveStack) {
    frame->leaveStack();
  }
  std::longjmp(frame->exit, 1);
}

NEREID_AOT_API void nereid_rt_print(const char *description, const int32_t *id, int64_t index,
                                    int64_t bits) {
  using namespace nereid::aot;
  char line[1024];
  nereid::runtime::formatPrintLine(line, sizeof line, description, id, index, bits);
  const nereid_aot_options *options = currentFrame ? currentFrame->run->options : nullptr;
  if (options && options->print) {
    options->print(options->print_context, line);
  } else {
    std::puts(line); // one call, so that lines of several threads do not mix
  }
}

NEREID_AOT_API void *nereid_rt_defer_additions(int32_t kind, int64_t elements) {
  nereid::aot::Frame *frame = nereid::aot::currentFrame;
  return frame ? frame->run->deferred.begin(
                     frame->task, static_cast<nereid::runtime::AdditionKind>(kind), elements)
               : nullptr;
}

NEREID_AOT_API void nereid_rt_add_deferred(void *sums, const uint64_t *addresses,
                                           const void *values, int64_t count) {
  static_cast<nereid::runtime::DeferredAdditions *>(sums)->add(addresses, values, count);
}
}
