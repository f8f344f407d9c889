// SPDX-License-Identifier: Apache-2.0
// Bodies of one expression of x, computed by baseline and reference, against values that are known.
#pragma once

#include "unittests/eager/Values.h"

#include "lib/eager/reference/Reference.h"

#include <algorithm>
#include <cmath>

namespace nereid::eager {

struct Example {
  std::string expression, shape;
  std::vector<double> values;
};

/// 0, 1, 2 and so on in 4 rows of 5.
inline Tensor counted(DType dtype) {
  Tensor tensor = Tensor::empty({4, 5}, dtype);
  for (int64_t i = 0; i < tensor.elementCount(); ++i) {
    tensor.set(i, static_cast<double>(i));
  }
  return tensor;
}

/// The results of the baseline and of the reference for a body that is one expression of x.
inline std::vector<std::vector<double>> results(const std::string &expression,
                                                const std::string &shape, const Tensor &x,
                                                const std::string &type = "") {
  Diagnostics diags;
  auto op = definition::parseOperator(
      "t.toml",
      "[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"" +
          std::string(torchName(x.dtype())) + "\"]\nbody = '''\nout = " + expression +
          "\n'''\n[inputs.x]\nshape = [4, 5]\n[outputs.out]\nshape = " + shape + "\n" +
          (type.empty() ? "" : "dtype = \"" + type + "\"\n") + "[performance]\ncases = [{ }]\n",
      diags);
  EXPECT_TRUE(op) << expression << "\n" << diags.render();
  if (!op) {
    return {};
  }
  std::vector<Tensor> inputs = {x};
  auto outputs = runGraph(*op, inputs, runtime::defaultPool());
  auto reference =
      runReference(*op, inputs, x.dtype(), Rounding::OncePerResult, runtime::defaultPool());
  EXPECT_TRUE(outputs) << expression << "\n" << render(outputs.error());
  EXPECT_TRUE(reference) << expression << "\n" << render(reference.error());
  if (!outputs || !reference) {
    return {};
  }
  return {list((*outputs)[0]), list((*reference)[0].values)};
}

inline void expectNear(const std::vector<double> &values, const std::vector<double> &expected,
                       double slack, const std::string &what) {
  ASSERT_EQ(values.size(), expected.size()) << what;
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(values[i], expected[i], slack * std::max(1.0, std::abs(expected[i])))
        << what << " at " << i;
  }
}

inline bool arePlaces(const std::string &expression) {
  return expression.find("return_indices=True)[1][0]") != std::string::npos &&
         expression.starts_with("F.");
}

/// Baseline and reference agree with the examples and with each other.
inline void expectExamples(const std::vector<Example> &examples, DType dtype, double slack) {
  for (const Example &example : examples) {
    const auto both = results(example.expression, example.shape, counted(dtype),
                              arePlaces(example.expression) ? "int64" : "");
    for (const std::vector<double> &values : both) {
      expectNear(values, example.values, slack, example.expression);
    }
    if (both.size() == 2 && dtype == DType::F64) {
      expectNear(both[0], both[1], 1e-12, example.expression);
    }
  }
}

} // namespace nereid::eager
