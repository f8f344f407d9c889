// SPDX-License-Identifier: Apache-2.0
// Loops and branches of random programs, and the statements in them.
#include "RandomProgram.h"

namespace nereid::test {

void RandomProgram::statements(int depth, int64_t most) {
  for (int64_t i = 0, n = 1 + below(most); i < n; ++i) {
    statement(depth);
  }
}

void RandomProgram::loop(int depth) {
  static const std::vector<std::pair<int64_t, int64_t>> steps = {{1, 4}, {2, 7}, {16, 64}, {3, 8}};
  auto [step, distance] = any(steps);
  const Type index{{}, once(4) ? "i64" : "i32"};
  auto constant = [&](int64_t number) {
    return define(index, "arith.constant " + std::to_string(number) + " : " + index.element);
  };
  const int64_t start = any(std::vector<int64_t>{0, 0, 16, -8, 5});
  const Operand low = constant(start), high = constant(start + distance), by = constant(step);
  std::vector<Operand> initial, carried;
  for (int64_t i = 0, n = 1 + below(5); i < n; ++i) {
    initial.push_back(value());
  }
  const size_t outside = values.size();
  const Operand variable{fresh(), index};
  values.push_back(variable);
  std::string list, types;
  for (const Operand &operand : initial) {
    carried.push_back({fresh(), operand.type});
    values.push_back(carried.back());
    list += (list.empty() ? "" : ", ") + carried.back().name + " = " + operand.name;
    types += (types.empty() ? "" : ", ") + operand.type.name();
  }
  std::string before = std::move(body);
  body.clear();
  statements(depth + 1, 6);
  std::string yields;
  for (const Operand &operand : carried) {
    yields += (yields.empty() ? "" : ", ") + valueOf(operand.type).name;
  }
  values.resize(outside);
  const std::string results = fresh();
  body = before + results + ":" + std::to_string(carried.size()) + " = scf.for " + variable.name +
         " = " + low.name + " to " + high.name + " step " + by.name + " iter_args(" + list +
         ") -> (" + types + ") : " + index.element + " {\n" + body + "scf.yield " + yields + " : " +
         types + "\n}\n";
  for (size_t i = 0; i < carried.size(); ++i) {
    values.push_back({results + "#" + std::to_string(i), carried[i].type});
  }
}

/// A few rounds, counted by a carried number.
void RandomProgram::whileLoop(int depth) {
  const Operand zero = define({{}, "i32"}, "arith.constant 0 : i32");
  const Operand one = define({{}, "i32"}, "arith.constant 1 : i32");
  const Operand rounds = define({{}, "i32"}, "arith.constant 3 : i32");
  const Operand first = value();
  const std::string type = first.type.name(), results = fresh();
  const size_t outside = values.size();
  const std::string i = fresh(), x = fresh(), j = fresh(), y = fresh(), goesOn = fresh(),
                    next = fresh();
  std::string before = std::move(body);
  body.clear();
  values.push_back({x, first.type});
  values.push_back({i, {{}, "i32"}});
  statements(depth + 1, 3);
  const std::string passed = valueOf(first.type).name;
  const std::string condition = body;
  values.resize(outside);
  values.push_back({y, first.type});
  body.clear();
  statements(depth + 1, 3);
  const std::string yielded = valueOf(first.type).name;
  values.resize(outside);
  body = before + results + ":2 = scf.while (" + i + " = " + zero.name + ", " + x + " = " +
         first.name + ") : (i32, " + type + ") -> (i32, " + type + ") {\n" + condition + goesOn +
         " = arith.cmpi slt, " + i + ", " + rounds.name + " : i32\nscf.condition(" + goesOn + ") " +
         i + ", " + passed + " : i32, " + type + "\n} do {\n^bb0(" + j + ": i32, " + y + ": " +
         type + "):\n" + body + next + " = arith.addi " + j + ", " + one.name +
         " : i32\nscf.yield " + next + ", " + yielded + " : i32, " + type + "\n}\n";
  values.push_back({results + "#1", first.type});
}

void RandomProgram::branch(int depth) {
  const Operand condition = valueOf({{}, "i1"});
  const Type type = value().type;
  const size_t outside = values.size();
  std::string before = std::move(body), sides[2];
  for (std::string &side : sides) {
    body.clear();
    statements(depth + 1, 3);
    const std::string chosen = valueOf(type).name;
    side = body + "scf.yield " + chosen + " : " + type.name() + "\n";
    values.resize(outside);
  }
  body = before;
  define(type, "scf.if " + condition.name + " -> (" + type.name() + ") {\n" + sides[0] +
                   "} else {\n" + sides[1] + "}");
}

} // namespace nereid::test
