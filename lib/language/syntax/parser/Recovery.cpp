// SPDX-License-Identifier: Apache-2.0
// What becomes of a statement that cannot be read: inside kernels parsing goes on with the next
// one, outside it becomes Opaque.
#include "lib/language/syntax/parser/StatementParser.h"

namespace nereid::language {

static bool isAnyOf(std::string_view word, std::initializer_list<std::string_view> words) {
  for (std::string_view candidate : words) {
    if (word == candidate) {
      return true;
    }
  }
  return false;
}

/// Of the first word that an Opaque statement keeps.
static constexpr size_t longestWord = 40;

/// Passes `elif`, `else`, `except`, `finally` and their blocks after a statement that was given up.
void StatementParser::skipContinuationClauses(bool parseThem) {
  while (tokens.is(TokenKind::Keyword) &&
         isAnyOf(tokens.spelling(tokens.current()), {"elif", "else", "except", "finally"})) {
    tokens.skipLine();
    if (tokens.is(TokenKind::Indent) && parseThem) {
      Block discarded;
      tokens.advance();
      parseStatements(discarded);
      if (tokens.is(TokenKind::Dedent)) {
        tokens.advance();
      }
    } else if (tokens.is(TokenKind::Indent)) {
      tokens.skipNestedBlock();
    }
  }
}

StmtPtr StatementParser::takeOpaque(size_t statementStart) {
  tokens.moveTo(statementStart);
  bool isDecorated = tokens.isOperator("@");
  std::string firstWord(tokens.spelling(tokens.current()).substr(0, longestWord));
  bool isDone = false;
  while (!isDone && !tokens.is(TokenKind::End)) {
    bool isHeader =
        tokens.isKeyword("def") || tokens.isKeyword("class") || tokens.isKeyword("async");
    isDone = !isDecorated || isHeader || (!tokens.isOperator("@") && !tokens.is(TokenKind::Error));
    size_t before = tokens.position();
    tokens.skipLine();
    if (tokens.is(TokenKind::Indent)) {
      tokens.skipNestedBlock();
    }
    if (tokens.position() == before) {
      tokens.advance();
      break;
    }
  }
  skipContinuationClauses(false);
  size_t end = tokens.position();
  tokens.moveTo(statementStart + 1);
  StmtPtr statement = makeStatement(StmtKind::Opaque, statementStart);
  tokens.moveTo(end);
  statement->text = std::move(firstWord);
  return statement;
}

void StatementParser::recover(size_t statementStart, Block &out) {
  if (!errors.takeLastWasReported()) {
    out.push_back(takeOpaque(statementStart));
    return;
  }
  TokenKind before =
      tokens.position() > statementStart ? tokens.at(tokens.position() - 1).kind : TokenKind::End;
  bool isAtNextStatement = before == TokenKind::Newline || before == TokenKind::Dedent;
  if (!isAtNextStatement || tokens.is(TokenKind::Indent)) {
    tokens.skipLine();
  }
  if (tokens.is(TokenKind::Indent)) {
    Block discarded;
    tokens.advance();
    parseStatements(discarded);
    if (tokens.is(TokenKind::Dedent)) {
      tokens.advance();
    }
  }
  skipContinuationClauses(true);
  if (tokens.position() == statementStart && !tokens.is(TokenKind::Dedent)) {
    tokens.advance();
  }
}

} // namespace nereid::language
