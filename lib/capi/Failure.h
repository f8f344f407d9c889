// SPDX-License-Identifier: Apache-2.0
// How functions of the C interface fail: the text and code of the thread's last failure, and the
// boundary no exception crosses.
#pragma once

#include "lib/support/Diagnostics.h"
#include "nereid/nereid.h"

#include <exception>
#include <new>

namespace nereid::capi {

/// Keeps the rendered text and the code for nereid_last_error and returns `status`.
nereid_status fail(nereid_status status, const Diagnostic &diagnostic);
/// Several diagnostics of one call; the code is the first error's.
nereid_status fail(nereid_status status, const Diagnostics &diagnostics);
/// E0031: `function` was called with something impossible.
nereid_status refuse(const char *function, const std::string &message);

/// Runs the body of an interface function.
template <class Body> nereid_status guarded(const Body &body) noexcept {
  try {
    try {
      return body();
    } catch (const std::bad_alloc &) {
      return fail(NEREID_ERROR_MEMORY, makeError("E0506", "no memory is left"));
    } catch (const std::exception &error) {
      return fail(NEREID_ERROR_INTERNAL,
                  makeError("E0390", std::string("internal error: ") + error.what()));
    } catch (...) {
      return fail(NEREID_ERROR_INTERNAL, makeError("E0390", "internal error: unknown exception"));
    }
  } catch (...) {
    // Not even the text of the failure could be kept.
    return NEREID_ERROR_INTERNAL;
  }
}

} // namespace nereid::capi
