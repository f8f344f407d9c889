// SPDX-License-Identifier: Apache-2.0
// Every pointwise line of operations.def has what the baseline and the reference call for it: a
// line without them would end the process that uses it.
#include "lib/definition/operations/Operations.h"
#include "lib/eager/baseline/FormulaLoop.h"
#include "lib/eager/reference/rules/ErrorRules.h"

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
    if (operation.kind != definition::OperationKind::Pointwise ||
        operation.result == definition::ResultType::Cast) { // cast_test.cpp
      continue;
    }
    const bool isOfIntegers = operation.result == definition::ResultType::IntegerOnly;
    definition::Node node;
    node.op = row.name;
    node.inputs.resize(static_cast<size_t>(operation.operandCount()));
    for (const definition::Argument &argument : operation.arguments) {
      if (argument.type == definition::ArgumentType::Integer) {
        node.attributes[argument.name] = int64_t{0};
      } else if (argument.type == definition::ArgumentType::String) {
        node.attributes[argument.name] = argument.defaultText;
      } else if (argument.type == definition::ArgumentType::Bool) {
        node.attributes[argument.name] = true;
      }
    }
    EXPECT_TRUE(isOfIntegers || FormulaLoop<float>(node).isComplete())
        << row.name << " has no loop in lib/eager/baseline and no NEREID_LOWERING";
    const bool takesIntegers = operation.result == definition::ResultType::Same || isOfIntegers;
    EXPECT_TRUE(!takesIntegers || FormulaLoop<int32_t>(node).isComplete())
        << row.name << " has no line in lib/eager/baseline/IntegerLoops.cpp";
    EXPECT_TRUE(makeRule(node, operation, ErrorModel{}).run != nullptr)
        << row.name << " has no rule in lib/eager/reference/rules/ErrorRules.cpp";
  }
}

} // namespace
} // namespace nereid::eager
