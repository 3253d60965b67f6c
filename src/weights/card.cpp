// The card: what our own files say about themselves, as JSON under the metadata key "soft":
//   {"version": 1, "spec": {…}, "preprocessing": {"mean": […], "std": […], "crop_fraction": 0.9,
//    "size": 224}, "class_names": […], "shown": {"stage": 1, "layer": 3, "head": 2}, "extra": …}
#include <climits>

#include "base/error.h"
#include "weights/infer.h"
#include "weights/weights.h"

namespace soft {
namespace {

constexpr const char* kKey = "soft";
constexpr int kVersion = 1;
constexpr size_t kLargestCard = size_t{4} << 20;

const Json& member(const Json& json, const char* key, const std::string& what) {
  if (!json.is_object() || !json.contains(key)) fail("{} has no '{}'", what, key);
  return json.at(key);
}

double number(const Json& json, const char* key, const std::string& what) {
  const Json& value = member(json, key, what);
  if (!value.is_number()) fail("{}: '{}' is not a number", what, key);
  return value.get<double>();
}

std::vector<double> three_numbers(const Json& json, const char* key, const std::string& what) {
  const Json& list = member(json, key, what);
  std::vector<double> values;
  for (const Json& value : list) {
    if (value.is_number()) values.push_back(value.get<double>());
  }
  if (!list.is_array() || list.size() != 3 || values.size() != 3) {
    fail("{}: '{}' is not three numbers", what, key);
  }
  return values;
}

void read_preprocessing(Card& card, const Json& json, const std::string& what) {
  card.mean = three_numbers(json, "mean", what);
  card.std = three_numbers(json, "std", what);
  card.crop_fraction = number(json, "crop_fraction", what);
  for (double deviation : card.std) {
    if (!(deviation > 0)) fail("{}: a std of {} cannot divide", what, deviation);
  }
  if (!(card.crop_fraction > 0 && card.crop_fraction <= 1)) {
    fail("{}: crop_fraction={} must lie in 0..1", what, card.crop_fraction);
  }
  if (number(json, "size", what) != card.spec.image_size) {
    fail("{}: preprocessing size and image_size={} differ", what, card.spec.image_size);
  }
}

void read_class_names(Card& card, const Json& json, const std::string& what) {
  if (!json.is_array()) fail("{}: 'class_names' is not a list", what);
  for (const Json& name : json) {
    if (!name.is_string()) fail("{}: a class name is not text", what);
    card.class_names.push_back(name.get<std::string>());
  }
  const auto count = static_cast<int>(card.class_names.size());
  if (count != 0 && count != card.spec.classes) {
    fail("{} names {} classes for a model of {}", what, count, card.spec.classes);
  }
}

void read_shown(Card& card, const Json& json, const std::string& what) {
  const auto count = [&](const char* key) {
    const Json& value = member(json, key, what);
    const bool whole = value.is_number_unsigned() && value.get<uint64_t>() <= INT_MAX;
    return whole ? value.get<int>() : 0;  // 0: no such place
  };
  card.shown = HeadPlace{count("stage"), count("layer"), count("head")};
  check_shown(*card.shown, card.spec, what);
}

Card parse_card(const std::string& text, const std::string& what) {
  if (text.size() > kLargestCard)
    fail("{} has {} bytes; at most {}", what, text.size(), kLargestCard);
  const Json json = parse_json(text, what);
  const double version = number(json, "version", what);
  if (version != kVersion) {
    fail("{} has version {}, this program reads {}; update it", what, version, kVersion);
  }
  Card card;
  card.spec = spec_from_json(member(json, "spec", what), what);
  read_preprocessing(card, member(json, "preprocessing", what), what);
  if (json.contains("class_names")) read_class_names(card, json["class_names"], what);
  if (json.contains("shown")) read_shown(card, json["shown"], what);
  if (json.contains("extra")) card.extra = json["extra"];
  return card;
}

}  // namespace

void check_shown(const HeadPlace& place, const ModelSpec& spec, const std::string& what) {
  const auto [stage, layer, head] = place;
  if (stage >= 1 && stage <= static_cast<int>(spec.stages.size())) {
    const StageSpec& row = spec.stages[stage - 1];
    if (layer >= 1 && layer <= row.depth && head >= 1 && head <= row.heads) return;
  }
  fail("{} shows stage {} layer {} head {}, which {} does not have", what, stage, layer, head,
       spec.name);
}

Json to_json(const Card& card) {
  Json json{{"version", kVersion},
            {"spec", to_json(card.spec)},
            {"preprocessing",
             {{"mean", card.mean},
              {"std", card.std},
              {"crop_fraction", card.crop_fraction},
              {"size", card.spec.image_size}}},
            {"class_names", card.class_names}};
  if (card.shown) {
    json["shown"] = {
        {"stage", card.shown->stage}, {"layer", card.shown->layer}, {"head", card.shown->head}};
  }
  if (!card.extra.is_null()) json["extra"] = card.extra;
  return json;
}

std::map<std::string, std::string> metadata_of(const Card& card) {
  // Class names may come from folders, whose names need not be UTF-8.
  return {{kKey, to_json(card).dump(-1, ' ', false, Json::error_handler_t::replace)}};
}

bool has_card(const Weights& weights) { return weights.metadata.count(kKey) > 0; }

Card card_of(const Weights& weights, const std::string& model) {
  const auto found = weights.metadata.find(kKey);
  if (found == weights.metadata.end()) {
    return model.empty() ? infer_card(weights) : fit_card(weights, find_model(model));
  }
  Card card = parse_card(found->second, "the card in '" + weights.path + "'");
  if (!model.empty() && card.spec.name != model) {
    find_model(model);  // a mistyped name deserves its own error
    fail_usage(
        "'{}' says it holds {}, not {}; leave --model out, or change its settings with --set",
        weights.path, card.spec.name, model);
  }
  check_fit(weights, card.spec);
  return card;
}

}  // namespace soft
