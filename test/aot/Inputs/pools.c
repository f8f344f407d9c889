/* SPDX-License-Identifier: Apache-2.0
 *
 * One kernel on every kind of pool, with the runtime's scratch memory and the caller's. */
#include "total.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { rows = 200, columns = 300 };
static float x[rows * columns], out[rows * columns];
static char text[300];

static void fill(void) {
  int i;
  for (i = 0; i < rows * columns; ++i) {
    x[i] = (float)(i % 113);
  }
}

/* Prefix sums of whole numbers below 2^24 are exact. */
static int wrong(void) {
  int row, column, count = 0;
  for (row = 0; row < rows; ++row) {
    float sum = 0;
    for (column = 0; column < columns; ++column) {
      sum += x[row * columns + column];
      count += out[row * columns + column] != sum;
    }
  }
  return count;
}

static void run(const char *label, const nereid_aot_pool *pool, void *scratch, size_t bytes) {
  nereid_aot_options options = {0};
  int status;
  options.pool = pool;
  options.scratch = scratch;
  options.scratch_bytes = bytes;
  options.message = text;
  options.message_bytes = sizeof text;
  text[0] = 0;
  memset(out, 0, sizeof out);
  status = total(rows, 1, 1, x, out, columns, &options);
  printf("%s: status %d, %s%s\n", label, status, wrong() ? "wrong" : "right", text[0] ? ": " : "");
  if (text[0]) {
    printf("  %s\n", text);
  }
}

static int forwards(void *context, int tasks, void (*task)(void *, int), void *data) {
  int i;
  for (i = 0; i < tasks; ++i) {
    task(data, i);
  }
  *(int *)context = tasks;
  return 0;
}

static int refuses(void *context, int tasks, void (*task)(void *, int), void *data) {
  (void)context, (void)tasks, (void)task, (void)data;
  return 5;
}

static int forgets(void *context, int tasks, void (*task)(void *, int), void *data) {
  (void)context, (void)tasks, (void)task, (void)data;
  return 0;
}

int main(void) {
  nereid_aot_pool *four = nereid_aot_pool_create(4);
  int seen = 0;
  nereid_aot_pool own = {7, NULL, forwards}, bad = {3, NULL, refuses}, lazy = {3, NULL, forgets};
  char *memory = malloc(4 * TOTAL_SCRATCH_BYTES + 64);
  char *aligned = memory + 64 - (uintptr_t)memory % 64;
  own.context = &seen;
  fill();
  printf("scratch: %s\n",
         TOTAL_SCRATCH_BYTES > 0 && TOTAL_SCRATCH_BYTES % 64 == 0 ? "some" : "none");
  run("default", NULL, NULL, 0);
  run("none", nereid_aot_no_pool(), NULL, 0);
  run("own of four", four, NULL, 0);
  run("caller's", &own, NULL, 0);
  printf("tasks %d\n", seen);
  run("caller's scratch", &own, aligned, 3 * TOTAL_SCRATCH_BYTES);
  printf("tasks %d\n", seen);
  run("little scratch", four, aligned, TOTAL_SCRATCH_BYTES - 1);
  run("misaligned scratch", four, aligned + 8, 3 * TOTAL_SCRATCH_BYTES);
  run("refusing", &bad, NULL, 0);
  run("forgetful", &lazy, NULL, 0);
  nereid_aot_pool_destroy(four);
  nereid_aot_release();
  free(memory);
  return 0;
}
