// SPDX-License-Identifier: Apache-2.0
// The last failure of each thread.
#include "lib/capi/Failure.h"

namespace nereid::capi {
namespace {

struct LastFailure {
  std::string text, code;
};

LastFailure &lastFailure() {
  static thread_local LastFailure failure;
  return failure;
}

} // namespace

nereid_status fail(nereid_status status, const Diagnostic &diagnostic) {
  lastFailure() = {render(diagnostic), diagnostic.code};
  return status;
}

nereid_status fail(nereid_status status, const Diagnostics &diagnostics) {
  LastFailure failure{diagnostics.render(), ""};
  for (const Diagnostic &diagnostic : diagnostics.all()) {
    if (diagnostic.severity == Severity::Error) {
      failure.code = diagnostic.code;
      break;
    }
  }
  lastFailure() = std::move(failure);
  return status;
}

nereid_status refuse(const char *function, const std::string &message) {
  return fail(NEREID_ERROR_ARGUMENT,
              makeError("E0031", std::string("'") + function + "' " + message));
}

} // namespace nereid::capi

extern "C" {

const char *nereid_last_error(void) { return nereid::capi::lastFailure().text.c_str(); }
const char *nereid_last_error_code(void) { return nereid::capi::lastFailure().code.c_str(); }
}
