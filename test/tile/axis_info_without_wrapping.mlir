// The same rules for kernels whose 32-bit sums and products stay in their type.
// RUN: tile-opt %s --tile-print-axis-info-without-wrapping --verify-diagnostics

func.func @a_block_of_rows(%n: i32) {
  %c48 = arith.constant 48 : i32
  // expected-remark@below {{multiple = 1, range = [0, 2147483646]}}
  %pid = tile.program_id 0
  // expected-remark@below {{multiple = 16, range = [0, 2147483647]}}
  %start = arith.muli %pid, %c48 : i32
  // expected-remark@below {{contiguity = [48], constancy = [1], divisibility = [0], first = [0], stride = [1], multiple = 1, range = [0, 47]}}
  %range = tile.make_range 0 to 48 : tensor<48xi32>
  // expected-remark@below {{contiguity = [1], constancy = [48], divisibility = [16], first = [16], stride = [0], multiple = 16, range = [0, 2147483647]}}
  %starts = tile.splat %start : i32 -> tensor<48xi32>
  // Not negative, as its terms are not.
  // expected-remark@below {{contiguity = [48], constancy = [1], divisibility = [16], first = [16], stride = [1], multiple = 1, range = [0, 2147483647]}}
  %index = arith.addi %starts, %range : tensor<48xi32>
  // expected-remark@below {{contiguity = [1], constancy = [48], divisibility = [4], first = [4], stride = [0], multiple = 4, range = [4, 4]}}
  %c4 = arith.constant dense<4> : tensor<48xi32>
  // expected-remark@below {{contiguity = [1], constancy = [4], divisibility = [1], first = [4], stride = [0 in 4], multiple = 1, range = [0, 536870911]}}
  %quotient = arith.divsi %index, %c4 : tensor<48xi32>
  // expected-remark@below {{contiguity = [4], constancy = [1], divisibility = [0], first = [0], stride = [1 in 4], multiple = 1, range = [0, 3]}}
  %remainder = arith.remsi %index, %c4 : tensor<48xi32>
  // Widened they still count up, also from below zero on; as unsigned numbers they would not.
  // expected-remark@below {{contiguity = [1], constancy = [48], divisibility = [1], first = [1], stride = [0], multiple = 1}}
  %ns = tile.splat %n : i32 -> tensor<48xi32>
  // expected-remark@below {{contiguity = [48], constancy = [1], divisibility = [1], first = [1], stride = [1], multiple = 1}}
  %anywhere = arith.addi %ns, %range : tensor<48xi32>
  // expected-remark@below {{contiguity = [48], constancy = [1], divisibility = [1], first = [1], stride = [1], multiple = 1}}
  %wide = arith.extsi %anywhere : tensor<48xi32> to tensor<48xi64>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [1], first = [1], stride = [-], multiple = 1}}
  %unsigned = arith.extui %anywhere : tensor<48xi32> to tensor<48xi64>
  // Integers of 8 and 16 bits wrap all the same.
  // expected-remark@below {{contiguity = [48], constancy = [1], divisibility = [1], first = [1], stride = [1], multiple = 1}}
  %narrow = arith.trunci %anywhere : tensor<48xi32> to tensor<48xi16>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [1], first = [1], stride = [2], multiple = 1}}
  %sum = arith.addi %narrow, %narrow : tensor<48xi16>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [1], first = [1], stride = [-], multiple = 1}}
  %lost = arith.extsi %sum : tensor<48xi16> to tensor<48xi32>
  return
}

func.func @grows_in_a_loop(%n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [0], first = [0], stride = [1], multiple = 1, range = [0, 63]}}
  %range = tile.make_range 0 to 64 : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [64], first = [64], stride = [0], multiple = 64, range = [64, 64]}}
  %block = arith.constant dense<64> : tensor<64xi32>
  // expected-remark@below {{result 0: contiguity = [64], constancy = [1], divisibility = [64], first = [64], stride = [1], multiple = 1, range = [0, 2147483647]}}
  // expected-remark@below {{argument 0: multiple = 1, range = [0, 2147483646]}}
  // expected-remark@below {{argument 1: contiguity = [64], constancy = [1], divisibility = [64], first = [64], stride = [1], multiple = 1, range = [0, 2147483647]}}
  %r = scf.for %i = %zero to %n step %one iter_args(%index = %range) -> (tensor<64xi32>) : i32 {
    // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [64], first = [64], stride = [1], multiple = 1, range = [64, 2147483647]}}
    %next = arith.addi %index, %block : tensor<64xi32>
    scf.yield %next : tensor<64xi32>
  }
  return
}
