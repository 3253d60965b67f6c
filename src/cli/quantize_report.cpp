#include "cli/quantize_report.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace soft {
namespace {

constexpr size_t kShownLayers = 8;

Json layers_json(const QuantizedModel& model, const Int8Choice& choice) {
  Json layers = Json::array();
  for (size_t i = 0; i < model.inputs().size(); ++i) {
    const InputRange range = model.inputs()[i].range(choice.rule);
    for (const std::string& layer : model.inputs()[i].layers) {
      layers.push_back({{"name", layer},
                        {"int8", choice.chosen.count(i) > 0},
                        {"error", choice.layer_error[i]},
                        {"lowest", range.lowest},
                        {"highest", range.highest}});
    }
  }
  return layers;
}

}  // namespace

Json json_of(const QuantizedModel& model, const QuantizeResult& result) {
  const auto known = [&](double top1) { return result.labelled ? Json(top1) : Json(nullptr); };
  return {{"agreement", result.choice.agreement.same},
          {"error", result.choice.agreement.error},
          {"top1_fp32", known(result.top1_fp32)},
          {"top1_int8", known(result.top1_int8)},
          {"images", result.checked},
          {"ranges", name_of(result.choice.rule)},
          {"bytes", result.bytes},
          {"layers", layers_json(model, result.choice)}};
}

void print_result(const std::string& out, const QuantizedModel& model,
                  const QuantizeResult& result) {
  const Int8Choice& choice = result.choice;
  fmt::print("{}: {:.2f} MB, {} of {} inputs as bytes, ranges by {}\n", out,
             1e-6 * static_cast<double>(result.bytes), choice.chosen.size(), model.inputs().size(),
             name_of(choice.rule));
  fmt::print("{:.2f} % of {} held-out pictures get the same answer", choice.agreement.same,
             result.checked);
  if (result.labelled) fmt::print("; top-1 {:.2f} -> {:.2f}", result.top1_fp32, result.top1_int8);
  fmt::print("\nwhat each layer alone adds to the logits' error:\n");
  std::vector<size_t> order(choice.layer_error.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return choice.layer_error[a] > choice.layer_error[b]; });
  for (size_t i = 0; i < std::min(kShownLayers, order.size()); ++i) {
    fmt::print("{:8.3f} %  {}{}\n", 100 * choice.layer_error[order[i]],
               fmt::join(model.inputs()[order[i]].layers, ", "),
               choice.chosen.count(order[i]) > 0 ? "" : "  (kept in float32)");
  }
}

}  // namespace soft
