// Quotients and remainders by a number of which only a power of two is known that divides it.
// RUN: tile-opt %s --tile-print-axis-info-without-wrapping --verify-diagnostics

func.func @by_a_multiple_of_16(%d: i32 {tile.divisibility = 16 : i64}, %n: i32) {
  %c64 = arith.constant 64 : i32
  // expected-remark@below {{multiple = 1, range = [0, 2147483646]}}
  %pid = tile.program_id 0
  // expected-remark@below {{multiple = 64, range = [0, 2147483647]}}
  %start = arith.muli %pid, %c64 : i32
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [0], first = [0], stride = [1], multiple = 1, range = [0, 63]}}
  %range = tile.make_range 0 to 64 : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [64], first = [64], stride = [0], multiple = 64, range = [0, 2147483647]}}
  %starts = tile.splat %start : i32 -> tensor<64xi32>
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [64], first = [64], stride = [1], multiple = 1, range = [0, 2147483647]}}
  %index = arith.addi %starts, %range : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [16], first = [16], stride = [0], multiple = 16}}
  %divisor = tile.splat %d : i32 -> tensor<64xi32>
  // 16 numbers lie between two multiples of 16: one quotient, and remainders that count up.
  // expected-remark@below {{contiguity = [1], constancy = [16], divisibility = [1], first = [1], stride = [0 in 16], multiple = 1}}
  %quotient = arith.divsi %index, %divisor : tensor<64xi32>
  // expected-remark@below {{contiguity = [16], constancy = [1], divisibility = [16], first = [16], stride = [1 in 16], multiple = 1}}
  %remainder = arith.remsi %index, %divisor : tensor<64xi32>
  // Rounded down, by a number that may be negative: only multiples have the quotient's magnitude.
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [1], first = [1], stride = [-], multiple = 1}}
  %floor = arith.floordivsi %index, %divisor : tensor<64xi32>
  // Widened, they still are not negative.
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [64], first = [64], stride = [1], multiple = 1, range = [0, 2147483647]}}
  %wide = arith.extsi %index : tensor<64xi32> to tensor<64xi64>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [16], first = [16], stride = [0], multiple = 16, range = [-2147483648, 2147483647]}}
  %wideDivisor = arith.extsi %divisor : tensor<64xi32> to tensor<64xi64>
  // expected-remark@below {{contiguity = [16], constancy = [1], divisibility = [16], first = [16], stride = [1 in 16], multiple = 1}}
  %wideRemainder = arith.remsi %wide, %wideDivisor : tensor<64xi64>
  // Below zero rounding towards it parts -16 from -15.
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [1], first = [1], stride = [0], multiple = 1}}
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [16], first = [16], stride = [0], multiple = 16, range = [16, 16]}}
  %sixteen = arith.constant dense<16> : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [16], first = [16], stride = [0], multiple = 16}}
  %multiples = arith.muli %ns, %sixteen : tensor<64xi32>
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [16], first = [16], stride = [1], multiple = 1}}
  %anywhere = arith.addi %multiples, %range : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [1], first = [1], stride = [-], multiple = 1}}
  %towardsZero = arith.divsi %anywhere, %divisor : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [1], first = [16], stride = [-], multiple = 1}}
  %rest = arith.remsi %anywhere, %divisor : tensor<64xi32>
  // Unsigned numbers have nothing below zero.
  // expected-remark@below {{contiguity = [1], constancy = [16], divisibility = [1], first = [1], stride = [0 in 16], multiple = 1}}
  %unsigned = arith.divui %anywhere, %divisor : tensor<64xi32>
  // expected-remark@below {{contiguity = [16], constancy = [1], divisibility = [16], first = [16], stride = [1 in 16], multiple = 1}}
  %unsignedRest = arith.remui %anywhere, %divisor : tensor<64xi32>
  // A divisor that changes within the run.
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [0], first = [0], stride = [16], multiple = 16, range = [0, 1008]}}
  %strides = arith.muli %range, %sixteen : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [1], first = [16], stride = [-], multiple = 1}}
  %changing = arith.remsi %index, %strides : tensor<64xi32>
  return
}
