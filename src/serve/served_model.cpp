#include "serve/served_model.h"

#include "describe/cost.h"
#include "facade/input.h"

namespace soft {

ServedModel::ServedModel(const Runner& model, std::string box, std::string about)
    : box(std::move(box)),
      about(std::move(about)),
      runner(model),
      attending(model.apart()),
      preprocessing(preprocessing_of(model.card())),
      embedding(
          cost_of(model.spec(), {model.spec().image_size, model.spec().image_size}).embedding) {}

ServedModel::ServedModel(const SequenceRunner& model) : texts(model) {
  check_reads_texts(model.card());
}

const std::string& ServedModel::name() const {
  return reads_texts() ? texts->card().spec.name : spec().name;
}

int64_t ServedModel::classes() const {
  return reads_texts() ? texts->card().spec.frame.classes : spec().classes;
}

std::string ServedModel::class_name(int64_t index) const {
  return reads_texts() ? texts->card().classes[index] : soft::class_name(runner->card(), index);
}

}  // namespace soft
