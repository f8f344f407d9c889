// SPDX-License-Identifier: Apache-2.0
// Every pointwise line of operations.def has what the baseline and the reference call for it: a
// line without them would end the process that uses it.
#include "lib/definition/operations/Operations.h"
#include "lib/eager/baseline/Staging.h"
#include "lib/eager/reference/ErrorRules.h"

#include <gtest/gtest.h>

namespace nereid::eager {
namespace {

struct Row {
  const char *name;
  OpId id;
};

const Row rows[] = {
#define NEREID_OPERATION(name, kind, flops, rounding, result, signature) {#name, OpId::name},
#include "lib/definition/operations/operations.def"
};

TEST(Table, EveryPointwiseOperationHasALoopAndARule) {
  for (const Row &row : rows) {
    const definition::Operation &operation = *definition::findOperation(row.name);
    if (operation.kind != definition::OperationKind::Pointwise) {
      continue;
    }
    const auto index = static_cast<size_t>(row.id);
    const bool isOfIntegers = operation.result == definition::ResultType::IntegerOnly;
    EXPECT_TRUE(isOfIntegers || kernelsFor<float>().pointwise[index] != nullptr)
        << row.name << " has no line in lib/eager/baseline/kernels/Kernels.inc.h";
    definition::Node node;
    node.op = row.name;
    EXPECT_TRUE(makeRule(node, operation, ErrorModel{}).run != nullptr)
        << row.name << " has no rule in lib/eager/reference/ErrorRules.cpp";
  }
}

} // namespace
} // namespace nereid::eager
