// Which argument's bytes each access reaches, and which accesses may touch the same ones.
// RUN: tile-opt %s --split-input-file --tile-print-memory-accesses --verify-diagnostics

// Addresses that are computed twice are the same, at another offset they are not; other arguments
// are taken to be the same tensor or none of it.
// expected-remark@below {{argument 0 is read and written}}
// expected-remark@below {{argument 1 is read}}
func.func @offsets(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %unused: !tile.ptr<f32>, %n: i32) {
  %range = tile.make_range 0 to 64 : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %one = arith.constant dense<1> : tensor<64xi32>
  %p = tile.addptr %xs, %range : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  // expected-remark@below {{access 0: reads argument 0}}
  %a = tile.load %p : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  %q = tile.addptr %ys, %range : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  // expected-remark@below {{access 1: reads argument 1}}
  %b = tile.load %q : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  %range2 = tile.make_range 0 to 64 : tensor<64xi32>
  %p2 = tile.addptr %xs, %range2 : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  // expected-remark@below {{access 2: writes argument 0, same addresses as access 0}}
  tile.store %p2, %b : tensor<64x!tile.ptr<f32>>, tensor<64xf32>
  %behind = arith.addi %range, %one : tensor<64xi32>
  %p3 = tile.addptr %xs, %behind : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  // expected-remark@below {{access 3: writes argument 0, conflicts with access 0, conflicts with access 2}}
  tile.store %p3, %a : tensor<64x!tile.ptr<f32>>, tensor<64xf32>
  return
}

// -----

// What an operation with effects returns is another value each time, be its operands the same.
// expected-remark@below {{argument 0 is read and written}}
// expected-remark@below {{argument 1 is read and written}}
func.func @effects(%counter: !tile.ptr<i32>, %x: !tile.ptr<f32>) {
  %one = arith.constant 1 : i32
  %value = arith.constant 1.0 : f32
  // expected-remark@below {{access 0: reads and writes argument 0}}
  %i = tile.atomic_rmw add %counter, %one : !tile.ptr<i32>, i32
  // expected-remark@below {{access 1: reads and writes argument 0, same addresses as access 0}}
  %j = tile.atomic_rmw add %counter, %one : !tile.ptr<i32>, i32
  %p = tile.addptr %x, %i : !tile.ptr<f32>, i32
  // expected-remark@below {{access 2: reads argument 1}}
  %a = tile.load %p : !tile.ptr<f32> -> f32
  %q = tile.addptr %x, %j : !tile.ptr<f32>, i32
  // expected-remark@below {{access 3: writes argument 1, conflicts with access 2}}
  tile.store %q, %a : !tile.ptr<f32>, f32
  // expected-remark@below {{access 4: reads argument 0, same addresses as access 0, same addresses as access 1}}
  %k = tile.load %counter : !tile.ptr<i32> -> i32
  %r = tile.addptr %x, %k : !tile.ptr<f32>, i32
  // expected-remark@below {{access 5: writes argument 1, conflicts with access 2, conflicts with access 3}}
  tile.store %r, %value : !tile.ptr<f32>, f32
  return
}

// -----

// Two results of one operation are two values.
// expected-remark@below {{argument 0 is read and written}}
func.func @results(%x: !tile.ptr<f32>, %pairs: tensor<64x2xi32>) {
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %low, %high = tile.split %pairs : tensor<64x2xi32> -> tensor<64xi32>, tensor<64xi32>
  %p = tile.addptr %xs, %low : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  // expected-remark@below {{access 0: reads argument 0}}
  %a = tile.load %p : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  %q = tile.addptr %xs, %high : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  // expected-remark@below {{access 1: writes argument 0, conflicts with access 0}}
  tile.store %q, %a : tensor<64x!tile.ptr<f32>>, tensor<64xf32>
  return
}

// -----

// A tile that may hold an address twice: what is stored through it may be loaded for another element.
// expected-remark@below {{argument 0 is read and written}}
func.func @repeated(%x: !tile.ptr<f32>, %n: i32, %index: tensor<64xi32>) {
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %p = tile.addptr %xs, %index : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  // expected-remark@below {{access 0: reads argument 0}}
  %a = tile.load %p : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  // expected-remark@below {{access 1: writes argument 0, same addresses as access 0, which repeat}}
  tile.store %p, %a : tensor<64x!tile.ptr<f32>>, tensor<64xf32>
  return
}

// Strides that are known at run time only are taken not to be zero.
// expected-remark@below {{argument 0 is read and written}}
func.func @strided(%x: !tile.ptr<f32>, %n: i32) {
  %range = tile.make_range 0 to 64 : tensor<64xi32>
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  %index = arith.muli %range, %ns : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %p = tile.addptr %xs, %index : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  // expected-remark@below {{access 0: reads argument 0}}
  %a = tile.load %p : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  // expected-remark@below {{access 1: writes argument 0, same addresses as access 0}}
  tile.store %p, %a : tensor<64x!tile.ptr<f32>>, tensor<64xf32>
  return
}

// -----

// Pointers that loops carry and branches choose. One that may be either argument's is no one's.
// expected-remark@below {{argument 0 is read}}
// expected-remark@below {{argument 1 is read and written}}
// expected-remark@below {{argument 2 is written}}
func.func @branches(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %z: !tile.ptr<f32>, %c: i1, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r:2 = scf.for %i = %zero to %n step %one iter_args(%p = %x, %q = %y) -> (!tile.ptr<f32>, !tile.ptr<f32>) : i32 {
    // expected-remark@below {{access 0: reads argument 0}}
    %a = tile.load %p : !tile.ptr<f32> -> f32
    // expected-remark@below {{access 1: writes argument 1}}
    tile.store %q, %a : !tile.ptr<f32>, f32
    %p2 = tile.addptr %p, %n : !tile.ptr<f32>, i32
    %q2 = tile.addptr %q, %one : !tile.ptr<f32>, i32
    scf.yield %p2, %q2 : !tile.ptr<f32>, !tile.ptr<f32>
  }
  // expected-remark@below {{access 2: reads argument 1, conflicts with access 1}}
  %a = tile.load %r#1 : !tile.ptr<f32> -> f32
  %w:2 = scf.while (%v = %z, %m = %n) : (!tile.ptr<f32>, i32) -> (!tile.ptr<f32>, i32) {
    %more = arith.cmpi sgt, %m, %zero : i32
    scf.condition(%more) %v, %m : !tile.ptr<f32>, i32
  } do {
  ^bb0(%v: !tile.ptr<f32>, %m: i32):
    // expected-remark@below {{access 3: writes argument 2}}
    tile.store %v, %a : !tile.ptr<f32>, f32
    %v2 = tile.addptr %v, %m : !tile.ptr<f32>, i32
    %less = arith.subi %m, %one : i32
    scf.yield %v2, %less : !tile.ptr<f32>, i32
  }
  // expected-remark@below {{access 4: writes argument 2, conflicts with access 3}}
  tile.store %w#0, %a : !tile.ptr<f32>, f32
  %either = scf.if %c -> !tile.ptr<f32> {
    scf.yield %y : !tile.ptr<f32>
  } else {
    scf.yield %z : !tile.ptr<f32>
  }
  // expected-remark@below {{access 5: writes any memory, conflicts with access 0, conflicts with access 1, conflicts with access 2, conflicts with access 3, conflicts with access 4}}
  tile.store %either, %a : !tile.ptr<f32>, f32
  return
}

// -----

// An address that was an integer may be anyone's, and an argument that becomes an integer or is
// stored may be read and written by anyone. Pointers in memory are no argument's.
// expected-remark@below {{argument 0 is read and written}}
// expected-remark@below {{argument 1 is read and written}}
// expected-remark@below {{argument 2 is read and written}}
// expected-remark@below {{argument 3 is read}}
func.func @unknown(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %table: !tile.ptr<!tile.ptr<f32>>, %z: !tile.ptr<f32>, %c: i1) {
  %address = tile.ptr_to_int %x : !tile.ptr<f32> -> i64
  %p = tile.int_to_ptr %address : i64 -> !tile.ptr<f32>
  // expected-remark@below {{access 0: reads any memory}}
  %a = tile.load %p : !tile.ptr<f32> -> f32
  // expected-remark@below {{access 1: writes argument 2, conflicts with access 0}}
  tile.store %table, %y : !tile.ptr<!tile.ptr<f32>>, !tile.ptr<f32>
  // expected-remark@below {{access 2: reads argument 2, conflicts with access 0, same addresses as access 1}}
  %q = tile.load %table : !tile.ptr<!tile.ptr<f32>> -> !tile.ptr<f32>
  // expected-remark@below {{access 3: writes any memory, conflicts with access 0, conflicts with access 1, conflicts with access 2}}
  tile.store %q, %a : !tile.ptr<f32>, f32
  %either = arith.select %c, %z, %p : !tile.ptr<f32>
  // expected-remark@below {{access 4: reads any memory, conflicts with access 0, conflicts with access 1, conflicts with access 2, conflicts with access 3}}
  %b = tile.load %either : !tile.ptr<f32> -> f32
  return
}
