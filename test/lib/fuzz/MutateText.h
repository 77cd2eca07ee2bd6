//===- MutateText.h - damaged .mlir text --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TEST_LIB_FUZZ_MUTATETEXT_H
#define ATTN_TEST_LIB_FUZZ_MUTATETEXT_H

#include "Random.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace attn::fuzz {

/// A piece of text. Tokens of a text, put one behind the other, are the text.
struct Token {
  /// Shape: "2x?x". Name: a word with a dot in it. Value, Symbol, Block, Type and Alias start with % @ ^ ! #.
  enum class Kind {
    Space,
    Newline,
    Comment,
    Word,
    Name,
    Value,
    Symbol,
    Block,
    Type,
    Alias,
    Number,
    Shape,
    String,
    Other
  };
  Kind kind;
  std::string text;
};

using Tokens = std::vector<Token>;

Tokens tokenize(std::string_view text);

/// What the seeds are written with, for replacements of the same kind.
using Dictionary = std::map<Token::Kind, std::vector<std::string>>;

/// A text to start from.
struct Seed {
  std::string file;
  Tokens tokens;
  /// Passes that its RUN lines name, as pipelines on modules.
  std::vector<std::string> pipelines;
};

Dictionary collectWords(const std::vector<Seed> &seeds);

/// One of the seeds after one to six mutations: of tokens, lines, groups in brackets, all equal sizes or types at once,
/// or bytes; or two seeds, spliced.
std::string mutateText(Random &random, const Seed &seed, const std::vector<Seed> &seeds, const Dictionary &dictionary);

/// Changes, inserts and removes some bytes, or cuts the end.
void mutateBytes(Random &random, std::string &bytes);

} // namespace attn::fuzz

#endif // ATTN_TEST_LIB_FUZZ_MUTATETEXT_H
