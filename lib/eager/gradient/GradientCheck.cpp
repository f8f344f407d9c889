// SPDX-License-Identifier: Apache-2.0
// With L = sum of g * out for a random g: the derivative of L along a direction is what the
// gradient says of it.
#include "lib/eager/gradient/GradientCheck.h"

#include "lib/definition/cases/CaseGrid.h"
#include "lib/eager/baseline/Eager.h"
#include "lib/eager/reference/Reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace nereid::eager {
namespace {

using definition::Backward;
using definition::Operator;
using runtime::Tensor;

/// Relative steps; the smaller one where a condition changes its side within the larger.
constexpr double steps[] = {1e-3, 1e-5};
constexpr double mostError = 1e-5;
constexpr int elementsPerInput = 4;

/// The operator with conversions between floats as if float64 were all of them: a difference of
/// what was rounded is a rounding.
Operator withoutRounding(Operator op) {
  for (definition::Node &node : op.nodes) {
    const bool isConversion = node.op.starts_with("to_float") || node.op == "to_bfloat16";
    node.op = isConversion ? "to_float64" : node.op;
  }
  return op;
}

class Check {
public:
  Check(const Operator &op, const Backward &backward, runtime::ThreadPool &pool)
      : op(withoutRounding(op)), backward(backward), pool(pool) {
    this->backward.op = withoutRounding(backward.op);
  }

  Result<GradientCheck> run(const definition::Binding &binding, uint64_t seed) {
    definition::GridCase grid;
    grid.binding = binding;
    grid.seed = seed;
    auto made = definition::makeInputs(op, grid, DType::F64,
                                       [](const Operator &of, std::span<const Tensor> given) {
                                         return eager::runGraph(of, given, runtime::defaultPool());
                                       });
    if (!made) {
      return made.error();
    }
    for (const definition::LaidOut &each : *made) {
      inputs.push_back(isFloat(each.view.dtype()) ? each.view.to(DType::F64) : each.view);
    }
    auto outputs = values(op, inputs);
    if (!outputs) {
      return outputs.error();
    }
    for (size_t i = 0; i < outputs->size(); ++i) {
      factors.push_back(normalLike((*outputs)[i], seed + 1 + i));
      isDefined = isDefined && isFinite((*outputs)[i]);
      clearWhereNotFinite((*outputs)[i], factors.back());
    }
    auto found = gradients(*outputs);
    if (!found) {
      return found.error();
    }
    for (size_t i = 0; i < found->size() && result.failure.empty(); ++i) {
      if (Status done = compareInput(i, (*found)[i], seed); !done) {
        return done.error();
      }
    }
    return result;
  }

private:
  Result<std::vector<Tensor>> values(const Operator &of, std::span<const Tensor> in) {
    auto all = runReference(of, in, DType::F64, Rounding::OncePerResult, pool);
    if (!all) {
      return all.error();
    }
    std::vector<Tensor> list;
    for (ReferenceOutput &each : *all) {
      list.push_back(std::move(each.values));
    }
    return list;
  }

  static Tensor normalLike(const Tensor &tensor, uint64_t seed) {
    Tensor result = Tensor::empty(tensor.shape(), DType::F64);
    definition::fillData(result, {definition::DataKind::Normal}, seed, {});
    return result;
  }

  /// Where the operator is not defined, such as a root of negative numbers, nothing is compared.
  static void clearWhereNotFinite(const Tensor &where, const Tensor &of) {
    for (int64_t i = 0; i < of.elementCount(); ++i) {
      if (!std::isfinite(where.at(i))) {
        of.set(i, 0);
      }
    }
  }

  static bool isFinite(const Tensor &tensor) {
    for (int64_t i = 0; i < tensor.elementCount(); ++i) {
      if (!std::isfinite(tensor.at(i))) {
        return false;
      }
    }
    return true;
  }
  static bool hasFinite(const Tensor &tensor) {
    for (int64_t i = 0; i < tensor.elementCount(); ++i) {
      if (std::isfinite(tensor.at(i))) {
        return true;
      }
    }
    return false;
  }

  Result<std::vector<Tensor>> gradients(const std::vector<Tensor> &outputs) {
    using Kind = Backward::Source::Kind;
    std::vector<Tensor> in;
    for (const Backward::Source &source : backward.sources) {
      const auto index = static_cast<size_t>(source.index);
      const std::optional<DType> dtype = backward.op.parameters[in.size()].fixedDtype;
      const bool isOther = dtype && !isFloat(*dtype); // the reference has float64 alone
      in.push_back(source.kind == Kind::Gradient    ? factors[index]
                   : source.kind == Kind::Parameter ? inputs[index]
                   : isOther                        ? outputs[index].to(*dtype)
                                                    : outputs[index]);
    }
    return values(backward.op, in);
  }

  /// How much larger L is at `above` than at `below`. Elements that are the same cancel exactly,
  /// however large they are beside the others.
  double difference(const std::vector<Tensor> &above, const std::vector<Tensor> &below) const {
    double sum = 0;
    for (const Backward::Source &source : backward.sources) {
      if (source.kind != Backward::Source::Kind::Gradient) {
        continue;
      }
      const auto index = static_cast<size_t>(source.index);
      const Tensor &factor = factors[index];
      for (int64_t i = 0; i < factor.elementCount(); ++i) {
        sum += factor.at(i) == 0 ? 0 : factor.at(i) * (above[index].at(i) - below[index].at(i));
      }
    }
    return sum;
  }

  /// L's derivative along `direction` of the input, by central differences of two lengths.
  Result<double> slope(Tensor &input, const Tensor &direction, double step) {
    const Tensor here = input;
    double found[2] = {};
    for (int length = 0; length < 2; ++length) {
      const double h = length == 0 ? step : step / 2;
      std::vector<Tensor> ends[2];
      for (int side = 0; side < 2; ++side) {
        input = moved(here, direction, side == 0 ? h : -h);
        auto outputs = values(op, inputs);
        input = here;
        if (!outputs) {
          return outputs.error();
        }
        ends[side] = std::move(*outputs);
      }
      found[length] = difference(ends[0], ends[1]) / (2 * h);
    }
    return (4 * found[1] - found[0]) / 3;
  }

  static Tensor moved(const Tensor &from, const Tensor &direction, double by) {
    Tensor result = Tensor::empty(from.shape(), DType::F64);
    for (int64_t i = 0; i < from.elementCount(); ++i) {
      result.set(i, from.at(i) + by * direction.at(i));
    }
    return result;
  }

  Status compareInput(size_t output, const Tensor &gradient, uint64_t seed) {
    const auto number = static_cast<size_t>(backward.differentiated[output]);
    const int64_t count = inputs[number].elementCount();
    const std::string &name = op.parameters[number].name;
    if (count > 0 && isDefined && !hasFinite(gradient)) {
      result.failure = fmt::format("the gradient of '{}' has no finite element", name);
      return Done{};
    }
    for (int i = 0; i <= elementsPerInput && count > 0 && result.failure.empty(); ++i) {
      Tensor direction = normalLike(inputs[number], seed + 97 + output);
      std::string where = "along a random direction";
      if (i > 0) {
        const auto place =
            static_cast<int64_t>(definition::hashed(seed, i) % static_cast<uint64_t>(count));
        for (int64_t at = 0; at < count; ++at) {
          direction.set(at, at == place ? 1 : 0);
        }
        where = fmt::format("at element {}", place);
      }
      clearWhereNotFinite(gradient, direction);
      if (Status done = compare(number, gradient, direction, name, where); !done) {
        return done;
      }
    }
    return Done{};
  }

  Status compare(size_t number, const Tensor &gradient, const Tensor &direction,
                 const std::string &name, const std::string &where) {
    double claimed = 0, size = 0;
    bool isMoved = false;
    for (int64_t i = 0; i < gradient.elementCount(); ++i) {
      const double share = direction.at(i) == 0 ? 0 : gradient.at(i) * direction.at(i);
      isMoved |= direction.at(i) != 0;
      claimed += share;
      size += std::fabs(share);
    }
    if (!isMoved) {
      return Done{}; // the gradient is not finite here
    }
    double error = 0, measured = 0;
    for (double step : steps) {
      Result<double> found = slope(inputs[number], direction, step);
      if (!found) {
        return found.error();
      }
      measured = *found;
      const double scale = std::max({std::fabs(claimed), std::fabs(measured), 1e-3 * size, 1e-3});
      error = std::fabs(claimed - measured) / scale;
      if (error <= mostError) {
        break;
      }
    }
    ++result.compared;
    result.worstError = std::max(result.worstError, error);
    if (!(error <= mostError)) {
      result.failure = fmt::format("the gradient of '{}' {} is {:.9g}, but differences say {:.9g}",
                                   name, where, claimed, measured);
    }
    return Done{};
  }

  const Operator op;
  Backward backward;
  runtime::ThreadPool &pool;
  std::vector<Tensor> inputs, factors;
  bool isDefined = true; ///< no output has infinities or NaN
  GradientCheck result;
};

} // namespace

Result<GradientCheck> checkGradient(const Operator &op, const Backward &backward,
                                    const definition::Binding &binding, uint64_t seed,
                                    runtime::ThreadPool &pool) {
  return Check(op, backward, pool).run(binding, seed);
}

} // namespace nereid::eager
