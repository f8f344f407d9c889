// SPDX-License-Identifier: Apache-2.0
// What the C interface tells of an operator: its name, parameters, outputs and types.
#include "lib/capi/Failure.h"
#include "lib/capi/operators/Callable.h"

#include <fmt/format.h>

using namespace nereid;
using namespace nereid::capi;

namespace {

/// The number of an entry, or why there is none.
std::string problemOfIndex(const char *what, int index, size_t count) {
  return index >= 0 && static_cast<size_t>(index) < count
             ? ""
             : fmt::format("expects the number of {} below {}, but got {}", what, count, index);
}

nereid_dtype typeOrOwn(std::optional<DType> type) {
  return type ? static_cast<nereid_dtype>(*type) : NEREID_OWN_DTYPE;
}

/// The text of a shape, valid until the next one of this thread.
const char *shapeText(const definition::SymbolicShape &shape) {
  static thread_local std::string text;
  text = definition::text(shape);
  return text.c_str();
}

} // namespace

extern "C" {

const char *nereid_operator_name(const nereid_operator *made) {
  return made ? made->callable.definition().name.c_str() : "";
}
int nereid_operator_input_count(const nereid_operator *made) {
  return made ? static_cast<int>(made->callable.parameters().size()) : 0;
}
int nereid_operator_output_count(const nereid_operator *made) {
  return made ? static_cast<int>(made->callable.definition().outputNames.size()) : 0;
}
int nereid_operator_dtype_count(const nereid_operator *made) {
  return made ? static_cast<int>(made->callable.definition().dtypes.size()) : 0;
}
nereid_dtype nereid_operator_dtype(const nereid_operator *made, int index) {
  const bool isThere = made && index >= 0 && index < nereid_operator_dtype_count(made);
  return isThere ? static_cast<nereid_dtype>(
                       made->callable.definition().dtypes[static_cast<size_t>(index)])
                 : NEREID_OWN_DTYPE;
}

nereid_status nereid_operator_input(const nereid_operator *made, int index,
                                    nereid_parameter *parameter) {
  return guarded([&] {
    if (!made || !parameter) {
      return refuse("nereid_operator_input", "expects an operator and a place for the parameter");
    }
    const auto &all = made->callable.parameters();
    if (std::string problem = problemOfIndex("an input", index, all.size()); !problem.empty()) {
      return refuse("nereid_operator_input", problem);
    }
    const definition::Parameter &one = *all[static_cast<size_t>(index)];
    *parameter = {one.name.c_str(),
                  shapeText(one.shape),
                  one.description.c_str(),
                  typeOrOwn(one.fixedDtype),
                  static_cast<int>(one.isScalar),
                  static_cast<int>(one.isInteger),
                  one.value,
                  nullptr};
    return NEREID_OK;
  });
}

nereid_status nereid_operator_output(const nereid_operator *made, int index,
                                     nereid_parameter *parameter) {
  return guarded([&] {
    if (!made || !parameter) {
      return refuse("nereid_operator_output", "expects an operator and a place for the parameter");
    }
    const definition::Operator &op = made->callable.definition();
    if (std::string problem = problemOfIndex("an output", index, op.outputNames.size());
        !problem.empty()) {
      return refuse("nereid_operator_output", problem);
    }
    const auto at = static_cast<size_t>(index);
    const int input = definition::memoryOf(op, at);
    *parameter = {op.outputNames[at].c_str(),
                  shapeText(op.nodes[static_cast<size_t>(op.outputs[at])].shape),
                  op.outputDescriptions[at].c_str(),
                  typeOrOwn(op.outputDtypes[at]),
                  0,
                  0,
                  0,
                  input < 0 ? nullptr : op.parameters[static_cast<size_t>(input)].name.c_str()};
    return NEREID_OK;
  });
}
}
