#include "study/int8_study.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/nearest.h"

namespace soft {
namespace {

int64_t best_class(const float* logits, int64_t classes) {
  return std::max_element(logits, logits + classes) - logits;
}

bool closer(const Agreement& a, const Agreement& b) {
  return a.same != b.same ? a.same > b.same : a.error < b.error;
}

}  // namespace

Agreement compare_answers(const std::vector<float>& floats, const std::vector<float>& bytes,
                          int64_t classes) {
  const auto pictures = static_cast<int64_t>(floats.size()) / classes;
  int64_t same = 0;
  double difference = 0, size = 0;
  for (int64_t i = 0; i < pictures; ++i) {
    const float *a = floats.data() + i * classes, *b = bytes.data() + i * classes;
    if (best_class(a, classes) == best_class(b, classes)) ++same;
    const double mean = std::accumulate(a, a + classes, 0.0) / static_cast<double>(classes);
    for (int64_t c = 0; c < classes; ++c) {
      difference += (static_cast<double>(a[c]) - b[c]) * (static_cast<double>(a[c]) - b[c]);
      size += (a[c] - mean) * (a[c] - mean);
    }
  }
  return {100.0 * static_cast<double>(same) / static_cast<double>(std::max<int64_t>(pictures, 1)),
          size > 0 ? std::sqrt(difference / size) : 0};
}

double top1_of(const std::vector<float>& logits, const std::vector<int64_t>& labels,
               int64_t classes) {
  int64_t right = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (best_class(logits.data() + i * classes, classes) == labels[i]) ++right;
  }
  return 100.0 * static_cast<double>(right) /
         static_cast<double>(std::max<size_t>(labels.size(), 1));
}

Int8Choice choose_int8(const QuantizedModel& model, const std::set<size_t>& kept,
                       const Int8Search& search) {
  Int8Choice choice;
  const size_t count = model.inputs().size();
  for (size_t i = 0; i < count; ++i) {
    if (kept.count(i) == 0) choice.chosen.insert(i);
  }
  choice.agreement = {-1, INFINITY};
  for (const RangeRule rule : search.rules) {
    search.progress("ranges by " + std::string(name_of(rule)), -1);
    const Agreement agreement = compare_answers(
        search.floats, search.all(model.weights(rule, choice.chosen)), search.classes);
    if (closer(agreement, choice.agreement)) choice.rule = rule, choice.agreement = agreement;
  }
  for (size_t i = 0; i < count; ++i) {
    search.progress(model.inputs()[i].layers.front(),
                    static_cast<double>(i) / static_cast<double>(count));
    const auto logits = search.few(model.weights(choice.rule, {i}));
    choice.layer_error.push_back(compare_answers(search.few_floats, logits, search.classes).error);
  }
  while (100 - choice.agreement.same > search.most_lost && !choice.chosen.empty()) {
    const auto worst = std::max_element(
        choice.chosen.begin(), choice.chosen.end(),
        [&](size_t a, size_t b) { return choice.layer_error[a] < choice.layer_error[b]; });
    search.progress("keeping " + model.inputs()[*worst].layers.front(), -1);
    choice.chosen.erase(worst);
    choice.agreement = compare_answers(
        search.floats, search.all(model.weights(choice.rule, choice.chosen)), search.classes);
  }
  return choice;
}

namespace {

bool named_by(const std::string& layer, const std::string& name) {
  return layer == name || layer.rfind(name + ".", 0) == 0;
}

}  // namespace

std::set<size_t> kept_inputs(const std::vector<std::string>& names, const QuantizedModel& model) {
  std::set<size_t> kept;
  std::vector<std::string_view> known;
  for (const LayerInput& input : model.inputs()) {
    known.insert(known.end(), input.layers.begin(), input.layers.end());
  }
  for (const std::string& name : names) {
    const size_t before = kept.size();
    for (size_t i = 0; i < model.inputs().size(); ++i) {
      const auto& layers = model.inputs()[i].layers;
      if (std::any_of(layers.begin(), layers.end(),
                      [&](const std::string& layer) { return named_by(layer, name); })) {
        kept.insert(i);
      }
    }
    const bool any = std::any_of(known.begin(), known.end(), [&](std::string_view layer) {
      return named_by(std::string(layer), name);
    });
    if (kept.size() == before && !any) {
      fail_usage("--keep: no layer is called '{}'{}", name, hint(name, known));
    }
  }
  return kept;
}

}  // namespace soft
