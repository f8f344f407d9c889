// Masks, selections and the hints of the language.
// RUN: tile-opt %s --tile-print-axis-info --verify-diagnostics

func.func @masks(%n: i32, %aligned: i32 {tile.divisibility = 16 : i64}) {
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [0], first = [0], stride = [1], multiple = 1, range = [0, 63]}}
  %range = tile.make_range 0 to 64 : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [1], first = [1], stride = [0], multiple = 1}}
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [16], first = [16], stride = [0], multiple = 16}}
  %as = tile.splat %aligned : i32 -> tensor<64xi32>
  // Below a multiple of 16 are 16 neighbours or none; also where the limit stands in front.
  // expected-remark@below {{contiguity = [1], constancy = [16], divisibility = [1], first = [1], stride = [0 in 16], multiple = 1}}
  %below = arith.cmpi slt, %range, %as : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [16], divisibility = [1], first = [1], stride = [0 in 16], multiple = 1}}
  %above = arith.cmpi ugt, %as, %range : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [16], divisibility = [1], first = [1], stride = [0 in 16], multiple = 1}}
  %from = arith.cmpi sge, %range, %as : tensor<64xi32>
  // Not so below its neighbour.
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [1], first = [1], stride = [-], multiple = 1}}
  %up_to = arith.cmpi sle, %range, %as : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [1], first = [1], stride = [-], multiple = 1}}
  %anywhere = arith.cmpi slt, %range, %ns : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [1], first = [1], stride = [-], multiple = 1}}
  %equal = arith.cmpi eq, %range, %as : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [16], divisibility = [1], first = [1], stride = [0 in 16], multiple = 1}}
  %both = arith.andi %below, %from : tensor<64xi1>
  // Known beforehand.
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [64], first = [64], stride = [0], multiple = 64, range = [64, 64]}}
  %c64 = arith.constant dense<64> : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [1], first = [1], stride = [0], multiple = 1, range = [-1, -1], unsigned = [1, 1]}}
  %all = arith.cmpi slt, %range, %c64 : tensor<64xi32>
  return
}

// 0 to 127 are not below zero, and the other half, -128 to -1, is.
func.func @signs_of_bytes() {
  // expected-remark@below {{contiguity = [256], constancy = [1], divisibility = [0], first = [0], stride = [1], multiple = 1, range = [0, 255]}}
  %range = tile.make_range 0 to 256 : tensor<256xi32>
  // expected-remark@below {{contiguity = [256], constancy = [1], divisibility = [0], first = [0], stride = [1], multiple = 1}}
  %bytes = arith.trunci %range : tensor<256xi32> to tensor<256xi8>
  // expected-remark@below {{contiguity = [1], constancy = [256], divisibility = [0], first = [0], stride = [0], multiple = 0, range = [0, 0]}}
  %zeros = arith.constant dense<0> : tensor<256xi8>
  // expected-remark@below {{contiguity = [1], constancy = [128], divisibility = [1], first = [1], stride = [0 in 128], multiple = 1}}
  %negative = arith.cmpi slt, %bytes, %zeros : tensor<256xi8>
  return
}

func.func @selections(%condition: i1, %aligned: i32 {tile.divisibility = 16 : i64}) {
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [0], first = [0], stride = [1], multiple = 1, range = [0, 63]}}
  %range = tile.make_range 0 to 64 : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [16], first = [16], stride = [0], multiple = 16}}
  %as = tile.splat %aligned : i32 -> tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [16], first = [16], stride = [0], multiple = 16, range = [16, 16]}}
  %c16 = arith.constant dense<16> : tensor<64xi32>
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [16], first = [16], stride = [1], multiple = 1, range = [16, 79]}}
  %moved = arith.addi %range, %c16 : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [16], divisibility = [1], first = [1], stride = [0 in 16], multiple = 1}}
  %below = arith.cmpi slt, %range, %as : tensor<64xi32>
  // expected-remark@below {{contiguity = [16], constancy = [1], divisibility = [16], first = [16], stride = [1 in 16], multiple = 1, range = [0, 79]}}
  %either = arith.select %below, %range, %moved : tensor<64xi1>, tensor<64xi32>
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [16], first = [16], stride = [1], multiple = 1, range = [0, 79]}}
  %whole = arith.select %condition, %range, %moved : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [16], first = [16], stride = [?], multiple = 1, range = [0, 63]}}
  %other = arith.select %condition, %range, %c16 : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [1], first = [16], stride = [-], multiple = 1, range = [-2147483648, 63]}}
  %smaller = arith.minsi %range, %as : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [1], first = [16], stride = [-], multiple = 1, range = [0, 16]}}
  %first = arith.minsi %range, %c16 : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [4], first = [4], stride = [0], multiple = 4, range = [100, 100]}}
  %c100 = arith.constant dense<100> : tensor<64xi32>
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [0], first = [0], stride = [1], multiple = 1, range = [0, 63]}}
  %same = arith.minui %range, %c100 : tensor<64xi32>
  return
}

// tl.max_contiguous(tl.multiple_of(i % n, 16), 16) and the like.
func.func @hints(%n: i32, %m: i32) {
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [0], first = [0], stride = [1], multiple = 1, range = [0, 63]}}
  %range = tile.make_range 0 to 64 : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [1], first = [1], stride = [0], multiple = 1}}
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  // expected-remark@below {{contiguity = [16], constancy = [1], divisibility = [16], first = [16], stride = [1 in 16], multiple = 1}}
  %wrapped = arith.remsi %range, %ns {tile.contiguity = array<i64: 16>, tile.divisibility = array<i64: 16>} : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [1], first = [1], stride = [0], multiple = 1}}
  %ms = tile.splat %m : i32 -> tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [8], divisibility = [1], first = [1], stride = [0 in 8], multiple = 1}}
  %groups = arith.divsi %range, %ms {tile.constancy = array<i64: 8>} : tensor<64xi32>
  // Of what counts up along the whole tile the first element is meant.
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [8], first = [8], stride = [1], multiple = 1}}
  %sum = arith.addi %range, %ns {tile.divisibility = array<i64: 8>} : tensor<64xi32>
  // expected-remark@below {{multiple = 8}}
  %scalar = arith.addi %n, %m {tile.divisibility = array<i64: 24>} : i32
  // A hint that contradicts what is known is passed over.
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [0], first = [0], stride = [2], multiple = 2, range = [0, 126]}}
  %doubled = arith.addi %range, %range {tile.contiguity = array<i64: 64>} : tensor<64xi32>
  return
}
