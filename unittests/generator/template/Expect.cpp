// SPDX-License-Identifier: Apache-2.0
// Comparisons of kernels, see Expect.h.
#include "unittests/generator/template/Expect.h"

#include "lib/eager/reference/Reference.h"
#include "lib/generator/lower/Lower.h"
#include "lib/generator/normalise/Normalise.h"

#include <cmath>

namespace nereid::generator {

std::string textOf(Program &program) {
  auto made = makeKernels(program, "t");
  return made ? moduleText(made->kernels) : render(made.error());
}

void expectReference(const definition::Operator &op, const Sample &sample, DType dtype,
                     const RunOptions &options) {
  SCOPED_TRACE(sample.body + " " + std::string(torchName(dtype)));
  const std::vector<runtime::Tensor> inputs = dataFor(op, sample, dtype, 1);
  auto program = lower(op, dtype);
  ASSERT_TRUE(bool(program)) << render(program.error());
  normalise(*program);
  EvaluationInput data{sample.sizes, {}, {}};
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (int64_t at = 0; at < inputs[i].elementCount(); ++at) {
      data.memory[op.parameters[i].name].push_back(inputs[i].at(at));
    }
  }
  auto memory = run(*program, data, options);
  ASSERT_TRUE(bool(memory)) << memory.error().message;
  const std::vector<double> &elements = memory->at("out");
  const Buffer &buffer = program->buffers[*program->find("out")];
  const std::vector<int64_t> symbols = *program->space.symbols.bind(data.sizes);
  std::vector<int64_t> shape;
  for (const Polynomial &size : buffer.sizes) {
    shape.push_back(*size.evaluate(symbols));
  }
  runtime::Tensor out = runtime::Tensor::empty(
      shape, definition::nodeDtypes(op, dtype)[static_cast<size_t>(op.outputs[0])]);
  ASSERT_EQ(out.elementCount(), static_cast<int64_t>(elements.size()));
  for (size_t at = 0; at < elements.size(); ++at) {
    out.set(static_cast<int64_t>(at), elements[at]);
  }
  auto compared = eager::checkOutputs(op, inputs, std::span(&out, 1), dtype,
                                      eager::Rounding::OncePerResult, runtime::defaultPool());
  ASSERT_TRUE(bool(compared)) << render(compared.error());
  EXPECT_TRUE(compared->passed()) << compared->text() << "\n"
                                  << print(*program) << textOf(*program);
  EXPECT_EQ(compared->unverifiable, 0);
}

void expectEvaluated(Program &program, const EvaluationInput &input, const RunOptions &options,
                     double tolerance) {
  auto isClose = [&](double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b)) ||
           std::fabs(a - b) <= tolerance * std::fabs(b);
  };
  auto expected = evaluate(program, input);
  ASSERT_TRUE(bool(expected)) << expected.error().message << print(program);
  EvaluationInput zeros = input; // what stays 0 there and NaN here is not written
  for (const auto &[name, elements] : *expected) {
    zeros.memory.try_emplace(name, elements.size(), 0);
  }
  auto written = evaluate(program, zeros);
  ASSERT_TRUE(bool(written)) << written.error().message << print(program);
  auto memory = run(program, input, options);
  ASSERT_TRUE(bool(memory)) << memory.error().message << print(program);
  for (const auto &[name, elements] : *memory) {
    if (!expected->contains(name)) {
      continue; // a temporary of makeKernels
    }
    const std::vector<double> &own = expected->at(name);
    for (size_t at = 0; at < elements.size(); ++at) {
      const bool isWritten = !std::isnan(own[at]) || written->at(name)[at] != 0;
      ASSERT_TRUE(!isWritten || isClose(elements[at], own[at]))
          << name << " has " << elements[at] << " at " << at << ", not " << own[at] << "\n"
          << print(program) << textOf(program);
    }
  }
}

} // namespace nereid::generator
