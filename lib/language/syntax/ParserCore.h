// SPDX-License-Identifier: Apache-2.0
// The parser's state and grammar, private to this folder: Parser.cpp holds the entry points and
// recovery, ParseStatements.cpp, ParseBlocks.cpp, ParseExpressions.cpp, ParseAtoms.cpp and
// ParseStrings.cpp the rules. A rule that fails has reported why (once) and returns null.
#pragma once

#include "lib/language/syntax/Lexer.h"
#include "lib/language/syntax/Parser.h"

#include <optional>

namespace nereid::language {

class Parser {
public:
  Parser(std::string_view path, std::string_view text, TokenStream stream, Diagnostics &diags,
         bool isStrict)
      : path(path), text(text), stream(std::move(stream)), diags(diags), isStrict(isStrict) {}

  std::vector<StmtPtr> parseFileBody();
  /// The whole text as one expression; null after an error.
  ExprPtr parseOnlyExpression();
  bool hasReported() const { return reportCount > 0; }

private:
  using Block = std::vector<StmtPtr>;

  // --- tokens
  const Token &current() const { return stream.tokens[pos]; }
  const Token &peek(size_t ahead) const {
    return stream.tokens[std::min(pos + ahead, stream.tokens.size() - 1)];
  }
  std::string_view spelling(const Token &token) const {
    return text.substr(token.begin, token.end - token.begin);
  }
  bool is(TokenKind kind) const { return current().kind == kind; }
  bool isOperator(std::string_view op) const {
    return is(TokenKind::Operator) && spelling(current()) == op;
  }
  bool isKeyword(std::string_view word) const {
    return is(TokenKind::Keyword) && spelling(current()) == word;
  }
  bool isOperatorAt(size_t ahead, std::string_view op) const {
    return peek(ahead).kind == TokenKind::Operator && spelling(peek(ahead)) == op;
  }
  /// True as well where nothing can follow, so that the closing bracket is what is missed.
  bool isAtClosing(std::string_view op) const { return isOperator(op) || is(TokenKind::End); }
  bool acceptOperator(std::string_view op);
  bool acceptKeyword(std::string_view word);
  void advance() { pos += !is(TokenKind::End); }
  /// `context` completes "expects ')' …", e.g. "after the arguments".
  bool expectOperator(std::string_view op, std::string_view context);
  bool expectClosing(std::string_view op, size_t openToken, std::string_view context);

  // --- places
  SourceRange rangeOf(const Token &token) const;
  /// From a token to the last one taken, clipped to the first line.
  SourceRange rangeFrom(size_t firstToken) const;
  std::string describe(const Token &token) const;

  // --- errors
  bool isReporting() const { return isStrict || kernelDepth > 0; }
  /// Reports unless the code is outside kernels; always returns null.
  std::nullptr_t report(SourceRange range, Diagnostic diagnostic);
  /// "expects X, but got <current token>"; an Error token speaks for itself.
  std::nullptr_t failExpecting(std::string_view expected);
  std::nullptr_t failUnsupported(std::string_view construct, size_t firstToken,
                                 std::string_view help);
  std::nullptr_t failTooDeep(size_t token);

  // --- recovery
  void recover(size_t statementStart, Block &out);
  void skipLine();
  void skipNestedBlock();
  void skipContinuationClauses(bool parseThem);
  StmtPtr takeOpaque(size_t statementStart);

  // --- statements
  bool parseStatement(Block &out);
  void parseStatements(Block &out);
  bool parseSimpleLine(Block &out);
  StmtPtr parseSimple();
  StmtPtr parseAssignmentOrExpression();
  StmtPtr parseAssignChain(ExprPtr first, size_t start);
  StmtPtr parseImport();
  StmtPtr parseImportFrom();
  bool parseImportNames(Stmt &statement);
  bool parseDottedName(std::string &out);
  StmtPtr parseOpaqueSimple();
  bool checkTarget(const Expr &target, std::string_view verb);
  StmtPtr makeStatement(StmtKind kind, size_t start) const;

  // --- blocks
  bool parseBlock(Block &out, std::string_view owner, size_t ownerToken);
  StmtPtr parseIf();
  StmtPtr parseWhile();
  StmtPtr parseFor();
  bool parseElse(Stmt &statement);
  StmtPtr parseDecorated();
  StmtPtr parseFunction(size_t start, std::vector<ExprPtr> decorators);
  bool parseParams(FunctionDef &function);
  bool parseParam(FunctionDef &function);
  bool decoratorsNameJit(size_t start) const;
  StmtPtr parseOpaqueBlock(size_t start);

  // --- expressions
  ExprPtr parseExpressionList(); // bare tuple or one expression, stars allowed
  ExprPtr parseExpression();     // conditional or lambda
  ExprPtr parseStarOrExpression();
  ExprPtr parseConditional();
  ExprPtr parseLambda();
  ExprPtr parseLogical(std::string_view word, ExprKind kind, ExprPtr (Parser::*operand)());
  ExprPtr parseOr();
  ExprPtr parseAnd();
  ExprPtr parseNot();
  ExprPtr parseComparison();
  std::string acceptComparison();
  ExprPtr parseBinary(int minLevel);
  ExprPtr parseUnary();
  ExprPtr parsePower();
  ExprPtr parsePostfix();
  ExprPtr parseCall(ExprPtr callee, size_t start);
  bool parseArgument(Expr &call);
  ExprPtr parseSubscript(ExprPtr base, size_t start);
  ExprPtr parseIndex();
  ExprPtr parseAtom();
  ExprPtr parseNumber();
  ExprPtr parseParenthesized();
  ExprPtr parseListDisplay();
  ExprPtr parseDictDisplay();
  bool parseComprehension(Expr &list);
  ExprPtr parseTargetList();
  ExprPtr parseStrings();
  bool appendStringPart(Expr &whole, size_t token);
  bool appendFormatted(Expr &whole, size_t token, size_t insideBegin, size_t insideEnd, bool isRaw);
  bool appendLiteralText(Expr &whole, size_t token, size_t begin, size_t end, bool isRaw,
                         bool isFormatted);
  ExprPtr parseField(size_t token, size_t begin, size_t end);
  SourceRange rangeInside(size_t token, size_t begin, size_t end) const;

  ExprPtr makeLeaf(ExprKind kind, size_t start, std::string content = {}) const;
  /// Takes the operands over and sets range and height; null when the tree gets too high.
  ExprPtr makeNode(ExprKind kind, size_t start, std::string content, std::vector<ExprPtr> operands);
  ExprPtr sealed(ExprPtr node, size_t start);
  template <class... Operands> static std::vector<ExprPtr> list(Operands... operands) {
    std::vector<ExprPtr> out;
    (out.push_back(std::move(operands)), ...);
    return out;
  }

  /// Counts one level of recursion while it lives.
  struct Level {
    explicit Level(Parser &parser) : parser(parser) { ++parser.depth; }
    ~Level() { --parser.depth; }
    Level(const Level &) = delete;
    bool isTooDeep() const { return parser.depth > maxDepth; }
    Parser &parser;
  };
  static constexpr int maxDepth = 200;   // recursion of expressions
  static constexpr int maxHeight = 1000; // of a tree; long operator chains grow without recursion
  static constexpr int maxElifs = 200;   // an elif is a nested If
  static constexpr int maxReports = 25;

  std::string_view path, text;
  TokenStream stream;
  Diagnostics &diags;
  bool isStrict;
  size_t pos = 0;
  int depth = 0;
  int kernelDepth = 0; // functions with @triton.jit around the current token
  int reportCount = 0;
  bool lastFailureWasReported = false;
};

} // namespace nereid::language
