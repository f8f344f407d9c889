// Loops whose end depends on memory that other programs write.
// RUN: tile-opt %s --split-input-file --tile-print-blocking-loops --verify-diagnostics

// expected-remark@below {{may block}}
func.func @spin_lock(%lock: !tile.ptr<i32>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // expected-remark@below {{waits while 2 values stay as they are}}
  scf.while : () -> () {
    %old = tile.atomic_cas %lock, %zero, %one : !tile.ptr<i32>, i32
    %taken = arith.cmpi eq, %old, %one : i32
    scf.condition(%taken)
  } do {
    scf.yield
  }
  return
}

// -----

// What is read goes around the loop, once through a branch, before it decides.
// expected-remark@below {{may block}}
func.func @carried(%flag: !tile.ptr<i32>, %c: i1) {
  %zero = arith.constant 0 : i32
  // expected-remark@below {{waits while 3 values stay as they are}}
  %r:2 = scf.while (%last = %zero, %count = %zero) : (i32, i32) -> (i32, i32) {
    %goes_on = arith.cmpi eq, %last, %zero : i32
    scf.condition(%goes_on) %last, %count : i32, i32
  } do {
  ^bb0(%last: i32, %count: i32):
    %next = scf.if %c -> i32 {
      %f = tile.load %flag : !tile.ptr<i32> -> i32
      scf.yield %f : i32
    } else {
      scf.yield %count : i32
    }
    scf.yield %next, %count : i32, i32
  }
  return
}

// -----

// The condition counts; what is read is not looked at by it.
func.func @counts(%x: !tile.ptr<i32>, %out: !tile.ptr<i32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %limit = tile.load %x : !tile.ptr<i32> -> i32
  %r:2 = scf.while (%i = %zero, %sum = %zero) : (i32, i32) -> (i32, i32) {
    %goes_on = arith.cmpi slt, %i, %limit : i32
    scf.condition(%goes_on) %i, %sum : i32, i32
  } do {
  ^bb0(%i: i32, %sum: i32):
    %a = tile.load %x : !tile.ptr<i32> -> i32
    %more = arith.addi %sum, %a : i32
    %next = arith.addi %i, %one : i32
    scf.yield %next, %more : i32, i32
  }
  tile.store %out, %r#1 : !tile.ptr<i32>, i32
  return
}

// -----

// A function that the condition calls, and a loop in a function that the kernel calls.
// expected-remark@below {{may block}}
func.func @calls(%flag: !tile.ptr<i32>) {
  func.call @waits(%flag) : (!tile.ptr<i32>) -> ()
  return
}
// expected-remark@below {{may block}}
func.func @waits(%flag: !tile.ptr<i32>) {
  // expected-remark@below {{waits while 1 values stay as they are}}
  scf.while : () -> () {
    %goes_on = func.call @isBusy(%flag) : (!tile.ptr<i32>) -> i1
    scf.condition(%goes_on)
  } do {
    scf.yield
  }
  return
}
func.func @isBusy(%flag: !tile.ptr<i32>) -> i1 {
  %zero = arith.constant 0 : i32
  %f = tile.load %flag : !tile.ptr<i32> -> i32
  %busy = arith.cmpi ne, %f, %zero : i32
  return %busy : i1
}

// -----

// Volatile loads, and atomics that somebody looks at, poll; a loop of so many turns waits for nobody.
func.func @polls(%flag: !tile.ptr<i32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // expected-remark@below {{polls}}
  scf.for %i = %zero to %n step %one : i32 {
    %f = tile.load %flag {isVolatile} : !tile.ptr<i32> -> i32
  }
  // expected-remark@below {{polls}}
  %r = scf.for %i = %zero to %n step %one iter_args(%s = %zero) -> (i32) : i32 {
    %f = tile.atomic_rmw add %flag, %zero : !tile.ptr<i32>, i32
    scf.yield %f : i32
  }
  scf.for %i = %zero to %n step %one : i32 {
    %f = tile.atomic_rmw add %flag, %one : !tile.ptr<i32>, i32
  }
  return
}
