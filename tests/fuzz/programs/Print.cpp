//===- Print.cpp - a random program as source text --------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "tests/fuzz/programs/Program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace tessera::fuzz {
namespace {

std::string literal(DType type, Element value) {
  if (!isFloat(type))
    return show(type, value);
  if (std::isnan(value.number))
    return "nan";
  if (std::isinf(value.number))
    return value.number < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{:.17g}", value.number);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

const char *spelling(Op op) {
  switch (op) {
  case Op::Neg:
    return "-";
  case Op::Complement:
    return "~";
  case Op::Not:
    return "not ";
  case Op::Abs:
    return "abs";
  case Op::Floor:
    return "floor";
  case Op::Ceil:
    return "ceil";
  case Op::Round:
    return "round";
  case Op::Trunc:
    return "trunc";
  case Op::Sqrt:
    return "sqrt";
  case Op::Add:
    return "+";
  case Op::Sub:
    return "-";
  case Op::Mul:
    return "*";
  case Op::Div:
    return "/";
  case Op::Rem:
    return "%";
  case Op::CeilDiv:
    return "ceildiv";
  case Op::BitAnd:
    return "&";
  case Op::BitOr:
    return "|";
  case Op::BitXor:
    return "^";
  case Op::Min:
    return "min";
  case Op::Max:
    return "max";
  case Op::MinNum:
    return "minnum";
  case Op::MaxNum:
    return "maxnum";
  case Op::Eq:
    return "==";
  case Op::Ne:
    return "!=";
  case Op::Lt:
    return "<";
  case Op::Le:
    return "<=";
  case Op::Gt:
    return ">";
  case Op::Ge:
    return ">=";
  }
  return "?";
}

struct Printer {
  const Program &program;
  std::string text;

  std::string slice(const Expr &e) const {
    std::vector<std::string> indices;
    size_t next = 0;
    for (size_t d = 0; d + 2 < e.numbers.size(); d += 3) {
      int64_t width = e.numbers[d + 1], step = e.numbers[d + 2];
      switch (IndexKind(e.numbers[d])) {
      case IndexKind::Whole:
        indices.push_back(":");
        break;
      case IndexKind::Window:
        indices.push_back(expr(e.in[next++]) + fmt::format(" +: {}", width) +
                          (step == 1 ? "" : fmt::format(" by {}", step)));
        break;
      default:
        indices.push_back(expr(e.in[next++]));
      }
    }
    return fmt::format("{}[{}{}]", program.tensors[size_t(e.slot)].name, fmt::join(indices, ", "),
                       e.hasPad ? ", pad = " + literal(e.type, e.literal) : "");
  }

  std::string operate(const Expr &e) const {
    std::string a = expr(e.in[0]);
    const char *name = spelling(e.op);
    if (e.in.size() == 1)
      return e.op <= Op::Not ? fmt::format("({}{})", name, a) : fmt::format("{}({})", name, a);
    std::string b = expr(e.in[1]);
    // On bool the words and the signs mean the same.
    if (e.type == DType::Bool && (e.op == Op::BitAnd || e.op == Op::BitOr) && !e.text.empty())
      name = e.op == Op::BitAnd ? "and" : "or";
    bool isCall = e.op == Op::CeilDiv || (e.op >= Op::Min && e.op <= Op::MaxNum);
    return isCall ? fmt::format("{}({}, {})", name, a, b) : fmt::format("({} {} {})", a, name, b);
  }

  std::string expr(const Expr &e) const {
    auto in = [&](size_t i) { return expr(e.in[i]); };
    switch (e.kind) {
    case Kind::Name:
      return program.slots[size_t(e.slot)].name;
    case Kind::Literal:
      return literal(e.type, e.literal);
    case Kind::Full:
      if (e.shape.empty())
        return fmt::format("{}({})", nameOf(e.type), literal(e.type, e.literal));
      return fmt::format("full({}, [{}], {})", nameOf(e.type), fmt::join(e.shape, ", "), literal(e.type, e.literal));
    case Kind::Iota:
      return fmt::format("iota({})", e.shape[0]);
    case Kind::Load:
      return slice(e);
    case Kind::Inside:
      return fmt::format("inside({})", slice(e));
    case Kind::Operate:
      return operate(e);
    case Kind::Shift:
      return fmt::format("({} {} {})", in(0), e.numbers[0] ? "<<" : ">>", in(1));
    case Kind::Contract: {
      constexpr const char *kForms[] = {"({0} * {1} + {2})", "({0} * {1} - {2})", "({2} - {0} * {1})",
                                        "({2} + {0} * {1})"};
      return fmt::format(fmt::runtime(kForms[e.numbers[0]]), in(0), in(1), in(2));
    }
    case Kind::Fma:
      return fmt::format("fma({}, {}, {})", in(0), in(1), in(2));
    case Kind::Clamp:
      return fmt::format("clamp({}, {}, {})", in(0), in(1), in(2));
    case Kind::Where:
      return fmt::format("where({}, {}, {})", in(0), in(1), in(2));
    case Kind::Convert:
      return fmt::format("{}({}{}{})", nameOf(e.type), in(0), e.numbers[0] ? ", saturate = true" : "",
                         e.numbers[1] ? ", overflow = ieee" : "");
    case Kind::Reshape:
      return fmt::format("reshape({}, [{}])", in(0), fmt::join(e.shape, ", "));
    case Kind::Permute:
      return fmt::format("permute({}, [{}])", in(0), fmt::join(e.numbers, ", "));
    case Kind::Transpose:
      return in(0) + ".T";
    case Kind::Expand: {
      std::vector<std::string> indices;
      for (size_t d = 0; d < e.shape.size(); ++d)
        indices.push_back(int64_t(d) == e.numbers[0] ? "None" : ":");
      return fmt::format("{}[{}]", in(0), fmt::join(indices, ", "));
    }
    case Kind::Broadcast:
      return fmt::format("broadcast({}, [{}])", in(0), fmt::join(e.shape, ", "));
    case Kind::Reduce:
    case Kind::Arg:
      return e.numbers[0] < 0 ? fmt::format("{}({})", e.text, in(0))
                              : fmt::format("{}({}, axis = {})", e.text, in(0), e.numbers[0]);
    case Kind::Cumsum:
      return fmt::format("cumsum({}, axis = {}{})", in(0), e.numbers[0], e.numbers[1] ? ", reverse = true" : "");
    case Kind::Concat:
      return fmt::format("concat({}, {}, axis = {})", in(0), in(1), e.numbers[0]);
    case Kind::Stack:
      return fmt::format("stack({}, {}, axis = {})", in(0), in(1), e.numbers[0]);
    case Kind::Take:
      return fmt::format("take({}, {}, axis = {})", in(0), in(1), e.numbers[0]);
    case Kind::Dot:
      return e.numbers[0] ? fmt::format("dot({}, {}, precision = tf32)", in(0), in(1))
                          : fmt::format("({} @ {})", in(0), in(1));
    case Kind::Choose:
      return fmt::format("if {} {{ {} }} else {{ {} }}", in(0), in(1), in(2));
    case Kind::Call: {
      std::vector<std::string> arguments;
      for (const Expr &argument : e.in)
        arguments.push_back(expr(argument));
      return fmt::format("{}({})", program.functions[size_t(e.numbers[0])].name, fmt::join(arguments, ", "));
    }
    case Kind::Math:
      return fmt::format("{}({})", e.text, in(0));
    }
    return "?";
  }

  const std::string &name(int slot) const { return program.slots[size_t(slot)].name; }

  void block(const std::vector<Statement> &statements, int depth) {
    for (const Statement &s : statements) {
      text += std::string(size_t(depth) * 2, ' ');
      switch (s.kind) {
      case Statement::Kind::Let:
        text += fmt::format("let {} = {}\n", name(s.slot), expr(s.value));
        break;
      case Statement::Kind::Split: {
        std::vector<std::string> names;
        for (int slot : s.slots)
          names.push_back(name(slot));
        text += fmt::format("let ({}) = split({}, axis = {})\n", fmt::join(names, ", "), expr(s.value), s.text);
        break;
      }
      case Statement::Kind::Var:
        text += fmt::format("var {} = {}\n", name(s.slot), expr(s.value));
        break;
      case Statement::Kind::Assign:
        text += fmt::format("{} = {}\n", name(s.slot), expr(s.value));
        break;
      case Statement::Kind::AddAssign:
        text += fmt::format("{} += {}\n", name(s.slot), expr(s.value));
        break;
      case Statement::Kind::For:
        text += fmt::format("for {} in {}..{} by {} {{\n", name(s.slot), expr(s.bounds[0]), expr(s.bounds[1]),
                            expr(s.bounds[2]));
        block(s.body, depth + 1);
        text += std::string(size_t(depth) * 2, ' ') + "}\n";
        break;
      case Statement::Kind::If:
        text += fmt::format("if {} {{\n", expr(s.value));
        block(s.body, depth + 1);
        text += std::string(size_t(depth) * 2, ' ') + "}";
        if (!s.other.empty()) {
          text += " else {\n";
          block(s.other, depth + 1);
          text += std::string(size_t(depth) * 2, ' ') + "}";
        }
        text += "\n";
        break;
      case Statement::Kind::Store:
        text += fmt::format("{} = {}\n", slice(s.place), expr(s.value));
        break;
      case Statement::Kind::Accumulate:
        text += fmt::format("{} += {}\n", slice(s.place), expr(s.value));
        break;
      case Statement::Kind::Atomic:
        text += fmt::format("{}({}, {})\n", s.text, slice(s.place), expr(s.value));
        break;
      }
    }
  }
};

} // namespace

std::string print(const Program &program) {
  constexpr const char *kModes[] = {"in", "out", "inout", "accum"};
  Printer printer{program, fmt::format("// seed {}\n", program.seed)};
  for (const Function &function : program.functions) {
    std::vector<std::string> names;
    for (int slot : function.parameters)
      names.push_back(program.slots[size_t(slot)].name);
    printer.text +=
        fmt::format("fn {}({}) => {}\n", function.name, fmt::join(names, ", "), printer.expr(function.body));
  }
  std::vector<std::string> parameters;
  for (const Tensor &tensor : program.tensors)
    parameters.push_back(fmt::format("{}: {} {}[{}]", tensor.name, kModes[size_t(tensor.mode)], nameOf(tensor.type),
                                     fmt::join(tensor.dims, ", ")));
  for (const ScalarParam &scalar : program.scalars)
    parameters.push_back(fmt::format("{}: {}", program.slots[size_t(scalar.slot)].name,
                                     nameOf(program.slots[size_t(scalar.slot)].type)));
  std::vector<std::string> axes;
  for (const Axis &axis : program.axes)
    axes.push_back(fmt::format("{} in 0..{} by {}", program.slots[size_t(axis.slot)].name, axis.extent, axis.step));
  printer.text += fmt::format("kernel random({})\n  grid ({})\n{{\n", fmt::join(parameters, ",\n              "),
                              fmt::join(axes, ", "));
  printer.block(program.body, 1);
  return printer.text + "}\n";
}

} // namespace tessera::fuzz
