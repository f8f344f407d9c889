// SPDX-License-Identifier: Apache-2.0
// What is wrong with a text. Inside kernels an error is reported; outside, nothing is said and the
// statement becomes Opaque. A rule that fails has called one of these, once.
#pragma once

#include "lib/language/syntax/parser/TokenCursor.h"

namespace nereid::language {

class SyntaxErrors {
public:
  SyntaxErrors(std::string_view path, TokenCursor &tokens, Diagnostics &diags, bool isStrict)
      : path(path), tokens(tokens), diags(diags), isStrict(isStrict) {}

  bool isReporting() const { return isStrict || kernelDepth > 0; }
  bool isInKernel() const { return kernelDepth > 0; }
  bool hasReported() const { return count > 0; }
  /// More are not read by anybody.
  bool areTooMany() const { return count >= maxReports; }
  /// Whether the last failure was told; resets the answer.
  bool takeLastWasReported() { return std::exchange(lastWasReported, false); }
  bool lastFailureWasReported() const { return lastWasReported; }

  /// Reports unless the code is outside kernels; always returns null.
  std::nullptr_t report(SourceRange range, Diagnostic diagnostic);
  /// "expects X, but got <current token>"; an Error token speaks for itself.
  std::nullptr_t failExpecting(std::string_view expected);
  std::nullptr_t failUnsupported(std::string_view construct, size_t firstToken,
                                 std::string_view help);
  /// `context` completes "expects ')' …", e.g. "after the arguments".
  bool expectOperator(std::string_view op, std::string_view context);
  bool expectClosing(std::string_view op, size_t openToken, std::string_view context);

private:
  friend struct InKernel;
  static constexpr int maxReports = 25;

  std::string_view path;
  TokenCursor &tokens;
  Diagnostics &diags;
  bool isStrict;
  int kernelDepth = 0; ///< functions with @triton.jit around the current token
  int count = 0;
  bool lastWasReported = false;
};

/// While alive, the text belongs to a kernel, if it does.
struct InKernel {
  InKernel(SyntaxErrors &errors, bool isKernel) : errors(errors), isKernel(isKernel) {
    errors.kernelDepth += isKernel;
  }
  ~InKernel() { errors.kernelDepth -= isKernel; }
  InKernel(const InKernel &) = delete;
  InKernel &operator=(const InKernel &) = delete;

private:
  SyntaxErrors &errors;
  bool isKernel;
};

} // namespace nereid::language
