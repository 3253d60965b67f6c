// soft::Model: questions are checked and prepared here, and answered by the facade.
#include "api/inside.h"
#include "base/log.h"
#include "base/log_sink.h"
#include "base/parallel.h"
#include "engine/attend.h"
#include "facade/boxed.h"
#include "facade/input.h"
#include "metric/probability.h"

namespace soft {
namespace {

static_assert(std::string_view(SOFT_VERSION) == SOFT_BUILT_VERSION,
              "include/soft/version.h and CMakeLists.txt name different versions");

// The number of threads of one call; the caller's own number is left as it was.
class Threads {
 public:
  explicit Threads(int asked) : before_(threads()) {
    if (asked > 0) set_threads(asked);
  }
  ~Threads() { set_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  const int before_;
};

// Numbers as they are, or the prepared pictures in `room`.
ImageBatch images_of(const Input& input, const Model::Inside& inside, std::vector<float>& room) {
  if (input.pictures.empty()) {
    const ImageBatch images{input.values, input.count, {input.height, input.width}};
    check_image(inside.runner.spec(), images.size, Fault::kUsage);
    check_values(images.pixels, images.count * 3 * images.size.size(), "the input");
    return images;
  }
  const int64_t side = inside.preprocessing.size, floats = 3 * side * side;
  const auto count = static_cast<int64_t>(input.pictures.size());
  room.resize(static_cast<size_t>(count * floats));
  parallel_for(count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto pixels = prepared(input.pictures[i].pixels().image, inside.preprocessing);
      std::copy(pixels.begin(), pixels.end(), room.data() + i * floats);
    }
  });
  return {room.data(), count, {side, side}};
}

// ask(images), with the threads of the model.
template <class Ask>
auto asked(const Model::Inside& inside, const Input& input, const Ask& ask) {
  return answered([&] {
    const Threads threads(inside.threads);
    std::vector<float> room;
    return ask(images_of(input, inside, room));
  });
}

Tensor rows_of(std::vector<float> values, int64_t count) {
  const auto each = static_cast<int64_t>(values.size()) / count;
  return {{count, each}, std::move(values)};
}

LoadedModel load(const std::string& subject, const OpenOptions& options) {
  ModelOptions choice;
  choice.model = options.model;
  choice.weights_key = options.weights_key;
  choice.settings = texts_of(options.settings);
  if (subject.empty()) {
    choice.weights = boxed_weights();
  } else if (!is_model_name(subject)) {
    choice.weights = subject;
  } else {
    find_model(subject);
    log("'{}' is a row of the table, not a file: its weights are random", subject);
    choice.model = subject;
  }
  return load_model(choice, options.seed);
}

}  // namespace

inline namespace v0_2 {

std::string version() { return SOFT_BUILT_VERSION; }

void log_to(std::function<void(const std::string& line)> sink) { set_log_sink(std::move(sink)); }

}  // namespace v0_2

Model::Model(std::shared_ptr<const Inside> inside) : inside_(std::move(inside)) {}

Model Model::open(const std::string& path_or_name, const OpenOptions& options) {
  return answered([&] {
    const Threads threads(options.threads);
    const LoadedModel model = load(path_or_name, options);
    const Preprocessing preprocessing = preprocessing_of(model.card, options.size);
    check_image(model.card.spec, {preprocessing.size, preprocessing.size}, Fault::kUsage);
    const Engine engine = choose_engine(options.engine, model.card.spec);
    return Model(std::make_shared<const Inside>(
        Inside{Runner(model, engine), card_for(model.card), preprocessing, options.threads}));
  });
}

std::vector<std::vector<Guess>> Model::classify(const Input& input, int top) const {
  if (top < 1) fail_usage("the {} most probable classes are none; ask for at least one", top);
  const Tensor logits = this->logits(input);
  const int64_t classes = logits.shape[1];
  std::vector<std::vector<Guess>> answers;
  for (int64_t i = 0; i < logits.shape[0]; ++i) {
    answers.emplace_back();
    for (const Ranked& ranked : top_classes(logits.data.data() + i * classes, classes, top)) {
      const std::string name = class_name(inside_->runner.card(), ranked.index);
      answers.back().push_back({ranked.index, name, ranked.probability});
    }
  }
  return answers;
}

std::vector<Guess> Model::classify(const Picture& picture, int top) const {
  return classify(Input(picture), top).front();
}

Tensor Model::logits(const Input& input) const {
  return asked(*inside_, input, [&](const ImageBatch& images) {
    return rows_of(inside_->runner.logits(images), images.count);
  });
}

Tensor Model::embed(const Input& input) const {
  return asked(*inside_, input, [&](const ImageBatch& images) {
    return rows_of(inside_->runner.vectors(images), images.count);
  });
}

std::vector<Tensor> Model::features(const Input& input) const {
  return asked(*inside_, input, [&](const ImageBatch& images) {
    std::vector<Tensor> maps;
    for (Array& map : inside_->runner.features(images)) {
      maps.push_back({std::move(map.shape), std::move(map.data)});
    }
    return maps;
  });
}

std::vector<AttentionMap> Model::attend(const Picture& picture, const Query& query) const {
  return answered([&] {
    const Threads threads(inside_->threads);
    const ModelSpec& spec = inside_->runner.spec();
    const int side = inside_->preprocessing.size;
    const Grid size{query.height > 0 ? query.height : side, query.width > 0 ? query.width : side};
    check_image(spec, size, Fault::kUsage);
    const AttendInput input = attend_input(picture.pixels().image, inside_->preprocessing, size);
    AttendResult result = soft::attend(inside_->runner.card(), inside_->runner.answers(), input,
                                       {query.x, query.y, query.stage, query.layer, query.head});
    std::vector<AttentionMap> maps;
    for (AttendRow& row : result.rows) {
      maps.push_back({row.stage,
                      row.layer,
                      row.head,
                      {{result.grid.h, result.grid.w}, std::move(row.row)},
                      row.share});
    }
    return maps;
  });
}

const ModelCard& Model::card() const { return inside_->card; }
Cost Model::cost(int64_t height, int64_t width) const {
  return cost_for(inside_->runner.spec(), height, width);
}
std::string Model::engine() const { return std::string(name_of(inside_->runner.engine())); }

}  // namespace soft
