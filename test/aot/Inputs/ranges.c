/* SPDX-License-Identifier: Apache-2.0 */
#include "by_size.h"

#include <stdio.h>

static float x[1100], out[1100];

static void ask(int32_t n) {
  char text[800] = "";
  nereid_aot_options options = {0};
  nereid_aot_selection chosen = {0};
  int status, i, wrong = 0;
  options.message = text;
  options.message_bytes = sizeof text;
  status = by_size_select(x, out, n, &chosen, &options);
  if (status == NEREID_AOT_ERROR_SPECIALIZATION) {
    printf("%d: status %d: %s\n", (int)n, status, text);
    return;
  }
  for (i = 0; i < 1100; ++i) {
    out[i] = -1;
  }
  if (status == NEREID_AOT_OK) {
    status = by_size(x, out, n, &options);
  }
  for (i = 0; i < 1100; ++i) {
    wrong += out[i] != (i < n ? x[i] : -1);
  }
  if (status == NEREID_AOT_OK) {
    printf("%d: specialization %d, grid %d, status %d, wrong %d\n", (int)n, chosen.specialization,
           (int)chosen.grid[0], status, wrong);
  } else {
    printf("%d: specialization %d, status %d, wrong %d\n", (int)n, chosen.specialization, status,
           wrong);
  }
}

int main(void) {
  const int32_t sizes[] = {-1, 0, 8, 9, 64, 65, 80, 1024, 1040};
  int i;
  for (i = 0; i < 1100; ++i) {
    x[i] = (float)i + 0.5F;
  }
  for (i = 0; i < (int)(sizeof sizes / sizeof *sizes); ++i) {
    ask(sizes[i]);
  }
  return 0;
}
