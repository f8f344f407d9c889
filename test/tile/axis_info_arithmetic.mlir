// What sums, products, quotients and conversions keep of runs, divisors and ranges, for every
// argument: 32-bit numbers may wrap around.
// RUN: tile-opt %s --tile-print-axis-info --verify-diagnostics

func.func @a_block_of_rows(%n: i32, %aligned: i32 {tile.divisibility = 16 : i64}) {
  %c64 = arith.constant 64 : i32
  // expected-remark@below {{multiple = 1, range = [0, 2147483646]}}
  %pid = tile.program_id 0
  // A product may wrap: nothing is known of its sign, while it stays a multiple.
  // expected-remark@below {{multiple = 64}}
  %start = arith.muli %pid, %c64 : i32
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [0], first = [0], stride = [1], multiple = 1, range = [0, 63]}}
  %range = tile.make_range 0 to 64 : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [64], first = [64], stride = [0], multiple = 64}}
  %starts = tile.splat %start : i32 -> tensor<64xi32>
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [64], first = [64], stride = [1], multiple = 1}}
  %index = arith.addi %starts, %range : tensor<64xi32>
  // What begins anywhere counts up all the same.
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [1], first = [1], stride = [0], multiple = 1}}
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [1], first = [1], stride = [1], multiple = 1}}
  %shifted = arith.addi %ns, %range : tensor<64xi32>
  // Backwards, from 63 on.
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [1], first = [1], stride = [0], multiple = 1, range = [63, 63]}}
  %c63 = arith.constant dense<63> : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [1], first = [1], stride = [-1], multiple = 1, range = [0, 63]}}
  %backwards = arith.subi %c63, %range : tensor<64xi32>
  // An unknown stride, but one for the whole tile; its elements are multiples of 16.
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [16], first = [16], stride = [0], multiple = 16}}
  %strides = tile.splat %aligned : i32 -> tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [0], first = [0], stride = [?], multiple = 16}}
  %strided = arith.muli %range, %strides : tensor<64xi32>
  // A parabola has no stride.
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [1], first = [0], stride = [-], multiple = 1, range = [0, 3969]}}
  %square = arith.muli %range, %range : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [2], first = [2], stride = [0], multiple = 2, range = [2, 2]}}
  %two = arith.constant dense<2> : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [256], first = [256], stride = [4], multiple = 4}}
  %shift = arith.shli %index, %two : tensor<64xi32>
  return
}

func.func @division() {
  %c64 = arith.constant 64 : i32
  // expected-remark@below {{multiple = 1, range = [0, 2147483646]}}
  %pid = tile.program_id 0
  // expected-remark@below {{multiple = 64}}
  %start = arith.muli %pid, %c64 : i32
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [0], first = [0], stride = [1], multiple = 1, range = [0, 63]}}
  %range = tile.make_range 0 to 64 : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [64], first = [64], stride = [0], multiple = 64}}
  %starts = tile.splat %start : i32 -> tensor<64xi32>
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [64], first = [64], stride = [1], multiple = 1}}
  %index = arith.addi %starts, %range : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [4], first = [4], stride = [0], multiple = 4, range = [4, 4]}}
  %c4 = arith.constant dense<4> : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [4], first = [4], stride = [0], multiple = 4, range = [12, 12]}}
  %c12 = arith.constant dense<12> : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [128], first = [128], stride = [0], multiple = 128, range = [128, 128]}}
  %c128 = arith.constant dense<128> : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [4], divisibility = [1], first = [0], stride = [0 in 4], multiple = 1, range = [0, 15]}}
  %quotient = arith.divsi %range, %c4 : tensor<64xi32>
  // expected-remark@below {{contiguity = [4], constancy = [1], divisibility = [0], first = [0], stride = [1 in 4], multiple = 1, range = [0, 3]}}
  %remainder = arith.remsi %range, %c4 : tensor<64xi32>
  // 12 is a multiple of 4: no group of 4 that begins at a multiple of 4 crosses a multiple of 12.
  // expected-remark@below {{contiguity = [1], constancy = [4], divisibility = [1], first = [0], stride = [0 in 4], multiple = 1, range = [0, 5]}}
  %by_twelve = arith.divui %range, %c12 : tensor<64xi32>
  // expected-remark@below {{contiguity = [4], constancy = [1], divisibility = [4], first = [4], stride = [1 in 4], multiple = 1, range = [0, 11]}}
  %modulo_twelve = arith.remui %range, %c12 : tensor<64xi32>
  // -4 to -1 divided by 4 gives -1, 0, 0, 0, and the index may be negative: it may have wrapped.
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [1], first = [16], stride = [-], multiple = 1, range = [-536870912, 536870911]}}
  %signed = arith.divsi %index, %c4 : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [1], first = [0], stride = [-], multiple = 1, range = [-3, 3]}}
  %signed_remainder = arith.remsi %index, %c4 : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [4], divisibility = [1], first = [16], stride = [0 in 4], multiple = 1, range = [0, 1073741823]}}
  %unsigned = arith.divui %index, %c4 : tensor<64xi32>
  // expected-remark@below {{contiguity = [4], constancy = [1], divisibility = [0], first = [0], stride = [1 in 4], multiple = 1, range = [0, 3]}}
  %unsigned_remainder = arith.remui %index, %c4 : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [16], divisibility = [1], first = [4], stride = [0 in 16], multiple = 1, range = [-134217728, 134217727]}}
  %floor = arith.shrsi %index, %c4 : tensor<64xi32>
  // Steps of 8 divided by 4 are steps of 2.
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [8], first = [8], stride = [0], multiple = 8, range = [8, 8]}}
  %eight = arith.constant dense<8> : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [0], first = [0], stride = [8], multiple = 8, range = [0, 504]}}
  %steps = arith.muli %range, %eight : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [0], first = [0], stride = [2], multiple = 2, range = [0, 126]}}
  %halved = arith.divsi %steps, %c4 : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [0], first = [0], stride = [0], multiple = 0, range = [0, 0]}}
  %none = arith.remsi %steps, %c4 : tensor<64xi32>
  // Smaller than the divisor.
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [0], first = [0], stride = [1], multiple = 1, range = [0, 63]}}
  %same = arith.remsi %range, %c128 : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [0], first = [0], stride = [0], multiple = 0, range = [0, 0]}}
  %zero = arith.divsi %range, %c128 : tensor<64xi32>
  return
}

func.func @bits() {
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [0], first = [0], stride = [1], multiple = 1, range = [0, 63]}}
  %range = tile.make_range 0 to 64 : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [1], first = [1], stride = [0], multiple = 1, range = [15, 15]}}
  %c15 = arith.constant dense<15> : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [16], first = [16], stride = [0], multiple = 16, range = [-16, -16], unsigned = [4294967280, 4294967280]}}
  %cm16 = arith.constant dense<-16> : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [64], first = [64], stride = [0], multiple = 64, range = [64, 64]}}
  %c64 = arith.constant dense<64> : tensor<64xi32>
  // expected-remark@below {{contiguity = [16], constancy = [1], divisibility = [0], first = [0], stride = [1 in 16], multiple = 1, range = [0, 15]}}
  %low = arith.andi %range, %c15 : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [16], divisibility = [16], first = [0], stride = [0 in 16], multiple = 16, range = [0, 48]}}
  %high = arith.andi %cm16, %range : tensor<64xi32>
  // Bits that do not meet add up.
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [64], first = [64], stride = [1], multiple = 1, range = [64, 127]}}
  %both = arith.ori %c64, %range : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [1], first = [1], stride = [-], multiple = 1, range = [15, 63]}}
  %mixed = arith.ori %c15, %range : tensor<64xi32>
  return
}

// Widening asks for the numbers as such.
func.func @widening(%n: i32, %byte: i8) {
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [0], first = [0], stride = [1], multiple = 1, range = [0, 63]}}
  %range = tile.make_range 0 to 64 : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [1], first = [1], stride = [0], multiple = 1}}
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  // n + 63 may have wrapped, so that there is a step of 1 - 2^32 somewhere.
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [1], first = [1], stride = [1], multiple = 1}}
  %anywhere = arith.addi %ns, %range : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [1], first = [1], stride = [-], multiple = 1}}
  %lost = arith.extsi %anywhere : tensor<64xi32> to tensor<64xi64>
  // A block of 64 that begins at a multiple of 64 does not cross the end of the type.
  %c64 = arith.constant 64 : i32
  // expected-remark@below {{multiple = 64}}
  %block = arith.muli %n, %c64 : i32
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [64], first = [64], stride = [0], multiple = 64}}
  %starts = tile.splat %block : i32 -> tensor<64xi32>
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [64], first = [64], stride = [1], multiple = 1}}
  %index = arith.addi %starts, %range : tensor<64xi32>
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [64], first = [64], stride = [1], multiple = 1}}
  %kept = arith.extsi %index : tensor<64xi32> to tensor<64xi64>
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [64], first = [64], stride = [1], multiple = 1}}
  %unsigned = arith.extui %index : tensor<64xi32> to tensor<64xi64>
  // From multiples of 16 on: runs of 16 do not.
  %c16 = arith.constant 16 : i32
  // expected-remark@below {{multiple = 16}}
  %sixteens = arith.muli %n, %c16 : i32
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [16], first = [16], stride = [0], multiple = 16}}
  %s16 = tile.splat %sixteens : i32 -> tensor<64xi32>
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [16], first = [16], stride = [1], multiple = 1}}
  %from16 = arith.addi %s16, %range : tensor<64xi32>
  // expected-remark@below {{contiguity = [16], constancy = [1], divisibility = [16], first = [16], stride = [1 in 16], multiple = 1}}
  %runs = arith.extsi %from16 : tensor<64xi32> to tensor<64xi64>
  // 256 numbers of 8 bits count up and wrap at 128, as signed numbers.
  // expected-remark@below {{contiguity = [256], constancy = [1], divisibility = [0], first = [0], stride = [1], multiple = 1, range = [0, 255]}}
  %wide = tile.make_range 0 to 256 : tensor<256xi32>
  // expected-remark@below {{contiguity = [256], constancy = [1], divisibility = [0], first = [0], stride = [1], multiple = 1}}
  %bytes = arith.trunci %wide : tensor<256xi32> to tensor<256xi8>
  // expected-remark@below {{contiguity = [128], constancy = [1], divisibility = [128], first = [0], stride = [1 in 128], multiple = 1}}
  %signed_bytes = arith.extsi %bytes : tensor<256xi8> to tensor<256xi32>
  // expected-remark@below {{contiguity = [256], constancy = [1], divisibility = [0], first = [0], stride = [1], multiple = 1}}
  %unsigned_bytes = arith.extui %bytes : tensor<256xi8> to tensor<256xi32>
  // 0 to 63 plus an unknown byte.
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [0], first = [0], stride = [1], multiple = 1}}
  %few = arith.trunci %range : tensor<64xi32> to tensor<64xi8>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [1], first = [1], stride = [0], multiple = 1}}
  %b = tile.splat %byte : i8 -> tensor<64xi8>
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [1], first = [1], stride = [1], multiple = 1}}
  %sum = arith.addi %b, %few : tensor<64xi8>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [1], first = [1], stride = [-], multiple = 1}}
  %wrapped = arith.extui %sum : tensor<64xi8> to tensor<64xi32>
  return
}

func.func @addresses(%p: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %n: i32) {
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [0], first = [0], stride = [1], multiple = 1, range = [0, 63]}}
  %range = tile.make_range 0 to 64 : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [16], first = [16], stride = [0], multiple = 16}}
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  // Divisors are counted in bytes, strides in elements.
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [16], first = [16], stride = [1], multiple = 4}}
  %row = tile.addptr %ps, %range : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [16], first = [16], stride = [4], multiple = 4}}
  %numbers = tile.ptr_to_int %row : tensor<64x!tile.ptr<f32>> -> tensor<64xi64>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [16], first = [16], stride = [2], multiple = 4}}
  %halves = tile.ptr_cast %row : tensor<64x!tile.ptr<f32>> -> tensor<64x!tile.ptr<f16>>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [16], first = [16], stride = [?], multiple = 4}}
  %doubles = tile.ptr_cast %row : tensor<64x!tile.ptr<f32>> -> tensor<64x!tile.ptr<f64>>
  // An offset that may have wrapped.
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [1], first = [1], stride = [0], multiple = 1}}
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [1], first = [1], stride = [1], multiple = 1}}
  %offset = arith.addi %ns, %range : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [4], first = [4], stride = [-], multiple = 4}}
  %anywhere = tile.addptr %ps, %offset : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  // 64-bit offsets wrap where addresses do.
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [0], first = [0], stride = [1], multiple = 1}}
  %wide = arith.extsi %range : tensor<64xi32> to tensor<64xi64>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [1], first = [1], stride = [0], multiple = 1}}
  %n64 = arith.extsi %ns : tensor<64xi32> to tensor<64xi64>
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [1], first = [1], stride = [1], multiple = 1}}
  %offset64 = arith.addi %n64, %wide : tensor<64xi64>
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [4], first = [4], stride = [1], multiple = 4}}
  %counting = tile.addptr %ps, %offset64 : tensor<64x!tile.ptr<f32>>, tensor<64xi64>
  return
}
