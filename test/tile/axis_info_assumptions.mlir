// What tile.assume says counts for numbers of its own block.
// RUN: tile-opt %s --tile-print-axis-info --verify-diagnostics
// RUN: tile-opt %s --tile-drop-assumptions | FileCheck %s

// CHECK-LABEL: func.func @multiples
// CHECK-SAME: %arg0: i32 {tile.divisibility = 16 : i64}, %arg1: !tile.ptr<f32> {tile.divisibility = 64 : i64}
// CHECK-NEXT: arith.muli %arg0, %arg0 {tile.divisibility = array<i64: 1024>}
// CHECK-NEXT: return
func.func @multiples(%n: i32, %p: !tile.ptr<f32> {tile.divisibility = 4 : i64}) -> i32 {
  %c16 = arith.constant 16 : i32
  %c0 = arith.constant 0 : i32
  %c1023 = arith.constant 1023 : i32
  %c64 = arith.constant 64 : i64
  %zero = arith.constant 0 : i64
  // expected-remark@below {{multiple = 1024}}
  %product = arith.muli %n, %n : i32
  // expected-remark@below {{multiple = 0, range = [0, 0]}}
  %rest = arith.remsi %n, %c16 : i32
  // expected-remark@below {{multiple = 1}}
  %isMultiple = arith.cmpi eq, %rest, %c0 : i32
  // expected-remark@below {{multiple = 0, range = [0, 0]}}
  %low = arith.andi %product, %c1023 : i32
  // expected-remark@below {{multiple = 1}}
  %isLow = arith.cmpi eq, %low, %c0 : i32
  // expected-remark@below {{multiple = 1}}
  %both = arith.andi %isMultiple, %isLow : i1
  tile.assume %both : i1
  // expected-remark@below {{multiple = 64}}
  %address = tile.ptr_to_int %p : !tile.ptr<f32> -> i64
  // expected-remark@below {{multiple = 0, range = [0, 0]}}
  %offset = arith.remui %address, %c64 : i64
  // expected-remark@below {{multiple = 1}}
  %isAligned = arith.cmpi eq, %offset, %zero : i64
  tile.assume %isAligned : i1
  return %product : i32
}

func.func @ranges(%n: i32, %m: i32) {
  %c1 = arith.constant 1 : i32
  %c100 = arith.constant 100 : i32
  // expected-remark@below {{multiple = 1, range = [1, 99]}}
  %copy = arith.maxsi %n, %c1 : i32
  // expected-remark@below {{multiple = 1}}
  %above = arith.cmpi sge, %n, %c1 : i32
  tile.assume %above : i1
  // expected-remark@below {{multiple = 1}}
  %below = arith.cmpi ult, %n, %c100 : i32
  tile.assume %below : i1
  // The range of the wide number is that of the narrow one.
  // expected-remark@below {{multiple = 1, range = [0, 2147483647]}}
  %wide = arith.extsi %m : i32 to i64
  %minus = arith.constant -1 : i64
  // expected-remark@below {{multiple = 1}}
  %positive = arith.cmpi sgt, %wide, %minus : i64
  tile.assume %positive : i1
  // expected-remark@below {{multiple = 1, range = [1, 2147483647]}}
  %larger = arith.maxsi %m, %c1 : i32
  return
}

// Not so: whoever makes the number need not come to the assumption.
// CHECK-LABEL: func.func @branch
// CHECK-SAME: %arg1: i32)
// CHECK-NOT: tile.assume
func.func @branch(%c: i1, %n: i32) -> i32 {
  %c16 = arith.constant 16 : i32
  %c0 = arith.constant 0 : i32
  scf.if %c {
    // expected-remark@below {{multiple = 0, range = [0, 0]}}
    %rest = arith.remsi %n, %c16 : i32
    // expected-remark@below {{multiple = 1}}
    %isMultiple = arith.cmpi eq, %rest, %c0 : i32
    tile.assume %isMultiple : i1
  }
  return %n : i32
}

// What never holds says nothing.
func.func @never(%n: i32) {
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  // expected-remark@below {{multiple = 1}}
  %below = arith.cmpi slt, %n, %c5 : i32
  tile.assume %below : i1
  // expected-remark@below {{multiple = 1}}
  %above = arith.cmpi sgt, %n, %c7 : i32
  tile.assume %above : i1
  return
}
