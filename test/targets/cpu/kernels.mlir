// What a kernel is to the phases is one to the passes: a function of the module itself, with a name.
// RUN: not cpu-opt %s --convert-tile-to-loops 2>&1 | FileCheck %s

// CHECK: the module holds no function with the attribute 'tile.kernel' [E0301]
module {
  module {
    func.func @inner(%out: !tile.ptr<f32>) attributes {tile.kernel} {
      return
    }
  }
}
