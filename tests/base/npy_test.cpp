#include "base/npy.h"

#include <cstring>
#include <filesystem>

#include "support/support.h"

namespace soft {
namespace {

using test::error_of;
using test::TemporaryFolder;
using testing::HasSubstr;

// A version 1 file with this header text and this many zero floats.
std::string npy(const std::string& header, size_t floats) {
  const auto size = static_cast<uint16_t>(header.size());
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(size & 0xff);
  bytes += static_cast<char>(size >> 8);
  return bytes + header + std::string(4 * floats, '\0');
}

std::string header(const std::string& type, const std::string& order, const std::string& shape) {
  return "{'descr': " + type + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

std::string npy_refusal(const std::string& bytes) {
  const TemporaryFolder folder;
  test::write_file(folder.path("x.npy"), bytes);
  return error_of([&] { read_npy(folder.path("x.npy")); });
}

Array read(const std::string& bytes) {
  const TemporaryFolder folder;
  test::write_file(folder.path("x.npy"), bytes);
  return read_npy(folder.path("x.npy"));
}

TEST(Npy, WhatIsWrittenIsReadBackBitForBit) {
  const TemporaryFolder folder;
  const Array array{{2, 1, 3}, {1.5f, -0.0f, 1e-40f, 3e38f, 0.1f, 7}};
  write_npy(folder.path("x.npy"), array);
  const Array back = read_npy(folder.path("x.npy"));
  EXPECT_EQ(back.shape, array.shape);
  ASSERT_EQ(back.data.size(), array.data.size());
  EXPECT_EQ(std::memcmp(back.data.data(), array.data.data(), 4 * array.data.size()), 0);
}

TEST(Npy, TheDataStartsAtAMultipleOf64Bytes) {
  const TemporaryFolder folder;
  for (int sides = 0; sides < 12; ++sides) {
    write_npy(folder.path("x.npy"), {std::vector<int64_t>(sides, 1), {1}});
    EXPECT_EQ(std::filesystem::file_size(folder.path("x.npy")) % 64, 4u) << sides;
  }
}

TEST(Npy, ScalarsVectorsAndEmptyArraysAreRead) {
  EXPECT_TRUE(read(npy(header("'<f4'", "False", "()"), 1)).shape.empty());
  EXPECT_EQ(read(npy(header("'<f4'", "False", "(5,)"), 5)).shape, std::vector<int64_t>{5});
  EXPECT_EQ(read(npy(header("'<f4'", "False", "(0, 3)"), 0)).data.size(), 0u);
}

TEST(Npy, VersionTwoHasALongerLengthField) {
  const std::string text = header("'<f4'", "False", "(2, 2)");
  std::string bytes("\x93NUMPY\x02\x00", 8);
  bytes += static_cast<char>(text.size());
  bytes += std::string(3, '\0') + text + std::string(16, '\0');
  EXPECT_EQ(read(bytes).shape, (std::vector<int64_t>{2, 2}));
}

TEST(Npy, OtherTypesAndOrdersAreRefusedWithACure) {
  EXPECT_THAT(npy_refusal(npy(header("'<f8'", "False", "(1,)"), 2)),
              HasSubstr("astype('float32')"));
  EXPECT_THAT(npy_refusal(npy(header("'>f4'", "False", "(1,)"), 1)), HasSubstr("not float32"));
  EXPECT_THAT(npy_refusal(npy(header("'|O'", "False", "(1,)"), 1)), HasSubstr("not float32"));
  EXPECT_THAT(npy_refusal(npy(header("'a\nb'", "False", "(1,)"), 1)), HasSubstr("'a?b'"));
  EXPECT_THAT(npy_refusal(npy(header("'<f4'", "True", "(2, 2)"), 4)),
              HasSubstr("ascontiguousarray"));
}

TEST(Npy, AWrongAmountOfDataIsRefused) {
  EXPECT_THAT(npy_refusal(npy(header("'<f4'", "False", "(2, 3)"), 5)), HasSubstr("truncated"));
  EXPECT_THAT(npy_refusal(npy(header("'<f4'", "False", "(2, 3)"), 7)), HasSubstr("needs 24"));
  EXPECT_THAT(npy_refusal(npy(header("'<f4'", "False", "(2, 3)"), 6) + "x"), HasSubstr("needs 24"));
}

TEST(Npy, HostileShapesAreRefusedBeforeMemoryIsTaken) {
  for (const char* shape :
       {"(4294967296, 4294967296)", "(9223372036854775807, 9)", "(99999999999999999999,)",
        "(-1, 3)", "(2.5,)", "(1 2)", "(x,)", "'1'", "7", "((1,),)"}) {
    EXPECT_THAT(npy_refusal(npy(header("'<f4'", "False", shape), 1)),
                testing::AnyOf(HasSubstr("truncated"), HasSubstr("bad shape")))
        << shape;
  }
}

TEST(Npy, EveryTruncationIsRefused) {
  const std::string whole = npy(header("'<f4'", "False", "(2, 2)"), 4);
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(npy_refusal(whole.substr(0, size)).empty()) << size;
  }
}

TEST(Npy, DamagedHeadersAreRefused) {
  EXPECT_THAT(npy_refusal("not an array at all"), HasSubstr("not an .npy file"));
  EXPECT_THAT(npy_refusal(npy("{}", 1)), HasSubstr("no 'descr'"));
  EXPECT_THAT(npy_refusal(npy("{'descr': '<f4", 1)), HasSubstr("unfinished"));
  EXPECT_THAT(npy_refusal(npy("{'descr':", 1)), HasSubstr("unfinished"));
  EXPECT_THAT(npy_refusal(npy(header("'<f4'", "False", "(1,)") + std::string(20'000, ' '), 1)),
              HasSubstr("header of"));
  std::string future = npy(header("'<f4'", "False", "(1,)"), 1);
  future[6] = 9;
  EXPECT_THAT(npy_refusal(future), HasSubstr("version 9"));
}

TEST(Npy, SeveralArraysAppearTogetherOrNotAtAll) {
  const TemporaryFolder folder;
  test::write_file(folder.path("a.npy"), "old");
  std::filesystem::create_directory(folder.path("b.npy"));
  const Array array{{1}, {1}};
  EXPECT_THAT(error_of([&] {
                write_npy({{folder.path("a.npy"), array}, {folder.path("b.npy"), array}});
              }),
              HasSubstr("folder"));
  EXPECT_EQ(test::read_file(folder.path("a.npy")), "old");
}

TEST(Npy, AShapeIsShownWithCrosses) {
  EXPECT_EQ(shape_text({2, 3, 224, 224}), "2x3x224x224");
  EXPECT_EQ(shape_text({}), "scalar");
}

}  // namespace
}  // namespace soft
