#include "wing/stamp.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "wing_stamp.h"

namespace soft {
namespace {

constexpr std::string_view kMark = "soft torch wing, stamp ";
constexpr size_t kLongest = 64;

}  // namespace

std::string own_stamp() { return SOFT_WING_STAMP; }

std::string stamp_in(const std::string& path) {
  const std::vector<uint8_t> bytes = read_bytes(path);
  const auto found = std::search(bytes.begin(), bytes.end(),
                                 std::boyer_moore_horspool_searcher(kMark.begin(), kMark.end()));
  if (found == bytes.end()) return "";
  const auto first = found + static_cast<ptrdiff_t>(kMark.size());
  const auto most = std::min<ptrdiff_t>(kLongest, bytes.end() - first);
  return {first, std::find(first, first + most, '\0')};
}

void check_stamp(const std::string& path) {
  const std::string theirs = stamp_in(path);
  if (theirs == own_stamp()) return;
  fail("'{}' was made for {}, this is soft {}; build or install both together", path,
       theirs.empty() ? "a version without a stamp" : "soft " + theirs, own_stamp());
}

}  // namespace soft
