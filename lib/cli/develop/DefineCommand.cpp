// SPDX-License-Identifier: Apache-2.0
// `nereid define TEXT`: the shipped definition that a sentence or document asks for, filled in.
#include "lib/cli/Command.h"
#include "lib/definition/operations/Operations.h"
#include "lib/report/Table.h"
#include "lib/support/AtomicFile.h"
#include "lib/words/Writing.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>

namespace nereid::cli {
namespace {

using words::Candidate;

struct Options {
  std::string text, file, out, name, choose;
  size_t candidates = 5;
};

struct Found {
  std::string what, value;
  SourceRange range;
};

std::vector<Found> foundIn(const words::Facts &facts) {
  std::vector<Found> found;
  for (const auto &fact : facts.shapes) {
    found.push_back({"shape", fmt::format("{}", fmt::join(fact.sizes, "x")), fact.range});
  }
  for (const auto &fact : facts.sizes) {
    found.push_back({"size", fmt::format("{} = {}", fact.name, fact.size), fact.range});
  }
  for (const auto &type : facts.types) {
    found.push_back({"type", type.idea, type.range});
  }
  const auto numbers = [&](const char *what, const std::vector<words::NumberFact> &list) {
    for (const auto &fact : list) {
      found.push_back({what, fmt::format("{}", fact.value), fact.range});
    }
  };
  numbers("rank", facts.ranks);
  numbers("speed-up", facts.speedups);
  numbers("precision", facts.precisions);
  return found;
}

std::string reason(const Candidate &candidate) {
  std::string text = fmt::format("matches '{}'", fmt::join(candidate.matched, "', '"));
  return candidate.missing.empty()
             ? text
             : text + fmt::format("; not said: {}", fmt::join(candidate.missing, ", "));
}

/// E0622 at the operation that no definition has, or at the text's begin.
Diagnostic fitsNothing(const std::string &path, const std::string &text,
                       const std::vector<words::Shipped> &shipped,
                       const std::vector<words::Term> &terms) {
  std::vector<std::string> known;
  for (const words::Shipped &one : shipped) {
    known.push_back(one.op.name);
  }
  for (const words::Term &term : terms) {
    const bool isKnown = std::any_of(shipped.begin(), shipped.end(), [&](const auto &one) {
      return one.names.contains(term.idea) || one.support.contains(term.idea);
    });
    if (term.kind == words::TermKind::Operation && !term.isNegated && !isKnown) {
      auto error = makeError("E0622", fmt::format("no shipped definition has '{}'", term.text));
      error.at(path, text, term.range);
      if (definition::findOperation(term.idea) || definition::findFunction(term.idea)) {
        return error.withHelp(fmt::format("a body may call '{}': write a definition", term.idea));
      }
      auto near = nearestNames(term.idea, known);
      if (!near.empty()) {
        error.note(fmt::format("nearest: '{}'", fmt::join(near, "', '")));
      }
      return error.withHelp("nereid ops lists the functions of bodies");
    }
  }
  auto error = makeError("E0622", "the text fits no shipped definition");
  error.at(path, text, {1, 1, 2});
  return error.note(fmt::format("shipped: {}", fmt::join(known, ", ")))
      .withHelp("name the operation: softmax, layer norm, bias and relu, …");
}

void print(const std::vector<Candidate> &candidates, const std::vector<Found> &found,
           const words::Written *written, const std::string &out, bool isJson) {
  if (isJson) {
    nlohmann::ordered_json json;
    json["candidates"] = nlohmann::ordered_json::array();
    for (const Candidate &one : candidates) {
      json["candidates"].push_back({{"operator", one.shipped->op.name},
                                    {"score", one.score},
                                    {"matched", one.matched},
                                    {"not_said", one.missing}});
    }
    json["found"] = nlohmann::ordered_json::array();
    for (const Found &one : found) {
      json["found"].push_back({{"what", one.what},
                               {"value", one.value},
                               {"line", one.range.line},
                               {"column", one.range.column}});
    }
    if (written) {
      json["not_used"] = written->unused;
      json["defaults"] = written->defaults;
      json["definition"] = written->text;
      json["file"] = out;
    }
    fmt::print("{}\n", json.dump(2));
    return;
  }
  FILE *to = out == "-" ? stderr : stdout;
  report::Table table({"operator", ">score", "reason"});
  for (const Candidate &one : candidates) {
    table.add({one.shipped->op.name, fmt::format("{:.1f}", one.score), reason(one)});
  }
  fmt::print(to, "{}", table.text());
  for (const Found &one : found) {
    fmt::print(to, "Found {} {} at {}:{}\n", one.what, one.value, one.range.line, one.range.column);
  }
  if (!written) {
    fmt::print(to, "Nothing is written: several operators fit, --choose names one\n");
    return;
  }
  for (const std::string &one : written->unused) {
    fmt::print(to, "Not used: {}\n", one);
  }
  for (const std::string &one : written->defaults) {
    fmt::print(to, "Not found, taken: {}\n", one);
  }
  out == "-" ? fmt::print("{}", written->text) : fmt::print("Wrote: {}\n", out);
}

void define(Options &options, Session &session) {
  if (options.text.empty() == options.file.empty() && !options.file.empty()) {
    return session.fail(makeError("E0013", "nereid define expects a text or --file, but got both"));
  }
  std::string path = "text";
  if (!options.file.empty()) {
    path = options.file;
    auto read = readTextFile(path, words::mostBytes);
    if (!read) {
      return session.fail(read.error());
    }
    options.text = *read;
  }
  auto tokens = words::tokenize(path, options.text);
  if (!tokens) {
    return session.fail(tokens.error());
  }
  const auto terms = words::findTerms(*tokens);
  const auto facts = words::findFacts(*tokens, terms);
  const auto shipped = words::readShipped(words::shippedFolder());
  auto candidates = words::rank(shipped, terms);
  const words::Shipped *chosen = words::isClear(candidates) ? candidates.front().shipped : nullptr;
  if (!options.choose.empty()) {
    auto one = std::find_if(candidates.begin(), candidates.end(), [&](const Candidate &candidate) {
      return candidate.shipped->op.name == options.choose;
    });
    if (one == candidates.end() && !candidates.empty()) {
      return session.fail(
          makeError("E0622", fmt::format("'{}' is no candidate for the text", options.choose))
              .withHelp("without --choose the candidates are listed"));
    }
    chosen = one == candidates.end() ? nullptr : one->shipped;
  }
  if (candidates.empty()) {
    return session.fail(fitsNothing(path, options.text, shipped, terms));
  }
  candidates.resize(std::min(candidates.size(), std::max<size_t>(options.candidates, 1)));
  if (!chosen) {
    print(candidates, foundIn(facts), nullptr, "", session.json);
    session.status = exitCheckFailed;
    return;
  }
  auto written = words::writeDefinition(*chosen, facts, options.text, options.name);
  if (!written) {
    return session.fail(written.error());
  }
  if (options.out.empty()) {
    options.out = (options.name.empty() ? chosen->op.name : options.name) + ".toml";
  }
  std::error_code failed;
  if (options.out != "-") {
    if (std::filesystem::exists(std::filesystem::symlink_status(options.out, failed))) {
      return session.fail(makeError("E0002", fmt::format("'{}' exists already", options.out))
                              .withHelp("remove it, or name another file with --output"));
    }
    if (Status done = writeFileAtomically(options.out, written->text); !done) {
      return session.fail(done.error());
    }
  }
  print(candidates, foundIn(facts), &*written, options.out, session.json);
}

} // namespace

void addDefine(CLI::App &app, Session &session) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "define", "definition of the operator that a sentence or document asks for; exit 1 for none");
  command->add_option("text", options->text, "in English or Chinese")->type_name("TEXT");
  command->add_option("--file", options->file, "document in the place of a text")
      ->type_name("FILE");
  command->add_option("-o,--output", options->out, "definition to write; - for standard output")
      ->type_name("FILE");
  command->add_option("--name", options->name, "name of the operator")->type_name("NAME");
  command->add_option("--choose", options->choose, "which candidate is meant")->type_name("NAME");
  command->add_option("--candidates", options->candidates, "most candidates that are listed")
      ->type_name("N");
  command->callback([options, &session] { define(*options, session); });
}

} // namespace nereid::cli
