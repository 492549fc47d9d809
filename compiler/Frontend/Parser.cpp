//===- Parser.cpp - tokens to a syntax tree -------------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Grammar and newline rules: docs/grammar.md.  Walking tokens, errors and recovery: TokenCursor.h.
//
#include "compiler/Frontend/Parser.h"
#include "compiler/Frontend/TokenCursor.h"

#include <algorithm>

namespace tessera::ast {

const char *spelling(BinaryOp op) {
  static constexpr const char *kSpelling[] = {"or", "and", "==", "!=", "<", "<=", ">", ">=", "|", "^",
                                              "&",  "<<",  ">>", "+",  "-", "*",  "/", "%",  "@"};
  return kSpelling[int(op)];
}
const char *spelling(UnaryOp op) { return op == UnaryOp::Negate ? "-" : op == UnaryOp::BitNot ? "~" : "not"; }

} // namespace tessera::ast

namespace tessera::frontend {
using namespace ast;
namespace {

constexpr size_t kMostBytes = 16u << 20;

struct OperatorInfo {
  std::string_view text;
  BinaryOp op;
  int level;
};
/// Python's table; a higher level binds tighter.  `not` stands between `and` and comparisons, unary `-` and `~` above `*`.
constexpr int kNotLevel = 3, kComparisonLevel = 4, kBitOrLevel = 5;
constexpr OperatorInfo kOperators[] = {
    {"or", BinaryOp::Or, 1},         {"and", BinaryOp::And, 2},         {"==", BinaryOp::Equal, 4},
    {"!=", BinaryOp::NotEqual, 4},   {"<", BinaryOp::Less, 4},          {"<=", BinaryOp::LessEqual, 4},
    {">", BinaryOp::Greater, 4},     {">=", BinaryOp::GreaterEqual, 4}, {"|", BinaryOp::BitOr, 5},
    {"^", BinaryOp::BitXor, 6},      {"&", BinaryOp::BitAnd, 7},        {"<<", BinaryOp::ShiftLeft, 8},
    {">>", BinaryOp::ShiftRight, 8}, {"+", BinaryOp::Add, 9},           {"-", BinaryOp::Sub, 9},
    {"*", BinaryOp::Mul, 10},        {"/", BinaryOp::Div, 10},          {"%", BinaryOp::Rem, 10},
    {"@", BinaryOp::MatMul, 10}};

class Parser : TokenCursor {
public:
  Parser(std::string_view source, const std::string &fileName, std::vector<Diagnostic> &diagnostics)
      : TokenCursor(source, fileName, diagnostics) {
    file.files.push_back(fileName);
  }

  File run() {
    while (!atEnd()) {
      if (accept(";"))
        continue;
      size_t before = position;
      declaration();
      if (panicking || position == before)
        skipToDeclaration(before);
    }
    return std::move(file);
  }

private:
  //===--- Declarations ---===//
  void declaration() {
    if (is("kernel") || (isWord("op") && peek(1).kind == Token::Kind::Name))
      return kernel();
    if (is("fn"))
      return function();
    if (isWord("tune") && peek(1).kind == Token::Kind::Name)
      return tune();
    if (is("import")) {
      SourceRange start = take().range;
      if (peek().kind != Token::Kind::String)
        return fail("expected the path of a file in quotes after 'import', found " + describe(peek()),
                    "write import \"path.tile\"");
      std::string path = take().text;
      file.imports.push_back({path, from(start)});
      return endOfStatement();
    }
    if (is("let")) {
      SourceRange start = take().range;
      Binder binder;
      if (!name(binder, "a name after 'let'") || !expect("=", "after the name of a constant"))
        return;
      ExprPtr value = expression();
      file.constants.push_back({binder.name, from(start), std::move(value)});
      return endOfStatement();
    }
    fail("expected 'kernel', 'fn', 'op', 'tune', 'import' or 'let', found " + describe(peek()),
         "statements stand inside a kernel or a function");
  }

  void kernel() {
    Kernel kernel;
    SourceRange start = peek().range;
    kernel.isOp = take().text == "op";
    Binder binder;
    if (!name(binder, kernel.isOp ? "the name of the op" : "the name of the kernel"))
      return;
    kernel.name = binder.name;
    kernel.nameRange = binder.range;
    if (is("<") && !staticParams(kernel))
      return;
    if (!expect("(", "before the parameters") || !params(kernel))
      return;
    while (!panicking && !is("{") && !atEnd())
      if (!clause(kernel))
        return;
    if (!is("{"))
      return fail("expected '{' before the body, found " + describe(peek()));
    kernel.body = block();
    kernel.range = from(start);
    if (const Kernel *other = file.findKernel(kernel.name)) {
      failAt(kernel.nameRange, std::string("expected a name of its own, found a second '") + kernel.name + "'",
             "rename one of the two", "T0101");
      diagnostics.back().notes.push_back({{fileName, other->nameRange.line, other->nameRange.column}, "the first one"});
      panicking = false;
      return;
    }
    file.kernels.push_back(std::move(kernel));
  }

  bool staticParams(Kernel &kernel) {
    take(); // <
    Brackets inside(brackets, brackets + 1);
    while (!is(">")) {
      StaticParam param;
      Binder binder;
      if (!name(binder, "the name of a compile-time parameter"))
        return false;
      param.name = binder.name;
      param.range = binder.range;
      if (accept(":"))
        param.type = primary();
      if (accept("="))
        param.defaultValue = binary(kBitOrLevel); // `>` would close the list
      if (!param.type && !param.defaultValue) {
        fail("expected '= default' or ': int' after the compile-time parameter '" + param.name + "', found " +
             describe(peek()));
        return false;
      }
      kernel.staticParams.push_back(std::move(param));
      if (!accept(","))
        break;
    }
    return expect(">", "after the compile-time parameters");
  }

  /// An element type with extents: `T[B, I]`, `f32[]`, `f32`.
  bool typeAndExtents(ExprPtr &type, bool &hasShape, std::vector<ExprPtr> &extents, bool &anyLeading) {
    const Token &token = peek();
    if (token.kind != Token::Kind::Name) {
      fail("expected an element type, found " + describe(token));
      return false;
    }
    type = std::make_unique<NameExpr>(token.range, token.text);
    take();
    if (!is("[") || peek().newlineBefore)
      return true;
    take();
    hasShape = true;
    Brackets inside(brackets, brackets + 1);
    while (!is("]")) {
      if (accept("..")) {
        if (!extents.empty()) {
          fail("expected '..' only before the first extent");
          return false;
        }
        if (peek().kind != Token::Kind::Name || !(is(",", 1) || is("]", 1))) {
          fail("expected the name of the leading dimensions after '..', found " + describe(peek()),
               "write ..S, and the other extents after it");
          return false;
        }
        anyLeading = true;
      }
      extents.push_back(expression());
      if (panicking)
        return false;
      if (!accept(","))
        break;
    }
    return expect("]", "after the extents");
  }

  bool params(Kernel &kernel) {
    Brackets inside(brackets, brackets + 1);
    while (!is(")")) {
      Param param;
      Binder binder;
      if (!name(binder, "the name of a parameter"))
        return false;
      param.name = binder.name;
      param.range = binder.range;
      if (!expect(":", "after the name of a parameter"))
        return false;
      if (accept("in")) {
        param.mode = Mode::In;
      } else if (peek().kind == Token::Kind::Name && peek(1).kind == Token::Kind::Name) {
        std::string mode = peek().text;
        if (mode != "out" && mode != "inout" && mode != "accum") {
          fail("expected 'in', 'out', 'inout' or 'accum', found '" + mode + "'");
          return false;
        }
        param.mode = mode == "out" ? Mode::Out : mode == "inout" ? Mode::InOut : Mode::Accum;
        take();
      }
      if (!typeAndExtents(param.type, param.isTensor, param.extents, param.anyLeading))
        return false;
      if (param.isTensor != (param.mode != Mode::Scalar)) {
        failAt(param.range,
               param.isTensor ? "expected a mode before the type of tensor '" + param.name + "'"
                              : "expected extents in [ ] after the type of tensor '" + param.name + "'",
               param.isTensor ? "write in, out, inout or accum" : "write f32[] for a tensor of rank 0");
        return false;
      }
      if (accept("="))
        param.defaultValue = expression();
      if (panicking)
        return false;
      kernel.params.push_back(std::move(param));
      if (!accept(","))
        break;
    }
    return expect(")", "after the parameters");
  }

  /// requires, grid or with.
  bool clause(Kernel &kernel) {
    if (accept("requires")) {
      do {
        Requirement requirement;
        size_t begin = peek().range.begin;
        requirement.condition = expression();
        if (panicking)
          return false;
        requirement.text = std::string(source.substr(begin, tokens[position - 1].range.end - begin));
        kernel.requirements.push_back(std::move(requirement));
      } while (accept(","));
      return true;
    }
    if (accept("with")) {
      do {
        WithClause clause;
        if (!name(clause.name, "the name of an attribute") || !expect("=", "after the name of an attribute"))
          return false;
        clause.value = binary(kBitOrLevel);
        if (panicking)
          return false;
        kernel.with.push_back(std::move(clause));
      } while (accept(","));
      return true;
    }
    if (accept("grid")) {
      kernel.hasGrid = true;
      if (!expect("(", "after 'grid'"))
        return false;
      Brackets inside(brackets, brackets + 1);
      while (!is(")")) {
        LoopRange range;
        bool isShape = false;
        if (!loopRange(range, &isShape))
          return false;
        if (isShape) {
          kernel.grid.push_back({range.name, nullptr, nullptr, nullptr, std::move(range.low)});
          if (!accept(","))
            break;
          continue;
        }
        if (range.reverse) {
          failAt(range.name.range, "expected a range, found 'reverse' in a grid",
                 "the order of programs is unspecified");
          return false;
        }
        kernel.grid.push_back(
            {range.name, std::move(range.low), std::move(range.high), std::move(range.step), nullptr});
        if (!accept(","))
          break;
      }
      return expect(")", "after the ranges of the grid");
    }
    fail("expected 'requires', 'grid', 'with' or '{' after the parameters, found " + describe(peek()));
    return false;
  }

  /// `k in lo..hi by step`, `k in reverse(lo..hi by step)`; with `isShape` also `k in S`, which `low` then holds.
  bool loopRange(LoopRange &range, bool *isShape = nullptr) {
    if (!name(range.name, "the name of an index") || !expect("in", "after the name of an index"))
      return false;
    bool inReverse = isWord("reverse") && is("(", 1);
    std::optional<Brackets> inside;
    if (inReverse) {
      take();
      take();
      range.reverse = true;
      inside.emplace(brackets, brackets + 1);
    }
    range.low = expression();
    if (isShape && !range.reverse && !panicking && !is("..")) {
      *isShape = true;
      return true;
    }
    if (!expect("..", "between the bounds of a range"))
      return false;
    range.high = expression();
    if (accept("by"))
      range.step = expression();
    return !panicking && (!inReverse || expect(")", "after the range of 'reverse'"));
  }

  void function() {
    Function function;
    SourceRange start = take().range;
    Binder binder;
    if (!name(binder, "the name of the function"))
      return;
    function.name = binder.name;
    function.nameRange = binder.range;
    if (!fnBody(function.body))
      return;
    function.range = from(start);
    if (const Function *other = file.findFunction(function.name)) {
      failAt(function.nameRange, "expected a name of its own, found a second '" + function.name + "'",
             "rename one of the two", "T0101");
      diagnostics.back().notes.push_back({{fileName, other->nameRange.line, other->nameRange.column}, "the first one"});
      panicking = false;
      return;
    }
    bool isExpression = bool(function.body.expression);
    file.functions.push_back(std::move(function));
    if (isExpression)
      endOfStatement();
  }

  /// `(params) => e` or `(params) { ... }`
  bool fnBody(FnBody &body) {
    if (!expect("(", "before the parameters of a function"))
      return false;
    {
      Brackets inside(brackets, brackets + 1);
      while (!is(")")) {
        FnParam param;
        Binder binder;
        if (!name(binder, "the name of a parameter"))
          return false;
        param.name = binder.name;
        param.range = binder.range;
        if (accept(":") && !typeAndExtents(param.type, param.hasShape, param.extents, param.anyLeading))
          return false;
        body.params.push_back(std::move(param));
        if (!accept(","))
          break;
      }
      if (!expect(")", "after the parameters of a function"))
        return false;
    }
    if (accept("=>")) {
      body.expression = expression();
      return !panicking;
    }
    if (!is("{")) {
      fail("expected '=>' or '{' after the parameters of a function, found " + describe(peek()));
      return false;
    }
    body.block = block();
    return true;
  }

  void tune() {
    Tune tune;
    SourceRange start = take().range;
    tune.kernel = peek().text;
    tune.kernelRange = peek().range;
    take();
    if (!expect("{", "after the name of the kernel to tune"))
      return;
    Brackets inside(brackets, 0);
    while (!is("}") && !atEnd()) {
      if (accept(",") || accept(";"))
        continue;
      TuneEntry entry;
      if (!name(entry.name, "the name of a parameter to tune"))
        return;
      if (accept("=")) {
        entry.values.push_back(expression());
      } else if (accept("in")) {
        ExprPtr list = expression();
        if (!panicking && list->kind != Expr::Kind::List)
          return failAt(list->range, "expected a list of values in [ ] after 'in'");
        if (!panicking)
          entry.values = std::move(list->as<ListExpr>().elements);
      } else {
        return fail("expected '= value' or 'in [values]' after '" + entry.name.name + "', found " + describe(peek()));
      }
      if (panicking)
        return;
      tune.entries.push_back(std::move(entry));
    }
    if (!expect("}", "after the parameters to tune"))
      return;
    tune.range = from(start);
    file.tunes.push_back(std::move(tune));
  }

  //===--- Statements ---===//
  Block block() {
    Block result;
    SourceRange start = peek().range;
    expect("{", "before a block");
    Brackets inside(brackets, 0);
    Nesting level(*this);
    while (!is("}") && !atEnd()) {
      if (accept(";"))
        continue;
      if (startsDeclaration() && (is("kernel") || is("import")))
        break;
      size_t before = position;
      StmtPtr statement = this->statement();
      if (!panicking)
        endOfStatement();
      if (panicking) {
        recoverStatement(before);
        if (position == before && !is("}"))
          take();
      }
      if (statement)
        result.statements.push_back(std::move(statement));
    }
    if (!is("}"))
      fail("expected '}' at the end of the block that opens in line " + std::to_string(start.line) + ", found " +
           describe(peek()));
    else
      take();
    result.range = from(start);
    return result;
  }

  void endOfStatement() {
    if (panicking || atEnd() || is("}") || is(";") || peek().newlineBefore)
      return;
    fail("expected the end of the statement, found " + describe(peek()), "put the next statement on a line of its own",
         "T0008");
  }

  StmtPtr statement() {
    SourceRange start = peek().range;
    if (is("let") || is("var"))
      return let();
    if (is("for"))
      return forLoop();
    if (accept("while")) {
      auto loop = std::make_unique<WhileStmt>(start);
      loop->condition = expression();
      if (panicking)
        return loop;
      if (!is("{")) {
        fail("expected '{' after the condition of 'while', found " + describe(peek()));
        return loop;
      }
      loop->body = block();
      loop->range = from(start);
      return loop;
    }
    if (accept("return")) {
      ExprPtr value;
      if (!peek().newlineBefore && !is("}") && !is(";") && !atEnd())
        value = expression();
      return std::make_unique<ReturnStmt>(from(start), std::move(value));
    }
    if (accept("break"))
      return std::make_unique<BreakStmt>(start);
    if (accept("continue"))
      return std::make_unique<ContinueStmt>(start);
    if (isWord("temp") && peek(1).kind == Token::Kind::Name && is(":", 2))
      return temporary();
    ExprPtr first = expression();
    if (panicking)
      return std::make_unique<ErrorStmt>(start);
    static constexpr std::pair<std::string_view, BinaryOp> kCompound[] = {
        {"+=", BinaryOp::Add},    {"-=", BinaryOp::Sub},        {"*=", BinaryOp::Mul},        {"/=", BinaryOp::Div},
        {"%=", BinaryOp::Rem},    {"@=", BinaryOp::MatMul},     {"|=", BinaryOp::BitOr},      {"&=", BinaryOp::BitAnd},
        {"^=", BinaryOp::BitXor}, {"<<=", BinaryOp::ShiftLeft}, {">>=", BinaryOp::ShiftRight}};
    std::optional<BinaryOp> op;
    for (auto &[text, compound] : kCompound)
      if (is(text))
        op = compound;
    if (!op && !is("="))
      return std::make_unique<ExprStmt>(from(start), std::move(first));
    SourceRange at = take().range;
    auto assign = std::make_unique<AssignStmt>(start);
    assign->op = op;
    if (first->kind == Expr::Kind::Tuple) {
      assign->isTuple = true;
      assign->targets = std::move(first->as<TupleExpr>().elements);
    } else {
      assign->targets.push_back(std::move(first));
    }
    for (ExprPtr &target : assign->targets)
      if (target->kind != Expr::Kind::Name && target->kind != Expr::Kind::Index) {
        failAt(target->range, "expected a name or a slice on the left of '='", "", "T0009");
        return assign;
      }
    if (assign->isTuple && op)
      failAt(at, "expected '=' after a tuple", "assign the elements one by one", "T0009");
    assign->value = expression();
    assign->range = from(start);
    return assign;
  }

  StmtPtr let() {
    SourceRange start = peek().range;
    bool isVar = take().text == "var";
    auto statement = std::make_unique<LetStmt>(isVar ? Stmt::Kind::Var : Stmt::Kind::Let, start);
    if (accept("(")) {
      statement->isTuple = true;
      Brackets inside(brackets, brackets + 1);
      while (!is(")")) {
        Binder binder;
        if (!name(binder, "a name"))
          return statement;
        statement->names.push_back(binder);
        if (!accept(","))
          break;
      }
      if (!expect(")", "after the names"))
        return statement;
    } else {
      Binder binder;
      if (!name(binder, isVar ? "a name after 'var'" : "a name after 'let'"))
        return statement;
      statement->names.push_back(binder);
    }
    if (!expect("=", "and a value after the name"))
      return statement;
    statement->value = expression();
    statement->range = from(start);
    return statement;
  }

  StmtPtr forLoop() {
    SourceRange start = take().range;
    auto loop = std::make_unique<ForStmt>(start);
    if (isWord("static")) {
      take();
      loop->isStatic = true;
    }
    auto one = [&] {
      LoopRange range;
      if (!loopRange(range))
        return false;
      loop->ranges.push_back(std::move(range));
      return true;
    };
    if (accept("(")) {
      Brackets inside(brackets, brackets + 1);
      do {
        if (!one())
          return loop;
      } while (accept(","));
      if (!expect(")", "after the ranges of 'for'"))
        return loop;
    } else if (!one()) {
      return loop;
    }
    if (!is("{")) {
      fail("expected '{' after the range of 'for', found " + describe(peek()));
      return loop;
    }
    loop->body = block();
    loop->range = from(start);
    return loop;
  }

  StmtPtr temporary() {
    SourceRange start = take().range;
    auto statement = std::make_unique<TempStmt>(start);
    name(statement->name, "the name of a temporary");
    expect(":", "after the name of a temporary");
    bool hasShape = false;
    if (!typeAndExtents(statement->type, hasShape, statement->extents, statement->anyLeading))
      return statement;
    if (!hasShape)
      fail("expected extents in [ ] after the type of a temporary");
    else if (accept("="))
      statement->initial = expression();
    statement->range = from(start);
    return statement;
  }

  //===--- Expressions ---===//
  ExprPtr expression() { return is("fn") ? closure() : binary(1); }

  /// A function without a name is a whole expression: its body goes as far as it can, so that no operator could follow it.
  ExprPtr closure() {
    Nesting guard(*this);
    if (!guard.good)
      return errorHere();
    SourceRange start = take().range;
    FnBody body;
    if (!fnBody(body))
      return errorHere();
    return std::make_unique<ClosureExpr>(from(start), std::move(body));
  }

  /// The operator at the current place, unless a newline makes it the start of the next statement.
  const OperatorInfo *operatorHere() const {
    if (peek().newlineBefore && brackets == 0)
      return nullptr;
    if (peek().kind != Token::Kind::Punctuation && peek().kind != Token::Kind::Keyword)
      return nullptr;
    for (const OperatorInfo &info : kOperators)
      if (peek().text == info.text)
        return &info;
    return nullptr;
  }

  ExprPtr binary(int level) {
    Nesting guard(*this);
    if (!guard.good)
      return errorHere();
    SourceRange start = peek().range;
    ExprPtr left;
    if (is("not") && level <= kNotLevel) {
      take();
      left = std::make_unique<UnaryExpr>(start, UnaryOp::Not, binary(kNotLevel));
      left->range = from(start);
    } else {
      left = unary();
    }
    int compared = 0;
    while (!panicking) {
      const OperatorInfo *info = operatorHere();
      if (!info || info->level < level)
        return left;
      // After `not` only `and` and `or` may follow at this level.
      if (left->kind == Expr::Kind::Unary && !left->parenthesized && left->as<UnaryExpr>().op == UnaryOp::Not &&
          info->level > 2)
        return left;
      if (info->level == kComparisonLevel && compared++) {
        fail("expected one comparison, found a second", "comparisons do not chain; write a < b and b < c", "T0006");
        return left;
      }
      SourceRange at = take().range;
      ExprPtr right =
          binary(info->level + 1); // of `or` and `and` it may begin with `not`, which binds tighter than both
      left = std::make_unique<BinaryExpr>(from(start), info->op, at, std::move(left), std::move(right));
      if (info->level != kComparisonLevel)
        compared = 0;
    }
    return left;
  }

  ExprPtr unary() {
    SourceRange start = peek().range;
    if (is("-") || is("~")) {
      Nesting guard(*this);
      if (!guard.good)
        return errorHere();
      UnaryOp op = take().text == "-" ? UnaryOp::Negate : UnaryOp::BitNot;
      auto result = std::make_unique<UnaryExpr>(start, op, unary());
      result->range = from(start);
      return result;
    }
    return postfix();
  }

  ExprPtr postfix() {
    SourceRange start = peek().range;
    ExprPtr base = primary();
    while (!panicking) {
      if (peek().newlineBefore && brackets == 0)
        return base;
      if (is("(")) {
        std::vector<Argument> list;
        if (!arguments(list))
          return base;
        base = std::make_unique<CallExpr>(from(start), std::move(base), std::move(list));
      } else if (is("[")) {
        auto index = std::make_unique<IndexExpr>(start, std::move(base));
        indexEntries(*index);
        index->range = from(start);
        base = std::move(index);
      } else if (is(".")) {
        take();
        Binder member;
        if (!name(member, "'T' after '.'"))
          return base;
        base = std::make_unique<MemberExpr>(from(start), std::move(base), member.name, member.range);
      } else {
        return base;
      }
    }
    return base;
  }

  bool arguments(std::vector<Argument> &list) {
    take(); // (
    Brackets inside(brackets, brackets + 1);
    while (!is(")")) {
      Argument argument;
      if (peek().kind == Token::Kind::Name && is("=", 1)) {
        argument.name = peek().text;
        argument.nameRange = peek().range;
        take();
        take();
      }
      argument.value = expression();
      if (panicking)
        return false;
      list.push_back(std::move(argument));
      if (!accept(","))
        break;
    }
    return expect(")", "after the arguments");
  }

  void indexEntries(IndexExpr &index) {
    take(); // [
    Brackets inside(brackets, brackets + 1);
    while (!is("]")) {
      if (isWord("pad") && is("=", 1)) {
        take();
        take();
        index.pad = expression();
      } else {
        IndexEntry entry;
        entry.range = peek().range;
        if (accept(":")) {
          entry.kind = IndexEntry::Kind::Whole;
        } else if (accept("..")) {
          entry.kind = IndexEntry::Kind::Rest;
        } else if (is("None")) {
          take();
          entry.kind = IndexEntry::Kind::NewAxis;
        } else {
          entry.first = expression();
          if (accept("+:")) {
            entry.kind = IndexEntry::Kind::Width;
            entry.second = expression();
            if (accept("by"))
              entry.step = expression();
          } else if (accept("..")) {
            entry.kind = IndexEntry::Kind::Range;
            entry.second = expression();
          }
        }
        entry.range = from(entry.range);
        index.entries.push_back(std::move(entry));
      }
      if (panicking)
        return;
      if (!accept(","))
        break;
    }
    expect("]", "after the index");
  }

  ExprPtr primary() {
    Nesting guard(*this);
    if (!guard.good)
      return errorHere();
    const Token token = peek();
    switch (token.kind) {
    case Token::Kind::Integer:
      take();
      return std::make_unique<IntegerExpr>(token.range, token.integer);
    case Token::Kind::Float:
      take();
      return std::make_unique<FloatExpr>(token.range, token.real);
    case Token::Kind::String:
      take();
      return std::make_unique<StringExpr>(token.range, token.text);
    case Token::Kind::Name:
      take();
      return std::make_unique<NameExpr>(token.range, token.text);
    default:
      break;
    }
    if (is("true") || is("false")) {
      take();
      return std::make_unique<BoolExpr>(token.range, token.text == "true");
    }
    if (is("None")) {
      take();
      return std::make_unique<NoneExpr>(token.range);
    }
    if (is("("))
      return parentheses();
    if (is("["))
      return list();
    if (is("if"))
      return ifExpression();
    fail("expected an expression, found " + describe(token),
         is("fn") ? "a function without a name is an expression of its own; put it in parentheses" : "");
    return errorHere();
  }

  ExprPtr parentheses() {
    SourceRange start = take().range;
    Brackets inside(brackets, brackets + 1);
    std::vector<ExprPtr> elements;
    bool comma = false;
    while (!is(")")) {
      elements.push_back(expression());
      if (panicking)
        return errorHere();
      if (!accept(","))
        break;
      comma = true;
    }
    if (!expect(")", "after the expression"))
      return errorHere();
    if (elements.size() == 1 && !comma) {
      elements[0]->parenthesized = true;
      return std::move(elements[0]);
    }
    if (elements.empty()) {
      failAt(start, "expected an expression between the parentheses");
      return errorHere();
    }
    return std::make_unique<TupleExpr>(from(start), std::move(elements));
  }

  ExprPtr list() {
    SourceRange start = take().range;
    Brackets inside(brackets, brackets + 1);
    std::vector<ExprPtr> elements;
    while (!is("]")) {
      elements.push_back(expression());
      if (panicking)
        return errorHere();
      if (!accept(","))
        break;
    }
    if (!expect("]", "after the list"))
      return errorHere();
    return std::make_unique<ListExpr>(from(start), std::move(elements));
  }

  ExprPtr ifExpression() {
    SourceRange start = take().range;
    auto result = std::make_unique<IfExpr>(start, expression());
    if (panicking)
      return result;
    if (!is("{")) {
      fail("expected '{' after the condition of 'if', found " + describe(peek()));
      return result;
    }
    result->thenBlock = block();
    if (accept("else")) {
      if (is("if")) {
        Block chained;
        SourceRange inner = peek().range;
        ExprPtr next = ifExpression();
        chained.range = from(inner);
        chained.statements.push_back(std::make_unique<ExprStmt>(chained.range, std::move(next)));
        result->elseBlock = std::move(chained);
      } else if (is("{")) {
        result->elseBlock = block();
      } else {
        fail("expected '{' or 'if' after 'else', found " + describe(peek()));
      }
    }
    result->range = from(start);
    return result;
  }

  File file;
};

} // namespace

File parse(std::string_view source, const std::string &fileName, std::vector<Diagnostic> &diagnostics) {
  if (source.size() > kMostBytes) {
    Diagnostic diagnostic;
    diagnostic.code = "T0007";
    diagnostic.place = {fileName, 1, 1};
    diagnostic.message = "expected a file of at most 16 MiB, found " + std::to_string(source.size()) + " bytes";
    diagnostic.remedy = "split the program and import its parts";
    diagnostics.push_back(diagnostic);
    return {};
  }
  return Parser(source, fileName, diagnostics).run();
}

} // namespace tessera::frontend
