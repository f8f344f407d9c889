// SPDX-License-Identifier: Apache-2.0
#include "lib/verify/KeptCase.h"

#include "lib/support/AtomicFile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace nereid::verify {

using runtime::Tensor;

void KeptCase::addCommand(const std::string &onlyCase, uint64_t seed) {
  command.insert(command.end(), {"--case", onlyCase, "--seed", std::to_string(seed)});
}

void KeptCase::addInput(const std::string &tensor, const Tensor &content) {
  tensors.push_back({tensor, content, "input"});
}

void KeptCase::addOutput(const std::string &tensor, const Tensor &content) {
  tensors.push_back({tensor + ".kernel", content, "what the kernel computed"});
}

void KeptCase::addExpected(const std::string &tensor, const Tensor &values, const Tensor &bounds) {
  tensors.push_back({tensor + ".reference", values, "the reference"});
  if (bounds.isValid() && bounds.shape() == values.shape()) {
    tensors.push_back({tensor + ".bound", bounds,
                       "how far the kernel may be from the reference; inf: not verifiable"});
  }
}

std::string shellText(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words) {
    const bool isPlain =
        !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
          return std::isalnum(c) != 0 ||
                 std::string_view("-_./:=+,@%").find(char(c)) != std::string_view::npos;
        });
    std::string quoted = word;
    for (size_t at = 0; !isPlain && (at = quoted.find('\'', at)) != std::string::npos; at += 4) {
      quoted.replace(at, 1, "'\\''");
    }
    text += (text.empty() ? "" : " ") + (isPlain ? word : "'" + quoted + "'");
  }
  return text;
}

Diagnostic unknownCase(const std::string &where, const std::string &name,
                       const std::vector<std::string> &known) {
  constexpr size_t mostNames = 12;
  auto error = makeError("E0016", fmt::format("'{}' has no case '{}'", where, name));
  for (const std::string &near : nearestNames(name, known)) {
    error.note("nearest name: " + shellText({near}));
  }
  std::string names;
  for (size_t i = 0; i < std::min(known.size(), mostNames); ++i) {
    names += (i > 0 ? ", " : "") + shellText({known[i]});
  }
  const size_t more = known.size() - std::min(known.size(), mostNames);
  return error.withHelp("it has " + names + (more > 0 ? fmt::format(" and {} more", more) : ""));
}

namespace {

std::string sizesText(const std::vector<int64_t> &sizes) {
  return sizes.empty() ? "-" : fmt::format("{}", fmt::join(sizes, "x"));
}

/// One line of case.txt and the file.
Result<std::string> keepTensor(const std::string &folder, const KeptTensor &kept) {
  const std::string file = kept.name + ".npy", path = folder + "/" + file;
  const Tensor &tensor = kept.content;
  const bool isWidened = tensor.dtype() == DType::BF16;
  const Tensor written = isWidened ? tensor.to(DType::F32) : tensor;
  if (!written.isValid()) {
    return makeError("E0506", fmt::format("no memory is left to write '{}'", path))
        .withHelp("name a smaller case");
  }
  if (Status isOwn = refuseLink(path); !isOwn) {
    return isOwn.error();
  }
  if (std::string problem = runtime::saveNpy(written, path); !problem.empty()) {
    return makeError("E0002", std::move(problem));
  }
  return fmt::format("{:<24} {:<14} {:<16} {:<16} {}{}\n", file, torchName(tensor.dtype()),
                     sizesText(tensor.shape()), fmt::format("{}", fmt::join(tensor.strides(), ",")),
                     kept.meaning, isWidened ? "; the file has float32" : "");
}

} // namespace

Status keepCase(const std::string &folder, const KeptCase &kept) {
  if (Status made = createFolders(folder); !made) {
    return made;
  }
  std::string text = fmt::format("case: {}\nverdict: {}\nagain: {}\n", kept.name, kept.verdict,
                                 shellText(kept.command));
  for (const auto &[name, value] : kept.facts) {
    text += fmt::format("{}: {}\n", name, value);
  }
  text += fmt::format("\n{:<24} {:<14} {:<16} {:<16} {}\n", "file", "type", "sizes", "strides",
                      "what it is");
  for (const KeptTensor &tensor : kept.tensors) {
    auto line = keepTensor(folder, tensor);
    if (!line) {
      return line.error();
    }
    text += *line;
  }
  return writeOwnFile(folder + "/case.txt", text);
}

} // namespace nereid::verify
