/* SPDX-License-Identifier: Apache-2.0
 *
 * Pure C99: adds two vectors with a kernel compiled ahead of time, and shows what the launcher says
 * when an argument breaks a promise of the kernel's signature. */
#include "vector_add.h"

#include <stdio.h>
#include <stdlib.h>

int main(void) {
  const int32_t n = 100003; /* no multiple of the block: the last program is masked */
  float *memory = malloc(sizeof(float) * 3 * 100016);
  float *x = memory, *y = memory + 100016, *out = memory + 200032;
  char text[256] = "";
  nereid_aot_options options = {0};
  nereid_aot_status status;
  int32_t i;
  int failed = 0;

  if (memory == NULL) {
    return 1;
  }
  for (i = 0; i < n; ++i) {
    x[i] = (float)i;
    y[i] = 0.5f * (float)i;
  }
  options.message = text;
  options.message_bytes = sizeof text;

  status = vector_add(x, y, out, n, &options);
  if (status != NEREID_AOT_OK) {
    fprintf(stderr, "%s: %s\n", nereid_aot_status_text(status), text);
    failed = 1;
  }
  for (i = 0; i < n && !failed; ++i) {
    failed = out[i] != x[i] + y[i];
  }
  printf("vector_add on %d elements: %s\n", (int)n, failed ? "wrong" : "right");

  /* The signature promises addresses divisible by 16. This one is not: nothing runs. */
  status = vector_add(x + 1, y, out, n - 1, &options);
  printf("misaligned: status %d, %s\n", (int)status, text);
  failed |= status != NEREID_AOT_ERROR_ALIGNMENT;

  nereid_aot_release();
  free(memory);
  return failed;
}
