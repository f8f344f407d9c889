// SPDX-License-Identifier: Apache-2.0
// C++: softmax over rows in two specializations, chosen by the rows' length; asked beforehand what
// would run; on the runtime's pool and on threads of the program's own.
#include "softmax.h"

#include <cmath>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

/// What a program that has a scheduler already gives to the launcher: one thread for each task
/// here.
int onOwnThreads(void *context, int tasks, void (*task)(void *data, int index), void *data) {
  *static_cast<int *>(context) += tasks;
  std::vector<std::thread> threads;
  for (int i = 0; i < tasks; ++i) {
    threads.emplace_back(task, data, i);
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  return 0;
}

/// The largest difference from the definition, computed in double precision.
double worstError(const std::vector<float> &x, const std::vector<float> &out, int rows,
                  int columns) {
  double worst = 0;
  for (int row = 0; row < rows; ++row) {
    const float *in = &x[static_cast<size_t>(row) * columns];
    double largest = in[0], sum = 0;
    for (int i = 0; i < columns; ++i) {
      largest = std::fmax(largest, in[i]);
    }
    for (int i = 0; i < columns; ++i) {
      sum += std::exp(in[i] - largest);
    }
    for (int i = 0; i < columns; ++i) {
      const double expected = std::exp(in[i] - largest) / sum;
      worst = std::fmax(worst, std::fabs(out[static_cast<size_t>(row) * columns + i] - expected));
    }
  }
  return worst;
}

bool run(int rows, int columns, const nereid_aot_pool *pool) {
  std::vector<float> x(static_cast<size_t>(rows) * columns), out(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>((i * 7919) % 1000) / 100.0f;
  }
  char text[512] = "";
  nereid_aot_options options = {};
  options.pool = pool;
  options.message = text;
  options.message_bytes = sizeof text;
  nereid_aot_selection selection = {};
  nereid_aot_status status =
      softmax_select(x.data(), out.data(), columns, columns, columns, rows, &selection, &options);
  if (status == NEREID_AOT_OK) {
    status = softmax(x.data(), out.data(), columns, columns, columns, rows, &options);
  }
  if (status != NEREID_AOT_OK) {
    std::fprintf(stderr, "%s: %s\n", nereid_aot_status_text(status), text);
    return false;
  }
  const double error = worstError(x, out, rows, columns);
  std::printf("%d x %d: specialization %d for %s, largest error %.1e\n", rows, columns,
              selection.specialization, selection.target, error);
  return error < 1e-6;
}

} // namespace

int main() {
  int tasks = 0;
  const nereid_aot_pool own = {4, &tasks, onOwnThreads};
  bool isRight = run(64, 777, nullptr) && run(64, 4000, nullptr) && run(64, 777, &own);
  isRight &= tasks > 0;
  nereid_aot_release();
  return isRight ? 0 : 1;
}
