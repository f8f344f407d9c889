// SPDX-License-Identifier: Apache-2.0
// What an expression of a kernel evaluates to while it is elaborated: constants known now, names of
// functions and modules, or a scalar or tile computed at run time. MLIR integers have no sign, so
// the kernel language's type travels beside each mlir::Value.
#pragma once

#include "lib/language/syntax/Ast.h"
#include "runtime/elements/DType.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nereid::language::emit {

struct BuiltinEntry;

/// Type of one element: a number, or the address of numbers of that type.
struct ElementType {
  DType dtype = DType::I32;
  bool isPointer = false;
  bool isConst = false; ///< of a pointer annotated tl.const: nothing is written through it
  bool operator==(const ElementType &) const = default;
};

using Shape = llvm::SmallVector<int64_t, 4>;

/// Type of a run-time value; an empty shape is a scalar.
struct TileType {
  ElementType element;
  Shape shape;
  bool isBlock() const { return !shape.empty(); }
  int64_t elementCount() const;
  bool operator==(const TileType &) const = default;
};

/// "f32", "u8", "*f16"; for tiles "128x64xf16".
std::string typeText(ElementType type);
std::string typeText(const TileType &type);
/// Upstream's name, which kernels may ask for and print: "int32", "fp16", "pointer<fp16>"; of a
/// tile's type "<(16, 8), fp16>".
std::string typeName(ElementType type);
std::string typeName(const TileType &type);
/// "(128, 64)"
std::string shapeText(llvm::ArrayRef<int64_t> shape);

int bitWidth(DType type);
bool isInteger(DType type); ///< Bool counts as one
bool isUnsigned(DType type);

/// Where the size of one dimension was written, for notes such as "takes 64 from BLOCK_K = 64".
struct DimOrigin {
  std::string place; ///< "matmul.py:24"
  std::string text;  ///< "BLOCK_K = 64"
};
using Origins = llvm::SmallVector<const DimOrigin *, 4>;

/// Constants are exact; 128 bits hold every literal and the sums a kernel makes of them.
using Integer = __int128;
std::string integerText(Integer value);

struct Value {
  enum class Kind {
    Poison, ///< an error was reported; everything computed from it is silent
    None,
    Bool,     ///< integer
    Int,      ///< integer
    Float,    ///< real
    String,   ///< text
    Type,     ///< tileType: a dtype (no shape) or a block type
    Tuple,    ///< elements; lists as well, and objects of a class: classDef, a field per element
    Function, ///< function of module
    Builtin,  ///< builtin
    Module,   ///< text: "triton.language"
    File,     ///< module: a file imported as a module; text: its name in the import
    Import,   ///< text: a name of a module that is not found; elements: that module; module: where
    Method,   ///< builtin, function or, without them, the attribute `text`, bound to elements[0]
    Class,    ///< classDef of module
    Range,    ///< elements: start, stop, step, hints; text: "range" or "static_range" (no hints)
    Tile,     ///< ssa of tileType
    /// A block in memory: elements are the base pointer and tuples of sizes, strides and offsets;
    /// tileType and origins are those of the block.
    BlockPointer,
    Descriptor, ///< a block pointer without offsets; text: "nan" when it pads with NaN
  };
  Kind kind = Kind::None;
  Integer integer = 0;
  double real = 0;
  std::string text;
  TileType tileType;
  /// Set when the constant was assigned to a plain variable: it then promotes like a scalar of this
  /// type and not like a literal, although its value stays known.
  std::optional<DType> bound;
  std::vector<Value> elements;
  const FunctionDef *function = nullptr;
  const SourceModule *module = nullptr;
  const Stmt *classDef = nullptr;
  /// Of a Python function defined inside another: the variables around it.
  std::shared_ptr<const struct Captured> captured;
  const BuiltinEntry *builtin = nullptr;
  mlir::Value ssa;
  Origins origins; ///< one per dimension of a tile, entries may be null

  bool isPoison() const { return kind == Kind::Poison; }
  bool isNone() const { return kind == Kind::None; }
  bool isTile() const { return kind == Kind::Tile; }
  bool isString() const { return kind == Kind::String; }
  bool isTuple() const { return kind == Kind::Tuple; }
  /// A block pointer or a tensor descriptor.
  bool isBlockAccess() const { return kind == Kind::BlockPointer || kind == Kind::Descriptor; }
  bool isType() const { return kind == Kind::Type; }
  /// Bool, Int or Float known now.
  bool isNumber() const { return kind == Kind::Bool || kind == Kind::Int || kind == Kind::Float; }
  bool isWhole() const { return kind == Kind::Bool || kind == Kind::Int; }
  /// A number that is still a literal for the promotion rules.
  bool isWeak() const { return isNumber() && !bound; }
  double asReal() const { return kind == Kind::Float ? real : static_cast<double>(integer); }
  bool isPointer() const { return isTile() && tileType.element.isPointer; }
  bool isBlock() const { return isTile() && tileType.isBlock(); }

  static Value poison();
  static Value none();
  static Value boolean(bool value);
  static Value whole(Integer value);
  static Value floating(double value);
  static Value string(std::string text);
  static Value type(ElementType element);
  static Value tuple(std::vector<Value> elements);
  static Value moduleNamed(std::string path);
  static Value tile(mlir::Value ssa, TileType type, Origins origins = {});
};

/// The same thing, so that a variable holding it did not change.
bool isSame(const Value &a, const Value &b);

/// The type a literal takes when it meets nothing: i32, u32, i64 or u64 by size, f32 or f64;
/// nothing when it fits none.
std::optional<DType> defaultType(const Value &constant);

/// "an f32 scalar", "a 128x64xf16 tile", "the constant 3", "None"; for messages.
std::string describe(const Value &value);
/// Python's spelling of a constant: str() of it.
std::string pythonText(const Value &value);
/// repr() of it: strings in quotes, types as "triton.language.float32".
std::string pythonRepresentation(const Value &value);

} // namespace nereid::language::emit
