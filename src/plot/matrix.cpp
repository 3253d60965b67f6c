// Layout: title on top, row names on the left, column names below (turned), the scale of colours on
// the right. Cells shrink as classes get more: first their numbers go, then the names become
// numbers.
#include "plot/matrix.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "plot/font.h"

namespace soft {
namespace {

constexpr Colour kInk{33, 37, 41}, kGrey{96, 104, 112}, kPaper{246, 247, 249},
    kWhite{255, 255, 255};
constexpr double kTitleSize = 15, kLargestText = 12.5, kSmallestText = 8.5;
constexpr double kTop = 52, kEdge = 14, kAxis = 22, kScaleWidth = 86;
constexpr double kRoom = 640;  // for the cells of a large matrix
constexpr size_t kLongestName = 22;

// From paper to ink in equal steps of lightness; read at the root of the share, so that one mistake
// in a hundred is still seen.
constexpr std::array<Colour, 5> kRamp{
    {{246, 247, 249}, {196, 217, 238}, {116, 169, 211}, {41, 110, 172}, {10, 50, 102}}};

Colour shade(double share) {
  const double at = std::sqrt(std::clamp(share, 0.0, 1.0)) * (kRamp.size() - 1);
  const size_t below = std::min(static_cast<size_t>(at), kRamp.size() - 2);
  const double part = at - static_cast<double>(below);
  const auto mix = [&](uint8_t a, uint8_t b) {
    return static_cast<uint8_t>(std::lround(a + part * (b - a)));
  };
  const Colour &low = kRamp[below], &high = kRamp[below + 1];
  return {mix(low.r, high.r), mix(low.g, high.g), mix(low.b, high.b)};
}

std::string shortened(const std::string& name) {
  return name.size() <= kLongestName ? name : name.substr(0, kLongestName - 2) + "..";
}

// What everything's place follows from.
struct Layout {
  size_t count;
  double side;  // of a cell
  double text;  // size of names and numbers
  size_t step;  // every so many rows have a name
  bool named;   // by their names, or by their numbers
  double left = 0, bottom = 0;

  double end() const { return side * static_cast<double>(count); }
  std::string label(const MatrixChart& chart, size_t i) const {
    return named ? shortened(chart.names[i]) : std::to_string(i);
  }
};

// 1, 2, 5, 10, 20 …: the first that leaves room for a line of text.
size_t label_step(double side) {
  for (size_t decade = 1;; decade *= 10) {
    for (const size_t step : {1, 2, 5}) {
      if (side * static_cast<double>(step * decade) >= 26) return step * decade;
    }
  }
}

Layout layout_of(const MatrixChart& chart) {
  Layout layout{};
  layout.count = chart.names.size();
  const double fair = std::floor(kRoom / static_cast<double>(layout.count));
  layout.side = std::clamp(fair, 1.0, 64.0);
  layout.named = layout.side >= 11;
  layout.step = layout.named ? 1 : label_step(layout.side);
  layout.text = layout.named ? std::clamp(0.8 * layout.side, kSmallestText, kLargestText) : 10;
  double widest = 0;
  for (size_t i = 0; i < layout.count; i += layout.step) {
    widest = std::max(widest, text_width(layout.label(chart, i), layout.text));
  }
  layout.left = kEdge + kAxis + widest + 10;
  layout.bottom = kTop + layout.end();
  return layout;
}

void add_label(Drawing& drawing, Point base, const std::string& text, double size, Anchor anchor,
               Colour colour, bool upwards = false) {
  drawing.shapes.emplace_back(Label{base, text, size, anchor, upwards, colour});
}

void add_names(Drawing& drawing, const MatrixChart& chart, const Layout& layout) {
  for (size_t i = 0; i < layout.count; i += layout.step) {
    const double middle = layout.side * (static_cast<double>(i) + 0.5) + 0.36 * layout.text;
    const std::string text = layout.label(chart, i);
    add_label(drawing, {layout.left - 7, kTop + middle}, text, layout.text, Anchor::kEnd, kInk);
    add_label(drawing, {layout.left + middle, layout.bottom + 7}, text, layout.text, Anchor::kEnd,
              kInk, true);
  }
}

void add_axes(Drawing& drawing, const MatrixChart& chart, const Layout& layout) {
  const double middle = layout.end() / 2;
  add_label(drawing, {kEdge + 10, kTop + middle}, chart.rows, kLargestText, Anchor::kMiddle, kGrey,
            true);
  add_label(drawing, {layout.left + middle, drawing.height - kEdge + 0.0}, chart.columns,
            kLargestText, Anchor::kMiddle, kGrey);
}

// A number where it fits.
void add_count(Drawing& drawing, const Layout& layout, Point corner, int64_t count, double share) {
  const std::string text = std::to_string(count);
  const double size = std::min(kLargestText, 0.42 * layout.side);
  if (size < kSmallestText || text_width(text, size) > layout.side - 4) return;
  add_label(drawing, {corner.x + layout.side / 2, corner.y + layout.side / 2 + 0.36 * size}, text,
            size, Anchor::kMiddle, share > 0.3 ? kWhite : kInk);
}

void add_cells(Drawing& drawing, const MatrixChart& chart, const Layout& layout) {
  drawing.shapes.emplace_back(Block{{layout.left, kTop}, layout.end(), layout.end(), kPaper});
  const double gap = layout.side >= 8 ? 1 : 0;
  for (const MatrixCell& cell : chart.cells) {
    const Point corner{layout.left + layout.side * static_cast<double>(cell.column),
                       kTop + layout.side * static_cast<double>(cell.row)};
    const double share =
        static_cast<double>(cell.count) / static_cast<double>(chart.row_sums[cell.row]);
    const double side = layout.side - gap;
    drawing.shapes.emplace_back(Block{corner, side, side, shade(share)});
    add_count(drawing, layout, corner, cell.count, share);
  }
}

void add_scale(Drawing& drawing, const Layout& layout) {
  constexpr int kSteps = 48;
  const double x = layout.left + layout.end() + 20, height = std::min(layout.end(), 240.0);
  for (int i = 0; i < kSteps; ++i) {
    const double root = (i + 0.5) / kSteps;
    drawing.shapes.emplace_back(Block{{x, kTop + height * (1 - (i + 1.0) / kSteps)},
                                      14,
                                      height / kSteps + 0.6,
                                      shade(root * root)});
  }
  for (const int percent : {0, 5, 25, 50, 100}) {
    const double y = kTop + height * (1 - std::sqrt(percent / 100.0));
    add_label(drawing, {x + 20, y + 4}, fmt::format("{} %", percent), 11, Anchor::kStart, kGrey);
  }
}

}  // namespace

Drawing draw(const MatrixChart& chart) {
  const Layout layout = layout_of(chart);
  const double names = layout.left - kEdge - kAxis;  // as high below as they are wide on the left
  Drawing drawing;
  drawing.title = chart.title;
  const double needed = layout.left + text_width(chart.title, kTitleSize) + kEdge;
  const double used = layout.left + layout.end() + kScaleWidth;
  drawing.width = static_cast<int>(std::ceil(std::max(used, needed)));
  drawing.height = static_cast<int>(std::ceil(layout.bottom + names + kAxis + kEdge));
  add_label(drawing, {layout.left, 28}, chart.title, kTitleSize, Anchor::kStart, kInk);
  add_cells(drawing, chart, layout);
  add_names(drawing, chart, layout);
  add_axes(drawing, chart, layout);
  add_scale(drawing, layout);
  return drawing;
}

}  // namespace soft
