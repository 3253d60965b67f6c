#include "spec/sequence_spec.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/nearest.h"
#include "base/printable.h"

namespace soft {
namespace {

constexpr int kNystromKernel = 35;  // of its authors' convolution of V
constexpr int kPaperWindow = 4;     // pool4: the paper's m = n / 4

// SOFT as the comparison of its forms found it best: the paper's scale, rows divided by their sums.
void take_best_form(ModelSpec& frame) {
  set_field(frame, "kernel_scale", "paper");
  set_field(frame, "normalise", "rows");
}

int window_of(const SequenceTask& task, const std::string& landmarks) {
  if (landmarks == "pool4") return kPaperWindow;
  int64_t count = 0;
  const char* last = landmarks.data() + landmarks.size();
  const auto [end, error] = std::from_chars(landmarks.data(), last, count);
  if (error != std::errc() || end != last || count < 1 || count > task.length ||
      task.length % count != 0) {
    fail_usage("{} landmarks of {} tokens: use pool4, or a number that divides {}", landmarks,
               task.length, task.length);
  }
  return static_cast<int>(task.length / count);
}

std::string_view mechanism_of(std::string_view form) {
  return form == "soft-released" ? "soft" : form;
}

}  // namespace

std::vector<std::string_view> sequence_forms() {
  std::vector<std::string_view> forms = names_of(Mechanism{});
  forms.insert(forms.begin() + 1, "soft-released");
  return forms;
}

SequenceSpec sequence_spec(const SequenceTask& task, const SequenceSettings& settings) {
  parse_name("attention", settings.form, sequence_forms());
  SequenceSpec spec;
  spec.name = fmt::format("lra-{}", task.name);
  spec.form = settings.form;
  spec.length = task.length;
  spec.vocabulary = task.vocabulary;
  spec.sides = task.sides;
  spec.class_token = settings.class_token;
  ModelSpec& frame = spec.frame;
  frame.name = spec.name;
  frame.family = "soft";
  frame.pyramid = false;
  frame.patch = 1;  // it sees no picture; any window fits
  frame.classes = static_cast<int>(task.classes);
  frame.attention = parse_enum<Mechanism>("attention", mechanism_of(settings.form));
  const bool nystrom = frame.attention == Mechanism::kNystromformer;
  frame.stages = {{64, 2, 2, window_of(task, settings.landmarks), nystrom ? kNystromKernel : 0}};
  frame.value_path = nystrom;
  if (settings.form == "soft") take_best_form(frame);
  for (const std::string& setting : settings.settings) apply_setting(frame, setting);
  validate(attention_of(spec));
  return spec;
}

AttentionSpec attention_of(const SequenceSpec& spec) {
  AttentionSpec attention = attention_of(spec.frame, 0);
  attention.sequence = true;
  attention.longest = static_cast<int>(spec.length + (spec.class_token ? 1 : 0));
  return attention;
}

Json to_json(const SequenceSpec& spec) {
  return {{"name", spec.name},
          {"form", spec.form},
          {"frame", to_json(spec.frame)},
          {"length", spec.length},
          {"vocabulary", spec.vocabulary},
          {"sides", spec.sides},
          {"hidden", spec.hidden},
          {"dropout", spec.dropout},
          {"class_token", spec.class_token}};
}

SequenceSpec sequence_spec_from_json(const Json& json, const std::string& what) {
  constexpr int64_t kMost = 1 << 20;
  try {
    SequenceSpec spec;
    spec.name = json.at("name");
    spec.form = json.at("form");
    for (const std::string& text : {spec.name, spec.form}) {
      if (shown(text) != text) fail("{}: a name is '{}', no text", what, shown(text));
    }
    spec.frame = spec_from_json(json.at("frame"), what);
    spec.length = count_at(json, "length", kMost);
    spec.vocabulary = count_at(json, "vocabulary", kMost);
    spec.sides = static_cast<int>(count_at(json, "sides", kMost));
    spec.hidden = static_cast<int>(count_at(json, "hidden", kMost));
    spec.dropout = json.at("dropout");
    spec.class_token = json.at("class_token");
    if (spec.length < 1 || spec.vocabulary < 2 || spec.sides < 1 || spec.sides > 2 ||
        spec.hidden < 1 || !(spec.dropout >= 0 && spec.dropout < 1) ||
        spec.frame.stages.size() != 1) {
      fail("{}: a number of the sequence model is out of its range", what);
    }
    return spec;
  } catch (const Json::exception& error) {
    fail("{}: {}", what, shown(error.what()));
  }
}

}  // namespace soft
