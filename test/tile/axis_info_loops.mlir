// Loops and branches: what holds in every round, and whichever way was taken.
// RUN: tile-opt %s --tile-print-axis-info --verify-diagnostics

// An index that grows by a block per round, and the address with it.
func.func @inductions(%p: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %n: i32) {
  %zero = arith.constant 0 : i32
  %step = arith.constant 64 : i32
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [0], first = [0], stride = [1], multiple = 1, range = [0, 63]}}
  %range = tile.make_range 0 to 64 : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [16], first = [16], stride = [0], multiple = 16}}
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [16], first = [16], stride = [1], multiple = 4}}
  %row = tile.addptr %ps, %range : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  // expected-remark@below {{contiguity = [1], constancy = [64], divisibility = [64], first = [64], stride = [0], multiple = 64, range = [64, 64]}}
  %block = arith.constant dense<64> : tensor<64xi32>
  // expected-remark@below {{result 0: contiguity = [64], constancy = [1], divisibility = [64], first = [64], stride = [1], multiple = 1}}
  // expected-remark@below {{result 1: contiguity = [64], constancy = [1], divisibility = [16], first = [16], stride = [1], multiple = 4}}
  // expected-remark@below {{argument 0: multiple = 64, range = [0, 2147483646]}}
  // expected-remark@below {{argument 1: contiguity = [64], constancy = [1], divisibility = [64], first = [64], stride = [1], multiple = 1}}
  // expected-remark@below {{argument 2: contiguity = [64], constancy = [1], divisibility = [16], first = [16], stride = [1], multiple = 4}}
  %r:2 = scf.for %i = %zero to %n step %step iter_args(%index = %range, %address = %row) -> (tensor<64xi32>, tensor<64x!tile.ptr<f32>>) : i32 {
    // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [64], first = [64], stride = [1], multiple = 1}}
    %next = arith.addi %index, %block : tensor<64xi32>
    // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [16], first = [16], stride = [1], multiple = 4}}
    %following = tile.addptr %address, %block : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    scf.yield %next, %following : tensor<64xi32>, tensor<64x!tile.ptr<f32>>
  }
  return
}

// Three tiles that depend on each other. They stay multiples of the range, but each round has other
// strides: equal ones would be wrong from the third round on.
func.func @carried_tiles(%n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // expected-remark@below {{contiguity = [16], constancy = [1], divisibility = [0], first = [0], stride = [1], multiple = 1, range = [0, 15]}}
  %range = tile.make_range 0 to 16 : tensor<16xi32>
  // expected-remark@below {{contiguity = [1], constancy = [16], divisibility = [0], first = [0], stride = [0], multiple = 0, range = [0, 0]}}
  %zeros = arith.constant dense<0> : tensor<16xi32>
  // expected-remark@below {{result 0: contiguity = [1], constancy = [1], divisibility = [0], first = [0], stride = [?], multiple = 1}}
  // expected-remark@below {{result 1: contiguity = [1], constancy = [1], divisibility = [0], first = [0], stride = [?], multiple = 1}}
  // expected-remark@below {{result 2: contiguity = [1], constancy = [1], divisibility = [0], first = [0], stride = [?], multiple = 1}}
  // expected-remark@below {{argument 0: multiple = 1, range = [0, 2147483646]}}
  // expected-remark@below {{argument 1: contiguity = [1], constancy = [1], divisibility = [0], first = [0], stride = [?], multiple = 1}}
  // expected-remark@below {{argument 2: contiguity = [1], constancy = [1], divisibility = [0], first = [0], stride = [?], multiple = 1}}
  // expected-remark@below {{argument 3: contiguity = [1], constancy = [1], divisibility = [0], first = [0], stride = [?], multiple = 1}}
  %r:3 = scf.for %i = %zero to %n step %one iter_args(%a = %zeros, %b = %zeros, %c = %zeros) -> (tensor<16xi32>, tensor<16xi32>, tensor<16xi32>) : i32 {
    // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [0], first = [0], stride = [?], multiple = 1}}
    %next_a = arith.addi %a, %b : tensor<16xi32>
    // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [0], first = [0], stride = [?], multiple = 1}}
    %next_b = arith.addi %b, %c : tensor<16xi32>
    // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [0], first = [0], stride = [?], multiple = 1}}
    %next_c = arith.addi %c, %range : tensor<16xi32>
    scf.yield %next_a, %next_b, %next_c : tensor<16xi32>, tensor<16xi32>, tensor<16xi32>
  }
  return
}

// The same with squares: what %c adds takes the stride from %b a round later, and then from %a.
func.func @a_chain_that_ends_in_squares(%n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // expected-remark@below {{contiguity = [16], constancy = [1], divisibility = [0], first = [0], stride = [1], multiple = 1, range = [0, 15]}}
  %range = tile.make_range 0 to 16 : tensor<16xi32>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [1], first = [0], stride = [-], multiple = 1, range = [0, 225]}}
  %squares = arith.muli %range, %range : tensor<16xi32>
  // expected-remark@below {{contiguity = [1], constancy = [16], divisibility = [4], first = [4], stride = [0], multiple = 4, range = [4, 4]}}
  %fours = arith.constant dense<4> : tensor<16xi32>
  // expected-remark@below {{result 0: contiguity = [1], constancy = [1], divisibility = [1], first = [4], stride = [-], multiple = 1}}
  // expected-remark@below {{result 1: contiguity = [1], constancy = [1], divisibility = [1], first = [4], stride = [-], multiple = 1}}
  // expected-remark@below {{result 2: contiguity = [1], constancy = [1], divisibility = [1], first = [4], stride = [-], multiple = 1}}
  // expected-remark@below {{argument 0: multiple = 1, range = [0, 2147483646]}}
  // expected-remark@below {{argument 1: contiguity = [1], constancy = [1], divisibility = [1], first = [4], stride = [-], multiple = 1}}
  // expected-remark@below {{argument 2: contiguity = [1], constancy = [1], divisibility = [1], first = [4], stride = [-], multiple = 1}}
  // expected-remark@below {{argument 3: contiguity = [1], constancy = [1], divisibility = [1], first = [4], stride = [-], multiple = 1}}
  %r:3 = scf.for %i = %zero to %n step %one iter_args(%a = %fours, %b = %fours, %c = %fours) -> (tensor<16xi32>, tensor<16xi32>, tensor<16xi32>) : i32 {
    // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [1], first = [4], stride = [-], multiple = 1}}
    %next_a = arith.addi %a, %b : tensor<16xi32>
    // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [1], first = [4], stride = [-], multiple = 1}}
    %next_b = arith.addi %b, %c : tensor<16xi32>
    // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [1], first = [4], stride = [-], multiple = 1}}
    %next_c = arith.addi %c, %squares : tensor<16xi32>
    scf.yield %next_a, %next_b, %next_c : tensor<16xi32>, tensor<16xi32>, tensor<16xi32>
  }
  return
}

// Numbers that change places, and one that is halved: divisors shrink to what all rounds have.
func.func @exchanged(%n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %c48 = arith.constant 48 : i32
  %c64 = arith.constant 64 : i32
  // expected-remark@below {{result 0: multiple = 16, range = [48, 64]}}
  // expected-remark@below {{result 1: multiple = 16, range = [48, 64]}}
  // expected-remark@below {{result 2: multiple = 1, range = [0, 64]}}
  // expected-remark@below {{argument 0: multiple = 1, range = [0, 2147483646]}}
  // expected-remark@below {{argument 1: multiple = 16, range = [48, 64]}}
  // expected-remark@below {{argument 2: multiple = 16, range = [48, 64]}}
  // expected-remark@below {{argument 3: multiple = 1, range = [0, 64]}}
  %r:3 = scf.for %i = %zero to %n step %one iter_args(%a = %c48, %b = %c64, %h = %c64) -> (i32, i32, i32) : i32 {
    // expected-remark@below {{multiple = 1, range = [0, 32]}}
    %half = arith.shrui %h, %one : i32
    scf.yield %b, %a, %half : i32, i32, i32
  }
  return
}

// Of the bounds: from 16 in steps of 32, below what is at most 1024; the outer one decides the inner.
func.func @bounds(%n: i32) {
  %c16 = arith.constant 16 : i32
  %c32 = arith.constant 32 : i32
  %c1024 = arith.constant 1024 : i32
  // expected-remark@below {{multiple = 1, range = [-2147483648, 1024]}}
  %limit = arith.minsi %n, %c1024 : i32
  // expected-remark@below {{argument 0: multiple = 16, range = [16, 1023]}}
  scf.for %i = %c16 to %limit step %c32 : i32 {
    // expected-remark@below {{multiple = 16, range = [32, 2046]}}
    %twice = arith.addi %i, %i : i32
    // expected-remark@below {{argument 0: multiple = 16, range = [16, 2045]}}
    scf.for %j = %i to %twice step %c16 : i32 {
      // expected-remark@below {{multiple = 16, range = [32, 3068]}}
      %sum = arith.addi %i, %j : i32
    }
  }
  return
}

func.func @counted_by_a_while(%n: i32) {
  %zero = arith.constant 0 : i32
  %four = arith.constant 4 : i32
  // expected-remark@below {{contiguity = [16], constancy = [1], divisibility = [0], first = [0], stride = [1], multiple = 1, range = [0, 15]}}
  %range = tile.make_range 0 to 16 : tensor<16xi32>
  // expected-remark@below {{contiguity = [1], constancy = [16], divisibility = [4], first = [4], stride = [0], multiple = 4, range = [4, 4]}}
  %fours = arith.constant dense<4> : tensor<16xi32>
  // expected-remark@below {{result 0: multiple = 4}}
  // expected-remark@below {{result 1: contiguity = [16], constancy = [1], divisibility = [4], first = [4], stride = [1], multiple = 1}}
  // expected-remark@below {{argument 0: multiple = 4}}
  // expected-remark@below {{argument 1: contiguity = [16], constancy = [1], divisibility = [4], first = [4], stride = [1], multiple = 1}}
  // expected-remark@below {{passed on 0: multiple = 4}}
  // expected-remark@below {{passed on 1: contiguity = [16], constancy = [1], divisibility = [4], first = [4], stride = [1], multiple = 1}}
  %r:2 = scf.while (%i = %zero, %t = %range) : (i32, tensor<16xi32>) -> (i32, tensor<16xi32>) {
    // expected-remark@below {{multiple = 1}}
    %less = arith.cmpi slt, %i, %n : i32
    scf.condition(%less) %i, %t : i32, tensor<16xi32>
  } do {
  ^bb0(%j: i32, %u: tensor<16xi32>):
    // expected-remark@below {{multiple = 4}}
    %next = arith.addi %j, %four : i32
    // expected-remark@below {{contiguity = [16], constancy = [1], divisibility = [4], first = [4], stride = [1], multiple = 1}}
    %moved = arith.addi %u, %fours : tensor<16xi32>
    scf.yield %next, %moved : i32, tensor<16xi32>
  }
  return
}

// The first result counts up from 0, or by 2 from 4 on; the second as a whole, or in groups of 4.
func.func @branches(%condition: i1, %n: i32) {
  // expected-remark@below {{contiguity = [32], constancy = [1], divisibility = [0], first = [0], stride = [1], multiple = 1, range = [0, 31]}}
  %range = tile.make_range 0 to 32 : tensor<32xi32>
  // expected-remark@below {{contiguity = [1], constancy = [32], divisibility = [2], first = [2], stride = [0], multiple = 2, range = [2, 2]}}
  %two = arith.constant dense<2> : tensor<32xi32>
  // expected-remark@below {{contiguity = [1], constancy = [32], divisibility = [4], first = [4], stride = [0], multiple = 4, range = [4, 4]}}
  %four = arith.constant dense<4> : tensor<32xi32>
  // expected-remark@below {{result 0: contiguity = [1], constancy = [1], divisibility = [4], first = [4], stride = [?], multiple = 1, range = [0, 66]}}
  // expected-remark@below {{result 1: contiguity = [4], constancy = [1], divisibility = [4], first = [0], stride = [1 in 4], multiple = 1, range = [0, 31]}}
  // expected-remark@below {{result 2: multiple = 8, range = [8, 24]}}
  %r:3 = scf.if %condition -> (tensor<32xi32>, tensor<32xi32>, i32) {
    %c8 = arith.constant 8 : i32
    scf.yield %range, %range, %c8 : tensor<32xi32>, tensor<32xi32>, i32
  } else {
    %c24 = arith.constant 24 : i32
    // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [0], first = [0], stride = [2], multiple = 2, range = [0, 62]}}
    %steps = arith.muli %range, %two : tensor<32xi32>
    // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [4], first = [4], stride = [2], multiple = 2, range = [4, 66]}}
    %sum = arith.addi %steps, %four : tensor<32xi32>
    // expected-remark@below {{contiguity = [4], constancy = [1], divisibility = [0], first = [0], stride = [1 in 4], multiple = 1, range = [0, 3]}}
    %groups = arith.remsi %range, %four : tensor<32xi32>
    scf.yield %sum, %groups, %c24 : tensor<32xi32>, tensor<32xi32>, i32
  }
  return
}
