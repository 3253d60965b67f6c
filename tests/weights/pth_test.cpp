#include <gtest/gtest.h>

#include "base/error.h"
#include "support/support.h"
#include "weights/forge.h"
#include "weights/weights.h"

namespace soft {
namespace {

using test::checkpoint;
using test::dict;
using test::ForgedTensor;
using test::pickled;
using testing::AllOf;
using testing::HasSubstr;
using Floats = std::vector<float>;

// ---- Files torch.save made (tests/golden/README.md says how)

TEST(Checkpoint, AveragedWeightsAreTakenAndSaidSo) {
  testing::internal::CaptureStderr();
  const Weights weights = read_weights(test::golden("checkpoint.pth"));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, AllOf(HasSubstr("taking state_dict_ema"), HasSubstr("--weights-key")));
  EXPECT_EQ(weights.source_key, "state_dict_ema");
  const Weights mini = read_weights(test::golden("mini.safetensors"));
  ASSERT_EQ(weights.tensors.size(), 4u);  // and no num_batches_tracked
  for (const auto& [name, tensor] : weights.tensors) {
    EXPECT_EQ(tensor.shape, mini.tensors.at(name).shape) << name;
    EXPECT_EQ(to_floats(tensor), to_floats(mini.tensors.at(name))) << name;
  }
}

TEST(Checkpoint, TheKeyTakesTheOtherDictionarySilently) {
  testing::internal::CaptureStderr();
  const Weights raw = read_weights(test::golden("checkpoint.pth"), "state_dict");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(raw.source_key, "state_dict");
  const Weights mini = read_weights(test::golden("mini.safetensors"));
  for (const auto& [name, tensor] : raw.tensors) {
    Floats expected = to_floats(mini.tensors.at(name));
    for (float& value : expected) value *= 1.01f;
    EXPECT_EQ(to_floats(tensor), expected) << name;
  }
}

TEST(Checkpoint, AnUnknownKeyIsAnsweredWithTheKnownOnes) {
  for (const char* key : {"model", "optimizer", "epoch", "args"}) {
    try {
      read_weights(test::golden("checkpoint.pth"), key);
      ADD_FAILURE() << key;
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::kUsage);
      EXPECT_THAT(error.what(), HasSubstr("there are: state_dict, state_dict_ema"));
    }
  }
}

TEST(Checkpoint, LayoutsAndTypesOfABareStateDict) {
  const Weights weights = read_weights(test::golden("variants.pth"));
  EXPECT_EQ(weights.source_key, "");
  const auto values = [&](const char* name) { return to_floats(weights.tensors.at(name)); };
  EXPECT_EQ(values("plain")[23], 23);
  EXPECT_EQ(weights.tensors.at("transposed").shape, (std::vector<int64_t>{6, 4}));
  const Floats transposed = values("transposed");
  const Floats channels_last = values("channels_last");
  for (int i = 0; i < 24; ++i) {
    EXPECT_EQ(transposed[i], i % 4 * 6 + i / 4);
    EXPECT_EQ(channels_last[i], i);
  }
  EXPECT_EQ(values("slice"), (Floats{3, 4, 5, 6}));
  EXPECT_EQ(values("stepped"), (Floats{1, 4, 7}));
  EXPECT_EQ(values("expanded"), (Floats{2, 2, 2, 2}));
  EXPECT_EQ(values("half"), (Floats{1.5f, -2, 65504, 0x1p-24f}));
  EXPECT_EQ(values("bfloat"), (Floats{1.5f, -0x1.c4p127f}));
  EXPECT_EQ(values("double"), (Floats{0.1f, -INFINITY}));
  EXPECT_EQ(values("parameter"), (Floats{3, 4}));
  EXPECT_EQ(values("scalar"), Floats{5});
  EXPECT_EQ(weights.tensors.at("empty").shape, (std::vector<int64_t>{0, 3}));
  EXPECT_EQ(weights.tensors.size(), 12u);
}

TEST(Checkpoint, ABareStateDictHasNoKeys) {
  const std::string message =
      test::error_of([] { read_weights(test::golden("variants.pth"), "model"); });
  EXPECT_THAT(message, HasSubstr("one state_dict without a key"));
}

TEST(Checkpoint, ViewsOutliveEverythingButTheWeights) {
  TensorView transposed;
  std::shared_ptr<const void> storage;
  {
    Weights weights = read_weights(test::golden("variants.pth"));
    transposed = weights.tensors.at("transposed");
    storage = weights.storage;
  }
  EXPECT_EQ(to_floats(transposed)[1], 6);
}

// ---- Forged files

class ForgedCheckpoint : public testing::Test {
 protected:
  Weights read(const std::string& bytes) {
    test::write_file(path_, bytes);
    return read_weights(path_);
  }
  std::string refusal(const std::string& bytes) {
    return test::error_of([&] { read(bytes); });
  }
  std::string refusal(const ForgedTensor& tensor) {
    return refusal(checkpoint(dict({{"x", pickled(tensor)}})));
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_.path("x.pth");
};

TEST_F(ForgedCheckpoint, TheForgeMakesReadableFiles) {
  const std::string root = dict({{"x", pickled({})}});
  for (const bool wide : {false, true}) {
    const Weights weights = read(test::zip(test::checkpoint_files(root), wide));
    EXPECT_EQ(to_floats(weights.tensors.at("x")), (Floats{0, 1, 2, 3, 4, 5}));
  }
}

TEST_F(ForgedCheckpoint, OneDictionaryNeedsNoExplanation) {
  testing::internal::CaptureStderr();
  const Weights weights = read(checkpoint(dict({{"model", dict({{"x", pickled({})}})}})));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(weights.source_key, "model");
}

TEST_F(ForgedCheckpoint, StridesAreFollowed) {
  ForgedTensor tensor;
  tensor.shape = {2, 2};
  tensor.strides = {1, 2};
  tensor.offset = 1;
  const Weights weights = read(checkpoint(dict({{"x", pickled(tensor)}})));
  EXPECT_EQ(to_floats(weights.tensors.at("x")), (Floats{1, 3, 2, 4}));
}

TEST_F(ForgedCheckpoint, TensorsBeyondTheirStorageAreRefused) {
  ForgedTensor tensor;
  tensor.offset = 1;
  EXPECT_THAT(refusal(tensor), HasSubstr("beyond the 6 elements"));
  tensor.offset = -1;
  EXPECT_THAT(refusal(tensor), HasSubstr("beyond"));
  tensor = {};
  tensor.strides = {4, 1};
  EXPECT_THAT(refusal(tensor), HasSubstr("beyond"));
  tensor.strides = {-3, 1};
  EXPECT_THAT(refusal(tensor), HasSubstr("impossible strides"));
  tensor.strides = {INT64_MAX, 1};
  tensor.shape = {3, 3};
  EXPECT_THAT(refusal(tensor), HasSubstr("impossible strides"));
  tensor.offset = INT64_MAX;
  tensor.strides = {3, 1};
  EXPECT_THAT(refusal(tensor), HasSubstr("impossible strides"));
  tensor = {};
  tensor.strides = {1};
  EXPECT_THAT(refusal(tensor), HasSubstr("1 strides"));
}

TEST_F(ForgedCheckpoint, ImpossibleShapesAreRefused) {
  ForgedTensor tensor;
  tensor.shape = {-2, 3};
  EXPECT_THAT(refusal(tensor), HasSubstr("cannot exist"));
  tensor.shape = {int64_t{1} << 40, int64_t{1} << 40};
  tensor.strides = {0, 0};
  EXPECT_THAT(refusal(tensor), HasSubstr("cannot exist"));
  tensor.shape = {1 << 20, 1 << 20};
  EXPECT_THAT(refusal(tensor), HasSubstr("repeat more values than the file holds"));
}

TEST_F(ForgedCheckpoint, ManyCopiesOfOneStorageAreRefused) {
  ForgedTensor tensor;
  tensor.shape = {3, 2};
  tensor.strides = {1, 3};  // not row-major: copied, 24 bytes each
  const std::string one = pickled(tensor) + "r" + test::raw<uint32_t>(7);
  std::vector<std::pair<std::string, std::string>> items{{"0", one}};
  for (int i = 1; i < 400; ++i) items.emplace_back(std::to_string(i), "h\x07");
  EXPECT_THAT(refusal(checkpoint(dict(items))), HasSubstr("repeat more values"));
}

TEST_F(ForgedCheckpoint, StoragesMustExistWithTheirSizeAndAKnownType) {
  ForgedTensor tensor;
  tensor.storage = "1";
  EXPECT_THAT(refusal(tensor), HasSubstr("'1' is not in the archive"));
  tensor = {};
  tensor.storage_elements = 7;
  EXPECT_THAT(refusal(tensor), HasSubstr("'0' has 24 bytes, not those of 7 F32"));
  tensor.storage_elements = -1;
  EXPECT_THAT(refusal(tensor), HasSubstr("cannot exist"));
  tensor = {};
  tensor.type = "QInt8Storage";
  EXPECT_THAT(refusal(tensor), HasSubstr("'QInt8Storage'"));
}

TEST_F(ForgedCheckpoint, FilesWithoutWeightsAreRefused) {
  EXPECT_THAT(refusal(checkpoint("N")), HasSubstr("not a dictionary"));
  EXPECT_THAT(refusal(checkpoint(dict({{"epoch", "K\x03"}}))),
              HasSubstr("no dictionary of tensors"));
  EXPECT_THAT(refusal(test::zip({{"a/b", "x"}})), HasSubstr("without data.pkl"));
}

TEST_F(ForgedCheckpoint, AWrappedNameMustNotHideAnother) {
  const std::string root = dict({{"x", pickled({})}, {"module.x", pickled({})}});
  EXPECT_THAT(refusal(checkpoint(root)), HasSubstr("'x' appears twice"));
}

TEST_F(ForgedCheckpoint, ForeignObjectsAreSkippedAndNeverMade) {
  const std::string system = "cos\nsystem\n" + test::tuple({test::text("touch " + path_ + ".ran")});
  const std::string root =
      dict({{"args", system + "R" + dict({{"a", "N"}}) + "b"}, {"x", pickled({})}});
  EXPECT_EQ(read(checkpoint(root)).tensors.size(), 1u);
  EXPECT_EQ(test::read_file(path_ + ".ran"), "");
}

TEST_F(ForgedCheckpoint, CyclesAndDeepNestingAreHarmless) {
  const std::string cycle = std::string("]q\x01h\x01") + "a";  // a list that holds itself
  std::string deep;
  for (int i = 0; i < 200'000; ++i) deep += "(";
  deep += "N";
  for (int i = 0; i < 200'000; ++i) deep += "t";
  const std::string root = dict({{"cycle", cycle}, {"deep", deep}, {"x", pickled({})}});
  EXPECT_EQ(read(checkpoint(root)).tensors.size(), 1u);
}

TEST_F(ForgedCheckpoint, BrokenPicklesAreRefused) {
  const std::pair<std::string, const char*> cases[] = {
      {"0", "more values than it made"},
      {"t", "never opened"},
      {"(0", "more values than it made"},
      {"h\x05", "value 5, which it never stored"},
      {"Nr" + test::raw<uint32_t>(0xffffffff), "more than"},
      {"NNNs", "holds none"},
      {"}(Nu", "key without value"},
      {"X" + test::raw<uint32_t>(0xffffffff) + "a", "truncated"},
      {"\x8d" + test::raw<uint64_t>(~0ull) + "a", "truncated"},
      {"cmodule", "truncated"},
      {"i", "opcode 0x69"},
      {"..", "goes on after its end"},
      {"R", "more values than it made"},
  };
  for (const auto& [root, defect] : cases) {
    EXPECT_THAT(refusal(checkpoint(root)), HasSubstr(defect)) << root;
  }
  std::string endless(2'000'000, 'N');
  EXPECT_THAT(refusal(checkpoint(endless)), HasSubstr("more than 1048576 values"));
}

TEST_F(ForgedCheckpoint, BrokenArchivesAreRefused) {
  const std::vector<test::ZipFile> good = test::checkpoint_files(dict({{"x", pickled({})}}));
  const std::string bytes = test::zip(good);
  EXPECT_THAT(refusal(bytes + "x"), HasSubstr("bytes appended"));
  EXPECT_THAT(refusal(bytes.substr(0, bytes.size() - 1)), HasSubstr("truncated"));
  auto files = good;
  files[1].method = 8;
  EXPECT_THAT(refusal(test::zip(files)),
              HasSubstr("'archive/data/0' in the archive is compressed"));
  files = good;
  files[1].flags = 1;
  EXPECT_THAT(refusal(test::zip(files)), HasSubstr("encrypted"));
  files = good;
  files.push_back(good[1]);
  EXPECT_THAT(refusal(test::zip(files)), HasSubstr("twice"));
  files = good;
  files.push_back({"archive/byteorder", "big"});
  EXPECT_THAT(refusal(test::zip(files)), HasSubstr("big-endian"));
  files.back().content = "little";
  EXPECT_NO_THROW(read(test::zip(files)));
}

TEST_F(ForgedCheckpoint, AnOldBarePickleIsExplained) {
  EXPECT_THAT(refusal("\x80\x02\x8a\x0al\xfc\x9c"), HasSubstr("torch.save(torch.load("));
}

}  // namespace
}  // namespace soft
