// SPDX-License-Identifier: Apache-2.0
// Every binary operator on every ordered pair of types: which type it gives, whether it is refused,
// and its values on the edges of both types; with two tiles, with a tile and a scalar on either
// side, and with literals on either side.
#include "test/tables/Kernel.h"
#include "test/tables/TypeRules.h"

#include <gtest/gtest.h>

namespace nereid::tables {
namespace {

const std::vector<std::string> operators = {
    "+", "-",  "*",  "/",  "//", "%",   "&",   "|",       "^",       "<<",        ">>",      "<",
    ">", "<=", ">=", "==", "!=", "max", "min", "max nan", "min nan", "where yes", "where no"};

std::string spelled(const std::string &op, const std::string &a, const std::string &b) {
  if (op.starts_with("where ")) {
    return "tl.where(" + op.substr(6) + ", " + a + ", " + b + ")";
  }
  if (op.starts_with("max") || op.starts_with("min")) {
    return (op[1] == 'a' ? "tl.maximum(" : "tl.minimum(") + a + ", " + b +
           (op.ends_with("nan") ? ", propagate_nan=tl.PropagateNan.ALL)" : ")");
  }
  return a + " " + op + " " + b;
}

/// Conditions for tl.where.
void addConditions(std::vector<Operand> &operands) {
  size_t rows = operands.front().rows.size();
  operands.push_back({"yes", DType::Bool, std::vector<Scalar>(rows, {DType::Bool, 1})});
  operands.push_back({"no", DType::Bool, std::vector<Scalar>(rows, {DType::Bool, 0})});
}

enum class Form { Tiles, ScalarOnTheLeft, ScalarOnTheRight };

void checkPair(DType a, DType b, Form form) {
  std::vector<Scalar> rowsA, rowsB;
  if (form == Form::ScalarOnTheLeft) {
    addPairs(edges(b), edges(a), rowsB, rowsA);
  } else {
    addPairs(edges(a), edges(b), rowsA, rowsB);
  }
  std::vector<Operand> operands = {{"a", a, rowsA, form == Form::ScalarOnTheLeft},
                                   {"b", b, rowsB, form == Form::ScalarOnTheRight}};
  addConditions(operands);
  std::vector<Column> columns;
  std::vector<std::string> refused;
  for (const std::string &op : operators) {
    std::optional<DType> type = resultType(op, a, b);
    if (!type) {
      refused.push_back(spelled(op, "a", "b"));
      continue;
    }
    Column column{spelled(op, "a", "b"), *type, {}};
    for (size_t row = 0; row < rowsA.size(); ++row) {
      column.expected.push_back(evaluate(op, rowsA[row], rowsB[row]));
    }
    columns.push_back(std::move(column));
  }
  for (auto &engine : engines()) {
    EXPECT_EQ(runColumns(*engine, operands, columns), "") << engine->name();
  }
  EXPECT_EQ(runRefused(operands, refused), "") << "accepted";
}

class Operators : public testing::TestWithParam<DType> {};

TEST_P(Operators, ofTwoTiles) {
  for (DType b : tableTypes()) {
    checkPair(GetParam(), b, Form::Tiles);
  }
}

TEST_P(Operators, ofATileAndAScalar) {
  for (DType b : tableTypes()) {
    checkPair(GetParam(), b, Form::ScalarOnTheRight);
    checkPair(b, GetParam(), Form::ScalarOnTheLeft);
  }
}

TEST_P(Operators, withLiterals) {
  DType type = GetParam();
  std::vector<Operand> operands = {{"a", type, filled(edges(type))}};
  const std::vector<Scalar> rows = operands.front().rows;
  addConditions(operands);
  std::vector<std::string> refused;
  for (const Literal &literal : literals()) {
    std::vector<Column> columns;
    for (const std::string &op : operators) {
      for (bool isLeft : {false, true}) {
        std::string words =
            isLeft ? spelled(op, literal.text, "a") : spelled(op, "a", literal.text);
        std::optional<DType> result = resultBeside(literal, op, type, isLeft);
        if (!result) {
          refused.push_back(words);
          continue;
        }
        Column column{words, *result, {}};
        for (Scalar row : rows) {
          column.expected.push_back(evaluateBeside(literal, op, row, isLeft));
        }
        columns.push_back(std::move(column));
      }
    }
    for (auto &engine : engines()) {
      EXPECT_EQ(runColumns(*engine, operands, columns), "") << engine->name();
    }
  }
  EXPECT_EQ(runRefused(operands, refused), "") << "accepted";
}

INSTANTIATE_TEST_SUITE_P(Types, Operators, testing::ValuesIn(tableTypes()),
                         [](const auto &each) { return std::string(kernelName(each.param)); });

} // namespace
} // namespace nereid::tables
