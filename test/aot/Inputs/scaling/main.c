/* SPDX-License-Identifier: Apache-2.0 */
#include <scaling.h>
#include <stdio.h>

int main(void) {
  printf("5 becomes %g\n", scaling_of(5));
  return 0;
}
