/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs that wait for the next higher one, on one thread, on the runtime's pool, and on a pool
 * that runs one task after the other; then programs that wait for nothing. */
#include "backwards.h"
#include "stuck.h"

#include <stdio.h>
#include <string.h>

static int one_after_the_other(void *context, int tasks, void (*task)(void *data, int index),
                               void *data) {
  int i;
  (void)context;
  for (i = tasks - 1; i >= 0; --i) {
    task(data, i);
  }
  return 0;
}

static int check(const nereid_aot_pool *pool) {
  enum { count = 500 };
  static int32_t flag[count], out[count];
  nereid_aot_options options = {0};
  int i, wrong = 0;
  options.pool = pool;
  memset(flag, 0, sizeof flag);
  memset(out, 0, sizeof out);
  if (backwards(count, 1, 1, flag, out, &options) != NEREID_AOT_OK) {
    return -1;
  }
  for (i = 0; i < count; ++i) {
    wrong += out[i] != count - i;
  }
  return wrong;
}

int main(void) {
  nereid_aot_pool *three = nereid_aot_pool_create(3);
  nereid_aot_pool slow = {4, NULL, one_after_the_other};
  int32_t flag = 1, out = 0;
  char text[300] = "";
  nereid_aot_options options = {0};
  int status;
  printf("wrong: %d %d %d %d\n", check(NULL), check(nereid_aot_no_pool()), check(three),
         check(&slow));
  options.message = text;
  options.message_bytes = sizeof text;
  options.pool = three;
  status = stuck(6, 1, 1, &flag, &out, &options);
  printf("status %d: %s\n", status, text);
  nereid_aot_pool_destroy(three);
  nereid_aot_release();
  return 0;
}
