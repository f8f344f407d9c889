// SPDX-License-Identifier: Apache-2.0
#include "test/tables/Kernel.h"

#include "runtime/tensor/Tensor.h"

#include <algorithm>
#include <cstring>

namespace nereid::tables {

std::vector<std::unique_ptr<conformance::Engine>> &engines() {
  static std::vector<std::unique_ptr<conformance::Engine>> all;
  return all;
}

/// "tl.float32"
static std::string languageName(DType type) {
  if (isFloat8(type)) { // "fp8e5" is "tl.float8e5"
    return "tl.float" + std::string(kernelName(type)).substr(2);
  }
  return type == DType::Bool ? "tl.int1" : "tl." + std::string(torchName(type));
}

std::string kernelText(const std::string &parameters, const std::string &body) {
  return "import triton\nimport triton.language as tl\n"
         "from triton.language.extra import libdevice\n\n"
         "@triton.jit\ndef larger(a, b):\n"
         "    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)\n\n"
         "@triton.jit\ndef kernel(" +
         parameters + "):\n" + body;
}

static std::string loads(const std::vector<Operand> &operands) {
  const std::string size = std::to_string(tileSize);
  std::string text =
      "    first = tl.program_id(0) * " + size + "\n    i = first + tl.arange(0, " + size + ")\n";
  for (const Operand &operand : operands) {
    text += "    " + operand.name + " = tl.load(" + operand.name + "_p + " +
            (operand.isScalar ? "first" : "i") + ")\n";
  }
  return text;
}

static runtime::Tensor tensorOf(DType type, size_t count, const std::vector<Scalar> &values) {
  runtime::Tensor tensor = runtime::Tensor::empty({static_cast<int64_t>(count)}, type);
  tensor.poison();
  for (size_t i = 0; i < values.size(); ++i) {
    std::memcpy(tensor.as<char>() + i * sizeInBytes(type), &values[i].bits, sizeInBytes(type));
  }
  return tensor;
}

static Scalar elementOf(const runtime::Tensor &tensor, size_t i) {
  Scalar value{tensor.dtype(), 0};
  size_t bytes = sizeInBytes(value.type);
  std::memcpy(&value.bits, tensor.as<char>() + i * bytes, bytes);
  return value;
}

static std::string differences(const Column &column, const std::vector<Operand> &operands,
                               const runtime::Tensor &result) {
  std::string words;
  int count = 0;
  for (size_t row = 0; row < column.expected.size(); ++row) {
    if (!column.expected[row] || isSame(*column.expected[row], elementOf(result, row))) {
      continue;
    }
    if (++count <= 3) {
      words += column.expression + " of";
      for (const Operand &operand : operands) {
        words += " " + operand.name + "=" + text(operand.rows[row]) +
                 (operand.isScalar ? " (scalar)" : "");
      }
      words += ": expects " + text(*column.expected[row]) + ", but got " +
               text(elementOf(result, row)) + "\n";
    }
  }
  return words;
}

static pipeline::CompileInput inputOf(const std::string &source, const std::string &signature) {
  pipeline::CompileInput input;
  input.path = "table.py";
  input.function = "kernel";
  input.source = source;
  input.signature = signature;
  return input;
}

std::string runColumns(conformance::Engine &engine, const std::vector<Operand> &operands,
                       const std::vector<Column> &columns) {
  std::string parameters, signature, body = loads(operands);
  std::vector<runtime::Tensor> tensors;
  size_t rows = operands.front().rows.size();
  auto add = [&](const std::string &name, DType type, const std::vector<Scalar> &values) {
    parameters += (parameters.empty() ? "" : ", ") + name;
    signature += (signature.empty() ? "*" : ", *") + std::string(kernelName(type));
    tensors.push_back(tensorOf(type, rows, values));
  };
  for (const Operand &operand : operands) {
    add(operand.name + "_p", operand.type, operand.rows);
  }
  for (size_t k = 0; k < columns.size(); ++k) {
    const std::string result = "r" + std::to_string(k);
    add(result + "_p", columns[k].type, {});
    body += "    " + result + " = " + columns[k].expression + "\n    tl.static_assert(" + result +
            ".dtype == " + languageName(columns[k].type) + ")\n    tl.store(" + result +
            "_p + i, " + result + ")\n";
  }
  std::vector<runtime::ArgumentValue> arguments;
  for (const runtime::Tensor &tensor : tensors) {
    arguments.emplace_back(&tensor);
  }
  std::string words = engine.run(inputOf(kernelText(parameters, body), signature),
                                 {static_cast<int64_t>(rows / tileSize), 1, 1}, arguments);
  for (size_t k = 0; words.empty() && k < columns.size(); ++k) {
    words = differences(columns[k], operands, tensors[operands.size() + k]);
  }
  return words;
}

std::string runRefused(const std::vector<Operand> &operands,
                       const std::vector<std::string> &expressions) {
  constexpr size_t most = 25; // the front end stops after 30 errors
  std::string accepted;
  for (size_t from = 0; from < expressions.size(); from += most) {
    std::string parameters, signature, body = loads(operands);
    for (const Operand &operand : operands) {
      parameters += (parameters.empty() ? "" : ", ") + operand.name + "_p";
      signature += (signature.empty() ? "*" : ", *") + std::string(kernelName(operand.type));
    }
    std::string source = kernelText(parameters, body);
    size_t line = static_cast<size_t>(std::count(source.begin(), source.end(), '\n'));
    size_t end = std::min(expressions.size(), from + most);
    for (size_t k = from; k < end; ++k) {
      source += "    r = " + expressions[k] + "\n";
    }
    Diagnostics diags;
    pipeline::CompileOptions options;
    options.to = "tile";
    options.useCache = false;
    pipeline::compile(inputOf(source, signature), options, diags);
    for (size_t k = from; k < end; ++k) {
      ++line;
      bool isRefused =
          std::any_of(diags.all().begin(), diags.all().end(), [&](const Diagnostic &diagnostic) {
            return static_cast<size_t>(diagnostic.range.line) == line &&
                   (diagnostic.code == "E0222" || diagnostic.code == "E0228" ||
                    diagnostic.code == "E0204");
          });
      accepted += isRefused ? "" : expressions[k] + "\n";
    }
  }
  return accepted;
}

std::vector<Scalar> filled(std::vector<Scalar> values) {
  for (size_t i = 0; values.size() % tileSize != 0; ++i) {
    values.push_back(values[i]);
  }
  return values;
}

void addPairs(const std::vector<Scalar> &a, const std::vector<Scalar> &b,
              std::vector<Scalar> &rowsA, std::vector<Scalar> &rowsB) {
  std::vector<Scalar> fast = filled(a);
  for (Scalar slow : b) {
    rowsA.insert(rowsA.end(), fast.begin(), fast.end());
    rowsB.insert(rowsB.end(), fast.size(), slow);
  }
}

} // namespace nereid::tables
