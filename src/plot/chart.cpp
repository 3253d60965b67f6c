// Layout: title on top, the plot with its grid on the left, the legend on its right.
#include "plot/chart.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "plot/font.h"
#include "plot/label_places.h"
#include "plot/scale.h"
#include "plot/scatter.h"

namespace soft {
namespace {

constexpr int kWidth = 760, kHeight = 440;
constexpr double kTop = 46, kBottom = 58, kLeft = 78, kTextSize = 12.5, kTitleSize = 15;
constexpr Colour kInk{33, 37, 41}, kLeader{150, 156, 163}, kFaint{226, 229, 233},
    kFainter{240, 242, 244}, kGrey{96, 104, 112};

// Told apart by people who see fewer colours, and in print (Okabe and Ito's set, yellow left out).
constexpr std::array<Colour, 8> kPalette{{{0, 114, 178},
                                          {213, 94, 0},
                                          {0, 158, 115},
                                          {204, 121, 167},
                                          {86, 180, 233},
                                          {120, 94, 240},
                                          {150, 110, 40},
                                          {60, 60, 60}}};

Colour colour_of(size_t series) { return kPalette[series % kPalette.size()]; }

// The rectangle in which the values stand.
struct Frame {
  double left = kLeft, top = kTop, right = 0, bottom = kHeight - kBottom;
};

double legend_width(const std::vector<std::string>& names) {
  double widest = 0;
  for (const std::string& name : names) widest = std::max(widest, text_width(name, kTextSize));
  return widest + 58;
}

void add_text(Drawing& drawing, Point base, const std::string& text, Anchor anchor,
              Colour colour = kGrey) {
  drawing.shapes.emplace_back(Label{base, text, kTextSize, anchor, false, colour});
}

void add_line(Drawing& drawing, Point from, Point to, Colour colour, double width = 1) {
  drawing.shapes.emplace_back(Stroke{{from, to}, colour, width, false});
}

Drawing titled(const std::string& title, const Frame& frame) {
  Drawing drawing{kWidth, kHeight, title, {}};
  drawing.shapes.emplace_back(
      Label{{frame.left, 26}, title, kTitleSize, Anchor::kStart, false, kInk});
  return drawing;
}

void add_y_axis(Drawing& drawing, const Frame& frame, const Scale& y, const std::string& label) {
  for (const Tick& tick : y.ticks()) {
    const double at = y.at(tick.value);
    const Colour colour = tick.text.empty() ? kFainter : kFaint;
    add_line(drawing, {frame.left, at}, {frame.right, at}, colour);
    add_text(drawing, {frame.left - 8, at + 4}, tick.text, Anchor::kEnd);
  }
  const Point base{20, (frame.top + frame.bottom) / 2};
  drawing.shapes.emplace_back(Label{base, label, kTextSize, Anchor::kMiddle, true, kInk});
}

void add_x_label(Drawing& drawing, const Frame& frame, const std::string& label) {
  add_text(drawing, {(frame.left + frame.right) / 2, frame.bottom + 42}, label, Anchor::kMiddle,
           kInk);
}

void add_x_axis(Drawing& drawing, const Frame& frame, const Scale& x, const std::string& label) {
  for (const Tick& tick : x.ticks()) {
    const double at = x.at(tick.value);
    const Colour colour = tick.text.empty() ? kFainter : kFaint;
    add_line(drawing, {at, frame.top}, {at, frame.bottom}, colour);
    add_text(drawing, {at, frame.bottom + 19}, tick.text, Anchor::kMiddle);
  }
  add_x_label(drawing, frame, label);
}

void add_edges(Drawing& drawing, const Frame& frame) {
  add_line(drawing, {frame.left, frame.bottom}, {frame.right, frame.bottom}, kGrey, 1.2);
  add_line(drawing, {frame.left, frame.top}, {frame.left, frame.bottom}, kGrey, 1.2);
}

void add_series(Drawing& drawing, const Series& series, Colour colour, const Scale& x,
                const Scale& y, bool dots) {
  Stroke line{{}, colour, 2.2, series.dashed};
  for (const Point& point : series.points) {
    if (x.shows(point.x) && y.shows(point.y)) line.points.push_back({x.at(point.x), y.at(point.y)});
  }
  drawing.shapes.emplace_back(line);
  if (!dots) return;
  for (const Point& point : line.points) {
    drawing.shapes.emplace_back(Dot{point, 4.4, {255, 255, 255}});
    drawing.shapes.emplace_back(Dot{point, 3.4, colour});
  }
}

double legend_line(const Frame& frame, size_t entry) {
  return frame.top + 10 + 22 * static_cast<double>(entry);
}

void add_line_legend(Drawing& drawing, const Frame& frame, const LineChart& chart) {
  for (size_t i = 0; i < chart.series.size(); ++i) {
    const double y = legend_line(frame, i), x = frame.right + 16;
    const Series& series = chart.series[i];
    drawing.shapes.emplace_back(Stroke{{{x, y}, {x + 24, y}}, colour_of(i), 2.2, series.dashed});
    if (chart.dots) drawing.shapes.emplace_back(Dot{{x + 12, y}, 3.4, colour_of(i)});
    add_text(drawing, {x + 32, y + 4.5}, series.name, Anchor::kStart, kInk);
  }
}

void add_bar_legend(Drawing& drawing, const Frame& frame, const BarChart& chart) {
  for (size_t i = 0; i < chart.sets.size(); ++i) {
    const double y = legend_line(frame, i), x = frame.right + 16;
    drawing.shapes.emplace_back(Block{{x + 4, y - 7}, 14, 14, colour_of(i)});
    add_text(drawing, {x + 28, y + 4.5}, chart.sets[i].name, Anchor::kStart, kInk);
  }
}

void add_bars(Drawing& drawing, const Frame& frame, const BarChart& chart, const Scale& y) {
  const double room = (frame.right - frame.left) / static_cast<double>(chart.groups.size());
  const double bar = std::min(46.0, 0.76 * room / static_cast<double>(chart.sets.size()));
  for (size_t group = 0; group < chart.groups.size(); ++group) {
    const double middle = frame.left + room * (static_cast<double>(group) + 0.5);
    double x = middle - bar * static_cast<double>(chart.sets.size()) / 2;
    for (size_t set = 0; set < chart.sets.size(); ++set, x += bar) {
      const double value = chart.sets[set].values.at(group);
      if (!y.shows(value)) continue;
      const double top = y.at(value);
      drawing.shapes.emplace_back(Block{{x + 1, top}, bar - 2, frame.bottom - top, colour_of(set)});
    }
    add_text(drawing, {middle, frame.bottom + 19}, chart.groups[group], Anchor::kMiddle, kInk);
  }
}

}  // namespace

Drawing draw(const LineChart& chart) {
  std::vector<double> xs, ys;
  std::vector<std::string> names;
  for (const Series& series : chart.series) {
    names.push_back(series.name);
    for (const Point& point : series.points) xs.push_back(point.x), ys.push_back(point.y);
  }
  Frame frame;
  frame.right = kWidth - legend_width(names);
  Scale x(chart.x, xs), y(chart.y, ys);
  x.place(frame.left, frame.right);
  y.place(frame.bottom, frame.top);
  Drawing drawing = titled(chart.title, frame);
  add_y_axis(drawing, frame, y, chart.y.label);
  add_x_axis(drawing, frame, x, chart.x.label);
  add_edges(drawing, frame);
  for (size_t i = 0; i < chart.series.size(); ++i) {
    add_series(drawing, chart.series[i], colour_of(i), x, y, chart.dots);
  }
  add_line_legend(drawing, frame, chart);
  return drawing;
}

Drawing draw(const BarChart& chart) {
  std::vector<double> ys;
  std::vector<std::string> names;
  if (!chart.y.log) ys.push_back(0);  // bars stand on zero
  for (const BarSet& set : chart.sets) {
    names.push_back(set.name);
    ys.insert(ys.end(), set.values.begin(), set.values.end());
  }
  Frame frame;
  frame.right = kWidth - legend_width(names);
  Scale y(chart.y, ys);
  y.place(frame.bottom, frame.top);
  Drawing drawing = titled(chart.title, frame);
  add_y_axis(drawing, frame, y, chart.y.label);
  add_bars(drawing, frame, chart, y);
  add_edges(drawing, frame);
  add_bar_legend(drawing, frame, chart);
  return drawing;
}

namespace {

// Highlighted points are joined in the order in which they are given.
void add_highlight(Drawing& drawing, const std::vector<NamedPoint>& points) {
  Stroke line{{}, colour_of(1), 1.6, false};
  for (const NamedPoint& point : points) {
    if (point.highlighted) line.points.push_back(point.at);
  }
  drawing.shapes.emplace_back(line);
}

void add_named_points(Drawing& drawing, const Frame& frame, const std::vector<NamedPoint>& points) {
  NamesOfPoints named;
  named.size = 10.5;
  for (const NamedPoint& point : points) {
    named.points.push_back(point.at);
    named.names.push_back(point.name);
    if (point.highlighted) named.line.push_back(point.at);
  }
  const auto boxes = label_places(named, {frame.left, frame.top, frame.right, frame.bottom});
  for (size_t i = 0; i < points.size(); ++i) {
    const std::vector<Point> line = leader(points[i].at, boxes[i]);
    if (!line.empty()) drawing.shapes.emplace_back(Stroke{line, kLeader, 0.8, false});
  }
  for (size_t i = 0; i < points.size(); ++i) {
    const bool own = points[i].highlighted;
    const Colour colour = own ? colour_of(1) : colour_of(0);
    const Point base{boxes[i].left, boxes[i].bottom - 0.2 * named.size};
    drawing.shapes.emplace_back(Dot{points[i].at, own ? 4.6 : 3.6, colour});
    drawing.shapes.emplace_back(
        Label{base, points[i].name, named.size, Anchor::kStart, false, own ? colour : kInk});
  }
}

}  // namespace

Drawing draw(const ScatterChart& chart) {
  std::vector<double> xs, ys;
  for (const NamedPoint& point : chart.points) xs.push_back(point.at.x), ys.push_back(point.at.y);
  Frame frame;
  frame.right = kWidth - 30;
  Scale x(chart.x, xs), y(chart.y, ys);
  x.place(frame.left, frame.right);
  y.place(frame.bottom, frame.top);
  Drawing drawing = titled(chart.title, frame);
  add_y_axis(drawing, frame, y, chart.y.label);
  add_x_axis(drawing, frame, x, chart.x.label);
  add_edges(drawing, frame);
  std::vector<NamedPoint> placed;
  for (NamedPoint point : chart.points) {
    if (!x.shows(point.at.x) || !y.shows(point.at.y)) continue;
    point.at = {x.at(point.at.x), y.at(point.at.y)};
    placed.push_back(point);
  }
  add_highlight(drawing, placed);
  add_named_points(drawing, frame, placed);
  return drawing;
}

}  // namespace soft
