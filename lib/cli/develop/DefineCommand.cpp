// SPDX-License-Identifier: Apache-2.0
// `nereid define TEXT`: the shipped definition that a sentence or document asks for, filled in.
#include "lib/cli/Command.h"
#include "lib/definition/Shipped.h"
#include "lib/definition/operations/Operations.h"
#include "lib/develop/sweep/KernelForms.h"
#include "lib/generator/ReservedNames.h"
#include "lib/report/Table.h"
#include "lib/support/AtomicFile.h"
#include "lib/words/Nearest.h"
#include "lib/words/Writing.h"
#include "lib/words/made/Chain.h"
#include "lib/words/made/Formula.h"
#include "lib/words/made/Product.h"
#include "lib/words/numbers/Numbers.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace nereid::cli {
namespace {

using words::Candidate;

struct Options {
  std::string text, file, out, name, choose;
  bool isTextGiven = false;
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
  for (const auto &fact : facts.namedShapes) {
    found.push_back({"shape", fmt::format("[{}]", fmt::join(fact.names, ", ")), fact.range});
  }
  for (const auto &fact : facts.lengths) {
    found.push_back({fact.name, fmt::format("{}", fact.size), fact.range});
  }
  for (const auto *list : {&facts.castTypes, &facts.targets}) {
    for (const auto &term : *list) {
      found.push_back({list == &facts.targets ? "target" : "type", term.idea, term.range});
    }
  }
  numbers("rank", facts.ranks);
  numbers("speed-up", facts.speedups);
  numbers("precision", facts.precisions);
  numbers("part of the peak", facts.peaks);
  return found;
}

std::string reason(const Candidate &candidate) {
  std::string text = fmt::format("{}", fmt::join(candidate.matched, ", "));
  return candidate.missing.empty()
             ? text
             : text + fmt::format("; not said: {}", fmt::join(candidate.missing, ", "));
}

/// What the text was read as.
struct Reading {
  words::Request request;
  std::vector<words::Term> terms;
  words::Facts facts;
  std::vector<words::Shipped> shipped;
  std::vector<Candidate> candidates;
  std::string doubt;                      ///< what speaks against the first candidate
  std::optional<words::Shipped> made;     ///< where no definition has all functions together
  const words::Shipped *chosen = nullptr; ///< null: several are equally near
};

/// E0622 at the operation that no definition has, at the second of two that none has together, or
/// at the text's first word.
Diagnostic fitsNothing(const Reading &reading) {
  const auto place = [&](Diagnostic error, const words::Term &term) {
    error.at(reading.request.path, reading.request.text, term.range);
    return error;
  };
  const words::Term *first = nullptr, *second = nullptr;
  std::vector<const words::Term *> asks;
  bool isApart = false; // no definition has first and second
  const std::vector<words::GradientFact> &asked = reading.facts.gradients;
  words::Facts otherwise = reading.facts;
  otherwise.gradients.clear();
  if (!asked.empty() && !words::rank(reading.shipped, reading.terms, otherwise).empty()) {
    auto error = makeError("E0622", fmt::format("no definition has the gradient with respect to "
                                                "'{}'",
                                                asked.back().text));
    return error.at(reading.request.path, reading.request.text, asked.back().range)
        .withHelp("nereid develop DEF.toml --backward writes the gradients of a definition");
  }
  for (const words::Term &term : reading.terms) {
    if (term.kind != words::TermKind::Operation || term.isNegated) {
      continue;
    }
    const bool isKnown =
        std::any_of(reading.shipped.begin(), reading.shipped.end(),
                    [&](const words::Shipped &one) { return one.computes(term.idea); });
    if (!isKnown) {
      auto error =
          place(makeError("E0622", fmt::format("no definition has '{}'", term.text)), term);
      const bool isFunction =
          definition::findOperation(term.idea) || definition::findFunction(term.idea);
      if (const auto missing = isFunction ? develop::missingForm(term.idea) : std::nullopt) {
        return error
            .note(fmt::format("bodies have '{}', but no kernel computes it [{}]", term.idea,
                              missing->code))
            .withHelp("nereid ops lists what kernels compute");
      }
      return error.withHelp(
          isFunction ? fmt::format("bodies have '{}': write a definition with it", term.idea)
                     : "nereid ops lists the definitions and the functions of bodies");
    }
    asks.push_back(&term);
  }
  for (size_t i = 0; i < asks.size(); ++i) { // two that no definition has, or the first two
    for (size_t j = i + 1; j < asks.size(); ++j) {
      const bool isOther = asks[i]->idea != asks[j]->idea;
      const bool isTogether = std::any_of(
          reading.shipped.begin(), reading.shipped.end(), [&](const words::Shipped &one) {
            return one.computes(asks[i]->idea) && one.computes(asks[j]->idea);
          });
      const bool isBetter = isOther && !isTogether && !isApart;
      if (isBetter || (isOther && !second)) {
        first = asks[i];
        second = asks[j];
        isApart = !isTogether;
      }
    }
  }
  if (second) {
    return place(makeError("E0622", fmt::format("no definition has '{}' and '{}' together",
                                                first->text, second->text)),
                 *second)
        .withHelp("ask for each apart, or write a definition with both");
  }
  const bool excludes = std::any_of(reading.terms.begin(), reading.terms.end(),
                                    [](const words::Term &term) { return term.isNegated; });
  auto error = makeError("E0622", excludes ? "no definition has this and nothing that it excludes"
                                           : "the text names no operator");
  error.at(reading.request.path, reading.request.text,
           reading.terms.empty() ? SourceRange{1, 1, 2} : reading.terms.front().range);
  return error.withHelp(
      "name what is computed, as in \"softmax of 8x1024, fp16\"; nereid ops lists "
      "the definitions");
}

void printJson(const Reading &reading, const words::Written *written, const std::string &file) {
  nlohmann::ordered_json json;
  json["candidates"] = nlohmann::ordered_json::array();
  for (const Candidate &one : reading.candidates) {
    json["candidates"].push_back({{"operator", one.shipped->op.name},
                                  {"score", one.score},
                                  {"matched", one.matched},
                                  {"not_said", one.missing}});
  }
  if (!written && !reading.doubt.empty()) {
    json["doubt"] = reading.doubt;
  }
  json["found"] = nlohmann::ordered_json::array();
  for (const Found &one : foundIn(reading.facts)) {
    json["found"].push_back({{"what", one.what},
                             {"value", one.value},
                             {"line", one.range.line},
                             {"column", one.range.column}});
  }
  if (written) {
    json["made_from"] = reading.made ? reading.made->origin : reading.chosen->op.name;
    json["not_used"] = written->unused;
    json["defaults"] = written->defaults;
    json["definition"] = written->text;
    json["file"] = file;
  }
  fmt::print("{}\n", json.dump(2));
}

/// Numbers of the text that the nearest definition has no place for.
std::vector<std::string> unplaced(const Reading &reading) {
  std::vector<std::string> lines;
  if (reading.candidates.empty()) {
    return lines;
  }
  const words::Shipped &nearest = *reading.candidates.front().shipped;
  for (const words::LooseNumber &number : words::numbersOf(nearest, reading.facts).open) {
    lines.push_back(fmt::format("No number like it in '{}': {} at {}:{}", nearest.op.name,
                                number.text, number.range.line, number.range.column));
  }
  return lines;
}

/// To standard error where the definition itself goes to standard output.
void printReasons(FILE *to, const Reading &reading, const words::Written *written) {
  report::Table table({"operator", ">score", "reason"});
  for (const Candidate &one : reading.candidates) {
    table.add({one.shipped->op.name, fmt::format("{:.1f}", one.score), reason(one)});
  }
  if (reading.made) {
    fmt::print(to, "Written from {}, not from a definition that ships\n", reading.made->origin);
  } else {
    fmt::print(to, "{}", table.text());
  }
  for (const Found &one : foundIn(reading.facts)) {
    fmt::print(to, "Found {} {} at {}:{}\n", one.what, one.value, one.range.line, one.range.column);
  }
  for (const words::Term &term : reading.terms) {
    if (term.kind == words::TermKind::Unknown) {
      fmt::print(to, "Not understood: '{}' at {}:{}\n", term.text, term.range.line,
                 term.range.column);
    } else if (term.isCorrected) {
      fmt::print(to, "Read '{}' as '{}' at {}:{}\n", term.text, term.idea, term.range.line,
                 term.range.column);
    }
  }
  if (!written) {
    for (const std::string &one : unplaced(reading)) {
      fmt::print(to, "{}\n", one);
    }
    if (!reading.doubt.empty()) {
      fmt::print(to, "Not '{}' for certain: {}\n", reading.candidates.front().shipped->op.name,
                 reading.doubt);
    }
    fmt::print(to, "Nothing is written: no operator is clearly the nearest; --choose names one\n");
    return;
  }
  for (const std::string &one : written->unused) {
    fmt::print(to, "Not used: {}\n", one);
  }
  for (const std::string &one : written->defaults) {
    fmt::print(to, "Not found, assumed: {}\n", one);
  }
}

/// A file that nobody has: one that exists, or appears meanwhile, is not replaced.
Status createFile(const std::string &path, const std::string &content) {
  FILE *file = std::fopen(path.c_str(), "wxe");
  if (!file) {
    return errno == EEXIST ? makeError("E0002", fmt::format("'{}' exists already", path))
                                 .withHelp("remove it, or name another file with --output")
                           : makeError("E0002", fmt::format("'{}' cannot be written: {}", path,
                                                            std::strerror(errno)));
  }
  const bool isWhole = std::fwrite(content.data(), 1, content.size(), file) == content.size();
  if (const bool isClosed = std::fclose(file) == 0; !isWhole || !isClosed) {
    const int reason = errno;
    std::remove(path.c_str());
    return makeError("E0002",
                     fmt::format("'{}' cannot be written: {}", path, std::strerror(reason)));
  }
  return Done{};
}

bool hasKernels(const words::Shipped &made) {
  return std::none_of(made.body.begin(), made.body.end(), [](const std::string &function) {
    const bool isInTables =
        definition::findOperation(function) || definition::findFunction(function);
    return isInTables && develop::missingForm(function).has_value(); // dropout is the reader's own
  });
}

/// The text is a formula that kernels compute.
bool takeFormula(Reading &reading, const std::set<std::string> &known) {
  auto formula = words::formulaIn(reading.request.prose);
  if (formula && words::isWhole(*formula, known) && hasKernels(formula->definition)) {
    reading.made = std::move(formula->definition);
    std::erase_if(reading.terms, [](const words::Term &term) { // of the formula, and understood
      return term.kind == words::TermKind::Unknown;
    });
  }
  return reading.made.has_value();
}

/// Candidates of the text, and which is meant.
Result<Reading> read(const Options &options) {
  Reading reading;
  std::string text = options.text;
  if (!options.file.empty()) {
    auto content = readTextFile(options.file, words::mostBytes);
    if (!content) {
      return content.error();
    }
    text = std::move(*content);
  }
  if (text.starts_with("\xEF\xBB\xBF")) { // a byte order mark
    text.erase(0, 3);
  }
  const std::string path = options.file.empty() ? "text" : options.file;
  // Refused before the code of a document is set apart, as places are those of the file.
  if (auto whole = words::tokenize(path, text); !whole) {
    return whole.error();
  }
  reading.request = words::readRequest(path, std::move(text));
  auto tokens = words::tokenize(path, reading.request.prose);
  if (!tokens) {
    return tokens.error();
  }
  const auto folders = definition::operatorFolders();
  reading.shipped = words::readShipped(folders);
  if (reading.shipped.empty()) {
    return makeError("E0625", "no definitions were found beside the program")
        .withHelp("name their folder in NEREID_OPERATOR_PATH");
  }
  const auto known = words::knownTerms(reading.shipped);
  const words::Parts parts = words::partsOf(reading.request.prose);
  reading.terms = words::withoutAsides(words::findTerms(*tokens, &known), parts);
  reading.facts = words::findFacts(*tokens, reading.terms);
  if (options.choose.empty() && takeFormula(reading, known)) {
    return reading;
  }
  reading.made = options.choose.empty() ? words::turnedProduct(*tokens) : std::nullopt;
  if (reading.made) {
    return reading;
  }
  auto nearest = words::nearest(reading.shipped, reading.terms, parts, reading.facts);
  reading.candidates = std::move(nearest.candidates);
  reading.doubt = nearest.doubt.value_or("");
  const bool isClear = !nearest.doubt;
  const auto steps = words::chainOf(reading.terms, *tokens);
  // A definition whose name says more than the text computes something else.
  const bool isAsked = isClear && reading.candidates.front().missing.empty();
  if (!isAsked && options.choose.empty() && !steps.empty()) {
    reading.made = words::chainDefinition(steps);
    if (reading.made &&
        (!hasKernels(*reading.made) || !words::hasNumbersOf(*reading.made, reading.facts))) {
      reading.made.reset();
    }
  }
  if (reading.made) {
    return reading;
  }
  if (reading.candidates.empty()) {
    return fitsNothing(reading);
  }
  if (options.choose.empty()) {
    reading.chosen = isClear ? reading.candidates.front().shipped : nullptr;
    return reading;
  }
  std::vector<std::string> names;
  for (const Candidate &one : reading.candidates) {
    names.push_back(one.shipped->op.name);
    reading.chosen = names.back() == options.choose ? one.shipped : reading.chosen;
  }
  if (!reading.chosen) {
    names.resize(std::min(names.size(), options.candidates));
    return makeError("E0622", fmt::format("'{}' is no candidate for the text", options.choose))
        .note(fmt::format("candidates: '{}'", fmt::join(names, "', '")))
        .withHelp("choose one of them, or leave --choose out");
  }
  return reading;
}

void define(Options &options, Session &session) {
  if (options.isTextGiven == !options.file.empty()) {
    return session.fail(
        makeError("E0013", fmt::format("nereid define expects a text or --file, but "
                                       "got {}",
                                       options.isTextGiven ? "both" : "neither"))
            .withHelp("nereid define \"softmax of 8x1024, fp16\""));
  }
  auto reading = read(options);
  if (!reading) {
    return session.fail(reading.error());
  }
  if (reading->made) {
    reading->chosen = &*reading->made;
  }
  auto &candidates = reading->candidates;
  candidates.resize(std::min(candidates.size(), options.candidates));
  const bool isFile = !options.out.empty() && options.out != "-";
  FILE *const to = isFile ? stdout : stderr;
  if (!reading->chosen) {
    session.json ? printJson(*reading, nullptr, "") : printReasons(to, *reading, nullptr);
    session.status = exitCheckFailed;
    return;
  }
  if (generator::isReservedName(options.name)) {
    return session.fail(
        makeError("E0624",
                  fmt::format("the name '{}' is reserved in generated files", options.name))
            .withHelp("choose another one with --name"));
  }
  auto written =
      words::writeDefinition(*reading->chosen, reading->facts, reading->request, options.name);
  if (!written) {
    return session.fail(written.error());
  }
  if (isFile) {
    if (Status done = createFile(options.out, written->text); !done) {
      return session.fail(done.error());
    }
  }
  if (session.json) {
    return printJson(*reading, &*written, isFile ? options.out : "");
  }
  printReasons(to, *reading, &*written);
  isFile ? fmt::print("Wrote: {}\n", options.out) : fmt::print("{}", written->text);
}

} // namespace

void addDefine(CLI::App &app, Session &session) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "define", "definition of the operator that a sentence or document asks for; exit 1 for none");
  CLI::Option *text =
      command->add_option("text", options->text, "in English or Chinese")->type_name("TEXT");
  command->add_option("--file", options->file, "document in the place of a text")
      ->type_name("FILE");
  command
      ->add_option("-o,--output", options->out,
                   "definition to write, where no file is; without it standard output")
      ->type_name("FILE");
  command->add_option("--name", options->name, "name of the operator")->type_name("NAME");
  command->add_option("--choose", options->choose, "which candidate is meant")->type_name("NAME");
  command->add_option("--candidates", options->candidates, "most candidates that are listed")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  command->callback([options, text, &session] {
    options->isTextGiven = text->count() > 0;
    define(*options, session);
  });
}

} // namespace nereid::cli
