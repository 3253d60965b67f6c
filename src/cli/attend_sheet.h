// Rows of attention as a picture: one map at full size, or several side by side with captions.
#pragma once

#include <string>
#include <vector>

#include "engine/attend.h"
#include "image/heat_map.h"

namespace soft {

// What one model says about one query.
struct Attended {
  std::string weights;  // the file
  std::string model;    // for captions
  Pixel query;
  AttendResult result;
};

// A single map covers the picture pixel by pixel. Several make a contact sheet that starts with the
// picture itself: heads side by side and layers below each other, or, where several models answer,
// models side by side. `tile` is the longer side of a map on a sheet; 0: the picture's own size.
// `answers` has one list per query, with one entry per model.
Image attend_sheet(const Image& picture, const std::vector<std::vector<Attended>>& answers,
                   int tile);

}  // namespace soft
