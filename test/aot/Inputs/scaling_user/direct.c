/* SPDX-License-Identifier: Apache-2.0 */
#include <scale.h>
#include <stdio.h>

int main(void) {
  float number = 7, result = 0;
  const nereid_aot_status status = scale(&number, &result, 1, NULL);
  printf("%s: 7 becomes %g\n", nereid_aot_status_text(status), result);
  return 0;
}
