#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "support/support.h"
#include "weights/forge.h"
#include "weights/weights.h"

namespace soft {
namespace {

using test::safetensors;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

class Safetensors : public testing::Test {
 protected:
  Weights read(const std::string& bytes) {
    test::write_file(path_, bytes);
    return read_weights(path_);
  }
  std::string refusal(const std::string& bytes) {
    return test::error_of([&] { read(bytes); });
  }
  std::string refusal(std::string_view header, size_t data_size) {
    return refusal(safetensors(header, std::string(data_size, '\0')));
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_.path("x.safetensors");
};

TensorView view_of(const std::vector<float>& values, std::vector<int64_t> shape) {
  return {DType::kF32, std::move(shape), reinterpret_cast<const uint8_t*>(values.data())};
}

std::string bytes_of(const TensorView& view) {
  return {reinterpret_cast<const char*>(view.data), view.bytes()};
}

TEST_F(Safetensors, GoldenModelIsReadWithItsForeignMetadata) {
  const Weights weights = read_weights(test::golden("mini.safetensors"));
  EXPECT_EQ(weights.tensors.size(), 131u);
  EXPECT_EQ(weights.metadata.at("dims"), "32,64,96,128");
  const std::vector<float> head = to_floats(weights.tensors.at("head.weight"));
  EXPECT_EQ(weights.tensors.at("head.weight").shape, (std::vector<int64_t>{10, 128}));
  double sum = 0;
  for (float value : head) sum += value;
  EXPECT_NEAR(sum, 2.0135619538868923, 1e-6);
  EXPECT_EQ(head.front(), 0.114944518f);
  EXPECT_EQ(head.back(), -0.0965721458f);
}

TEST_F(Safetensors, WhatWasReadSurvivesAFileThatShrinks) {
  test::write_file(path_, test::read_file(test::golden("mini.safetensors")));
  const Weights weights = read_weights(path_);
  std::filesystem::resize_file(path_, 0);  // a map of it would end the program with SIGBUS
  EXPECT_EQ(to_floats(weights.tensors.at("head.weight")).front(), 0.114944518f);
}

TEST_F(Safetensors, WhatIsWrittenIsReadBackBitForBit) {
  const std::vector<float> a{1.5f, -0.0f, 1e-42f, INFINITY, NAN, 3};
  const std::vector<int64_t> b{1, -2};
  write_safetensors(path_,
                    {{"a", view_of(a, {2, 3})},
                     {"b", {DType::kI64, {2}, reinterpret_cast<const uint8_t*>(b.data())}},
                     {"none", view_of({}, {0, 4})},
                     {"scalar", view_of(a, {})}},
                    {{"k", "v\n\"ü"}});
  const Weights weights = read_weights(path_);
  ASSERT_EQ(weights.tensors.size(), 4u);
  EXPECT_EQ(bytes_of(weights.tensors.at("a")), bytes_of(view_of(a, {6})));
  EXPECT_EQ(std::memcmp(weights.tensors.at("b").data, b.data(), 16), 0);
  EXPECT_EQ(weights.tensors.at("none").shape, (std::vector<int64_t>{0, 4}));
  EXPECT_EQ(to_floats(weights.tensors.at("scalar")), std::vector<float>{1.5f});
  EXPECT_EQ(weights.metadata.at("k"), "v\n\"ü");
}

TEST_F(Safetensors, DataBeginOnACacheLineOfTheFile) {
  const std::vector<float> values(16);
  for (const char* name : {"a", "ab", "abc"}) {
    write_safetensors(path_, {{name, view_of(values, {16})}}, {});
    EXPECT_EQ((test::read_file(path_).size() - sizeof(float) * values.size()) % 64, 0u) << name;
  }
}

TEST_F(Safetensors, HalfFilesNarrowFloatsAndLeaveIntegersAlone) {
  const std::vector<float> a{1.0f, 1.0f + 0x1p-12f, -2.5f};
  const std::vector<int64_t> b{1, 1L << 40};
  for (const DType type : {DType::kF16, DType::kBF16}) {
    write_safetensors(path_,
                      {{"a", view_of(a, {3})},
                       {"b", {DType::kI64, {2}, reinterpret_cast<const uint8_t*>(b.data())}}},
                      {}, {type});
    const Weights weights = read_weights(path_);
    EXPECT_EQ(weights.tensors.at("a").type, type);
    EXPECT_EQ(to_floats(weights.tensors.at("a")), (std::vector<float>{1.0f, 1.0f, -2.5f}));
    EXPECT_EQ(std::memcmp(weights.tensors.at("b").data, b.data(), 16), 0);
  }
}

TEST_F(Safetensors, AValueTooLargeForHalfIsRefusedAndNoFileAppears) {
  const std::vector<float> a{1e6f};
  const std::string message = test::error_of([&] {
    write_safetensors(path_, {{"big", view_of(a, {1})}}, {}, {DType::kF16});
  });
  EXPECT_THAT(message, AllOf(HasSubstr("big"), HasSubstr("half precision")));
  EXPECT_THAT(test::error_of([&] { read_weights(path_); }), HasSubstr("cannot open"));
}

TEST_F(Safetensors, ANameGivenTwiceIsNotWritten) {
  const std::vector<float> a{1};
  const auto write = [&] {
    write_safetensors(path_, {{"a", view_of(a, {1})}, {"a", view_of(a, {1})}}, {});
  };
  EXPECT_THAT(test::error_of(write), HasSubstr("'a' is given twice"));
}

TEST_F(Safetensors, WrappersAndBatchCountersAreStripped) {
  const Weights weights = read(safetensors(
      R"({"module.x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
      R"("module.bn.num_batches_tracked":{"dtype":"I64","shape":[],"data_offsets":[1,9]}})",
      std::string(9, '\0')));
  ASSERT_EQ(weights.tensors.size(), 1u);
  EXPECT_EQ(weights.tensors.count("x"), 1u);
}

TEST_F(Safetensors, HeaderLengthsThatCannotBeAreRefused) {
  EXPECT_THAT(refusal(""), HasSubstr("too few"));
  EXPECT_THAT(refusal("1234567"), HasSubstr("too few"));
  EXPECT_THAT(refusal(test::raw<uint64_t>(100'000'001) + "{}"), HasSubstr("100000000 allowed"));
  EXPECT_THAT(refusal(test::raw<uint64_t>(~0ull) + "{}"), HasSubstr("allowed"));
  EXPECT_THAT(refusal(test::raw<uint64_t>(3) + "{}"), HasSubstr("outside the file"));
}

TEST_F(Safetensors, HeadersThatAreNotTheFormatAreRefused) {
  const char* headers[] = {
      "",
      "[]",
      "3",
      "null",
      "\"x\"",
      "{",
      "{}x",
      R"({"a":1})",
      R"({"a":"x"})",
      R"({"a":[1]})",
      R"({"a":{"dtype":"U8","shape":[1]}})",
      R"({"a":{"shape":[1],"data_offsets":[0,1]}})",
      R"({"a":{"dtype":"U8","data_offsets":[0,1]}})",
      R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"more":1}})",
      R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0]}})",
      R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1,2]}})",
      R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})",
      R"({"a":{"dtype":"U8","shape":[1.0],"data_offsets":[0,1]}})",
      R"({"a":{"dtype":"U8","shape":[[1]],"data_offsets":[0,1]}})",
      R"({"a":{"dtype":"U8","shape":["1"],"data_offsets":[0,1]}})",
      R"({"a":{"dtype":["U8"],"shape":[1],"data_offsets":[0,1]}})",
      R"({"a":{"dtype":"U8","shape":[true],"data_offsets":[0,1]}})",
      R"({"a":{"dtype":"U8","shape":[null],"data_offsets":[0,1]}})",
      R"({"a":{"dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,1]}})",
      R"({"a":{"dtype":{"b":1},"shape":[1],"data_offsets":[0,1]}})",
      R"({"__metadata__":{"a":1}})",
      R"({"__metadata__":{"a":{}}})",
      R"({"__metadata__":"a"})",
      R"({"__metadata__":{"a":["b"]}})",
  };
  for (const char* header : headers) {
    EXPECT_THAT(refusal(header, 1), AnyOf(HasSubstr("header"), HasSubstr("has no"))) << header;
  }
}

TEST_F(Safetensors, MissingFieldsAreNamed) {
  EXPECT_THAT(refusal(R"({"a":{"shape":[1],"data_offsets":[0,1]}})", 1),
              HasSubstr("'a' has no dtype"));
}

TEST_F(Safetensors, RepeatedKeysAreRefused) {
  const std::string entry = R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  EXPECT_THAT(refusal("{" + entry + "," + entry + "}", 1), HasSubstr("'a' appears twice"));
  EXPECT_THAT(refusal(R"({"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1),
              HasSubstr("'dtype' appears twice"));
  EXPECT_THAT(refusal(R"({"__metadata__":{"k":"1","k":"2"}})", 0), HasSubstr("'k' appears twice"));
  EXPECT_THAT(
      refusal("{" + entry + R"(,"module.a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", 2),
      HasSubstr("'a' appears twice"));
}

TEST_F(Safetensors, OffsetsMustTileTheData) {
  const auto pair = [](const char* first, const char* second) {
    return fmt::format(
        R"({{"a":{{"dtype":"U8","shape":[2],"data_offsets":[{}]}},"b":{{"dtype":"U8","shape":[2],"data_offsets":[{}]}}}})",
        first, second);
  };
  EXPECT_NO_THROW(read(safetensors(pair("2,4", "0,2"), "1234")));  // any order will do
  EXPECT_THAT(refusal(pair("0,2", "1,3"), 3), HasSubstr("overlap at byte 1"));
  EXPECT_THAT(refusal(pair("0,2", "0,2"), 2), HasSubstr("overlap"));
  EXPECT_THAT(refusal(pair("0,2", "3,5"), 5), HasSubstr("gap at byte 2"));
  EXPECT_THAT(refusal(pair("1,3", "3,5"), 5), HasSubstr("gap at byte 0"));
  EXPECT_THAT(refusal(pair("0,2", "2,4"), 3), HasSubstr("truncated"));
  EXPECT_THAT(refusal(pair("0,2", "2,4"), 5), HasSubstr("appended"));
  EXPECT_THAT(refusal(pair("0,2", "4,2"), 4), HasSubstr("offsets are 4..2"));
}

TEST_F(Safetensors, SizesMustFollowFromTypeAndShape) {
  EXPECT_THAT(refusal(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4),
              HasSubstr("'a' of F32 2 needs 8 bytes"));
  EXPECT_THAT(refusal(R"({"a":{"dtype":"F99","shape":[2],"data_offsets":[0,4]}})", 4),
              HasSubstr("unknown element type 'F99'"));
  EXPECT_THAT(
      refusal(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0),
      HasSubstr("cannot exist"));
  EXPECT_THAT(
      refusal(R"({"a":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,1]}})", 1),
      HasSubstr("9 axes"));
}

TEST_F(Safetensors, ControlCharactersInNamesNeverReachTheTerminal) {
  const std::string message =
      refusal(R"({"\u001b[2J":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1);
  EXPECT_THAT(message, AllOf(HasSubstr("unusable name"), testing::Not(HasSubstr("\x1b"))));
}

TEST_F(Safetensors, ErrorsNameTheFile) {
  EXPECT_THAT(refusal("garbage that is long enough"), HasSubstr(path_));
  EXPECT_THAT(test::error_of([] { read_weights("/nowhere/x"); }), HasSubstr("/nowhere/x"));
}

TEST_F(Safetensors, AKeyMakesNoSenseHere) {
  test::write_file(path_, safetensors("{}", ""));
  try {
    read_weights(path_, "state_dict");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("--weights-key"));
  }
}

// A tree of ordered objects would look through all earlier names for each new one.
TEST_F(Safetensors, AHundredThousandTensorsAreReadWithoutQuadraticWork) {
  std::string header = "{";
  for (int i = 0; i < 100'000; ++i) {
    header += fmt::format(R"("{}":{{"dtype":"U8","shape":[0],"data_offsets":[0,0]}},)", i);
  }
  header.back() = '}';
  EXPECT_EQ(read(safetensors(header, "")).tensors.size(), 100'000u);
}

}  // namespace
}  // namespace soft
