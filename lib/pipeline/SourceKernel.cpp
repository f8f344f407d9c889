// SPDX-License-Identifier: Apache-2.0
#include "lib/pipeline/SourceKernel.h"

#include "lib/language/ChooseKernel.h"
#include "lib/language/host/KernelDecorators.h"
#include "lib/language/syntax/Parser.h"
#include "lib/pipeline/Compiler.h"

#include <mutex>

namespace nereid::pipeline {

namespace {

using Module = std::shared_ptr<const language::SourceModule>;

/// The last file that was parsed without a word: an operator's kernels are compiled and checked one
/// after the other, with hundreds of signatures, from one file.
class LastModule {
public:
  Module find(const std::string &path, const std::string &text) {
    std::lock_guard lock(mutex);
    return path == ofPath && text == ofText ? module : nullptr;
  }
  void keep(const std::string &path, const std::string &text, Module parsed) {
    std::lock_guard lock(mutex);
    ofPath = path;
    ofText = text;
    module = std::move(parsed);
  }

private:
  std::mutex mutex;
  std::string ofPath, ofText;
  Module module;
};

Module parsed(const std::string &path, const std::string &text, Diagnostics &diags) {
  static LastModule last;
  if (Module known = last.find(path, text)) {
    return known;
  }
  const size_t before = diags.all().size();
  auto made = language::parseModule(path, text, diags);
  if (!made) {
    return nullptr;
  }
  Module module = std::make_shared<const language::SourceModule>(std::move(*made));
  if (diags.all().size() == before) {
    last.keep(path, text, module);
  }
  return module;
}

} // namespace

namespace {

/// With the remarks that were made before it.
std::nullptr_t fail(const SourceKernel &kernel, Diagnostic error, Diagnostics &diags) {
  for (const Diagnostic &remark : kernel.remarks.all()) {
    diags.add(remark);
  }
  diags.add(std::move(error));
  return nullptr;
}

} // namespace

std::shared_ptr<SourceKernel> openSource(const CompileInput &input, Diagnostics &diags) {
  auto kernel = std::make_shared<SourceKernel>();
  Result<std::string> text = sourceText(input);
  if (!text) {
    return fail(*kernel, text.error(), diags);
  }
  kernel->text = std::move(*text);
  kernel->module = parsed(input.path, kernel->text, diags);
  if (!kernel->module) {
    return nullptr;
  }
  auto function = language::chooseKernel(*kernel->module, input.function, kernel->remarks);
  if (!function) {
    return fail(*kernel, function.error(), diags);
  }
  kernel->function = *function;
  return kernel;
}

std::shared_ptr<const SourceKernel> readKernel(const CompileInput &input, Diagnostics &diags) {
  auto kernel = openSource(input, diags);
  if (!kernel) {
    return nullptr;
  }
  const language::KernelDecorators decorators =
      language::readDecorators(*kernel->module, *kernel->function);
  for (const Diagnostic &remark : decorators.remarks.all()) {
    kernel->remarks.add(remark);
  }
  auto special =
      language::specialize(input.signature, *kernel->module, *kernel->function, decorators);
  if (!special) {
    Diagnostic error = special.error();
    if (error.file.empty()) {
      error.file = input.path;
    }
    return fail(*kernel, std::move(error), diags);
  }
  if (std::optional<Diagnostic> error = language::refuseRanges(special->signature)) {
    return fail(*kernel, std::move(*error), diags);
  }
  kernel->signature = special->signature;
  kernel->specialization = special->text(kernel->function->name);
  return kernel;
}

} // namespace nereid::pipeline
