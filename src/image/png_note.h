// What a PNG says about itself beside its pixels, as far as Pillow listens to it when it turns a
// picture upright.
#pragma once

#include <string>
#include <string_view>

namespace soft {

struct PngNotes {
  std::string exif;  // a TIFF structure: the eXIf chunk, else ImageMagick's "Raw profile type exif"
  std::string xmp;   // the text "XML:com.adobe.xmp"
};

// Chunks before and after the pixels; the last of a kind counts. Damage leads to empty notes. Texts
// under other names are not unpacked, and of these two at most a megabyte.
PngNotes png_notes(std::string_view file);

}  // namespace soft
