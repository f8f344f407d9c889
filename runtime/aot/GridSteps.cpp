// SPDX-License-Identifier: Apache-2.0
#include "runtime/aot/GridSteps.h"

namespace nereid::aot {
namespace {

constexpr const char *overflow = "a number that does not fit in 64 bits";
constexpr const char *zeroDivisor = "a division by zero";

/// b is not 0.
const char *floorDivide(int64_t a, int64_t b, int64_t &out) {
  if (b == -1) {
    return __builtin_sub_overflow(int64_t{0}, a, &out) ? overflow : nullptr;
  }
  out = a / b - (a % b != 0 && (a < 0) != (b < 0));
  return nullptr;
}

const char *power(int64_t base, int64_t exponent, int64_t &out) {
  if (exponent < 0) {
    return "a power with a negative exponent";
  }
  out = 1;
  if (base == 0 || base == 1 || base == -1) { // the only ones whose large powers fit
    out = exponent == 0 || base == 1 ? 1 : base == 0 ? 0 : exponent % 2 ? -1 : 1;
    return nullptr;
  }
  for (; exponent > 0; --exponent) {
    if (__builtin_mul_overflow(out, base, &out)) {
      return overflow;
    }
  }
  return nullptr;
}

const char *shift(StepKind kind, int64_t a, int64_t b, int64_t &out) {
  if (b < 0) {
    return "a shift by a negative count";
  }
  if (kind == StepKind::ShiftRight) {
    out = a >> (b > 63 ? 63 : b);
    return nullptr;
  }
  if (a == 0) {
    out = 0;
    return nullptr;
  }
  return b >= 63 || __builtin_mul_overflow(a, int64_t{1} << b, &out) ? overflow : nullptr;
}

const char *applyBinary(StepKind kind, int64_t a, int64_t b, int64_t &out) {
  switch (kind) {
  case StepKind::Add:
    return __builtin_add_overflow(a, b, &out) ? overflow : nullptr;
  case StepKind::Subtract:
    return __builtin_sub_overflow(a, b, &out) ? overflow : nullptr;
  case StepKind::Multiply:
    return __builtin_mul_overflow(a, b, &out) ? overflow : nullptr;
  case StepKind::FloorDivide:
    return b == 0 ? zeroDivisor : floorDivide(a, b, out);
  case StepKind::Remainder:
    if (b == 0) {
      return zeroDivisor;
    }
    out = b == -1 ? 0 : a % b;
    out += out != 0 && (out < 0) != (b < 0) ? b : 0;
    return nullptr;
  case StepKind::CeilDivide: {
    int64_t down = 0;
    if (b == 0) {
      return zeroDivisor;
    }
    if (const char *problem = floorDivide(a, b, down)) {
      return problem;
    }
    out = down + (b != -1 && a % b != 0);
    return nullptr;
  }
  case StepKind::Power:
    return power(a, b, out);
  case StepKind::ShiftLeft:
  case StepKind::ShiftRight:
    return shift(kind, a, b, out);
  case StepKind::BitAnd:
    out = a & b;
    return nullptr;
  case StepKind::BitOr:
    out = a | b;
    return nullptr;
  case StepKind::BitXor:
    out = a ^ b;
    return nullptr;
  case StepKind::Less:
    out = a < b;
    return nullptr;
  case StepKind::LessEqual:
    out = a <= b;
    return nullptr;
  case StepKind::Equal:
    out = a == b;
    return nullptr;
  case StepKind::NotEqual:
    out = a != b;
    return nullptr;
  case StepKind::Minimum:
    out = a < b ? a : b;
    return nullptr;
  default: // Maximum
    out = a > b ? a : b;
    return nullptr;
  }
}

const char *applyUnary(StepKind kind, int64_t &value) {
  switch (kind) {
  case StepKind::Absolute:
    if (value >= 0) {
      return nullptr;
    }
    [[fallthrough]];
  case StepKind::Negate:
    return __builtin_sub_overflow(int64_t{0}, value, &value) ? overflow : nullptr;
  case StepKind::Invert:
    value = ~value;
    return nullptr;
  case StepKind::Not:
    value = value == 0;
    return nullptr;
  default: { // NextPowerOfTwo
    if (value < 0 || value > int64_t{1} << 62) {
      return "next_power_of_2 of a number outside of 0 to 2^62";
    }
    int64_t power = 1;
    while (power < value) {
      power *= 2;
    }
    value = value == 0 ? 0 : power;
    return nullptr;
  }
  }
}

} // namespace

const char *runGridSteps(const Step *steps, int64_t count, const uint64_t *slots, int64_t grid[3]) {
  int64_t stack[gridStackLimit];
  int64_t *behind = stack; // the last number is before it
  for (int64_t i = 0; i < count; ++i) {
    const Step &step = steps[i];
    const char *problem = nullptr;
    switch (step.kind) {
    case StepKind::Constant:
      *behind++ = step.value;
      break;
    case StepKind::Slot:
      *behind++ = static_cast<int64_t>(slots[step.value]);
      break;
    case StepKind::Drop:
      --behind;
      break;
    case StepKind::Jump:
      i += step.value;
      break;
    case StepKind::JumpIfZero:
      i += *--behind == 0 ? step.value : 0;
      break;
    case StepKind::JumpIfZeroKeep:
      i += behind[-1] == 0 ? step.value : 0;
      break;
    case StepKind::JumpIfOtherKeep:
      i += behind[-1] != 0 ? step.value : 0;
      break;
    case StepKind::Negate:
    case StepKind::Invert:
    case StepKind::Not:
    case StepKind::Absolute:
    case StepKind::NextPowerOfTwo:
      problem = applyUnary(step.kind, behind[-1]);
      break;
    default:
      --behind;
      problem = applyBinary(step.kind, behind[-1], behind[0], behind[-1]);
      break;
    }
    if (problem) {
      return problem;
    }
  }
  for (int axis = 0; axis < 3; ++axis) {
    grid[axis] = stack[axis];
  }
  return nullptr;
}

} // namespace nereid::aot
