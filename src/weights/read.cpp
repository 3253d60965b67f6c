#include "weights/read.h"

#include <algorithm>

#include "base/npy.h"
#include "weights/published.h"

namespace soft {
namespace {

constexpr size_t kMaxAxes = 8;
constexpr size_t kLongestName = 256;

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName &&
         std::all_of(text.begin(), text.end(), is_printable);
}

Weights read_by_content(FileBytes file, const std::string& key) {
  const std::string_view start = bytes_of(file).text().substr(0, 4);
  if (start == "PK\x03\x04") return read_pth(std::move(file), key);
  if (starts_with(start, "\x80\x02") || starts_with(start, "\x80\x04")) {
    fail(
        "a bare pickle, as torch.save wrote before version 1.6; save it again with "
        "torch.save(torch.load(old, map_location='cpu'), new)");
  }
  if (!key.empty()) {
    fail_usage("--weights-key {} chooses inside a .pth checkpoint, and this is not one", key);
  }
  return read_safetensors(std::make_shared<const FileBytes>(std::move(file)));
}

}  // namespace

size_t checked_bytes(const std::vector<int64_t>& shape, DType type) {
  if (shape.size() > kMaxAxes) fail("a tensor has {} axes; at most {}", shape.size(), kMaxAxes);
  int64_t bytes = static_cast<int64_t>(size_of(type));
  for (int64_t side : shape) {
    if (side < 0 || __builtin_mul_overflow(bytes, side, &bytes)) {
      fail("a tensor of shape {} cannot exist", shape_text(shape));
    }
  }
  return static_cast<size_t>(bytes);
}

void add_tensor(Weights& weights, std::string_view name, TensorView tensor) {
  constexpr std::string_view kWrapper = "module.";  // left by DataParallel
  if (starts_with(name, kWrapper)) name.remove_prefix(kWrapper.size());
  if (ends_with(name, "num_batches_tracked")) return;
  if (!is_name(name)) fail("a tensor has the unusable name '{}'", printable(name));
  if (!weights.tensors.emplace(name, std::move(tensor)).second) {
    fail("tensor '{}' appears twice", name);
  }
}

Weights read_weights(const std::string& path, const std::string& key) {
  FileBytes file{path, read_bytes(path)};
  try {
    Weights weights = read_by_content(std::move(file), key);
    weights.path = path;
    const bool ours = weights.metadata.count("soft") > 0;  // the card
    return ours ? weights : with_our_names(std::move(weights));
  } catch (const Error& error) {
    throw Error(error.fault(),
                fmt::format("cannot read weights from '{}': {}", path, error.what()));
  }
}

}  // namespace soft
