/* SPDX-License-Identifier: Apache-2.0
 *
 * More arguments than there are registers, of every type; one has a name that C cannot have. */
#include "scalars.h"
#include "turn.h"

#include <stdio.h>
#include <string.h>

int main(void) {
  double out[13];
  const double expected[13] = {-128,         255,           -32768,       65535, -2147483647.0,
                               4294967295.0, -4294967297.0, 8589934592.0, 1,     0.5,
                               1.25,         -0.1,          1e300};
  static uint16_t source[8][16], target[16][8];
  int status, i, j, wrong = 0;
  status = scalars(1, 1, 1, out, -128, 255, -32768, 65535, -2147483647, 4294967295u, -4294967297,
                   8589934592u, true, 0.5f, 1.25f, -0.1f, 1e300, NULL);
  for (i = 0; i < 13; ++i) {
    const double want = i == 11 ? (double)-0.1f : expected[i];
    if (out[i] != want) {
      printf("scalar %d is %g\n", i, out[i]);
      ++wrong;
    }
  }
  printf("scalars: status %d, wrong %d\n", status, wrong);

  for (i = 0; i < 8; ++i) {
    for (j = 0; j < 16; ++j) {
      source[i][j] = (uint16_t)(i * 16 + j);
    }
  }
  wrong = 0;
  /* Of 7 by 13 elements; the rest of the target stays as it is. */
  status = turn(&source[0][0], 7, 13, 16, &target[0][0], 13, 7, 8, NULL);
  for (i = 0; i < 8; ++i) {
    for (j = 0; j < 16; ++j) {
      wrong += target[j][i] != (i < 7 && j < 13 ? source[i][j] : 0);
    }
  }
  printf("turn: status %d, wrong %d\n", status, wrong);
  return 0;
}
