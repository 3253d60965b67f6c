#include "cli/attend_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "image/contact_sheet.h"
#include "image/transform.h"

namespace soft {
namespace {

using Line = std::vector<Print>;

// A picture at the size it has on the sheet, and where its pixels go.
class Ground {
 public:
  Ground(const Image& picture, int tile) : image_(picture) {
    const int longer = std::max(picture.width, picture.height);
    if (tile == 0 || tile == longer) return;
    scale_ = static_cast<double>(tile) / longer;
    const auto side = [&](int pixels) { return std::max(1L, std::lround(scale_ * pixels)); };
    image_ = resize(picture, static_cast<int>(side(picture.width)),
                    static_cast<int>(side(picture.height)), Filter::kBicubic);
  }

  Image plain(Pixel query) const { return crossed(image_, query); }

  Image under(const AttendRow& row, Grid grid, Pixel query) const {
    return crossed(heat_map(image_, {grid, row.row}), query);
  }

 private:
  Image crossed(Image image, Pixel query) const {
    const auto place = [&](int pixel, int end) {
      return std::min(static_cast<int>((pixel + 0.5) * scale_), end - 1);
    };
    draw_cross(image, {place(query.x, image.width), place(query.y, image.height)});
    return image;
  }

  Image image_;
  double scale_ = 1;
};

Print plain_print(const Ground& ground, Pixel query) {
  return {ground.plain(query), {fmt::format("query {},{}", query.x, query.y)}};
}

Print map_print(const Ground& ground, const Attended& answer, const AttendRow& row, bool named) {
  const auto [least, most] = std::minmax_element(row.row.begin(), row.row.end());
  std::vector<std::string> caption;
  if (named) caption.push_back(answer.model);
  caption.push_back(fmt::format("layer {}.{} head {}", row.stage, row.layer, row.head));
  caption.push_back(fmt::format("{:.2g} to {:.2g}", *least, *most));
  if (std::isfinite(row.share)) caption.push_back(fmt::format("share {:.2g}", row.share));
  return {ground.under(row, answer.result.grid, answer.query), std::move(caption)};
}

// The picture stands in the first line of its query only.
Line new_line(const Ground& ground, Pixel query, bool first) {
  return {first ? plain_print(ground, query) : Print{}};
}

// Heads side by side, a line for each layer.
void add_lines(const Ground& ground, const Attended& answer, std::vector<Line>& lines) {
  const auto& rows = answer.result.rows;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i == 0 || rows[i].layer != rows[i - 1].layer) {
      lines.push_back(new_line(ground, answer.query, i == 0));
    }
    lines.back().push_back(map_print(ground, answer, rows[i], false));
  }
}

// Models side by side, a line for each layer and head; where one has fewer its place stays free.
void add_lines(const Ground& ground, const std::vector<Attended>& models,
               std::vector<Line>& lines) {
  size_t most = 0;
  for (const Attended& model : models) most = std::max(most, model.result.rows.size());
  for (size_t i = 0; i < most; ++i) {
    lines.push_back(new_line(ground, models.front().query, i == 0));
    for (const Attended& model : models) {
      const auto& rows = model.result.rows;
      lines.back().push_back(i < rows.size() ? map_print(ground, model, rows[i], true) : Print{});
    }
  }
}

}  // namespace

Image attend_sheet(const Image& picture, const std::vector<std::vector<Attended>>& answers,
                   int tile) {
  const Ground ground(picture, tile);
  const Attended& first = answers.front().front();
  if (answers.size() == 1 && answers.front().size() == 1 && first.result.rows.size() == 1) {
    return ground.under(first.result.rows.front(), first.result.grid, first.query);
  }
  std::vector<Line> lines;
  for (const std::vector<Attended>& models : answers) {
    if (models.size() == 1) {
      add_lines(ground, models.front(), lines);
    } else {
      add_lines(ground, models, lines);
    }
  }
  return contact_sheet(lines);
}

}  // namespace soft
