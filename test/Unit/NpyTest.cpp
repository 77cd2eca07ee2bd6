//===- NpyTest.cpp - NumPy's array files and generated data ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/support/Npy.h"
#include "tools/support/Generate.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/stat.h>
#include <thread>

using namespace attn;
using namespace attn::tool;

/// A file as NumPy writes it: the header padded with spaces to a multiple of 64, a newline at its end.
static std::string makeNpy(const std::string &dictionary, const std::string &elements, int version = 1) {
  size_t lengthBytes = version == 1 ? 2 : 4, start = 8 + lengthBytes;
  std::string header = dictionary;
  while ((start + header.size() + 1) % 64 != 0)
    header += ' ';
  header += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (size_t i = 0; i < lengthBytes; ++i)
    bytes += static_cast<char>((header.size() >> (8 * i)) & 0xff);
  return bytes + header + elements;
}

template <typename T> static std::string bytesOf(const std::vector<T> &values) {
  return std::string(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
}

static std::string header(const std::string &descr, const std::string &shape, const std::string &fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}

static std::string readText(const std::string &path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// The error of a file, or "" where it can be read.
static std::string failure(const std::string &bytes) {
  auto array = decodeNpy(bytes, DType::F32, "x");
  return array ? "" : array.error().message;
}

TEST(Npy, reads_what_numpy_writes) {
  std::string elements = bytesOf<float>({1, 2, 3, 4, 5, 6});
  for (int version : {1, 2, 3}) {
    auto array = decodeNpy(makeNpy(header("<f4", "(2, 3)"), elements, version), DType::F32, "x");
    ASSERT_TRUE(array) << array.error().message;
    EXPECT_EQ(array->dtype(), DType::F32);
    EXPECT_EQ(array->sizes(), (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(array->number(4), 5);
  }
}

TEST(Npy, fortran_order_becomes_row_major) {
  // Element (i, j, k) of a 2 x 3 x 2 array is 100 i + 10 j + k; the first index runs fastest in the file.
  std::vector<int16_t> elements;
  for (int k = 0; k < 2; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i)
        elements.push_back(100 * i + 10 * j + k);
  auto array = decodeNpy(makeNpy(header("<i2", "(2, 3, 2)", "True"), bytesOf(elements)), DType::I16, "x");
  ASSERT_TRUE(array);
  for (int n = 0; n < 12; ++n)
    EXPECT_EQ(array->integer(n), 100 * (n / 6) + 10 * (n / 2 % 3) + n % 2);
}

TEST(Npy, every_type_survives) {
  for (DType dtype :
       {DType::F16, DType::BF16, DType::F32, DType::F64, DType::I1, DType::I8, DType::I16, DType::I32, DType::I64}) {
    for (std::vector<int64_t> sizes : {std::vector<int64_t>{}, {5}, {2, 3}, {0, 4}}) {
      auto array = Array::create(dtype, sizes);
      ASSERT_TRUE(array);
      for (int64_t i = 0; i < array->size(); ++i)
        array->setNumber(i, static_cast<double>(dtype == DType::I1 ? i % 2 : i - 2));
      std::string bytes = encodeNpy(*array);
      EXPECT_EQ((bytes.size() - array->bytes()) % 64, 0u);
      auto again = decodeNpy(bytes, dtype, "x");
      ASSERT_TRUE(again) << again.error().message;
      EXPECT_EQ(again->dtype(), dtype);
      EXPECT_EQ(again->sizes(), sizes);
      for (int64_t i = 0; i < array->size(); ++i)
        EXPECT_EQ(again->number(i), dtype == DType::I1 ? i % 2 : i - 2);
    }
  }
}

TEST(Npy, headers_are_numpys_own) {
  auto one = Array::create(DType::F32, {3});
  EXPECT_EQ(encodeNpy(*one).substr(10, 58), "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), } ");
  auto two = Array::create(DType::I8, {2, 3});
  EXPECT_EQ(encodeNpy(*two).substr(10, 59), "{'descr': '|i1', 'fortran_order': False, 'shape': (2, 3), }");
}

TEST(Npy, bf16_is_void_of_two_bytes_or_declared_uint16) {
  std::string elements = bytesOf<uint16_t>({0x3f80, 0xc000});
  auto raw = decodeNpy(makeNpy(header("|V2", "(2,)"), elements), DType::BF16, "x");
  ASSERT_TRUE(raw);
  EXPECT_EQ(raw->number(1), -2);
  auto declared = decodeNpy(makeNpy(header("<u2", "(2,)"), elements), DType::BF16, "x");
  ASSERT_TRUE(declared);
  EXPECT_EQ(declared->dtype(), DType::BF16);
  EXPECT_NE(failure(makeNpy(header("<u2", "(2,)"), elements)), "");
}

TEST(Npy, true_is_one) {
  auto array = decodeNpy(makeNpy(header("|b1", "(3,)"), std::string("\0\1\7", 3)), DType::I1, "x");
  ASSERT_TRUE(array);
  EXPECT_EQ(array->integer(2), 1);
}

TEST(Npy, malformed_files_are_errors) {
  std::string elements(24, '\0'), prefix = "x: not a .npy file that can be read: ";
  EXPECT_EQ(failure(""), prefix + "it does not start with \"\\x93NUMPY\"");
  EXPECT_EQ(failure("PK\3\4 and more"), prefix + "it does not start with \"\\x93NUMPY\"");
  EXPECT_EQ(failure("\x93NUMPY\1"), prefix + "it ends before its version");
  EXPECT_EQ(failure(std::string("\x93NUMPY\4\0\0\0", 10)), prefix + "expected version 1, 2 or 3, but got 4");
  EXPECT_EQ(failure(std::string("\x93NUMPY\1\0\1", 9)), prefix + "it ends before the length of its header");
  EXPECT_EQ(failure(std::string("\x93NUMPY\2\0\xff\xff\xff\xff{}", 14)),
            prefix + "its header has 4294967295 bytes, but 2 follow");
  auto problem = [&](const std::string &dictionary) { return failure(makeNpy(dictionary, elements)); };
  EXPECT_EQ(problem("[]"), prefix + "its header should have a dictionary");
  EXPECT_EQ(problem("{'descr': '<f4', 'shape': (2, 3)}"),
            prefix + "its header should have the keys 'descr', 'fortran_order' and 'shape'");
  EXPECT_EQ(problem(header("<f4", "(2, 3)") + "x"), prefix + "its header should have nothing after the dictionary");
  EXPECT_EQ(problem(header("<f4", "(2, -3)")), prefix + "its header should have a size of at least 0");
  EXPECT_EQ(problem(header("<f4", "(99999999999999999999,)")),
            prefix + "its header should have sizes of at most 63 bits");
  EXPECT_EQ(problem(header("<f4", "6")), prefix + "its header should have a tuple in 'shape'");
  EXPECT_EQ(problem(header("<f4", "(2, 3)", "maybe")), prefix + "its header should have True or False");
  EXPECT_EQ(problem("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,)}"),
            prefix + "its header should have a string");
  EXPECT_EQ(problem(header(">f4", "(2, 3)")), prefix + "elements of '>f4' are not supported; use <f2, <f4, <f8, |i1, "
                                                       "<i2, <i4, <i8, |b1, or |V2 for bf16");
  EXPECT_EQ(problem(header("<f4", "(2, 4)")), prefix + "its shape 2x4xf32 does not match the 24 bytes of elements");
  // Products beyond 63 bits, which must not come out as 24.
  EXPECT_NE(problem(header("<f4", "(4611686018427387904, 4, 6)")), "");
  EXPECT_NE(problem(header("<f4", "(4611686018427387904, 1)")), "");
}

TEST(Npy, damaged_files_never_crash) {
  std::string good = makeNpy(header("<f4", "(2, 3)"), std::string(24, '\1'));
  uint64_t state = 1;
  auto random = [&](uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
  };
  int readable = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = good.substr(0, round % 2 ? good.size() : random(good.size() + 1));
    for (uint64_t n = random(4); n-- > 0 && !bytes.empty();)
      bytes[random(bytes.size())] = static_cast<char>(random(256));
    auto array = decodeNpy(bytes, DType::F32, "x");
    if (array) {
      ++readable;
      EXPECT_LE(array->bytes(), 24);
    } else {
      EXPECT_EQ(array.error().code, ErrorCode::Io);
    }
  }
  EXPECT_GT(readable, 100); // some rounds change elements alone
}

namespace {

/// A folder that goes away with the test.
struct NpyFile : testing::Test {
  std::filesystem::path folder;
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "attn-npy-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::string path(const char *name) const { return (folder / name).string(); }
};

} // namespace

TEST_F(NpyFile, archives_keep_names_and_order) {
  auto first = Array::create(DType::F32, {2}), second = Array::create(DType::I64, {});
  first->setNumber(1, 0.5);
  second->setInteger(0, -3);
  Status written = writeNpz(path("a.npz"), {{"arr_0", &*first}, {"other", &*second}});
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(*listNpz(path("a.npz")), (std::vector<std::string>{"arr_0", "other"}));
  EXPECT_EQ(readArray(path("a.npz:arr_0"), DType::F32)->number(1), 0.5);
  EXPECT_EQ(readArray(path("a.npz:other"), DType::I64)->integer(0), -3);
  auto missing = readArray(path("a.npz:gone"), DType::F32);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::Io);
  auto unnamed = readArray(path("a.npz"), DType::F32);
  ASSERT_FALSE(unnamed);
  EXPECT_NE(unnamed.error().message.find("the archive has 2 arrays; name one"), std::string::npos);
  // Written again: the old members are gone.
  ASSERT_TRUE(writeNpz(path("a.npz"), {{"only", &*first}}));
  EXPECT_EQ(readArray(path("a.npz"), DType::F32)->sizes(), (std::vector<int64_t>{2}));
}

/// Puts a number of four bytes at each place of `old`.
static void replaceNumber(std::string &bytes, uint32_t old, uint32_t changed) {
  std::string before = bytesOf<uint32_t>({old}), after = bytesOf<uint32_t>({changed});
  size_t count = 0;
  for (size_t at = 0; (at = bytes.find(before, at)) != std::string::npos; at += 4, ++count)
    bytes.replace(at, 4, after);
  EXPECT_GT(count, 0u);
}

/// The error of reading the file, or "" where it can be read.
static std::string readFailure(const std::string &path, const WantedArray &wanted) {
  auto array = readArray(path, wanted);
  return array ? "" : array.error().message;
}

TEST_F(NpyFile, archives_that_claim_what_they_do_not_hold) {
  auto array = Array::create(DType::I8, {1000});
  ASSERT_TRUE(writeNpz(path("a.npz"), {{"x", &*array}}));
  std::string good = readText(path("a.npz"));
  auto damaged = [&](auto change) {
    std::string bytes = good;
    change(bytes);
    std::ofstream(path("b.npz"), std::ios::binary) << bytes;
    return readFailure(path("b.npz:x"), DType::I8);
  };
  EXPECT_EQ(damaged([](std::string &) {}), "");
  // 1128: a header of 128 bytes, and the elements. Both sizes of a stored member change; then only one does.
  EXPECT_NE(
      damaged([](std::string &bytes) { replaceNumber(bytes, 1128, 0x7ffffff0); }).find("does not hold the array's"),
      std::string::npos);
  size_t directory = good.find("PK\1\2");
  auto patchDirectory = [&](size_t offset, uint32_t number) {
    return damaged([&](std::string &bytes) { bytes.replace(directory + offset, 4, bytesOf<uint32_t>({number})); });
  };
  EXPECT_NE(patchDirectory(24, 0x7ffffff0).find("1128 bytes in the archive cannot hold the 2147483632 that it claims"),
            std::string::npos);
  EXPECT_NE(patchDirectory(24, 128), ""); // fewer than there are
  EXPECT_NE(patchDirectory(10, 12).find("compressed by method 12, but stored (0) or deflated (8) is expected"),
            std::string::npos);
}

TEST_F(NpyFile, arrays_are_refused_by_their_headers) {
  // Eight exbibytes in a file of one kilobyte, and a terabyte in a file that has as many, all of them holes.
  std::string huge = makeNpy(header("<f4", "(2305843009213693951,)"), std::string(900, '\0'));
  std::ofstream(path("a.npy"), std::ios::binary) << huge;
  EXPECT_NE(readFailure(path("a.npy"), DType::F32).find("does not match the 900 bytes of elements"), std::string::npos);
  std::string sparse = makeNpy(header("<f4", "(274877906944,)"), "");
  std::ofstream(path("b.npy"), std::ios::binary) << sparse;
  std::error_code code;
  std::filesystem::resize_file(path("b.npy"), sparse.size() + (uint64_t(1) << 40), code);
  if (!code) // not every file system holds as much
    EXPECT_EQ(readFailure(path("b.npy"), {DType::F32, {dynamicSize, 3}}),
              path("b.npy") + ": expected an array of ?x3xf32, but got 274877906944xf32");
  auto array = Array::create(DType::BF16, {2, 3});
  ASSERT_TRUE(writeNpy(path("c.npy"), *array));
  EXPECT_EQ(readFailure(path("c.npy"), {DType::BF16, {2, dynamicSize}}), "");
  EXPECT_EQ(readFailure(path("c.npy"), {DType::F32, {2, 3}}),
            path("c.npy") + ": expected an array of 2x3xf32, but got 2x3xbf16");
}

TEST_F(NpyFile, what_has_no_size_is_read_as_far_as_its_header_says) {
  EXPECT_NE(readFailure("/dev/zero", DType::F32).find("it does not start with"), std::string::npos);
  EXPECT_NE(readFailure("/dev/null", DType::F32).find("it does not start with"), std::string::npos);
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  auto throughPipe = [&](const std::string &bytes) {
    // A reader may stop before the end; what is left stays in the pipe's buffer.
    std::thread writer([&] { std::ofstream(path("pipe"), std::ios::binary) << bytes; });
    std::string problem = readFailure(path("pipe"), DType::F32);
    writer.join();
    return problem;
  };
  std::string good = makeNpy(header("<f4", "(3,)"), std::string(12, '\1'));
  EXPECT_EQ(throughPipe(good), "");
  EXPECT_NE(throughPipe(good + "x").find("bytes follow its elements"), std::string::npos);
  EXPECT_NE(throughPipe(good.substr(0, good.size() - 1)).find("ends before the end of its elements"),
            std::string::npos);
  EXPECT_NE(throughPipe(makeNpy(header("<f4", "(999999999999,)"), "1234")).find("ends before the end of its elements"),
            std::string::npos);
  EXPECT_NE(readFailure(path("pipe") + ".npz", DType::F32), "");
}

TEST_F(NpyFile, files) {
  auto array = Array::create(DType::F64, {3});
  array->setNumber(2, 7);
  ASSERT_TRUE(writeNpy(path("a.npy"), *array));
  EXPECT_EQ(readArray(path("a.npy"), DType::F64)->number(2), 7);
  EXPECT_FALSE(readArray(path("none.npy"), DType::F64));
  EXPECT_FALSE(readArray(folder.string(), DType::F64));
  EXPECT_FALSE(writeNpy(path("none/a.npy"), *array));
  EXPECT_FALSE(writeNpz(path("none/a.npz"), {{"a", &*array}}));
  std::ofstream(path("broken.npz")) << "PK\3\4 not an archive";
  EXPECT_FALSE(readArray(path("broken.npz:a"), DType::F64));
  EXPECT_FALSE(listNpz(path("broken.npz")));
}

TEST(Fill, parses) {
  EXPECT_EQ(parseFill("value:-0.5")->low, -0.5);
  EXPECT_EQ(parseFill("value:-inf")->low, -INFINITY);
  EXPECT_EQ(parseFill("range:-2:5")->high, 5);
  EXPECT_EQ(parseFill("list:1:-2.5")->list, (std::vector<double>{1, -2.5}));
  for (const char *wrong : {"", "normals", "value:", "value:1x", "range:5", "range:5:2", "range:0:inf", "range:a:b"})
    EXPECT_FALSE(parseFill(wrong)) << wrong;
}

TEST(Fill, uniform_numbers_are_the_documented_formula) {
  // key = mix(mix(1) + 2), word(n) = mix(key + n), mix as in Generate.h, here in another spelling.
  auto mix = [](uint64_t n) {
    uint64_t z = n * 11400714819323198485u;
    z = (z ^ z >> 30) * 13787848793156543929u;
    z = (z ^ z >> 27) * 10723151780598845931u;
    return z ^ z >> 31;
  };
  auto array = Array::create(DType::BF16, {4, 5});
  ASSERT_TRUE(fillArray(*array, Fill{}, 1, 2));
  uint64_t key = mix(mix(1) + 2);
  for (int64_t i = 0; i < 20; ++i)
    EXPECT_EQ(array->number(i), static_cast<double>(mix(key + i) >> 56) / 128 - 1);
  // The first output of splitmix64 for seed 0.
  EXPECT_EQ(mix(1), 0xe220a8397b1dcdafu);
}

TEST(Fill, normal_numbers_have_mean_0_and_deviation_1) {
  constexpr int64_t count = 100000;
  auto array = Array::create(DType::F64, {count});
  ASSERT_TRUE(fillArray(*array, *parseFill("normal"), 1, 0));
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < count; ++i) {
    sum += array->number(i);
    squares += array->number(i) * array->number(i);
  }
  // Five standard errors: 1 / sqrt(n), sqrt(2 / n).
  EXPECT_LT(std::abs(sum / count), 5 / std::sqrt(count));
  EXPECT_LT(std::abs(squares / count - 1), 5 * std::sqrt(2.0 / count));
}

TEST(Fill, formulas) {
  auto array = Array::create(DType::F32, {2, 3, 3});
  ASSERT_TRUE(fillArray(*array, *parseFill("identity"), 1, 0));
  for (int64_t i = 0; i < 18; ++i)
    EXPECT_EQ(array->number(i), i % 3 == i / 3 % 3);
  ASSERT_TRUE(fillArray(*array, *parseFill("iota"), 1, 0));
  EXPECT_EQ(array->number(17), 17);
  auto lengths = Array::create(DType::I32, {200});
  ASSERT_TRUE(fillArray(*lengths, *parseFill("range:3:5"), 1, 0));
  int seen[3] = {};
  for (int64_t i = 0; i < 200; ++i) {
    ASSERT_GE(lengths->integer(i), 3);
    ASSERT_LE(lengths->integer(i), 5);
    ++seen[lengths->integer(i) - 3];
  }
  EXPECT_TRUE(seen[0] && seen[1] && seen[2]);
  ASSERT_TRUE(fillArray(*lengths, *parseFill("list:5:0:7"), 1, 0));
  for (int64_t i = 0; i < 200; ++i)
    EXPECT_EQ(lengths->integer(i), i % 3 == 0 ? 5 : i % 3 == 1 ? 0 : 7);
}

TEST(Fill, integers_refuse_what_they_cannot_hold) {
  auto lengths = Array::create(DType::I8, {300});
  for (const char *wrong :
       {"uniform", "normal", "value:128", "value:0.5", "value:nan", "range:-129:0", "list:1:128", "iota"})
    EXPECT_FALSE(fillArray(*lengths, *parseFill(wrong), 1, 0)) << wrong;
  EXPECT_TRUE(fillArray(*lengths, *parseFill("range:-128:127"), 1, 0));
  auto bits = Array::create(DType::I1, {300});
  EXPECT_TRUE(fillArray(*bits, *parseFill("uniform"), 1, 0));
  EXPECT_FALSE(fillArray(*bits, *parseFill("value:2"), 1, 0));
  EXPECT_FALSE(fillArray(*bits, *parseFill("identity"), 1, 0)); // rank 1
}
