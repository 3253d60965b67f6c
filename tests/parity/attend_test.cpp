// The rows that `soft attend` prints are rows of the dense attention matrix, for every mechanism,
// stage and layer, whichever engine runs it.
#include "engine/attend.h"

#include <map>
#include <tuple>

#include "attention/fast_path.h"
#include "image/codec.h"
#include "parity/parity.h"
#include "support/tensors.h"
#include "train/health.h"

namespace soft {
namespace {

using torch::Tensor;

constexpr int kQueryX = 30, kQueryY = 13;  // well inside a patch of every stage

Image noise(int width, int height) {
  Image image(width, height);
  Random random(5);
  for (uint8_t& value : image.rgb) value = static_cast<uint8_t>(random.below(256));
  return image;
}

std::shared_ptr<Classifier> model_of(const ModelSpec& spec, const Weights& weights) {
  auto model = std::make_shared<Classifier>(spec);
  load_weights(*model, weights);
  model->eval();
  return model;
}

// The whole matrix of a layer, [h, n, n]: what mix makes of V = I.
Tensor dense_matrix(Classifier& model, const Tensor& images, int stage, int layer) {
  auto [heads, tokens, attention] = model.mixing(images, stage, layer);
  heads.v = torch::eye(tokens.count()).expand({1, heads.q.size(1), -1, -1}).contiguous();
  return attention->mix(heads, tokens)[0];
}

class EveryMechanism : public testing::TestWithParam<std::string_view> {
 protected:
  EveryMechanism() : spec_(find_model("soft-pico")) {
    set_field(spec_, "attention", GetParam());
    const test::LivelyWeights lively(spec_);
    std::vector<NamedTensor> tensors;
    for (const TensorShape& tensor : tensors_of(spec_)) {
      tensors.push_back({tensor.name, lively.get().tensors.at(tensor.name)});
    }
    card_.spec = spec_;
    write_safetensors(folder_.path("w"), tensors, metadata_of(card_));
    model_ = model_of(spec_, lively.get());
    const auto png = encode_png(picture_);
    test::write_file(folder_.path("x.png"), {png.begin(), png.end()});
  }

  Json printed_rows(int stage) const {
    const test::Outcome outcome =
        test::run_soft({"attend", "--weights", folder_.path("w"), "--query",
                        fmt::format("{},{}", kQueryX, kQueryY), "--stage", std::to_string(stage),
                        "--layers", "all", "--heads", "all", "--json", folder_.path("x.png")});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return parse_json(outcome.out, "rows");
  }

  Tensor pixels() const {
    Preprocessing preprocessing;
    preprocessing.size = spec_.image_size;
    std::vector<float> values = attend_input(picture_, preprocessing).pixels;
    return torch::tensor(values).reshape({1, 3, spec_.image_size, spec_.image_size});
  }

  ModelSpec spec_;
  Card card_;
  test::TemporaryFolder folder_;
  std::shared_ptr<Classifier> model_;
  const Image picture_ = noise(50, 40);
};

TEST_P(EveryMechanism, PrintsRowsOfTheDenseMatrix) {
  const torch::NoGradGuard no_grad;
  const FastPathScope plain(false);
  const Tensor images = pixels();
  for (int stage = 0; stage < 4; ++stage) {
    const Json answer = printed_rows(stage + 1);
    const int64_t h = answer["grid"][0], w = answer["grid"][1];
    const int64_t token = kQueryY * h / picture_.height * w + kQueryX * w / picture_.width;
    const int64_t prefix = has_class_token(spec_, stage) ? 1 : 0;
    for (const Json& row : answer["rows"]) {
      const int layer = row["layer"].get<int>() - 1, head = row["head"].get<int>() - 1;
      const Tensor dense = dense_matrix(*model_, images, stage, layer);
      const Tensor expected = dense[head][token + prefix].narrow(0, prefix, h * w);
      const Tensor got = torch::tensor(row["row"].get<std::vector<float>>());
      EXPECT_LT(test::relative_error(got, expected), 1e-3)
          << "stage " << stage + 1 << " layer " << layer + 1 << " head " << head + 1;
    }
  }
}

// To a thousandth of each share, in every mechanism: the engines' Y differ by rounding alone.
constexpr double kShareTolerance = 1e-3;

TEST_P(EveryMechanism, PrintsTheSharesThatHealthMeasures) {
  std::map<std::tuple<int, int, int>, double> measured;
  for (const HeadHealth& row : head_health(*model_, pixels())) {
    measured[{row.stage, row.layer, row.head}] = row.share;
  }
  for (int stage = 1; stage <= 4; ++stage) {
    const Json answer = printed_rows(stage);
    for (const Json& row : answer["rows"]) {
      const double expected = measured.at({row["stage"], row["layer"], row["head"]});
      EXPECT_NEAR(row["share"].get<double>(), expected, kShareTolerance * expected)
          << "stage " << stage << " layer " << row["layer"] << " head " << row["head"];
    }
  }
}

// Released weights are idle: there the share is the ratio of tiny numbers to large ones.
TEST(Shares, OfEveryFormAreThoseOfHealth) {
  for (const char* form : {"kernel_scale=paper", "normalise=rows", "normalise=mean", "norm=on",
                           "stage4=soft", "value_path=off", "sampler=avg"}) {
    ModelSpec spec = find_model("soft-pico");
    apply_setting(spec, form);
    const Weights weights = random_weights(spec, 3);
    torch::manual_seed(8);
    const Tensor images = torch::randn({2, 3, 48, 64});
    const auto measured = head_health(*model_of(spec, weights), images);
    Workspace workspace;
    const auto shares =
        head_shares(Packed(weights, spec), workspace, {images.data_ptr<float>(), 2, {48, 64}});
    ASSERT_EQ(shares.size(), measured.size());
    for (size_t i = 0; i < shares.size(); ++i) {
      EXPECT_EQ(shares[i].stage, measured[i].stage);
      EXPECT_EQ(shares[i].layer, measured[i].layer);
      EXPECT_EQ(shares[i].head, measured[i].head);
      EXPECT_NEAR(shares[i].share, measured[i].share, kShareTolerance * measured[i].share) << form;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryMechanism, testing::ValuesIn(names_of(Mechanism{})),
                         [](const auto& name) {
                           std::string text(name.param);
                           std::replace(text.begin(), text.end(), '-', '_');
                           return text;
                         });

}  // namespace
}  // namespace soft
