// From a photo's bytes (640 x 427) to its evaluation crop, and the two passes of the resize alone.
#include <memory>
#include <vector>

#include "base/file.h"
#include "gym.h"
#include "image/codec.h"
#include "image/transform.h"
#include "image/window.h"
#include "kernels/resample.h"

namespace soft::gym {
namespace {

using Bytes = std::vector<uint8_t>;

double differing(const Bytes& a, const Bytes& b) {
  double count = 0;
  for (size_t i = 0; i < a.size(); ++i) count += a[i] != b[i];
  return count;
}

struct Passes {
  Image photo;
  Windows columns, rows;
  Bytes narrow, small;  // after the row pass, after both
};

void train_passes(const Image& photo) {
  const auto x = std::make_shared<Passes>(Passes{photo, {}, {}, {}, {}});
  const int width = 371, height = 248;
  const auto along = [](int inputs, int outputs) {
    const Axis axis{inputs, 0, static_cast<double>(inputs), outputs};
    return windows_of(axis, Filter::kBicubic, 0, outputs);
  };
  x->columns = along(photo.width, width);
  x->rows = along(photo.height, height);
  x->narrow.resize(size_t{3} * width * photo.height);
  x->small.resize(size_t{3} * width * height);
  const auto rows_with = [x](auto pass, Bytes& out) {
    pass(x->photo.rgb.data(), x->photo.height, x->photo.width, x->columns.view(), out.data());
  };
  const auto columns_with = [x](auto pass, Bytes& out) {
    pass(x->narrow.data(), size_t{3} * width, x->rows.view(), out.data());
  };
  const auto error_of = [](auto run, auto fast, auto plain, const Bytes& found) {
    Bytes a(found.size()), b(found.size());
    run(fast, a);
    run(plain, b);
    return differing(a, b);
  };
  const double row_work = 2.0 * static_cast<double>(x->narrow.size()) * x->columns.taps;
  const double column_work = 2.0 * static_cast<double>(x->small.size()) * x->rows.taps;
  train({"resample rows/640 to 371", row_work, 0,
         [=] { return error_of(rows_with, resample_rows, resample_rows_plain, x->narrow); }, 0,
         [=] { rows_with(resample_rows, x->narrow); }});
  train({"resample columns/427 to 248", column_work, 0,
         [=] { return error_of(columns_with, resample_columns, resample_columns_plain, x->small); },
         0, [=] { columns_with(resample_columns, x->small); }});
}

const bool kRegistered = [] {
  const auto file =
      std::make_shared<std::vector<uint8_t>>(read_bytes(SOFT_SOURCE_DIR "/data/photos/rocket.jpg"));
  const auto decode = [=] { return decode_image(file->data(), file->size(), "rocket.jpg"); };
  const Image photo = decode();
  train_passes(photo);
  train_peer("photo/decode", 0, [=] { decode(); });
  train_peer("photo/crop", 0, [=] { evaluation_crop(photo, {}); });
  train_peer("photo/decode and crop", 0, [=] { evaluation_crop(decode(), {}); });
  return true;
}();

}  // namespace
}  // namespace soft::gym
