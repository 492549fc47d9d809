//===- Program.h - a random program as a tree ------------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// What the generator makes, the printer writes as source text, the interpreter runs and the reducer cuts down.  Names are slots: a table of what is
// visible, with types and shapes.
//
#ifndef TESSERA_TESTS_FUZZ_PROGRAMS_PROGRAM_H
#define TESSERA_TESTS_FUZZ_PROGRAMS_PROGRAM_H

#include "tests/fuzz/programs/Element.h"

#include "runtime/Image/KernelImage.h"

namespace tessera::fuzz {

using Shape = std::vector<int64_t>;
int64_t countOf(const Shape &shape);

enum class Kind : uint8_t {
  Name,    ///< slot: a let, var, parameter, loop index, coordinate or dimension
  Literal, ///< a number beside something that has a type, or an index
  Full,    ///< full(type, shape, literal)
  Iota,    ///< iota(n)
  Load, ///< a slice: slot is the tensor, in the indices that are values, numbers (kind, width, step) for each dimension
  Inside,   ///< inside(slice)
  Operate,  ///< op on one or two values
  Shift,    ///< numbers[0]: left
  Contract, ///< a * b + c without parentheses; numbers[0]: 0 a*b+c, 1 a*b-c, 2 c-a*b, 3 c+a*b
  Fma,
  Clamp,
  Where,
  Convert, ///< numbers: saturate, ieee
  Reshape,
  Permute,   ///< numbers: order
  Transpose, ///< .T
  Expand,    ///< numbers[0]: axis of the new dimension
  Broadcast,
  Reduce, ///< text: the function; numbers[0]: axis, or -1
  Arg,    ///< text: argmax or argmin; numbers[0]: axis
  Cumsum, ///< numbers: axis, reverse
  Concat, ///< numbers[0]: axis
  Stack,
  Take,
  Dot,    ///< numbers[0]: written `dot(a, b, precision = tf32)`
  Choose, ///< if c { a } else { b }
  Call,   ///< numbers[0]: index of the function
  Math,   ///< text: a function with a published error; approximate
};

/// How one dimension of a slice is indexed.
enum class IndexKind : int64_t { Scalar, Window, Whole, Tile };

struct Expr {
  Kind kind = Kind::Literal;
  DType type = DType::I64;
  Shape shape;
  std::vector<Expr> in;
  std::vector<int64_t> numbers;
  int slot = -1;
  Op op = Op::Add;
  bool hasPad = false;
  Element literal; ///< a literal's value, or the padding
  std::string text;
};

struct Statement {
  enum class Kind : uint8_t { Let, Split, Var, Assign, AddAssign, For, If, Store, Accumulate, Atomic };
  Kind kind = Kind::Let;
  int slot = -1;            ///< Let, Var, Assign, AddAssign, For (the index)
  std::vector<int> slots;   ///< Split
  Expr value;               ///< also the condition of If
  Expr place;               ///< Store, Accumulate, Atomic: a slice; Split: unused
  std::vector<Expr> bounds; ///< For: low, high, step
  std::string text;         ///< Atomic: which
  std::vector<Statement> body, other;
};

/// A name: its type and shape; an empty shape is a scalar.
struct Slot {
  std::string name;
  DType type = DType::I64;
  Shape shape;
};

/// A tensor parameter.
struct Tensor {
  std::string name;
  ParamMode mode = ParamMode::In;
  DType type = DType::F32;
  Shape extents;
  std::vector<std::string> dims; ///< as declared: names or numbers
  Shape strides;                 ///< in elements
  bool isWhole = false;          ///< holds small whole numbers, so that their sums are exact in any order
  bool isApproximate = false;    ///< receives results of functions with a published error
  std::string atomic;            ///< inout: the one atomic that programs perform on it
  bool isReversed = false;       ///< negative stride of the first dimension
};

struct ScalarParam {
  int slot;
  Element value;
};

struct Axis {
  int slot;            ///< the coordinate
  std::string extent;  ///< a dimension's name
  int64_t count, step; ///< elements, and the step of the grid
};

struct Function {
  std::string name;
  std::vector<int> parameters;
  Expr body;
};

struct Program {
  uint64_t seed = 0;
  std::vector<Slot> slots;
  std::vector<Tensor> tensors;
  std::vector<ScalarParam> scalars;
  std::vector<std::pair<std::string, int64_t>> dims; ///< names of dimensions, whose slots have the same names
  std::vector<int> dimSlots;
  std::vector<Axis> axes;
  std::vector<Function> functions;
  std::vector<Statement> body;
};

/// A program for a seed, the same on every machine.
Program generate(uint64_t seed);
/// As source text with one kernel `random`.
std::string print(const Program &program);
/// The elements of every tensor before a run, in row-major order.
std::vector<std::vector<Element>> initialMemory(const Program &program);
/// Runs all instances in order of their coordinates.
void interpret(const Program &program, std::vector<std::vector<Element>> &memory);

} // namespace tessera::fuzz
#endif // TESSERA_TESTS_FUZZ_PROGRAMS_PROGRAM_H
