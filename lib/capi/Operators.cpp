// SPDX-License-Identifier: Apache-2.0
// Definitions in the C interface: loaded, and results judged by the reference and the bounds of
// `nereid verify`. operators/ calls them.
#include "lib/capi/Failure.h"
#include "lib/capi/Texts.h"
#include "lib/capi/operators/Callable.h"
#include "lib/definition/Shipped.h"
#include "lib/eager/reference/Reference.h"
#include "lib/verify/Limits.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::capi {
namespace {

constexpr const char *verifyName = "nereid_operator_verify";

/// None of them is null.
bool hasAll(const nereid_tensor *const *list, size_t count) {
  return count == 0 ||
         (list && std::all_of(list, list + count, [](const auto *one) { return one; }));
}

nereid_status hostTensors(const nereid_tensor *const *list, size_t count,
                          std::vector<runtime::Tensor> &tensors) {
  tensors.resize(count);
  for (size_t i = 0; i < count; ++i) {
    if (nereid_status status = hostTensor(*list[i], tensors[i])) {
      return status;
    }
  }
  return NEREID_OK;
}

/// The type that the operator runs in for these inputs; E0604 or E0606 when they do not agree.
Result<DType> typeOf(const definition::Operator &op, const std::vector<runtime::Tensor> &inputs) {
  std::optional<DType> own;
  size_t next = 0;
  const bool hasNumbers = inputs.size() == op.parameters.size();
  for (const definition::Parameter &parameter : op.parameters) {
    if ((parameter.isScalar && !hasNumbers) || next >= inputs.size()) {
      continue;
    }
    const DType type = inputs[next++].dtype();
    if (parameter.isScalar) {
      continue;
    }
    const DType expected = parameter.fixedDtype.value_or(own.value_or(type));
    if (type != expected) {
      return makeError("E0604",
                       fmt::format("'{}' of operator '{}' expects {}, but got {}", parameter.name,
                                   op.name, torchName(expected), torchName(type)));
    }
    if (!parameter.fixedDtype) {
      own = type;
    }
  }
  if (!own) {
    return op.dtypes.front();
  }
  const Status allowed = definition::checkDtype(op, *own);
  return allowed ? Result<DType>(*own) : allowed.error();
}

/// The operator, or why there is none.
nereid_status give(std::optional<definition::Operator> op, const Diagnostics &diags,
                   nereid_operator **made) {
  if (!op) {
    const bool isFile = diags.all().front().code == "E0601";
    return fail(isFile ? NEREID_ERROR_FILE : NEREID_ERROR_ARGUMENT, diags);
  }
  *made = new nereid_operator(std::move(*op));
  return NEREID_OK;
}

bool isAgreed(const eager::Comparison &comparison) {
  return comparison.passed() && comparison.unverifiableShare() <= verify::mostUnverifiable;
}

eager::Comparison comparisonOf(const nereid_verdict &verdict) {
  eager::Comparison comparison;
  comparison.elements = verdict.elements;
  comparison.mismatches = verdict.mismatches;
  comparison.unverifiable = verdict.unverifiable;
  comparison.maxAbsoluteError = verdict.max_absolute;
  comparison.finiteElements = verdict.finite;
  comparison.errors.add(verdict.mean_absolute * static_cast<double>(verdict.finite));
  comparison.first = {verdict.first_output,
                      verdict.first_element,
                      verdict.actual,
                      verdict.expected,
                      verdict.bound,
                      "",
                      ""};
  return comparison;
}

} // namespace
} // namespace nereid::capi

using namespace nereid;
using namespace nereid::capi;

extern "C" {

nereid_status nereid_operator_load(const char *path, nereid_operator **made) {
  return guarded([&] {
    if (!path || !made) {
      return refuse("nereid_operator_load", "expects a name or path and a place for the operator");
    }
    std::string file = path;
    if (definition::isOperatorName(file)) {
      auto found = definition::findOperator(file);
      if (!found) {
        return fail(NEREID_ERROR_FILE, found.error());
      }
      file = *found;
    }
    Diagnostics diags;
    return give(definition::loadOperator(file, diags), diags, made);
  });
}

nereid_status nereid_operator_load_source(const char *source, const char *name,
                                          nereid_operator **made) {
  return guarded([&] {
    if (!made) {
      return refuse("nereid_operator_load_source", "expects a place for the operator");
    }
    for (const std::string &problem :
         {problemOfText("the text of a definition", source, longestList),
          problemOfOptionalText("a name of the text", name, longestName)}) {
      if (!problem.empty()) {
        return refuse("nereid_operator_load_source", problem);
      }
    }
    Diagnostics diags;
    return give(definition::parseOperator(name ? name : "<source>", source, diags), diags, made);
  });
}

void nereid_operator_free(nereid_operator *made) { delete made; }

nereid_status nereid_operator_verify(const nereid_operator *made,
                                     const nereid_tensor *const *inputs, size_t input_count,
                                     const nereid_tensor *const *outputs, size_t output_count,
                                     nereid_rounding rounding, nereid_verdict *verdict) {
  return guarded([&] {
    if (!made || !hasAll(inputs, input_count) || !hasAll(outputs, output_count) || !verdict) {
      return refuse(verifyName, "expects an operator, tensors and a place for the verdict");
    }
    if (rounding != NEREID_ROUNDS_RESULTS && rounding != NEREID_ROUNDS_EACH) {
      return refuse(verifyName,
                    fmt::format("expects {} or {} as rounding, but got {}",
                                int{NEREID_ROUNDS_RESULTS}, int{NEREID_ROUNDS_EACH}, rounding));
    }
    const definition::Operator &op = made->callable.definition();
    if (output_count != op.outputNames.size()) {
      return refuse(verifyName, fmt::format("expects {} outputs of '{}', but got {}",
                                            op.outputNames.size(), op.name, output_count));
    }
    std::vector<runtime::Tensor> in, out;
    for (nereid_status status :
         {hostTensors(inputs, input_count, in), hostTensors(outputs, output_count, out)}) {
      if (status) {
        return status;
      }
    }
    auto type = typeOf(op, in);
    if (!type) {
      return fail(NEREID_ERROR_ARGUMENT, type.error());
    }
    const auto way = rounding == NEREID_ROUNDS_EACH ? eager::Rounding::EachOperation
                                                    : eager::Rounding::OncePerResult;
    auto found = eager::checkOutputs(op, in, out, *type, way, pool());
    if (!found) {
      const bool isMemory = found.error().code == "E0506";
      return fail(isMemory ? NEREID_ERROR_MEMORY : NEREID_ERROR_ARGUMENT, found.error());
    }
    *verdict = {isAgreed(*found) ? 1 : 0,   found->elements,
                found->mismatches,          found->unverifiable,
                found->first.output,        found->first.index,
                found->first.actual,        found->first.expected,
                found->first.bound,         found->maxAbsoluteError,
                found->meanAbsoluteError(), found->finiteElements,
                found->worstRatio};
    return NEREID_OK;
  });
}

const char *nereid_verdict_text(const nereid_verdict *verdict) {
  static thread_local std::string text;
  const nereid_status made = guarded([&] {
    text.clear();
    if (verdict && verdict->mismatches > 0) {
      text = comparisonOf(*verdict).text();
    } else if (verdict && !verdict->agrees) {
      text = comparisonOf(*verdict).unverifiableText();
    }
    return NEREID_OK;
  });
  return made == NEREID_OK ? text.c_str() : "";
}
}
