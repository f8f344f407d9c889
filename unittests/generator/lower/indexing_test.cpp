// SPDX-License-Identifier: Apache-2.0
// Shipped definitions that read and write at indices, lowered, normalised and evaluated, against
// the reference, on small sizes, 1 among them, and kinds of index data. The evaluator checks each
// access and each promise of an index. (Programs have no sizes of 0: launches skip what is empty.)
#include "lib/generator/lower/Lower.h"

#include "lib/definition/cases/CaseGrid.h"
#include "lib/eager/reference/Reference.h"
#include "lib/generator/normalise/Normalise.h"
#include "lib/generator/program/Evaluate.h"
#include "lib/generator/program/Verify.h"
#include "unittests/ShippedOperators.h"
#include "unittests/generator/Making.h"

#include <gtest/gtest.h>

#include <cmath>

namespace nereid::generator {
namespace {

using definition::DataKind;
using runtime::Tensor;

class IndexingDefinition : public testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(
    All, IndexingDefinition,
    testing::Values("gather", "gather_leading", "take_along_dim", "index_select",
                    "index_select_columns", "index", "index_rows", "embedding", "paged_gather",
                    "scatter", "scatter_add", "scatter_add_deterministic", "scatter_sum",
                    "scatter_amax", "scatter_amin", "scatter_mean", "scatter_prod",
                    "scatter_mean_excluded", "scatter_amax_excluded", "index_add",
                    "index_add_scaled", "index_put", "index_put_accumulate", "cross_entropy",
                    "cross_entropy_none", "cross_entropy_smoothed", "cross_entropy_weighted",
                    "nll_loss", "segment_sum", "max_unpool2d"),
    [](const auto &info) { return std::string(info.param); });

std::vector<int64_t> sizesOf(const definition::Operator &op, const definition::Binding &binding) {
  std::vector<int64_t> sizes;
  for (const std::string &symbol : definition::symbolsOf(op)) {
    int64_t size = 1;
    for (int64_t each : binding.rest) {
      size *= each;
    }
    sizes.push_back(symbol == "..." ? size : binding.symbols.at(symbol));
  }
  return sizes;
}

void expectReference(const definition::Operator &op, const definition::GridCase &grid, DType dtype,
                     bool isNormalised) {
  SCOPED_TRACE(op.name + " " + std::string(torchName(dtype)) + " " +
               std::string(definition::name(grid.data.kind)));
  auto made = definition::makeInputs(op, grid, dtype);
  ASSERT_TRUE(bool(made)) << render(made.error());
  std::vector<Tensor> inputs;
  EvaluationInput data{sizesOf(op, grid.binding), {}, {}};
  for (size_t i = 0; i < made->size(); ++i) {
    inputs.push_back((*made)[i].view);
    std::vector<double> &elements = data.memory[op.parameters[i].name];
    for (int64_t at = 0; at < inputs.back().elementCount(); ++at) {
      elements.push_back(inputs.back().at(at));
    }
  }
  auto reference = eager::runReference(op, inputs, dtype, eager::Rounding::OncePerResult,
                                       runtime::defaultPool());
  ASSERT_TRUE(bool(reference)) << render(reference.error());
  auto program = lower(op, dtype);
  ASSERT_TRUE(bool(program)) << render(program.error());
  if (isNormalised) {
    normalise(*program);
  }
  const Status status = verify(*program);
  ASSERT_TRUE(bool(status)) << render(status.error()) << print(*program);
  auto memory = evaluate(*program, data);
  ASSERT_TRUE(bool(memory)) << memory.error().message << print(*program);
  const std::vector<double> &out = memory->at(op.outputNames[0]);
  const Tensor &values = (*reference)[0].values, &bounds = (*reference)[0].bounds;
  ASSERT_EQ(static_cast<int64_t>(out.size()), values.elementCount());
  for (size_t i = 0; i < out.size(); ++i) {
    const double expected = values.at(static_cast<int64_t>(i));
    const double bound = 2 * bounds.at(static_cast<int64_t>(i));
    ASSERT_TRUE(out[i] == expected || (std::isnan(out[i]) && std::isnan(expected)) ||
                std::fabs(out[i] - expected) <= bound)
        << "element " << i << " is " << out[i] << ", not " << expected << " within " << bound
        << "\n"
        << print(*program);
  }
}

TEST_P(IndexingDefinition, LoweringIsTheReference) {
  Diagnostics diags;
  auto op = definition::loadOperator(shippedPath(GetParam()), diags);
  ASSERT_TRUE(op) << diags.render();
  for (const int64_t size : {int64_t{1}, int64_t{4}}) {
    definition::Binding wanted;
    int64_t next = size;
    for (const std::string &symbol : definition::symbolsOf(*op)) {
      if (symbol == "...") {
        wanted.rest = size == 1 ? std::vector<int64_t>{} : std::vector<int64_t>{2, 3};
      } else {
        wanted.symbols[symbol] = next;
        next += size > 1 ? 1 : 0;
      }
    }
    const auto binding = definition::fulfilled(*op, wanted);
    ASSERT_TRUE(binding);
    for (const DataKind kind : {DataKind::Normal, DataKind::Ones, DataKind::Special,
                                DataKind::SortedRows, DataKind::Negative}) {
      definition::GridCase grid;
      grid.binding = *binding;
      grid.data.kind = kind;
      for (DType dtype : {DType::F64, DType::I32}) {
        // The evaluator's numbers do not wrap as the ends of int32 do.
        const bool wraps =
            dtype == DType::I32 && (kind == DataKind::Special || kind == DataKind::SortedRows);
        if (definition::checkDtype(*op, dtype) && !wraps) {
          expectReference(*op, grid, dtype, false);
          expectReference(*op, grid, dtype, true);
        }
      }
    }
  }
}

/// How many tensors besides inputs and outputs the program of a body needs.
int temporariesOf(const std::string &body) {
  auto program = lower(made(body,
                            "[inputs.x]\nshape = [\"N\", 6]\n"
                            "[inputs.at]\nshape = [\"N\", 6]\ndtype = \"int64\"\nrange = [0, 6]\n",
                            "\"N\", 2, 3", "\"float32\""),
                       DType::F32);
  EXPECT_TRUE(bool(program)) << (program ? "" : render(program.error()));
  int count = 0;
  for (const Buffer &buffer : program->buffers) {
    count += buffer.role == BufferRole::Temporary ? 1 : 0;
  }
  return count;
}

/// A result that is only given another shape is written where it stays.
TEST(IndexingPrograms, ReshapedResultsNeedNoMemoryOfTheirOwn) {
  EXPECT_EQ(temporariesOf("out = torch.scatter(x, -1, at, x).unflatten(-1, (2, 3))"), 0);
  EXPECT_EQ(temporariesOf("y = torch.scatter(x, -1, at, x)\n"
                          "out = y.unflatten(-1, (3, 2)).reshape(N, 2, 3)"),
            0);
  EXPECT_EQ(temporariesOf("out = torch.scatter(x, -1, at, x).unflatten(-1, (2, 3)) * 2"), 1);
  EXPECT_EQ(
      temporariesOf("out = torch.scatter(x, -1, at, x).unflatten(-1, (3, 2)).transpose(1, 2)"), 1);
  EXPECT_EQ(temporariesOf("y = torch.scatter(x, -1, at, x)\n"
                          "out = y.unflatten(-1, (2, 3)) + y.sum()"),
            1);
}

} // namespace
} // namespace nereid::generator
