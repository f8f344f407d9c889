/* SPDX-License-Identifier: Apache-2.0 */
#include "scaling.h"

#include "scale.h"

float scaling_of(float number) {
  float result = 0;
  return scale(&number, &result, 1, NULL) == NEREID_AOT_OK ? result : -1;
}
