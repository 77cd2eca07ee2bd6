//===- MutateText.cpp - damaged .mlir text -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MutateText.h"

#include <algorithm>
#include <set>

using namespace attn::fuzz;
using Kind = Token::Kind;

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool isWord(char c) { return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static size_t wordEnd(std::string_view text, size_t at, std::string_view alsoAllowed) {
  while (at < text.size() && (isWord(text[at]) || alsoAllowed.find(text[at]) != std::string_view::npos))
    ++at;
  return at;
}

/// The end of "2x?x" before a type; `at` itself where there is none.
static size_t shapeEnd(std::string_view text, size_t at) {
  size_t end = at;
  while (at < text.size()) {
    size_t size = at;
    while (size < text.size() && (isDigit(text[size]) || text[size] == '?' || text[size] == '*'))
      ++size;
    if (size == at || size >= text.size() || text[size] != 'x')
      return end;
    end = at = size + 1;
  }
  return end;
}

static size_t stringEnd(std::string_view text, size_t at) {
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
    at += text[at] == '\\';
  return std::min(text.size(), at + 1);
}

static std::pair<Kind, size_t> nextToken(std::string_view text, size_t at) {
  char c = text[at];
  auto prefixed = [&](Kind kind) { return std::pair(kind, wordEnd(text, at + 1, "$.-#")); };
  if (c == '\n')
    return {Kind::Newline, at + 1};
  if (c == ' ' || c == '\t' || c == '\r')
    return {Kind::Space, std::min(text.find_first_not_of(" \t\r", at), text.size())};
  if (text.substr(at, 2) == "//")
    return {Kind::Comment, std::min(text.find('\n', at), text.size())};
  if (size_t end = shapeEnd(text, at); end > at && (at == 0 || !isWord(text[at - 1])))
    return {Kind::Shape, end};
  if (isDigit(c))
    return {Kind::Number, wordEnd(text, at, ".")};
  switch (c) {
  case '%':
    return prefixed(Kind::Value);
  case '@':
    return prefixed(Kind::Symbol);
  case '^':
    return prefixed(Kind::Block);
  case '!':
    return prefixed(Kind::Type);
  case '#':
    return prefixed(Kind::Alias);
  case '"':
    return {Kind::String, stringEnd(text, at)};
  default:
    break;
  }
  if (!isWord(c))
    return {Kind::Other, at + 1};
  size_t end = wordEnd(text, at, ".$");
  return {text.substr(at, end - at).find('.') == std::string_view::npos ? Kind::Word : Kind::Name, end};
}

Tokens attn::fuzz::tokenize(std::string_view text) {
  Tokens tokens;
  for (size_t at = 0; at < text.size();) {
    auto [kind, end] = nextToken(text, at);
    tokens.push_back({kind, std::string(text.substr(at, end - at))});
    at = end;
  }
  return tokens;
}

static std::string join(const Tokens &tokens) {
  std::string text;
  for (const Token &token : tokens)
    text += token.text;
  return text;
}

Dictionary attn::fuzz::collectWords(const std::vector<Seed> &seeds) {
  std::map<Kind, std::set<std::string>> words;
  for (const Seed &seed : seeds)
    for (const Token &token : seed.tokens)
      if (token.kind != Kind::Space && token.kind != Kind::Newline && token.kind != Kind::Comment)
        words[token.kind].insert(token.text);
  Dictionary dictionary;
  for (const auto &[kind, texts] : words)
    dictionary[kind].assign(texts.begin(), texts.end());
  return dictionary;
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

void attn::fuzz::mutateBytes(Random &random, std::string &bytes) {
  for (size_t n = 1 + random.below(4); n-- > 0 && !bytes.empty();) {
    size_t at = random.below(bytes.size());
    switch (random.below(6)) {
    case 0:
      bytes[at] = static_cast<char>(random.word());
      break;
    case 1:
      bytes[at] ^= 1 << random.below(8);
      break;
    case 2:
      bytes.erase(at, 1 + random.below(8));
      break;
    case 3:
      bytes.insert(at, 1 + random.below(8), static_cast<char>(random.word()));
      break;
    case 4:
      bytes.insert(at, bytes.substr(random.below(bytes.size()), random.below(64)));
      break;
    default:
      if (random.oneIn(4))
        bytes.resize(at);
    }
  }
}

//===----------------------------------------------------------------------===//
// Mutations of tokens
//===----------------------------------------------------------------------===//

namespace {

class Mutator {
public:
  Mutator(Random &random, Tokens tokens, const std::vector<Seed> &seeds, const Dictionary &dictionary)
      : random(random), tokens(std::move(tokens)), seeds(seeds), dictionary(dictionary) {}

  void mutate();
  Tokens take() { return std::move(tokens); }

private:
  /// A token of one of the kinds; tokens.size() where there is none.
  size_t find(std::initializer_list<Kind> kinds);
  /// The end of the group that the bracket at `open` starts; `open` where it has none.
  size_t groupEnd(size_t open) const;
  std::string number();
  std::string size();

  void replaceByKind();
  void replaceNumber();
  void replaceSize();
  void replaceSizeEverywhere();
  void replaceTypeEverywhere();
  void replaceElementType();
  void replaceValue();
  void dropOrRepeatToken();
  void swapTokens();
  void mutateLine();
  void mutateGroup();
  void nestGroup();
  void addFunction();
  void splice();

  Random &random;
  Tokens tokens;
  const std::vector<Seed> &seeds;
  const Dictionary &dictionary;
};

} // namespace

size_t Mutator::find(std::initializer_list<Kind> kinds) {
  std::vector<size_t> places;
  for (size_t i = 0; i < tokens.size(); ++i)
    if (std::find(kinds.begin(), kinds.end(), tokens[i].kind) != kinds.end())
      places.push_back(i);
  return places.empty() ? tokens.size() : random.of(places);
}

size_t Mutator::groupEnd(size_t open) const {
  static constexpr std::string_view opening = "([{<", closing = ")]}>";
  size_t kind = opening.find(tokens[open].text);
  if (tokens[open].kind != Kind::Other || tokens[open].text.size() != 1 || kind == std::string_view::npos)
    return open;
  int depth = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].kind != Kind::Other)
      continue;
    bool isArrow = tokens[i].text == ">" && tokens[i - 1].text == "-";
    depth += tokens[i].text[0] == opening[kind] ? 1 : tokens[i].text[0] == closing[kind] && !isArrow ? -1 : 0;
    if (depth == 0)
      return i + 1;
  }
  return open;
}

std::string Mutator::number() {
  static const std::vector<std::string> numbers = {"0",
                                                   "1",
                                                   "2",
                                                   "3",
                                                   "4",
                                                   "5",
                                                   "7",
                                                   "8",
                                                   "16",
                                                   "31",
                                                   "64",
                                                   "127",
                                                   "128",
                                                   "255",
                                                   "4096",
                                                   "65536",
                                                   "1000000",
                                                   "2147483647",
                                                   "2147483648",
                                                   "4294967295",
                                                   "4611686018427387904",
                                                   "9223372036854775807",
                                                   "9223372036854775808",
                                                   "18446744073709551615",
                                                   "99999999999999999999999999",
                                                   "0.0",
                                                   "1.0",
                                                   "0.125",
                                                   "1.0e400",
                                                   "1.0e-400",
                                                   "0x7F800000",
                                                   "0xFFFFFFFF",
                                                   "0x7FC00000",
                                                   "0xFF",
                                                   "0x",
                                                   "00",
                                                   "1e"};
  return (random.oneIn(5) ? "-" : "") + random.of(numbers);
}

std::string Mutator::size() {
  static const std::vector<std::string> sizes = {"0",
                                                 "1",
                                                 "1",
                                                 "2",
                                                 "3",
                                                 "4",
                                                 "5",
                                                 "8",
                                                 "13",
                                                 "64",
                                                 "100",
                                                 "?",
                                                 "?",
                                                 "?",
                                                 "1024",
                                                 "65536",
                                                 "2147483648",
                                                 "4611686018427387904",
                                                 "9223372036854775807"};
  return random.of(sizes);
}

void Mutator::replaceByKind() {
  size_t at = find({Kind::Word, Kind::Name, Kind::Symbol, Kind::Block, Kind::Type, Kind::Alias, Kind::String,
                    Kind::Other, Kind::Number, Kind::Shape});
  if (at == tokens.size())
    return;
  auto words = dictionary.find(tokens[at].kind);
  if (words != dictionary.end())
    tokens[at].text = random.of(words->second);
}

void Mutator::replaceNumber() {
  if (size_t at = find({Kind::Number}); at < tokens.size())
    tokens[at].text = number();
}

/// The sizes of "2x?x".
static std::vector<std::string> splitShape(const std::string &text) {
  std::vector<std::string> sizes;
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find('x', at);
    sizes.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return sizes;
}

static std::string joinShape(const std::vector<std::string> &sizes) {
  std::string text;
  for (const std::string &size : sizes)
    text += size + "x";
  return text;
}

void Mutator::replaceSize() {
  size_t at = find({Kind::Shape});
  if (at == tokens.size())
    return;
  std::vector<std::string> sizes = splitShape(tokens[at].text);
  // Of rank 0 by now.
  if (sizes.empty())
    return;
  size_t dim = random.below(sizes.size());
  if (random.oneIn(4))
    sizes.erase(sizes.begin() + dim);
  else if (random.oneIn(4))
    sizes.insert(sizes.begin() + dim, size());
  else
    sizes[dim] = size();
  tokens[at].text = joinShape(sizes);
}

/// Keeps most texts valid.
void Mutator::replaceSizeEverywhere() {
  size_t at = find({Kind::Shape});
  if (at == tokens.size())
    return;
  std::vector<std::string> present = splitShape(tokens[at].text);
  if (present.empty())
    return;
  std::string old = random.of(present), changed = size();
  bool numbersToo = random.oneIn(2) && changed != "?";
  for (Token &token : tokens) {
    if (token.kind == Kind::Number && numbersToo && token.text == old)
      token.text = changed;
    if (token.kind != Kind::Shape)
      continue;
    std::vector<std::string> sizes = splitShape(token.text);
    std::replace(sizes.begin(), sizes.end(), old, changed);
    token.text = joinShape(sizes);
  }
}

static const std::vector<std::string> elementTypes = {
    "f32", "f16",  "bf16", "f64",      "i32",          "i64",           "i1",         "index",        "i8",
    "i16", "ui32", "si8",  "tf32",     "f8E4M3FN",     "f8E5M2",        "i4",         "f80",          "f128",
    "i7",  "none", "i128", "f4E2M1FN", "complex<f32>", "vector<4xf32>", "tuple<f32>", "tensor<2xf32>"};

void Mutator::replaceTypeEverywhere() {
  std::vector<std::string> present;
  for (const Token &token : tokens)
    if (token.kind == Kind::Word &&
        std::find(elementTypes.begin(), elementTypes.end(), token.text) != elementTypes.end())
      present.push_back(token.text);
  if (present.empty())
    return;
  std::string old = random.of(present), changed = elementTypes[random.below(random.oneIn(3) ? elementTypes.size() : 8)];
  for (Token &token : tokens)
    if (token.kind == Kind::Word && token.text == old)
      token.text = changed;
}

void Mutator::replaceElementType() {
  std::vector<size_t> places;
  for (size_t i = 0; i < tokens.size(); ++i)
    if (std::find(elementTypes.begin(), elementTypes.end(), tokens[i].text) != elementTypes.end())
      places.push_back(i);
  if (!places.empty())
    tokens[random.of(places)].text = random.of(elementTypes);
}

void Mutator::replaceValue() {
  size_t at = find({Kind::Value}), other = find({Kind::Value});
  if (at < tokens.size())
    tokens[at].text = tokens[other].text;
}

void Mutator::dropOrRepeatToken() {
  if (tokens.empty())
    return;
  size_t at = random.below(tokens.size());
  Token token = tokens[at];
  if (random.oneIn(3))
    tokens.insert(tokens.begin() + at, token);
  else
    tokens.erase(tokens.begin() + at);
}

void Mutator::swapTokens() {
  if (!tokens.empty())
    std::swap(tokens[random.below(tokens.size())], tokens[random.below(tokens.size())]);
}

/// Drops, repeats or moves a line, which mostly is an operation.
void Mutator::mutateLine() {
  std::vector<size_t> starts = {0};
  for (size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i].kind == Kind::Newline)
      starts.push_back(i + 1);
  size_t line = random.below(starts.size());
  auto begin = tokens.begin() + starts[line];
  auto end = line + 1 < starts.size() ? tokens.begin() + starts[line + 1] : tokens.end();
  Tokens text(begin, end);
  bool isRepeated = random.oneIn(3);
  if (!isRepeated)
    tokens.erase(begin, end);
  if (isRepeated || random.oneIn(2)) {
    size_t target = std::min(random.of(starts), tokens.size());
    tokens.insert(tokens.begin() + target, text.begin(), text.end());
  }
}

/// Drops, repeats or empties a group in brackets, or puts that of another place there.
void Mutator::mutateGroup() {
  std::vector<size_t> opens;
  for (size_t i = 0; i < tokens.size(); ++i)
    if (groupEnd(i) > i)
      opens.push_back(i);
  if (opens.empty())
    return;
  size_t open = random.of(opens), end = groupEnd(open), other = random.of(opens), otherEnd = groupEnd(other);
  Tokens group(tokens.begin() + other, tokens.begin() + otherEnd);
  switch (random.below(4)) {
  case 0:
    tokens.erase(tokens.begin() + open, tokens.begin() + end);
    break;
  case 1:
    tokens.erase(tokens.begin() + open + 1, tokens.begin() + end - 1);
    break;
  case 2:
    tokens.insert(tokens.begin() + end, group.begin(), group.end());
    break;
  default:
    tokens.erase(tokens.begin() + open, tokens.begin() + end);
    tokens.insert(tokens.begin() + open, group.begin(), group.end());
  }
}

/// Opens a bracket many times.
void Mutator::nestGroup() {
  static const std::vector<std::pair<std::string, std::string>> brackets = {
      {"(", ")"}, {"[", "]"}, {"{", "}"}, {"<", ">"}, {"tuple<", ">"}, {"module {", "}"}, {"{a = ", "}"}, {"[[", "]]"}};
  const auto &[open, close] = random.of(brackets);
  size_t depth = size_t(1) << random.below(14);
  std::string text;
  for (size_t i = 0; i < depth; ++i)
    text += open;
  for (size_t i = 0; i < (random.oneIn(2) ? depth : 0); ++i)
    text += close;
  tokens.insert(tokens.begin() + random.below(tokens.size() + 1), {Kind::Other, text});
}

/// The lines of another seed that stand alone: its first function, and the aliases in front of it.
void Mutator::addFunction() {
  const Tokens &other = random.of(seeds).tokens;
  Tokens added = {{Kind::Newline, "\n"}};
  for (size_t i = 0; i < other.size(); ++i) {
    added.push_back(other[i]);
    if (other[i].kind == Kind::Symbol)
      added.back().text += "_more";
    if (other[i].text == "}" && i + 1 < other.size() && other[i + 1].kind == Kind::Newline && random.oneIn(2))
      break;
  }
  tokens.insert(tokens.end(), added.begin(), added.end());
}

/// The start of this text and the end of another one.
void Mutator::splice() {
  const Tokens &other = random.of(seeds).tokens;
  tokens.resize(random.below(tokens.size() + 1), {Kind::Other, ""});
  size_t from = random.below(other.size() + 1);
  tokens.insert(tokens.end(), other.begin() + from, other.end());
}

void Mutator::mutate() {
  using Mutation = void (Mutator::*)();
  // Those that leave most texts valid come more often.
  static constexpr Mutation mutations[] = {&Mutator::replaceSizeEverywhere,
                                           &Mutator::replaceSizeEverywhere,
                                           &Mutator::replaceSizeEverywhere,
                                           &Mutator::replaceTypeEverywhere,
                                           &Mutator::replaceTypeEverywhere,
                                           &Mutator::replaceNumber,
                                           &Mutator::replaceNumber,
                                           &Mutator::replaceNumber,
                                           &Mutator::replaceValue,
                                           &Mutator::replaceValue,
                                           &Mutator::replaceValue,
                                           &Mutator::replaceByKind,
                                           &Mutator::replaceByKind,
                                           &Mutator::replaceByKind,
                                           &Mutator::replaceSize,
                                           &Mutator::replaceElementType,
                                           &Mutator::dropOrRepeatToken,
                                           &Mutator::swapTokens,
                                           &Mutator::mutateLine,
                                           &Mutator::mutateLine,
                                           &Mutator::mutateGroup,
                                           &Mutator::addFunction};
  static constexpr Mutation rare[] = {&Mutator::nestGroup, &Mutator::splice};
  if (random.oneIn(50))
    return (this->*rare[random.below(std::size(rare))])();
  (this->*mutations[random.below(std::size(mutations))])();
}

std::string attn::fuzz::mutateText(Random &random, const Seed &seed, const std::vector<Seed> &seeds,
                                   const Dictionary &dictionary) {
  Mutator mutator(random, seed.tokens, seeds, dictionary);
  size_t count = random.oneIn(4) ? 2 + random.below(5) : 1;
  for (size_t i = 0; i < count; ++i)
    mutator.mutate();
  std::string text = join(mutator.take());
  if (random.oneIn(12))
    mutateBytes(random, text);
  return text;
}
