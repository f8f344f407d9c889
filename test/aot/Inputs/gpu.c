/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs libraries for GPUs on every device of this machine: scripts/gpu_library.sh. Ends with 0 when
 * all that was launched is right, with 77 when there is no driver or no device. */
#include "add.h"
#include "assert_not_one.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { n = 1000003 };
typedef unsigned long long address;
static char text[512];
static nereid_aot_options options;
static int wrong;

static struct {
  int (*init)(unsigned);
  int (*count)(int *);
  int (*get)(int *, int);
  int (*retain)(void **, int);
  int (*push)(void *);
  int (*pop)(void **);
  int (*alloc)(address *, size_t);
  int (*in)(address, const void *, size_t);
  int (*out)(void *, address, size_t);
  int (*stream)(void **, unsigned);
} cuda;

static int find_driver(void) {
  const struct {
    void **member;
    const char *name;
  } all[] = {{(void **)&cuda.init, "cuInit"},
             {(void **)&cuda.count, "cuDeviceGetCount"},
             {(void **)&cuda.get, "cuDeviceGet"},
             {(void **)&cuda.retain, "cuDevicePrimaryCtxRetain"},
             {(void **)&cuda.push, "cuCtxPushCurrent_v2"},
             {(void **)&cuda.pop, "cuCtxPopCurrent_v2"},
             {(void **)&cuda.alloc, "cuMemAlloc_v2"},
             {(void **)&cuda.in, "cuMemcpyHtoD_v2"},
             {(void **)&cuda.out, "cuMemcpyDtoH_v2"},
             {(void **)&cuda.stream, "cuStreamCreate"}};
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  for (size_t i = 0; library && i < sizeof all / sizeof *all; ++i) {
    if (!(*all[i].member = dlsym(library, all[i].name))) {
      return 0;
    }
  }
  return library != NULL;
}

static void expect(const char *what, int status, int wanted) {
  if (status != wanted) {
    printf("%s: expects status %d, but got %d: %s\n", what, wanted, status, text);
    wrong = 1;
  }
  text[0] = 0;
}

static address with(const float *values) {
  address memory = 0;
  if (cuda.alloc(&memory, n * sizeof(float)) || cuda.in(memory, values, n * sizeof(float))) {
    printf("no memory on the device\n");
    exit(1);
  }
  return memory;
}

static void run_device(int number) {
  static float x[n], y[n], result[n];
  void *context = NULL, *stream = NULL, *popped = NULL;
  int device = 0;
  nereid_aot_selection chosen;
  address memory[3], flag;
  if (cuda.get(&device, number) || cuda.retain(&context, device) || cuda.push(context) ||
      cuda.stream(&stream, 1)) {
    printf("device %d cannot be used\n", number);
    exit(1);
  }
  for (int i = 0; i < n; ++i) {
    x[i] = (float)rand() / RAND_MAX;
    y[i] = (float)rand() / RAND_MAX;
  }
  memory[0] = with(x);
  memory[1] = with(y);
  memory[2] = with(result);
  flag = with(x);
  for (int turn = 0; turn < 2; ++turn) {
    void *queue = turn == 0 ? NULL : stream;
    if (turn == 1) {
      cuda.pop(&popped); /* the stream alone says where */
    }
    expect("launch", add((float *)memory[0], (float *)memory[1], (float *)memory[2], n, queue,
                         &options), NEREID_AOT_OK);
    expect("wait", add_wait(queue, &options), NEREID_AOT_OK);
    if (turn == 1) {
      cuda.push(context);
    }
    cuda.out(result, memory[2], sizeof result);
    for (int i = 0; i < n; ++i) {
      if (result[i] != x[i] + y[i]) {
        printf("device %d, turn %d: element %d is %g, but expects %g\n", number, turn, i, result[i],
               x[i] + y[i]);
        wrong = 1;
        break;
      }
    }
    memset(result, 0, sizeof result);
    cuda.in(memory[2], result, sizeof result);
  }
  expect("good", assert_not_one(1, 1, 1, 2, (int32_t *)flag, stream, &options), NEREID_AOT_OK);
  expect("good", assert_not_one_wait(stream, &options), NEREID_AOT_OK);
  expect("bad", assert_not_one(1, 1, 1, 1, (int32_t *)flag, stream, &options), NEREID_AOT_OK);
  expect("bad", assert_not_one_wait(stream, &options), NEREID_AOT_ERROR_ASSERTION);
  expect("again", assert_not_one_wait(stream, &options), NEREID_AOT_OK);
  expect("grid", assert_not_one(1, 65536, 1, 2, (int32_t *)flag, stream, &options),
         NEREID_AOT_ERROR_GRID);
  expect("select", add_select((float *)memory[0], (float *)memory[1], (float *)memory[2], n, stream,
                              &chosen, &options), NEREID_AOT_OK);
  printf("device %d: code for %s, %s\n", number, chosen.target, wrong ? "wrong" : "right");
  cuda.pop(&popped);
}

int main(void) {
  int count = 0;
  options.message = text;
  options.message_bytes = sizeof text;
  if (!find_driver() || cuda.init(0) || cuda.count(&count) || count == 0) {
    printf("no GPU: nothing was run\n");
    return 77;
  }
  expect("no context", add((float *)16, (float *)16, (float *)16, n, NULL, &options),
         NEREID_AOT_ERROR_DEVICE);
  for (int number = 0; number < count; ++number) {
    run_device(number);
  }
  return wrong;
}
