/* SPDX-License-Identifier: Apache-2.0
 *
 * C with OpenMP: GELU on OpenMP's threads, with scratch memory and output of the program's own. */
#include "gelu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef _OPENMP
#include <omp.h>
#endif

static int on_openmp(void *context, int tasks, void (*task)(void *data, int index), void *data) {
  int i;
  (void)context;
#ifdef _OPENMP
#pragma omp parallel for schedule(static, 1) num_threads(tasks)
#endif
  for (i = 0; i < tasks; ++i) {
    task(data, i);
  }
  return 0;
}

int main(void) {
  enum { count = 65536 };
  float *memory = malloc(sizeof(float) * 2 * count);
  float *x = memory, *out = memory + count;
  nereid_aot_pool pool = {1, NULL, on_openmp};
  nereid_aot_options options = {0};
  nereid_aot_status status;
  double worst = 0;
  int i;

  if (memory == NULL) {
    return 1;
  }
#ifdef _OPENMP
  pool.threads = omp_get_max_threads();
#endif
  options.pool = &pool;
  for (i = 0; i < count; ++i) {
    x[i] = (float)(i - count / 2) / 4096.0f;
  }
  status = gelu(x, out, count, &options);
  if (status != NEREID_AOT_OK) {
    fprintf(stderr, "%s\n", nereid_aot_status_text(status));
    return 1;
  }
  for (i = 0; i < count; ++i) {
    const double expected = 0.5 * x[i] * (1 + erf(x[i] / sqrt(2.0)));
    worst = fmax(worst, fabs(out[i] - expected));
  }
  printf("gelu on %d elements, %d tasks at most: largest error %.1e\n", count, pool.threads, worst);
  nereid_aot_release();
  free(memory);
  return worst < 1e-5 ? 0 : 1;
}
