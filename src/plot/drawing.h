// A picture made of a few kinds of shapes, in pixels from the top left: what a chart becomes before
// it is written as SVG or as pixels.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace soft {

struct Point {
  double x = 0, y = 0;
};

struct Colour {
  uint8_t r = 0, g = 0, b = 0;
};

struct Stroke {
  std::vector<Point> points;
  Colour colour;
  double width = 1;
  bool dashed = false;
};

struct Block {
  Point corner;  // top left
  double width = 0, height = 0;
  Colour colour;
};

struct Dot {
  Point centre;
  double radius = 1;
  Colour colour;
};

enum class Anchor { kStart, kMiddle, kEnd };

struct Label {
  Point base;  // on the baseline
  std::string text;
  double size = 12;  // pixels of an em
  Anchor anchor = Anchor::kStart;
  bool upwards = false;  // turned by a quarter, reads from below
  Colour colour;
};

using Shape = std::variant<Stroke, Block, Dot, Label>;

struct Drawing {
  int width = 0, height = 0;
  std::string title;          // for screen readers
  std::vector<Shape> shapes;  // later ones cover earlier ones; on white
};

// 8-bit RGB rows, top to bottom.
struct Pixels {
  int width = 0, height = 0;
  std::vector<uint8_t> rgb;
};

Drawing stacked(Drawing top, Drawing bottom);  // one above the other

std::string to_svg(const Drawing& drawing);
Pixels to_pixels(const Drawing& drawing, int scale = 2);  // `scale` pixels for every one

}  // namespace soft
