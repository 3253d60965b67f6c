#include "study/table3.h"

#include <algorithm>

#include "plot/scatter.h"

namespace soft {
namespace {

constexpr std::nullopt_t kNotPrinted = std::nullopt;

}  // namespace

const std::vector<Table3Row>& table3() {
  static const std::vector<Table3Row> rows{
      {"tiny", "resnet-18", 11, 1.9, 69.8, true, "1.8 G counted"},
      {"tiny", "pvt-tiny", 13, 1.9, 75.1, true, ""},
      {"tiny", "coat-lite-mini", 11, 2.0, 78.9, true, "released weights: 79.1 %"},
      {"tiny", "soft-tiny", 13, 1.9, 79.3, true, ""},
      {"small", "lambda-resnet-50", 16, kNotPrinted, 78.9, true, ""},
      {"small", "resnet-50", 25, 4.1, 78.5, true, ""},
      {"small", "pvt-small", 24, 4.0, 79.8, true, "3.8 G counted with the attention"},
      {"small", "deit-small", 22, 4.6, 79.9, false, ""},
      {"small", "t2t-vit-t-14", 21, 5.2, 80.7, false, "6.1 G counted; released weights: 81.7 %"},
      {"small", "cpvt-small", 22, kNotPrinted, 79.9, false,
       "the paper ticks multi-scale; it is flat"},
      {"small", "twins-svt-s", 24, 3.7, 81.7, true, "2.9 G counted; 3.7 G is Twins-PCPVT-S"},
      {"small", "soft-small", 24, 3.3, 82.2, true, ""},
      {"medium", "resnet-101", 44, 7.9, 79.8, true, "7.8 G counted"},
      {"medium", "pvt-medium", 44, 7.0, 81.2, true, "6.7 G counted with the attention"},
      {"medium", "vit-small-16", 48, 9.9, 80.8, false, "published weights: 77.9 %"},
      {"medium", "soft-medium", 45, 7.2, 82.9, true, "7.4 G counted"},
      {"large", "resnet-152", 60, 11.6, 80.8, true, "11.5 G counted"},
      {"large", "pvt-large", 61, 10.1, 81.7, true, "9.8 G counted with the attention"},
      {"large", "t2t-vit-t-24", 64, 13.2, 82.2, false, "15.0 G counted; released weights: 82.6 %"},
      {"large", "botnet-s1-110", 55, kNotPrinted, 82.8, true,
       "55 M with squeeze-and-excitation in stage 4 (bot_se=1)"},
      {"large", "soft-large", 64, 11.0, 83.1, true, "11.2 G counted"},
      {"huge", "cait-s36", 88, 13.9, 83.3, false, "68 M counted; 88 M is Swin-B's"},
      {"huge", "swin-b", 88, 15.4, 83.3, true, ""},
      {"huge", "twins-svt-l", 99, 14.8, 83.3, true, "15.1 G counted; Twins' own table: 83.7 %"},
      {"huge", "soft-huge", 87, 16.3, 83.3, true, "16.0 G counted"},
      {"figure", "regnety-1.6gf", kNotPrinted, kNotPrinted, 77.9, true, "pycls' own number"},
      {"figure", "regnety-4gf", kNotPrinted, kNotPrinted, 79.4, true, "pycls' own number"},
      {"figure", "regnety-8gf", kNotPrinted, kNotPrinted, 79.9, true, "pycls' own number"},
      {"figure", "regnety-16gf", kNotPrinted, kNotPrinted, 80.4, true, "pycls' own number"},
      {"figure", "san10", kNotPrinted, kNotPrinted, 77.1, true, "its repository's own number"},
  };
  return rows;
}

std::optional<Table3Row> find_table3(const std::string& model) {
  for (const Table3Row& row : table3()) {
    if (row.model == model) return row;
  }
  return {};
}

namespace {

ScatterChart chart_of(const Json& rows, const char* key, double unit, const Axis& x) {
  ScatterChart chart;
  chart.title = "Table 3: published top-1 against " + x.label;
  chart.x = x;
  chart.y = {"top-1 on ImageNet, as published (%)", false, {}, {}};
  for (const Json& row : rows) {
    if (!row.contains(key) || !row.at(key).is_number()) continue;
    const std::string model = row.at("model");
    chart.points.push_back({{unit * row.at(key).get<double>(), row.at("paper_top1").get<double>()},
                            model,
                            model.rfind("soft-", 0) == 0});
  }
  return chart;
}

}  // namespace

Drawing figure_1a(const Json& rows) {
  Drawing drawing = stacked(draw(chart_of(rows, "params", 1e-6, {"parameters (M)", false, {}, {}})),
                            draw(chart_of(rows, "gmacs", 1, {"MACs (G)", false, {}, {}})));
  const bool measured = std::any_of(rows.begin(), rows.end(), [](const Json& row) {
    return row.contains("images_per_second") && row.at("images_per_second").is_number();
  });
  if (!measured) return drawing;
  const Axis rate{"images a second, here", true, {}, {}};
  return stacked(std::move(drawing), draw(chart_of(rows, "images_per_second", 1, rate)));
}

}  // namespace soft
