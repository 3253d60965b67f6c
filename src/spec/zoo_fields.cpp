#include "spec/zoo_fields.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/nearest.h"
#include "base/printable.h"
#include "base/setting.h"

namespace soft {
namespace {

// What every model has beside its family's numbers.
struct Common {
  std::string_view key;
  int ModelSpec::*member;
};
constexpr Common kCommon[] = {{"image_size", &ModelSpec::image_size},
                              {"classes", &ModelSpec::classes}};

// What the families' numbers mean.
struct Meaning {
  std::string_view key, meaning;
};
constexpr Meaning kMeanings[] = {
    {"image_size", "side of the pictures, in pixels"},
    {"classes", "classes it tells apart"},
    {"stem", "channels of the first convolution"},
    {"planes", "channels inside the blocks of each stage"},
    {"widths", "channels of each stage"},
    {"dims", "channels of each stage"},
    {"dim", "channels (Swin: of the first stage, doubled from stage to stage)"},
    {"token_dim", "channels of the tokens before they are projected"},
    {"depths", "layers of each stage"},
    {"depth", "layers"},
    {"class_depth", "layers in which the class token alone attends"},
    {"heads", "heads of attention"},
    {"mlp_ratio", "hidden channels of an MLP, over its own"},
    {"mlp_ratios", "hidden channels of an MLP, over its own, in each stage"},
    {"bottleneck", "blocks of three convolutions (1) or of two (0)"},
    {"group_width", "channels of a group of the 3x3 convolutions"},
    {"kernels", "side of the neighbourhood in each stage"},
    {"pairwise", "weights from pairs of cells (1) or from whole patches (0)"},
    {"keys", "channels of a query and a key"},
    {"intra_depth", "lambdas that are summed"},
    {"scope", "side of the window of relative positions"},
    {"bot_se", "squeeze and excitation in the last stage, too (1) or not (0)"},
    {"patch", "side of a patch, in pixels"},
    {"conditional", "positions from a convolution (1) or learnt (0)"},
    {"old_scale", "scores over the root of all channels (1) or of a head's (0)"},
    {"reductions", "by how much keys and values are shrunk in each stage"},
    {"windows", "side of the windows of each stage, in tokens"},
    {"window", "side of the windows, in tokens"},
    {"trained", "height and width of the pictures that its positions are made for"},
};

}  // namespace

bool is_in_zoo(const std::string& name) {
  const auto& table = zoo_table();
  return std::any_of(table.begin(), table.end(), [&](const ZooRow& r) { return r.name == name; });
}

void set_zoo_number(ModelSpec& spec, std::string_view key, std::string_view value) {
  std::vector<std::string_view> keys;
  for (Numbers& numbers : spec.numbers) {
    keys.push_back(numbers.key);
    if (numbers.key == key) {
      numbers.values = parse_list(key, value, numbers.values.size());
      return;
    }
  }
  for (const Common& common : kCommon) {
    keys.push_back(common.key);
    if (common.key == key) {
      spec.*common.member = parse_whole<int>(key, value);
      return;
    }
  }
  fail_usage("{} has no setting '{}'{}; its own are {}", spec.name, key, hint(key, keys),
             fmt::join(keys, ", "));
}

std::vector<FieldHelp> zoo_field_help(const ModelSpec& spec) {
  const Json values = zoo_numbers(spec);
  std::vector<FieldHelp> all;
  for (const Meaning& known : kMeanings) {
    const auto found = values.find(std::string(known.key));
    if (found == values.end()) continue;
    const auto text = found->get<std::string>();
    std::string shape = "N";
    for (const char letter : text) shape += letter == ',' ? ",N" : "";
    all.push_back({known.key, shape, known.meaning});
  }
  return all;
}

Json zoo_numbers(const ModelSpec& spec) {
  Json json = Json::object();
  for (const Common& common : kCommon) {
    json[std::string(common.key)] = std::to_string(spec.*common.member);
  }
  for (const Numbers& numbers : spec.numbers) {
    json[numbers.key] = fmt::format("{}", fmt::join(numbers.values, ","));
  }
  return json;
}

ModelSpec zoo_spec_from_json(const Json& json, const std::string& what) {
  ModelSpec spec = find_model(json["name"].get<std::string>());
  try {
    for (const auto& [key, value] : json.items()) {
      if (key == "name" || key == "family") continue;
      if (!value.is_string()) fail("'{}' is not text", key);
      set_zoo_number(spec, key, value.get<std::string>());
    }
    validate(spec);
  } catch (const Error& error) {
    fail("{}: {}", what, shown(error.what()));
  }
  return spec;
}

}  // namespace soft
