#include <fmt/core.h>

#include <iterator>

#include "plot/drawing.h"

namespace soft {
namespace {

std::string hex(Colour c) { return fmt::format("#{:02x}{:02x}{:02x}", c.r, c.g, c.b); }

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

const char* name_of(Anchor anchor) {
  switch (anchor) {
    case Anchor::kStart:
      return "start";
    case Anchor::kMiddle:
      return "middle";
    case Anchor::kEnd:
      return "end";
  }
  return "";
}

struct Writer {
  std::string out;

  void operator()(const Stroke& s) {
    std::string points;
    for (const Point& p : s.points) points += fmt::format("{:.1f},{:.1f} ", p.x, p.y);
    if (points.empty()) return;
    points.pop_back();
    out += fmt::format(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{:.3g}\" "
        "stroke-linejoin=\"round\" stroke-linecap=\"{}\"{}/>\n",
        points, hex(s.colour), s.width, s.dashed ? "butt" : "round",
        s.dashed ? " stroke-dasharray=\"7 5\"" : "");
  }
  void operator()(const Block& b) {
    out += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n",
        b.corner.x, b.corner.y, b.width, b.height, hex(b.colour));
  }
  void operator()(const Dot& d) {
    out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.3g}\" fill=\"{}\"/>\n",
                       d.centre.x, d.centre.y, d.radius, hex(d.colour));
  }
  void operator()(const Label& l) {
    if (l.text.empty()) return;
    const std::string turn =
        l.upwards ? fmt::format(" transform=\"rotate(-90 {:.1f} {:.1f})\"", l.base.x, l.base.y)
                  : "";
    out += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:.3g}\" text-anchor=\"{}\" "
        "fill=\"{}\"{}>{}</text>\n",
        l.base.x, l.base.y, l.size, name_of(l.anchor), hex(l.colour), turn, escaped(l.text));
  }
};

}  // namespace

std::string to_svg(const Drawing& drawing) {
  Writer writer;
  for (const Shape& shape : drawing.shapes) std::visit(writer, shape);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" "
      "font-family=\"Helvetica, Arial, sans-serif\" role=\"img\">\n<title>{2}</title>\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n{3}</svg>\n",
      drawing.width, drawing.height, escaped(drawing.title), writer.out);
}

}  // namespace soft
