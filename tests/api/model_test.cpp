// The public face, as a program sees it that has nothing but include/soft.
#include <omp.h>

#include <thread>

#include "base/json.h"
#include "base/npy.h"
#include "soft/soft.h"
#include "support/support.h"

namespace soft {
namespace {

using test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

const std::string kPhoto = test::photo("cat_chelsea.png");  // 451 x 300

Picture from_bytes(const std::string& bytes) { return Picture::decode(bytes.data(), bytes.size()); }

Tensor noise(std::vector<int64_t> shape) {
  Tensor tensor{std::move(shape), {}};
  int64_t count = 1;
  for (const int64_t side : tensor.shape) count *= side;
  for (int64_t i = 0; i < count; ++i) tensor.data.push_back(static_cast<float>(i % 17) / 17);
  return tensor;
}

// Lines of the log while it lives.
class Lines {
 public:
  Lines() {
    log_to([this](const std::string& line) { lines.push_back(line); });
  }
  ~Lines() { log_to(nullptr); }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  std::vector<std::string> lines;
};

TEST(ApiModel, InTheBoxSaysWhatTheProgramSays) {
  const Model model = Model::open("");
  const std::vector<Guess> guesses = model.classify(Picture::read(kPhoto), 3);
  const test::Outcome program = test::run_soft({"classify", "--json", "--top", "3", kPhoto});
  const Json top = Json::parse(program.out)[0].at("top");
  ASSERT_EQ(guesses.size(), top.size());
  for (size_t i = 0; i < top.size(); ++i) {
    EXPECT_EQ(guesses[i].index, top[i].at("class"));
    EXPECT_EQ(guesses[i].name, top[i].at("name"));
    EXPECT_EQ(guesses[i].p, top[i].at("p"));
  }
}

TEST(ApiModel, FilesBytesAndPixelsAreOnePicture) {
  const Model model = Model::open("");
  const Picture read = Picture::read(kPhoto);
  EXPECT_EQ(read.width(), 451);
  EXPECT_EQ(read.height(), 300);
  EXPECT_EQ(model.logits(from_bytes(test::read_file(kPhoto))).data, model.logits(read).data);
  const std::vector<uint8_t> grey(30 * 20 * 3, 128);
  EXPECT_EQ(Picture(grey.data(), 30, 20).width(), 30);
  const Tensor two = model.logits({read, Picture(grey.data(), 30, 20)});
  EXPECT_THAT(two.shape, ElementsAre(2, 10));
}

TEST(ApiModel, NumbersGiveTheShapesOfTheModel) {
  const Model model = Model::open("");
  const Tensor input = noise({2, 3, 32, 64});
  EXPECT_THAT(model.logits(input).shape, ElementsAre(2, 10));
  EXPECT_THAT(model.embed(input).shape, ElementsAre(2, 192));
  const std::vector<Tensor> maps = model.features(input);
  ASSERT_THAT(maps, SizeIs(4));
  EXPECT_THAT(maps[0].shape, ElementsAre(2, model.card().stages[0].channels, 16, 32));
  EXPECT_EQ(model.logits({input.data.data(), 2, 32, 64}).data, model.logits(input).data);
}

TEST(ApiModel, AttendsAsTheProgramDoes) {
  Query query;
  query.x = 160, query.y = 120, query.stage = 1, query.head = 1, query.height = query.width = 64;
  const auto maps = Model::open("").attend(Picture::read(kPhoto), query);
  ASSERT_THAT(maps, SizeIs(1));
  const Json json = Json::parse(test::run_soft({"attend", "--query", "160,120", "--stage", "1",
                                                "--head", "1", "--size", "64", "--json", kPhoto})
                                    .out);
  EXPECT_EQ(json.at("grid"), Json(maps[0].map.shape));
  EXPECT_EQ(json.at("rows")[0].at("row").get<std::vector<float>>(), maps[0].map.data);
  EXPECT_EQ(json.at("rows")[0].at("share"), maps[0].share);
  query.stage = 2, query.head = query.layer = kAll;
  EXPECT_GT(Model::open("").attend(Picture::read(kPhoto), query).size(), 1u);
  query.stage = kBest, query.head = query.layer = 0;
  EXPECT_THAT(Model::open("").attend(Picture::read(kPhoto), query), SizeIs(1));
}

TEST(ApiModel, AnswersManyThreadsAtOnceWithTheSameBits) {
  const Model model = Model::open("");
  const Picture picture = Picture::read(kPhoto);
  const Tensor input = noise({3, 3, 48, 32});
  const std::vector<float> logits = model.logits(picture).data, vectors = model.embed(input).data;
  std::vector<int> wrong(8);
  std::vector<std::thread> threads;
  for (int& count : wrong) {
    threads.emplace_back([&] {
      omp_set_num_threads(2);  // as for those that were computed alone: the split is part of them
      for (int i = 0; i < 10; ++i) {
        if (model.logits(picture).data != logits) ++count;
        if (model.embed(input).data != vectors) ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, testing::Each(0));
}

TEST(ApiModel, LeavesTheCallersThreadsAlone) {
  const int before = omp_get_max_threads();
  OpenOptions options;
  options.threads = before + 1;
  const Model model = Model::open("", options);
  model.logits(Picture::read(kPhoto));
  EXPECT_EQ(omp_get_max_threads(), before);
}

TEST(ApiModel, KnowsItsCardAndItsCost) {
  const Model model = Model::open("");
  EXPECT_EQ(model.engine(), "native");
  EXPECT_EQ(model.card().name, "soft-nano");
  EXPECT_EQ(model.card().image_size, 32);
  EXPECT_THAT(model.card().class_names, SizeIs(10));
  EXPECT_EQ(model.cost().params, cost("soft-nano", {{"classes", "10"}}).params);
  EXPECT_GT(model.cost(64, 64).macs, model.cost().macs);
  EXPECT_EQ(cost("soft-tiny").params, 13'069'056);
  EXPECT_EQ(card("soft-tiny", {{"landmarks", "36"}}).stages.size(), 4u);
  EXPECT_THAT(models(), testing::Contains("soft-huge"));
  EXPECT_EQ(version(), SOFT_VERSION);
}

TEST(ApiModel, OfTheTableSaysThatItsWeightsAreRandom) {
  const Lines log;
  const Model model = Model::open("soft-pico");
  EXPECT_THAT(log.lines, ElementsAre(HasSubstr("random")));
  EXPECT_THAT(model.logits(noise({1, 3, 32, 32})).shape, ElementsAre(1, 10));
}

TEST(ApiError, OfWhatCannotBeOpenedIsOneLine) {
  const test::TemporaryFolder folder;
  test::write_file(folder.path("nonsense.safetensors"), "nonsense");
  OpenOptions wrong_engine, wrong_setting, wrong_size;
  wrong_engine.engine = "steam";
  wrong_setting.settings = {{"sampler", "none"}};
  wrong_size.size = 7;
  const std::vector<std::pair<std::string, std::string>> cases{
      {error_of([&] { Model::open(folder.path("nonsense.safetensors")); }), "nonsense.safetensors"},
      {error_of([&] { Model::open(folder.path("missing.pth")); }), "missing.pth"},
      {error_of([&] { Model::open("soft-tinny"); }), "soft-tiny"},
      {error_of([&] { Model::open(std::string(5000, '/')); }), "/"},
      {error_of([&] { Model::open("", wrong_engine); }), "steam"},
      {error_of([&] { Model::open("", wrong_setting); }), "sampler"},
      {error_of([&] { Model::open("", wrong_size); }), "7x7"},
      {error_of([&] { cost("soft-tiny", {}, 8, 8); }), "8x8"},
      {error_of([&] {
         card("soft-tiny", {{"color", "red"}});
       }),
       "color"},
  };
  for (const auto& [message, part] : cases) {
    EXPECT_THAT(message, HasSubstr(part));
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(ApiError, OfWhatCannotBeAskedIsOneLine) {
  const Model model = Model::open("");
  Tensor short_one = noise({1, 3, 32, 32}), infinite = noise({1, 3, 32, 32});
  short_one.data.pop_back();
  infinite.data[7] = std::numeric_limits<float>::infinity();
  const uint8_t pixel[3] = {};
  Query outside, no_stage;
  outside.x = 451;
  no_stage.stage = 5;
  const std::vector<std::pair<std::string, std::string>> cases{
      {error_of([&] {
         model.logits(noise({3, 32, 32}));
       }),
       "3x32x32"},
      {error_of([&] {
         model.logits(noise({1, 1, 32, 32}));
       }),
       "1x1x32x32"},
      {error_of([&] {
         model.logits(noise({1, 3, 16, 32}));
       }),
       "16x32"},
      {error_of([&] { model.logits(short_one); }), "3071"},
      {error_of([&] { model.logits(infinite); }), "not finite"},
      {error_of([&] { model.logits(std::vector<Picture>{}); }), "at least one"},
      {error_of([&] {
         model.logits({nullptr, 1, 32, 32});
       }),
       "at least one"},
      {error_of([&] { model.classify(Picture::read(kPhoto), 0); }), "at least one"},
      {error_of([&] { model.attend(Picture::read(kPhoto), outside); }), "451,0"},
      {error_of([&] { model.attend(Picture::read(kPhoto), no_stage); }), "stage 5"},
      {error_of([&] { Picture::read("/no/such.png"); }), "/no/such.png"},
      {error_of([&] { Picture::decode("hello", 5); }), "the picture"},
      {error_of([&] { Picture(pixel, 0, 1); }), "0x1"},
      {error_of([&] { Picture(pixel, 1 << 30, 1 << 30); }), "too large"},
  };
  for (const auto& [message, part] : cases) {
    EXPECT_THAT(message, HasSubstr(part));
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

#if SOFT_WITH_TORCH
TEST(ApiModel, ThatOnlyLibTorchRunsIsAnsweredByLibTorch) {
  const Lines log;
  OpenOptions rival;
  rival.settings = {{"attention", "linformer"}};
  const Model model = Model::open("soft-pico", rival);
  EXPECT_EQ(model.engine(), "torch");
  EXPECT_THAT(model.embed(noise({2, 3, 32, 32})).shape, ElementsAre(2, 96));
}

TEST(ApiModel, AnswersAlikeOnBothEngines) {
  OpenOptions torch;
  torch.engine = "torch";
  const Model native = Model::open(""), other = Model::open("", torch);
  const Picture picture = Picture::read(kPhoto);
  const auto close = [](const Tensor& a, const Tensor& b) {
    EXPECT_EQ(a.shape, b.shape);
    EXPECT_THAT(a.data, testing::Pointwise(testing::FloatNear(1e-3f), b.data));
  };
  close(other.logits(picture), native.logits(picture));
  close(other.embed(picture), native.embed(picture));
  close(other.features(picture)[2], native.features(picture)[2]);
  std::vector<std::thread> threads;  // LibTorch, too, answers whoever asks
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { close(other.logits(picture), native.logits(picture)); });
  }
  for (std::thread& thread : threads) thread.join();
}
#endif

}  // namespace
}  // namespace soft
