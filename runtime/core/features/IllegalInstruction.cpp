// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/features/IllegalInstruction.h"

#include <csetjmp>
#include <csignal>
#include <pthread.h>

namespace nereid::runtime {
namespace {

pthread_mutex_t oneAtATime = PTHREAD_MUTEX_INITIALIZER;
struct sigaction before; ///< of the handler that is replaced meanwhile
pthread_t tryingThread;
sigjmp_buf afterAttempt;

void leaveAttempt(int) {
  if (::pthread_equal(::pthread_self(), tryingThread)) {
    siglongjmp(afterAttempt, 1);
  }
  ::sigaction(SIGILL, &before, nullptr); // another thread's instruction comes again
}

} // namespace

bool isExecuted(void (*attempt)(void *context), void *context) {
  ::pthread_mutex_lock(&oneAtATime);
  struct sigaction own = {};
  own.sa_handler = leaveAttempt;
  sigemptyset(&own.sa_mask);
  tryingThread = ::pthread_self();
  volatile bool isDone = false;
  if (::sigaction(SIGILL, &own, &before) == 0) {
    if (sigsetjmp(afterAttempt, /*savemask=*/1) == 0) {
      attempt(context);
      isDone = true;
    }
    ::sigaction(SIGILL, &before, nullptr);
  }
  ::pthread_mutex_unlock(&oneAtATime);
  return isDone;
}

} // namespace nereid::runtime
