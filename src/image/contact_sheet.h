// Many small pictures on one, in rows and columns, each with its caption below.
#pragma once

#include <string>
#include <vector>

#include "image/image.h"

namespace soft {

struct Print {
  Image image;                       // empty: the place stays free
  std::vector<std::string> caption;  // lines; too long ones are cut
};

// Rows of prints, which have one size. An Error when the sheet would be larger than a picture that
// can be read again.
Image contact_sheet(const std::vector<std::vector<Print>>& rows);

}  // namespace soft
