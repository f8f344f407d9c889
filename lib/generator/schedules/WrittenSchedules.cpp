// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/schedules/WrittenSchedules.h"

#include "lib/generator/programs/ProgramText.h"
#include "lib/generator/schedules/ProgramSchedules.h"
#include "lib/language/syntax/Parser.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {
namespace {

using language::Expr;
using language::ExprKind;

class Reader {
public:
  Reader(const std::string &path, const std::string &text, const ProgramOperator &program)
      : path(path), text(text), program(program), sizes(classSizes(program)) {}

  Result<std::vector<WrittenSchedule>> run() {
    Diagnostics ignored;
    const auto module = language::parseModule(path, text, ignored);
    const Expr *table = module ? tableOf(*module) : nullptr;
    if (table == nullptr) {
      return std::vector<WrittenSchedule>();
    }
    if (table->kind != ExprKind::Dict) {
      return refusal(*table, "SCHEDULES expects a dictionary of classes of cases");
    }
    std::vector<WrittenSchedule> result;
    for (size_t i = 0; i + 1 < table->operands.size(); i += 2) {
      auto caseClass = classOf(*table->operands[i]);
      if (!caseClass) {
        return caseClass.error();
      }
      auto schedule = scheduleOf(*table->operands[i + 1], caseClass->dtype);
      if (!schedule) {
        return schedule.error();
      }
      result.push_back({std::move(*caseClass), std::move(*schedule)});
    }
    return result;
  }

private:
  Diagnostic refusal(const Expr &at, std::string message) const {
    return makeError("E0612", std::move(message)).at(path, text, at.range);
  }

  static const Expr *tableOf(const language::SourceModule &module) {
    const Expr *table = nullptr;
    for (const language::StmtPtr &statement : module.body) {
      const bool isIt = statement->kind == language::StmtKind::Assign &&
                        statement->targets[0]->kind == ExprKind::Name &&
                        statement->targets[0]->text == "SCHEDULES";
      table = isIt ? statement->value.get() : table;
    }
    return table;
  }

  /// "(torch.float32, 1024, 64)".
  Result<CaseClass> classOf(const Expr &key) const {
    std::string form = "(torch.float32";
    for (const std::string &size : sizes) {
      form += ", " + size;
    }
    const bool isWhole =
        key.kind == ExprKind::Tuple && key.operands.size() == sizes.size() + 1 &&
        std::all_of(key.operands.begin() + 1, key.operands.end(),
                    [](const auto &size) { return size->kind == ExprKind::Integer; });
    if (!isWhole) {
      return refusal(key, fmt::format("a class of cases expects the form {}{})", form,
                                      sizes.empty() ? "," : ""));
    }
    const Expr &type = *key.operands[0];
    const std::optional<DType> dtype =
        type.kind == ExprKind::Attribute ? parseDType(type.text) : std::nullopt;
    if (!dtype || !program.tables.contains(*dtype)) {
      std::string known;
      for (const auto &[each, table] : program.tables) {
        known += fmt::format("{}torch.{}", known.empty() ? "" : ", ", torchName(each));
      }
      return refusal(type,
                     fmt::format("a class of cases expects a type of the operator: {}", known));
    }
    CaseClass result{*dtype};
    for (size_t i = 0; i < sizes.size(); ++i) {
      result.sizesUpTo[sizes[i]] = key.operands[i + 1]->integer;
    }
    return result;
  }

  Result<Schedule> scheduleOf(const Expr &value, DType dtype) const {
    if (value.kind != ExprKind::Dict) {
      return refusal(value, "a class of cases expects a dictionary of choices");
    }
    Schedule schedule;
    for (size_t i = 0; i + 1 < value.operands.size(); i += 2) {
      const Expr &key = *value.operands[i], &number = *value.operands[i + 1];
      auto choice = choiceOf(key, dtype);
      if (!choice) {
        return choice.error();
      }
      if (number.kind != ExprKind::Integer || !isLegal(**choice, number.integer)) {
        return refusal(number, fmt::format("'{}' expects {}", (*choice)->name, legalOf(**choice)));
      }
      schedule.constants.emplace_back((*choice)->name, number.integer);
    }
    return schedule;
  }

  Result<const LaunchChoice *> choiceOf(const Expr &key, DType dtype) const {
    std::vector<std::string> names;
    for (const LaunchChoice *one : choicesOf(program.tables.at(dtype))) {
      if (key.kind == ExprKind::String && key.text == one->name) {
        return one;
      }
      names.push_back(one->name);
    }
    Diagnostic error = refusal(
        key, fmt::format("there is no choice '{}'", key.kind == ExprKind::String ? key.text : "?"));
    return error.withHelp(fmt::format("choices are {}", fmt::join(names, ", ")));
  }

  static bool isLegal(const LaunchChoice &choice, int64_t value) {
    const bool isPower = value > 0 && (value & (value - 1)) == 0;
    return value == choice.naive || (value == 0 && choice.least == 0) ||
           (isPower && value >= choice.least && value <= choice.most);
  }
  static std::string legalOf(const LaunchChoice &choice) {
    if (choice.kind == LaunchChoice::Kind::Form) {
      return "0 or 1";
    }
    return fmt::format("{}a power of two from {} to {}", choice.least == 0 ? "0 or " : "",
                       std::max<int64_t>(choice.least, 1), choice.most);
  }

  const std::string &path, &text;
  const ProgramOperator &program;
  const std::vector<std::string> sizes;
};

} // namespace

Result<std::vector<WrittenSchedule>>
writtenSchedules(const std::string &path, const std::string &text, const ProgramOperator &program) {
  return Reader(path, text, program).run();
}

} // namespace nereid::generator
