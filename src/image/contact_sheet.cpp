#include "image/contact_sheet.h"

#include <algorithm>

#include "base/error.h"
#include "image/codec.h"
#include "image/text.h"

namespace soft {
namespace {

constexpr uint8_t kPaper = 255;

struct Layout {
  int64_t columns = 0, rows = 0, lines = 0;  // lines of the longest caption
  int width = 0, height = 0;                 // of a print
  int scale = 1;                             // of the captions

  explicit Layout(const std::vector<std::vector<Print>>& prints) {
    rows = static_cast<int64_t>(prints.size());
    for (const auto& row : prints) {
      columns = std::max(columns, static_cast<int64_t>(row.size()));
      for (const Print& print : row) {
        width = std::max(width, print.image.width);
        height = std::max(height, print.image.height);
        lines = std::max(lines, static_cast<int64_t>(print.caption.size()));
      }
    }
    scale = std::max(1, width / 160);
  }

  int64_t gap() const { return 4 * scale; }
  int64_t line() const { return text_height(scale) + 2 * scale; }
  int64_t below() const { return lines * line(); }
  int64_t sheet_width() const { return columns * (width + gap()) + gap(); }
  int64_t sheet_height() const { return rows * (height + below() + gap()) + gap(); }
  Pixel corner(int64_t row, int64_t column) const {
    return {static_cast<int>(gap() + column * (width + gap())),
            static_cast<int>(gap() + row * (height + below() + gap()))};
  }
};

void paste(Image& sheet, const Image& image, Pixel at) {
  for (int y = 0; y < image.height; ++y) {
    std::copy_n(image.pixel(0, y), size_t{3} * image.width, sheet.pixel(at.x, at.y + y));
  }
}

void write_caption(Image& sheet, const Layout& layout, const Print& print, Pixel at) {
  const int letters = std::max(1, layout.width / text_width("x", layout.scale));
  for (const std::string& line : print.caption) {
    draw_text(sheet, at, line.substr(0, letters), layout.scale);
    at.y += static_cast<int>(layout.line());
  }
}

}  // namespace

Image contact_sheet(const std::vector<std::vector<Print>>& rows) {
  const Layout layout(rows);
  if (layout.sheet_width() > kMaxImagePixels / layout.sheet_height()) {
    fail(
        "a sheet of {}x{} pixels is more than the {} that can be read again; make its pictures "
        "smaller",
        layout.sheet_width(), layout.sheet_height(), kMaxImagePixels);
  }
  Image sheet(static_cast<int>(layout.sheet_width()), static_cast<int>(layout.sheet_height()));
  std::fill(sheet.rgb.begin(), sheet.rgb.end(), kPaper);
  for (int64_t y = 0; y < layout.rows; ++y) {
    for (int64_t x = 0; x < static_cast<int64_t>(rows[y].size()); ++x) {
      const Print& print = rows[y][x];
      const Pixel corner = layout.corner(y, x);
      paste(sheet, print.image, corner);
      const int below = corner.y + layout.height + 3 * layout.scale;
      write_caption(sheet, layout, print, {corner.x, below});
    }
  }
  return sheet;
}

}  // namespace soft
