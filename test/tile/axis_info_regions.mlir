// What is not looked into: calls, and the regions of operations that combine elements.
// RUN: tile-opt %s --tile-print-axis-info --verify-diagnostics

func.func private @twice(%x: i32) -> i32 {
  // Called with 16 here, but functions are read by themselves.
  // expected-remark@below {{multiple = 1}}
  %y = arith.addi %x, %x : i32
  return %y : i32
}

func.func @kernel(%n: i32 {tile.divisibility = 16 : i64}) attributes {tile.kernel} {
  %c16 = arith.constant 16 : i32
  // expected-remark@below {{multiple = 1}}
  %called = func.call @twice(%c16) : (i32) -> i32
  // expected-remark@below {{contiguity = [64], constancy = [1], divisibility = [0], first = [0], stride = [1], multiple = 1, range = [0, 63]}}
  %range = tile.make_range 0 to 64 : tensor<64xi32>
  // expected-remark@below {{result 0: multiple = 1}}
  %sum = tile.reduce %range axis 0 {
  ^bb0(%a: i32, %b: i32):
    // expected-remark@below {{multiple = 1}}
    %both = arith.addi %a, %b : i32
    tile.combine_return %both : i32
  } : (tensor<64xi32>) -> i32
  // expected-remark@below {{result 0: contiguity = [1], constancy = [1], divisibility = [1], first = [1], stride = [-], multiple = 1}}
  %running = tile.scan %range axis 0 {
  ^bb0(%a: i32, %b: i32):
    // expected-remark@below {{multiple = 1}}
    %both = arith.addi %a, %b : i32
    tile.combine_return %both : i32
  } : (tensor<64xi32>) -> tensor<64xi32>
  // Through a float and back.
  %float = arith.sitofp %range : tensor<64xi32> to tensor<64xf32>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [1], first = [1], stride = [-], multiple = 1}}
  %rounded = arith.fptosi %float : tensor<64xf32> to tensor<64xi32>
  // Both sides count, also where the condition is known.
  %true = arith.constant true
  // expected-remark@below {{result 0: multiple = 16}}
  %either = scf.if %true -> i32 {
    scf.yield %c16 : i32
  } else {
    // expected-remark@below {{multiple = 16}}
    %more = arith.addi %n, %n : i32
    scf.yield %more : i32
  }
  return
}
