// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/ConstraintText.h"

#include "lib/definition/constraints/Declared.h"

#include "lib/generator/CompanionWriter.h"

#include <fmt/format.h>

#include <cmath>

namespace nereid::generator {
namespace {

using definition::Constraint;
using definition::ConstraintTerm;
using Kind = ConstraintTerm::Kind;

/// Terms in the spelling of a language, over the variables of its wrapper.
class Speller {
public:
  Speller(const CalledOperator &called, const SizeNames &names) : op(called.op), names(names) {}
  virtual ~Speller() = default;

  std::string term(const ConstraintTerm &term) const {
    switch (term.kind) {
    case Kind::Number:
      return number(term.number);
    case Kind::Symbol: {
      definition::Dim dim;
      dim.symbol = term.name;
      return names.variable(dim);
    }
    case Kind::Scalar:
      return name(term);
    case Kind::Negative:
      return "-" + operand(term, 0);
    case Kind::Binary:
      return operand(term, 0) + " " + symbol(term.name) + " " + operand(term, 1);
    case Kind::List: {
      std::string list;
      for (const ConstraintTerm &each : term.operands) {
        list += (list.empty() ? "" : ", ") + this->term(each);
      }
      return shape(list);
    }
    default:
      return property(term);
    }
  }

protected:
  std::string name(const ConstraintTerm &term) const {
    return op.parameters[static_cast<size_t>(term.parameter)].name;
  }
  virtual std::string number(long double value) const = 0;
  virtual std::string symbol(const std::string &spelling) const = 0;
  virtual std::string shape(const std::string &sizes) const = 0;
  virtual std::string property(const ConstraintTerm &term) const = 0;

private:
  std::string operand(const ConstraintTerm &whole, size_t i) const {
    const ConstraintTerm &each = whole.operands[i];
    bool isAtom = each.kind != Kind::Binary && each.kind != Kind::Negative;
    return isAtom ? term(each) : "(" + term(each) + ")";
  }

  const definition::Operator &op;
  const SizeNames &names;
};

bool isInteger(long double value) { return value == std::floor(value) && std::fabs(value) < 1e18L; }

class PythonSpeller final : public Speller {
  using Speller::Speller;

  std::string number(long double value) const override {
    return isInteger(value) ? std::to_string(static_cast<int64_t>(value))
                            : fmt::format("{}", static_cast<double>(value));
  }
  std::string symbol(const std::string &spelling) const override { return spelling; }
  std::string shape(const std::string &sizes) const override {
    return sizes.empty() ? "()" : "(" + sizes + ",)";
  }
  std::string property(const ConstraintTerm &term) const override {
    switch (term.kind) {
    case Kind::Size:
      return fmt::format("{}.shape[{}]", name(term), term.index);
    case Kind::Rank:
      return name(term) + ".dim()";
    case Kind::Count:
      return name(term) + ".numel()";
    case Kind::Shape:
      return "tuple(" + name(term) + ".shape)";
    case Kind::TypeName:
      return fmt::format("torch.{}", torchName(term.dtype));
    default:
      return name(term) + ".dtype";
    }
  }
};

class CppSpeller final : public Speller {
  using Speller::Speller;

  std::string number(long double value) const override {
    return isInteger(value) ? fmt::format("int64_t{{{}}}", static_cast<int64_t>(value))
                            : cppNumber(static_cast<double>(value));
  }
  std::string symbol(const std::string &spelling) const override {
    return spelling == "//" ? "/" : spelling;
  }
  std::string shape(const std::string &sizes) const override { return "Sizes{" + sizes + "}"; }
  std::string property(const ConstraintTerm &term) const override {
    switch (term.kind) {
    case Kind::Size:
      return term.index < 0 ? fmt::format("sizeFromEnd(\"{0}\", {0}, {1})", name(term), -term.index)
                            : fmt::format("{}.shape().at({})", name(term), term.index);
    case Kind::Rank:
      return fmt::format("static_cast<int64_t>({}.shape().size())", name(term));
    case Kind::Count:
      return name(term) + ".elementCount()";
    case Kind::Shape:
      return name(term) + ".shape()";
    case Kind::TypeName:
      return cppType(term.dtype);
    default:
      return name(term) + ".dtype()";
    }
  }
};

/// By the checks that every wrapper begins with, or by the data of tests alone.
bool isSaidElsewhere(const Constraint &constraint, const CalledOperator &called) {
  return (constraint.isAboutValues() && !constraint.relation.empty()) ||
         definition::isDeclared(constraint, called.op);
}

} // namespace

std::vector<std::string> pythonConstraints(const CalledOperator &called, const SizeNames &names) {
  PythonSpeller speller(called, names);
  std::vector<std::string> lines;
  for (const Constraint &constraint : called.op.constraints) {
    if (isSaidElsewhere(constraint, called)) {
      continue;
    }
    std::string expects = fmt::format("{} expects {}", called.op.name, constraint.text);
    if (constraint.relation.empty()) {
      lines.push_back(fmt::format("assert {}, \"{}\"", constraint.text, expects));
      continue;
    }
    std::string left = speller.term(constraint.left), right = speller.term(constraint.right);
    lines.push_back(fmt::format("assert {} {} {}, (", left, constraint.relation, right));
    lines.push_back(fmt::format("    f\"{}, got {{{}}} and {{{}}}\"", expects, left, right));
    lines.push_back(")");
  }
  return lines;
}

std::vector<std::string> cppConstraints(const CalledOperator &called, const SizeNames &names,
                                        const std::string &pad) {
  CppSpeller speller(called, names);
  std::vector<std::string> lines;
  for (const Constraint &constraint : called.op.constraints) {
    if (isSaidElsewhere(constraint, called)) {
      continue;
    }
    std::string holds =
        constraint.relation.empty()
            ? called.op.parameters[static_cast<size_t>(constraint.left.parameter)].name +
                  ".isContiguous()"
            : fmt::format("{} {} {}", speller.term(constraint.left), constraint.relation,
                          speller.term(constraint.right));
    lines.push_back(packed(pad + "nereid::expectThat(",
                           {holds, "\"" + called.op.name + "\"", "\"" + constraint.text + "\""},
                           ");\n"));
  }
  return lines;
}

} // namespace nereid::generator
