// SPDX-License-Identifier: Apache-2.0
#include "lib/importer/operators/OperatorTable.h"

#include "lib/definition/operations/Operations.h"

#include <cstdlib>
#include <map>

namespace nereid::importer {
namespace {

/// A number, or the figure of an operation that definitions have.
double flopsOf(const char *text) {
  const definition::Operation *operation = definition::findOperation(text);
  return operation ? operation->flops : std::strtod(text, nullptr);
}

const std::map<std::string, OnnxOperator, std::less<>> &table() {
  static const std::map<std::string, OnnxOperator, std::less<>> rows = {
#define NEREID_ONNX(name, first, shape, kind, flops, body)                                         \
  {#name, {#name, first, OperatorKind::kind, flopsOf(flops), body}},
#include "lib/importer/operators/operators.def"
  };
  return rows;
}

} // namespace

const OnnxOperator *findOnnxOperator(std::string_view name) {
  auto found = table().find(name);
  return found == table().end() ? nullptr : &found->second;
}

const std::vector<std::string> &onnxOperatorNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = {"Constant"};
    for (const auto &[name, row] : table()) {
      all.push_back(name);
    }
    return all;
  }();
  return names;
}

const std::vector<std::string> &importableNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> some;
    for (const auto &[name, row] : table()) {
      if (!row.body.empty()) {
        some.push_back(name);
      }
    }
    return some;
  }();
  return names;
}

std::string_view kindName(OperatorKind kind) {
  switch (kind) {
  case OperatorKind::Pointwise:
    return "pointwise";
  case OperatorKind::Reduction:
    return "reduction";
  case OperatorKind::Normalisation:
    return "normalisation";
  case OperatorKind::Product:
    return "product";
  case OperatorKind::Convolution:
    return "convolution";
  case OperatorKind::Pool:
    return "pool";
  case OperatorKind::Attention:
    return "attention";
  case OperatorKind::Recurrent:
    return "recurrent";
  case OperatorKind::Move:
    return "move";
  case OperatorKind::Select:
    return "selection";
  case OperatorKind::View:
    return "view";
  case OperatorKind::Free:
    return "free";
  }
  return "";
}

} // namespace nereid::importer
