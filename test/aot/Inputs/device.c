/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches kernels compiled ahead of time for GPUs; which way is the first argument. The driver is
 * opened as their libraries open it, so that a test may put another in its place. */
#include "add.h"
#include "checked.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { threads = 8 };
static char text[512];
static nereid_aot_options options;

static void *driver(const char *name) {
  void *found = dlsym(dlopen("libcuda.so.1", RTLD_NOW), name);
  if (!found) {
    printf("no %s\n", name);
  }
  return found;
}
typedef int (*with_number)(unsigned);
typedef int (*with_place)(void *, unsigned);
typedef int (*with_handle)(void *);

static void say(const char *what, int status) {
  printf("%s: %d %s\n", what, status, status == 0 ? "" : text);
  text[0] = 0;
}

/* The primary context of a device; made current where that is asked for. */
static void *context(int device, int is_current) {
  int handle = -1;
  void *made = NULL;
  ((with_number)driver("cuInit"))(0);
  ((with_place)driver("cuDeviceGet"))(&handle, (unsigned)device);
  ((with_place)driver("cuDevicePrimaryCtxRetain"))(&made, (unsigned)handle);
  if (is_current) {
    ((with_handle)driver("cuCtxPushCurrent_v2"))(made);
  }
  return made;
}

static void *stream_of(void *of) {
  void *stream = NULL, *popped = NULL;
  ((with_handle)driver("cuCtxPushCurrent_v2"))(of);
  ((with_place)driver("cuStreamCreate"))(&stream, 1 /* CU_STREAM_NON_BLOCKING */);
  ((with_handle)driver("cuCtxPopCurrent_v2"))(&popped);
  return stream;
}

/* Addresses of the device, which nothing here reads. */
static float *const x = (float *)0x7d0000001000, *const y = (float *)0x7d0000002000,
                    *const out = (float *)0x7d0000003000;

static int launch(int n, void *stream) { return add(x, y, out, n, stream, &options); }

static void report(void) { ((void (*)(void))driver("fakeCudaReport"))(); }
static void set(const char *what, int value) {
  ((void (*)(const char *, int))driver("fakeCudaSet"))(what, value);
}
static void fail(const char *call, int result) {
  ((void (*)(const char *, int))driver("fakeCudaFail"))(call, result);
}

static pthread_barrier_t start;

static void *one_of_many(void *stream) {
  nereid_aot_options none = {0};
  pthread_barrier_wait(&start);
  return add(x, y, out, 1024, stream, &none) == NEREID_AOT_OK ? NULL : "failed";
}

static void many_threads(void) {
  pthread_t all[threads];
  void *streams[threads], *of = context(0, 0);
  set("loadMilliseconds", 20);
  pthread_barrier_init(&start, NULL, threads);
  for (int i = 0; i < threads; ++i) {
    streams[i] = stream_of(of);
  }
  for (int i = 0; i < threads; ++i) {
    pthread_create(&all[i], NULL, one_of_many, streams[i]);
  }
  for (int i = 0; i < threads; ++i) {
    void *result = NULL;
    pthread_join(all[i], &result);
    printf("%s", result ? (char *)result : "");
  }
  for (int i = 0; i < threads; ++i) {
    say("wait", add_wait(streams[i], &options));
  }
}

static void two_devices(void) {
  void *other = stream_of(context(1, 0));
  context(0, 1); /* which stays current when a stream of the other device is used */
  say("first", launch(1025, NULL));
  say("second", launch(1, other));
  say("first", launch(1024, NULL));
  say("second", launch(2048, other));
  say("wait", add_wait(NULL, &options));
  say("wait", add_wait(other, &options));
  say("empty", launch(0, NULL));
}

static void refusals(void) {
  say("no context", launch(1, NULL));
  context(0, 1);
  say("null", add(NULL, y, out, 1, NULL, &options));
  say("alignment", add(x + 1, y, out, 1, NULL, &options));
  say("grid", checked(1, 65536, 1, 1, (int32_t *)out, NULL, &options));
  fail("cuModuleLoadDataEx", 222);
  say("old", launch(1, NULL));
  fail("cuLaunchKernelEx", 701);
  say("launch", launch(1, NULL));
  say("after", launch(1, NULL));
  fail("cuStreamSynchronize", 700);
  say("fault", add_wait(NULL, &options));
}

static void assertions(void) {
  context(0, 1);
  say("good", checked(1, 1, 1, 2, (int32_t *)out, NULL, &options));
  say("wait", checked_wait(NULL, &options));
  say("bad", checked(1, 1, 1, 1, (int32_t *)out, NULL, &options));
  say("wait", checked_wait(NULL, &options));
  say("again", checked_wait(NULL, &options));
}

static void selection(void) {
  nereid_aot_selection chosen;
  memset(&chosen, 0, sizeof chosen);
  context(0, 1);
  say("select", add_select(x, y, out, 3000, NULL, &chosen, &options));
  printf("%d %s %s %d\n", chosen.specialization, chosen.signature, chosen.target,
         (int)chosen.grid[0]);
}

int main(int count, char **words) {
  const char *way = count > 1 ? words[1] : "";
  options.message = text;
  options.message_bytes = sizeof text;
  if (count > 3) {
    set(words[2], (words[3][0] - '0') * 10 + (words[3][1] - '0'));
  }
  if (strcmp(way, "none") == 0) {
    say("launch", launch(1, NULL));
    say("again", launch(1, NULL));
    say("wait", add_wait(NULL, &options));
    return 0;
  }
  if (strcmp(way, "old") == 0) {
    set("version", 11080);
    say("launch", launch(1, NULL));
    return 0;
  }
  strcmp(way, "threads") == 0   ? many_threads()
  : strcmp(way, "two") == 0     ? two_devices()
  : strcmp(way, "refuse") == 0  ? refusals()
  : strcmp(way, "assert") == 0  ? assertions()
  : strcmp(way, "select") == 0  ? selection()
                                : (void)printf("no way\n");
  report();
  return 0;
}
