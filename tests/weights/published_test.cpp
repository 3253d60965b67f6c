// Bare files of the zoo's families, as they are published: recognised by their tensors.
#include "weights/published.h"

#include "describe/description.h"
#include "spec/zoo_table.h"
#include "support/zoo.h"

namespace soft {
namespace {

// A file of the row's tensors; they share their values, which nobody reads.
class BareFile {
 public:
  explicit BareFile(const ModelSpec& spec) {
    weights_.path = "bare.pth";
    for (const TensorShape& tensor : tensors_of(spec)) {
      values_.resize(std::max<size_t>(values_.size(), 4 * tensor.elements()));
      weights_.tensors[tensor.name] = {DType::kF32, tensor.shape, nullptr};
    }
    for (auto& [name, view] : weights_.tensors) view.data = values_.data();
  }
  const Weights& get() const { return weights_; }

 private:
  Weights weights_;
  std::vector<uint8_t> values_;
};

TEST(Published, EveryRowIsRecognisedByItsTensorsWhateverTheNumberOfClasses) {
  for (const ZooRow& row : zoo_table()) {
    ModelSpec spec = find_model(row.name);
    for (const char* classes : {"1000", "7"}) {
      set_field(spec, "classes", classes);
      const Card card = card_of(BareFile(spec).get());
      EXPECT_EQ(card.spec.name, row.name);
      EXPECT_EQ(card.spec.classes, spec.classes);
    }
  }
}

TEST(Published, AFamilysOtherShapesAreAnsweredWithTheRowsToSay) {
  for (const test::Mini& mini : test::minis()) {
    const std::string message = test::error_of([&] { card_of(test::published_weights(mini)); });
    EXPECT_THAT(message, testing::HasSubstr(mini.row)) << mini.file;
    EXPECT_THAT(message, testing::HasSubstr("--model"));
  }
}

}  // namespace
}  // namespace soft
