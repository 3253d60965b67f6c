// The explorer page: the files below web/, compiled into the program (cmake/embed.cmake).
#pragma once

#include <string_view>
#include <vector>

namespace soft {

struct PageFile {
  std::string_view path;  // "/" or "/explorer.js"
  std::string_view content_type;
  std::string_view bytes;
};

const std::vector<PageFile>& page_files();

}  // namespace soft
