#include "base/error.h"
#include "kernels/landmarks.h"

namespace soft {

Windows windows_by_ratio(Grid map, Grid ratio) {
  const Grid out{map.h / ratio.h, map.w / ratio.w};
  if (out.size() == 0) {
    fail("a {}x{} map has no whole {}x{} window; use a larger picture or a smaller ratio", map.h,
         map.w, ratio.h, ratio.w);
  }
  return {map, out, ratio};
}

Windows adaptive_windows(Grid map, Grid out) { return {map, out, {0, 0}}; }

}  // namespace soft
