// SPDX-License-Identifier: Apache-2.0
// What is next to a schedule of programs, see Neighbourhood.h. A change that no figure which the
// bottleneck asks for speaks for, or that the costs speak against, is not proposed.
#include "lib/generator/schedules/Neighbourhood.h"

#include "lib/generator/launch/Choices.h"
#include "lib/measure/statistics/Evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

namespace nereid::generator {
namespace {

/// What a change can make better; a bottleneck asks for some of them.
enum class Figure : uint8_t { Programs, Waves, Runs, Moved, Pressure, Turns, Warps };

/// At the limit of memory or arithmetic no schedule helps.
constexpr double nearLimit = 0.85, largestGain = 10;
constexpr double leastBetter = 1.01;
/// What the language takes where a launch says nothing.
constexpr int64_t usualWarps = 4, usualStages = 3;
/// First changes that a search goes on from, those that should gain most.
constexpr size_t mostExplored = 12;

std::vector<Figure> askedBy(Bottleneck bottleneck) {
  switch (bottleneck) {
  case Bottleneck::Launch:
    return {Figure::Programs};
  case Bottleneck::Parallelism:
  case Bottleneck::TailWave:
    return {Figure::Waves};
  case Bottleneck::Uncoalesced:
    return {Figure::Runs};
  case Bottleneck::CacheMisses:
    return {Figure::Moved};
  case Bottleneck::Pressure:
    return {Figure::Pressure};
  case Bottleneck::Latency:
    return {Figure::Turns, Figure::Programs, Figure::Runs, Figure::Warps, Figure::Waves};
  case Bottleneck::Bandwidth:
    return {Figure::Moved, Figure::Runs};
  case Bottleneck::Arithmetic:
    return {Figure::Pressure, Figure::Moved, Figure::Turns};
  case Bottleneck::Unknown:
    break;
  }
  return {Figure::Programs, Figure::Waves, Figure::Runs, Figure::Moved,
          Figure::Pressure, Figure::Turns, Figure::Warps};
}

ScheduleTotal totalOf(const std::vector<LaunchFigures> &figures, const Machine &chip) {
  ScheduleTotal total;
  double own = 0;
  for (const LaunchFigures &one : figures) {
    total.programs += static_cast<double>(one.programs);
    total.waves += one.ownBytes / std::max(waveFraction(one, chip), 1e-6);
    total.runs += one.runs;
    total.moved += one.movedBytes;
    if (one.ownBytes > static_cast<double>(chip.lastCacheBytes())) {
      total.fetched += one.fetchedBytes;
    }
    total.pressure = std::max(total.pressure, std::max(1.0, pressureOf(one, chip)));
    total.turns += one.turns;
    total.warps += static_cast<double>(one.programs * (one.warps > 0 ? one.warps : usualWarps)) *
                   static_cast<double>(one.stages > 0 ? one.stages : usualStages);
    own += one.ownBytes;
  }
  total.waves = own > 0 ? own / total.waves : 1;
  return total;
}

/// How many times better the figure is.
double better(Figure figure, const ScheduleTotal &before, const ScheduleTotal &after) {
  auto less = [](double a, double b) { return b > 0 ? a / b : 1; };
  switch (figure) {
  case Figure::Programs:
    return less(before.programs, after.programs);
  case Figure::Waves:
    return less(after.waves, before.waves);
  case Figure::Runs:
    return less(before.runs, after.runs);
  case Figure::Moved:
    return less(before.moved + before.fetched, after.moved + after.fetched);
  case Figure::Pressure:
    return less(before.pressure, after.pressure);
  case Figure::Turns:
    return less(before.turns, after.turns);
  case Figure::Warps:
    return less(after.warps, before.warps);
  }
  return 1;
}

std::string programsText(const ScheduleTotal &before, const ScheduleTotal &after) {
  return fmt::format("fewer, larger programs spend less time in being handed out: {:.0f} instead "
                     "of {:.0f}",
                     after.programs, before.programs);
}

std::string reasonOf(Figure figure, const ScheduleTotal &before, const ScheduleTotal &after) {
  switch (figure) {
  case Figure::Programs:
    return programsText(before, after);
  case Figure::Waves:
    return fmt::format("programs fill {:.0f} % of the places of their waves instead of {:.0f} %",
                       100 * after.waves, 100 * before.waves);
  case Figure::Runs:
    return fmt::format("neighbouring elements are moved in {:.3g} runs instead of {:.3g}",
                       after.runs, before.runs);
  case Figure::Moved:
    return before.moved - after.moved >= before.fetched - after.fetched
               ? fmt::format("tiles move {:.3g} bytes instead of {:.3g}, as they share fewer of "
                             "them",
                             after.moved, before.moved)
               : fmt::format("memory gives {:.3g} bytes instead of {:.3g}, as programs that run "
                             "at a time share more of them",
                             after.fetched, before.fetched);
  case Figure::Pressure:
    return fmt::format("a tile takes {:.1f} times its room instead of {:.1f}", after.pressure,
                       before.pressure);
  case Figure::Turns:
    if (before.turns == before.programs && after.turns == after.programs) {
      return programsText(before, after); // without loops
    }
    return fmt::format("loops take {:.3g} turns instead of {:.3g}", after.turns, before.turns);
  case Figure::Warps:
    return "more warps or stages of copies hide what each of them waits for";
  }
  return "";
}

/// A form is taken or not; a line is held whatever its length, or in pieces.
std::vector<int64_t> valuesOfForm(const LaunchChoice &choice) {
  return choice.kind == LaunchChoice::Kind::Form ? std::vector<int64_t>{0, 1}
                                                 : std::vector<int64_t>{0, choice.most};
}

/// Of the peak arithmetic, or of the memory's bandwidth where that is asked for.
double fractionOfLimit(const Diagnosis &diagnosis) {
  return std::max(diagnosis.computeFraction,
                  diagnosis.isBeyondCache ? diagnosis.bandwidthFraction : 0.0);
}

double mostGain(const Diagnosis &diagnosis) {
  const double fraction = fractionOfLimit(diagnosis);
  return fraction >= nearLimit ? 1 : fraction > 0 ? 1 / fraction : largestGain;
}

/// Those that should gain, best expectation first.
std::vector<Neighbour> gaining(std::vector<Neighbour> list) {
  std::multimap<double, Neighbour, std::greater<>> byGain;
  for (Neighbour &each : list) {
    if (each.expectedGain >= measure::leastGain) {
      byGain.emplace(each.expectedGain, std::move(each));
    }
  }
  list.clear();
  for (auto &[gain, each] : byGain) {
    list.push_back(std::move(each));
  }
  return list;
}

} // namespace

Neighbourhood::Neighbourhood(ProgramCase of, const Schedule &schedule, const Machine &chip,
                             std::span<const Schedule> tried)
    : one(std::move(of)), chip(chip) {
  Bound now = boundBy(schedule);
  auto sizes = bindExtents(*one.table, one.symbols, one.site);
  shown = now.shown;
  chosen = chosenPart(one, shown);
  if (now.launches.empty() || !sizes) {
    return; // sizes that no launch can have
  }
  extents = std::move(*sizes);
  programs = now.programs();
  for (const Schedule &each : tried) {
    this->tried.push_back(each);
    this->tried.push_back(shownSchedule(one, each));
  }
  const auto figures = figuresOf(*one.table, now.launches, extents, one.site);
  before = totalOf(figures, chip);
  cost = costOf(figures, chip);
  for (const LaunchChoice &choice : one.table->choices) {
    isOfForms(choice) ? forms(choice) : steps(choice);
  }
  for (const LaunchEntry &entry : one.table->kernels) {
    for (const LaunchChoice &choice : entry.choices) {
      steps(choice);
    }
  }
}

std::vector<int64_t> Neighbourhood::Bound::programs() const {
  std::vector<int64_t> list;
  for (const BoundLaunch &each : launches) {
    list.push_back(each.programs);
  }
  return list;
}

Neighbourhood::Bound Neighbourhood::boundBy(const Schedule &schedule) const {
  const ChosenValues values = chosenBy(schedule);
  auto launches = bindLaunch(*one.table, one.symbols, one.site, values);
  if (!launches) {
    return {};
  }
  return {shownSchedule(one, *launches, values), std::move(*launches)};
}

void Neighbourhood::forms(const LaunchChoice &choice) {
  const int64_t rule = shown.get(choice.name, -1);
  for (const int64_t value : valuesOfForm(choice)) {
    if (value != rule) {
      propose(choice, value);
    }
  }
}

void Neighbourhood::steps(const LaunchChoice &choice) {
  const bool isOption = choice.kind == LaunchChoice::Kind::Option;
  int64_t value = shown.get(choice.name, -1);
  if (isOption && chip.isDevice && value < 0 && isTaken(choice)) {
    value = choice.name.ends_with("num_stages") ? usualStages : usualWarps;
  }
  if (value < 0 || (isOption && !chip.isDevice)) {
    return; // of a kernel that is not launched
  }
  const bool isCount = choice.name.ends_with("num_stages");
  const std::vector<int64_t> next = isCount ? std::vector<int64_t>{value + 1, value - 1}
                                            : std::vector<int64_t>{value * 2, value * 4, value / 2};
  for (int64_t each : next) {
    if (each >= choice.least && each <= choice.most && each > 0) {
      propose(choice, each);
    }
  }
}

bool Neighbourhood::isTaken(const LaunchChoice &choice) const {
  const std::string role = choice.name.substr(0, choice.name.find('.') + 1);
  return std::any_of(shown.constants.begin(), shown.constants.end(),
                     [&](const auto &each) { return each.first.starts_with(role); });
}

/// All others as they are, and with what the rules then say.
void Neighbourhood::propose(const LaunchChoice &choice, int64_t value) {
  propose(choice, value, boundBy(shown.choosing(choice.name, value)));
  propose(choice, value, boundBy(chosen.choosing(choice.name, value)));
}

void Neighbourhood::propose(const LaunchChoice &choice, int64_t value, Bound bound) {
  const Schedule &changed = bound.shown;
  // A block beyond its dimension changes nothing.
  const bool isNothing =
      changed.constants.empty() ||
      (bound.programs() == programs && withoutForms(changed) == withoutForms(shown));
  if (isNothing || std::find(tried.begin(), tried.end(), changed) != tried.end() ||
      std::any_of(changes.begin(), changes.end(),
                  [&](const ScheduleChange &each) { return each.schedule == changed; })) {
    return;
  }
  const auto figures = figuresOf(*one.table, bound.launches, extents, one.site);
  changes.push_back(
      {std::move(bound.shown), &choice, value, totalOf(figures, chip), costOf(figures, chip)});
}

/// The constants of launches alone.
Schedule Neighbourhood::withoutForms(Schedule schedule) const {
  std::erase_if(schedule.constants, [&](const auto &each) {
    return std::any_of(
        one.table->choices.begin(), one.table->choices.end(),
        [&](const LaunchChoice &choice) { return choice.name == each.first && isOfForms(choice); });
  });
  return schedule;
}

std::optional<Neighbour> Neighbourhood::weigh(const ScheduleChange &change,
                                              const Diagnosis &diagnosis) const {
  std::optional<Figure> most;
  double best = leastBetter;
  for (Figure figure : askedBy(diagnosis.bottleneck)) {
    const double now = better(figure, before, change.total);
    if (now > best) {
      best = now;
      most = figure;
    }
  }
  if (!most) {
    return std::nullopt; // not what the bottleneck asks for
  }
  const LaunchChoice &choice = *change.choice;
  const int64_t was = shown.get(choice.name, -1);
  Neighbour next;
  next.schedule = change.schedule;
  next.change = fmt::format("{} {} -> {}", choice.name,
                            was < 0 ? std::string("by rule") : std::to_string(was), change.value);
  next.key = fmt::format("{}={}", choice.name, change.value);
  next.from = was < 0 ? "" : fmt::format("{}={}", choice.name, was);
  next.reason = reasonOf(*most, before, change.total);
  next.expectedGain = std::min(expectedGain(cost, change.cost, diagnosis), mostGain(diagnosis));
  return next;
}

std::vector<Neighbour> Neighbourhood::all(const Diagnosis &diagnosis) const {
  std::vector<Neighbour> found;
  for (const ScheduleChange &each : changes) {
    if (auto next = weigh(each, diagnosis)) {
      found.push_back(std::move(*next));
    }
  }
  return found;
}

std::vector<Neighbour> Neighbourhood::of(const Diagnosis &diagnosis,
                                         const Patterns *patterns) const {
  std::vector<Neighbour> list = gaining(all(diagnosis));
  if (list.empty() && fractionOfLimit(diagnosis) < nearLimit) { // of what else the costs speak for
    Diagnosis any = diagnosis;
    any.bottleneck = Bottleneck::Unknown;
    list = gaining(all(any));
  }
  for (Neighbour &each : list) {
    const std::string role = roleOfChange(each.key);
    for (const Pattern *pattern : patterns
                                      ? patterns->lookup(role, sizesOf(one, role), one.dtype, chip)
                                      : std::vector<const Pattern *>()) {
      if (pattern->change == each.key && pattern->from == each.from) {
        each.expectedGain = pattern->gain;
        each.reason += fmt::format(" (gained {:.2f}x before)", pattern->gain);
        break;
      }
    }
  }
  return gaining(std::move(list)); // as patterns say
}

std::vector<Schedule> scheduleSpace(const ProgramCase &one, const Machine &chip) {
  const Schedule rule;
  std::vector<Schedule> space = {shownSchedule(one, rule)};
  const Diagnosis nothing; // asks for everything
  std::vector<Neighbour> first = Neighbourhood(one, rule, chip, {}).all(nothing);
  std::stable_sort(first.begin(), first.end(), [](const Neighbour &a, const Neighbour &b) {
    return a.expectedGain > b.expectedGain;
  });
  std::set<std::string> seen = {space.front().text()};
  auto add = [&](const Schedule &schedule) {
    if (seen.insert(schedule.text()).second) {
      space.push_back(schedule);
    }
  };
  for (const Neighbour &each : first) {
    add(each.schedule);
  }
  for (size_t i = 0; i < std::min(first.size(), mostExplored); ++i) {
    const Neighbour &each = first[i];
    for (const Neighbour &second : Neighbourhood(one, each.schedule, chip, {}).all(nothing)) {
      if (roleOfChange(second.key) == roleOfChange(each.key)) {
        add(second.schedule);
      }
    }
  }
  return space;
}

} // namespace nereid::generator
