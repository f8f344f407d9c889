/* SPDX-License-Identifier: Apache-2.0 */
#include "affine.h"

#include <stdio.h>
#include <string.h>

static float memory[3][64 + 16];

static float *aligned(int which, int bytes) {
  char *start = (char *)memory[which];
  while ((uintptr_t)start % 64 != (uintptr_t)bytes) {
    ++start;
  }
  return (float *)(void *)start;
}

/* What would run, and that it does what it should. */
static void ask(const char *label, float *x, float *bias, int32_t n, int64_t stride,
                int64_t block) {
  char text[600] = "";
  nereid_aot_options options = {0};
  nereid_aot_selection chosen = {0};
  float *out = aligned(2, 0);
  int status, i, wrong = 0;
  options.message = text;
  options.message_bytes = sizeof text;
  status = affine_select(x, bias, out, n, stride, block, &chosen, &options);
  if (status != NEREID_AOT_OK) {
    printf("%s: status %d, launch %d: %s\n", label, status,
           (int)affine(x, bias, out, n, stride, block, NULL), text);
    return;
  }
  memset(out, 0, sizeof(float) * 16);
  status = affine(x, bias, out, n, stride, block, &options);
  for (i = 0; i < n; ++i) {
    wrong += out[i] != x[i * stride] + (bias ? bias[i] : 0);
  }
  printf("%s: %d (%s), grid %d, status %d, wrong %d\n", label, chosen.specialization,
         chosen.signature, (int)chosen.grid[0], status, wrong);
}

int main(void) {
  float *x = aligned(0, 0), *bias = aligned(1, 0);
  int i;
  for (i = 0; i < 40; ++i) {
    x[i] = (float)i;
    bias[i] = (float)(100 * i);
  }
  ask("all promises", x, bias, 16, 1, 8);
  ask("n odd", x, bias, 15, 1, 8);
  ask("x misaligned", x + 1, bias, 16, 1, 8);
  ask("strided", x, bias, 16, 2, 8);
  ask("no bias", x, NULL, 16, 1, 8);
  ask("no bias, strided", x, NULL, 16, 2, 8);
  ask("large block", x, bias, 16, 1, 32);
  ask("unknown block", x, bias, 16, 1, 64);
  ask("nothing to do", x, bias, 0, 1, 8);
  ask("negative", x, bias, -8, 1, 8);
  return 0;
}
