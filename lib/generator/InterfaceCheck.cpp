// SPDX-License-Identifier: Apache-2.0
// Compares what the files of an operator have with what the definition makes of them: the files
// that would be generated now are read in the same way as those that are there.
#include "lib/generator/InterfaceCheck.h"

#include "lib/support/AtomicFile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace nereid::generator {
namespace {

using Part = Interface::Part;

struct File {
  const char *suffix, *title;
};
constexpr File files[] = {
    {"_triton.py", "kernel file"},       {"_kernel.hpp", "launcher"},
    {"_baseline.cpp", "baseline"},       {"_accuracy.cpp", "accuracy"},
    {"_performance.cpp", "performance"}, {"_baseline.py", "Python baseline"},
    {"_accuracy.py", "Python accuracy"}, {"_performance.py", "Python performance"}};

Result<Interface> readInterface(const std::string &path, const std::string &text,
                                const std::string &name) {
  return path.ends_with(".py") ? readPythonInterface(path, text, name)
                               : readCppInterface(path, text, name);
}

std::string orNone(const std::string &text) { return text.empty() ? "none" : text; }

bool contains(const std::vector<Part> &checks, const Part &wanted) {
  return std::any_of(checks.begin(), checks.end(),
                     [&](const Part &one) { return one.meaning == wanted.meaning; });
}

/// Characters that two texts share at their beginnings and ends.
size_t likeness(const std::string &a, const std::string &b) {
  const size_t shorter = std::min(a.size(), b.size());
  size_t front = 0, back = 0;
  while (front < shorter && a[front] == b[front]) {
    ++front;
  }
  while (back < shorter - front && a[a.size() - 1 - back] == b[b.size() - 1 - back]) {
    ++back;
  }
  return front + back;
}

/// One file against what it should have; `actual` is nothing when it cannot be read.
class FileComparison {
public:
  FileComparison(const Interface &wanted, const std::optional<Interface> &actual,
                 const std::string &definition, Diagnostics &diags)
      : wanted(wanted), actual(actual), definition(definition), diags(diags) {}

  /// Cells in the order of `rowsOf`; `checkRows` of them for checks.
  std::vector<InterfaceReport::Cell> run(size_t checkRows) {
    if (!actual) {
      return {{"none", true}};
    }
    cell(wanted.function, true);
    bool hasNames = wanted.names() == actual->names();
    cell(actual->names(), hasNames);
    if (!hasNames) {
      report(actual->place, fmt::format("expects {}, but got {}", wanted.text(), actual->text()),
             "give all files of the operator the same function");
      return std::move(cells);
    }
    for (size_t i = 0; i < wanted.parameters.size(); ++i) {
      const auto &[name, type, value, place] = wanted.parameters[i];
      compare(type, actual->parameters[i].type, fmt::format("parameter '{}' of type", name));
      const Part &given = actual->parameters[i].value;
      if (!isNumber(wanted.parameters[i]) && !given.meaning.empty()) {
        cells.back() = {fmt::format("{} = {}", actual->parameters[i].type.shown, given.shown),
                        true};
        report(given.place,
               fmt::format("expects parameter '{}' without a default, but got '{}'", name,
                           given.shown),
               fmt::format("remove '= {}'", given.shown));
      }
    }
    for (size_t i = 0; i < wanted.parameters.size(); ++i) {
      const auto &[name, type, value, place] = wanted.parameters[i];
      if (isNumber(wanted.parameters[i])) {
        compare(value, actual->parameters[i].value,
                fmt::format("parameter '{}' with default", name));
      }
    }
    compare(wanted.result, actual->result, "the result type");
    compareLaunches();
    for (size_t i = 0; i < checkRows; ++i) {
      if (i < wanted.checks.size()) {
        check(wanted.checks[i]);
      } else {
        cells.push_back({});
      }
    }
    return std::move(cells);
  }

  static bool isNumber(const Interface::Parameter &parameter) {
    const std::string &type = parameter.type.meaning;
    const bool isDevice = parameter.name == "device" && type.empty();
    return type == "float" || type == "double" || type == "int" || type == "int64_t" || isDevice;
  }

private:
  void cell(const std::string &text, bool agrees) {
    cells.push_back({agrees ? "yes" : orNone(text), !agrees});
  }

  void report(SourceRange place, const std::string &message, const std::string &fix) {
    Diagnostic error = makeError("E0610", message);
    error.at(actual->file, actual->source, place);
    error.note(fmt::format("'{}' says so", definition));
    diags.add(std::move(error.withHelp(fix + ", or generate the files again")));
  }

  void compare(const Part &want, const Part &got, const std::string &what) {
    bool agrees = want.meaning == got.meaning;
    if (want.meaning.empty() && agrees) {
      cells.push_back({});
      return;
    }
    cell(got.shown, agrees);
    if (!agrees) {
      std::string fix = want.shown.empty() ? fmt::format("remove '{}'", got.shown)
                                           : fmt::format("write '{}'", want.shown);
      report(
          got.place,
          fmt::format("expects {} '{}', but got '{}'", what, orNone(want.shown), orNone(got.shown)),
          fix);
    }
  }

  void compareLaunches() {
    const bool hasNone = wanted.launches.empty() && wanted.ofLaunch.empty();
    cells.push_back({hasNone ? "" : "yes", false});
    compareClass();
    const bool areAlike = wanted.launches.size() == actual->launches.size();
    for (size_t i = 0; areAlike && i < wanted.launches.size(); ++i) {
      compareLaunch(wanted.launches[i], actual->launches[i]);
    }
  }

  /// The class that the launcher's function makes, which others make as well.
  void compareClass() {
    for (const Part &want : wanted.ofLaunch) {
      if (!contains(actual->ofLaunch, want)) {
        const Part *instead = nearest(want, wanted.ofLaunch, actual->ofLaunch);
        cells.back() = {instead ? instead->shown : "none", true};
        report(instead ? instead->place : actual->place,
               fmt::format("expects '{}' of 'Launch', but got {}", want.shown,
                           instead ? "'" + instead->shown + "'" : "none"),
               "write it in the constructor of 'Launch'");
      }
    }
  }

  /// A variable that belongs to another place: other expressions and other names may mean the same.
  void compareLaunch(const std::vector<Part> &want, const std::vector<Part> &got) {
    for (size_t i = 0; want.size() == got.size() && i < want.size(); ++i) {
      const std::string &name = got[i].meaning;
      const bool isKnown = std::any_of(want.begin(), want.end(), [&](const Part &one) {
        return !name.empty() && one.meaning == name;
      });
      if (isKnown && want[i].meaning != name) {
        cells.back() = {name, true};
        report(got[i].place,
               fmt::format("expects the kernel's argument {} to be '{}', but got '{}'", i + 1,
                           want[i].shown, got[i].shown),
               fmt::format("write '{}'", want[i].shown));
      }
    }
  }

  void check(const Part &want) {
    bool agrees = contains(actual->checks, want);
    const Part *instead = agrees ? nullptr : nearest(want, wanted.checks, actual->checks);
    cell(instead ? instead->shown : "", agrees);
    if (!agrees) {
      report(instead ? instead->place : actual->place,
             fmt::format("expects the check '{}', but got {}", want.shown,
                         instead ? "'" + instead->shown + "'" : "none"),
             "check it in front of everything else");
    }
  }

  /// What stands where `want` should, told by its likeness, and is none of those that are wanted.
  static const Part *nearest(const Part &want, const std::vector<Part> &all,
                             const std::vector<Part> &found) {
    const Part *best = nullptr;
    size_t most = want.shown.size() / 2;
    for (const Part &one : found) {
      size_t alike = contains(all, one) ? 0 : likeness(want.shown, one.shown);
      if (alike > most) {
        most = alike;
        best = &one;
      }
    }
    return best;
  }

  const Interface &wanted;
  const std::optional<Interface> &actual;
  const std::string &definition;
  Diagnostics &diags;
  std::vector<InterfaceReport::Cell> cells;
};

/// The definition's side of the table, in the words of the wrapper.
std::vector<InterfaceReport::Row> rowsOf(const Interface &wanted, size_t checkRows) {
  std::vector<InterfaceReport::Row> rows = {{"function", wanted.function, {}},
                                            {"parameters", wanted.names(), {}}};
  for (const Interface::Parameter &parameter : wanted.parameters) {
    rows.push_back({"type of " + parameter.name, parameter.type.shown, {}});
  }
  for (const Interface::Parameter &parameter : wanted.parameters) {
    if (FileComparison::isNumber(parameter)) {
      rows.push_back({"default of " + parameter.name, parameter.value.shown, {}});
    }
  }
  rows.push_back({"result", wanted.result.shown, {}});
  std::vector<std::string> arguments;
  for (const Part &one : wanted.launches.empty() ? std::vector<Part>() : wanted.launches.front()) {
    arguments.push_back(one.shown);
  }
  rows.push_back({"launched with", fmt::format("{}", fmt::join(arguments, ", ")), {}});
  for (size_t i = 0; i < checkRows; ++i) {
    rows.push_back({"check", i < wanted.checks.size() ? wanted.checks[i].shown : "", {}});
  }
  return rows;
}

} // namespace

InterfaceReport checkInterfaces(const std::string &directory, const Generation &generation,
                                Diagnostics &diags) {
  const std::string &name = generation.op().name;
  const std::string definition = directory + "/" + name + ".toml";
  std::vector<Interface> wanted;
  size_t checkRows = 0;
  const std::vector<GeneratedFile> generated = writeFiles(generation);
  InterfaceReport report;
  std::vector<File> present; // of the folder's languages
  for (const File &file : files) {
    auto found = std::find_if(generated.begin(), generated.end(), [&](const GeneratedFile &one) {
      return one.name == name + file.suffix;
    });
    if (found == generated.end()) {
      continue;
    }
    present.push_back(file);
    auto read = readInterface(found->name, found->content, name);
    if (!read) {
      diags.add(read.error());
      report.agrees = false;
      return report;
    }
    checkRows = std::max(checkRows, read->checks.size());
    wanted.push_back(std::move(*read));
  }
  report.rows = rowsOf(wanted.front(), checkRows);
  const size_t before = diags.all().size();
  for (size_t i = 0; i < wanted.size(); ++i) {
    report.files.push_back(present[i].title);
    std::string path = directory + "/" + name + present[i].suffix;
    auto text = readTextFile(path);
    std::optional<Interface> actual;
    if (!text) {
      diags.add(text.error());
    } else if (auto read = readInterface(path, *text, name)) {
      actual = std::move(*read);
    } else {
      diags.add(read.error());
    }
    auto cells = FileComparison(wanted[i], actual, definition, diags).run(checkRows);
    cells.resize(report.rows.size());
    for (size_t row = 0; row < cells.size(); ++row) {
      report.rows[row].cells.push_back(cells[row]);
    }
  }
  report.agrees = diags.all().size() == before;
  return report;
}

} // namespace nereid::generator
