#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/printable.h"
#include "cli/attend_sheet.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/pictures.h"
#include "cli/size.h"
#include "facade/input.h"
#include "facade/runner.h"
#include "image/codec.h"

namespace soft {
namespace {

struct AttendOptions {
  ModelOptions model;
  std::vector<std::string> weights;  // none: the model in the box
  std::vector<std::string> queries;  // "X,Y"
  std::string stage, layer, head;    // a number, "all", "best", or nothing for the default
  std::string size;                  // of the model's input; empty: the model's own
  int tile = 0;
  std::string engine;
  std::string image;
  std::string out;
  bool json = false;
};

bool read_number(std::string_view text, int& number) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() && end == text.data() + text.size();
}

Pixel parse_query(const std::string& text) {
  const std::string_view query = text;
  const size_t comma = query.find(',');
  Pixel pixel;
  if (comma == std::string::npos || !read_number(query.substr(0, comma), pixel.x) ||
      !read_number(query.substr(comma + 1), pixel.y)) {
    fail_usage("--query '{}' must be X,Y in pixels of the picture, e.g. 120,88", text);
  }
  return pixel;
}

// Which layer or head: AttendRequest's numbers.
int parse_choice(const char* flag, const std::string& text) {
  if (text.empty()) return AttendRequest::kDefault;
  if (text == "all") return AttendRequest::kAll;
  int number = 0;
  if (!read_number(text, number) || number < 1) {
    fail_usage("{} '{}' must be a number from 1 up, or all", flag, text);
  }
  return number;
}

int parse_stage(const std::string& text) {
  if (text.empty()) return AttendRequest::kDefault;
  if (text == "best") return AttendRequest::kBest;
  int number = 0;
  if (!read_number(text, number) || number < 1) {
    fail_usage("--stage '{}' must be a number from 1 up, or best", text);
  }
  return number;
}

std::vector<AttendRequest> requests_of(const AttendOptions& options) {
  AttendRequest request;
  request.stage = parse_stage(options.stage);
  request.layer = parse_choice("--layer", options.layer);
  request.head = parse_choice("--head", options.head);
  std::vector<AttendRequest> requests;
  for (const std::string& text : options.queries) {
    const Pixel query = parse_query(text);
    request.x = query.x;
    request.y = query.y;
    requests.push_back(request);
  }
  return requests;
}

// What one model says about each query.
std::vector<Attended> ask(const AttendOptions& options, const std::string& weights,
                          const Image& picture, const std::vector<AttendRequest>& requests) {
  ModelOptions chosen = options.model;
  chosen.weights = weights;
  const Runner runner = open_runner(chosen, options.engine);
  const ModelSpec& spec = runner.spec();
  const Preprocessing preprocessing = preprocessing_of(runner.card());
  const Grid size =
      options.size.empty() ? Grid{spec.image_size, spec.image_size} : parse_size(options.size);
  check_image(spec, size, Fault::kUsage);
  const AttendInput input = attend_input(picture, preprocessing, size);
  const std::string label = fmt::format("{} {}", name_of(spec.attention), spec.name);
  std::vector<Attended> answers;
  for (const AttendRequest& request : requests) {
    answers.push_back({weights,
                       label,
                       {request.x, request.y},
                       attend(runner.card(), runner.answers(), input, request)});
  }
  return answers;
}

// A list per query, with an entry per model.
std::vector<std::vector<Attended>> ask_all(const AttendOptions& options, const Image& picture) {
  const std::vector<AttendRequest> requests = requests_of(options);
  std::vector<std::vector<Attended>> answers(requests.size());
  const bool boxed = options.weights.empty();
  for (const std::string& weights : boxed ? std::vector<std::string>{""} : options.weights) {
    std::vector<Attended> own = ask(options, weights, picture, requests);
    for (size_t i = 0; i < own.size(); ++i) answers[i].push_back(std::move(own[i]));
  }
  return answers;
}

// As "0.52" or "1.3e-06"; "-" where there is none.
std::string share_text(double share) {
  return std::isfinite(share) ? fmt::format("{:.2g}", share) : "-";
}

// One object; an array of them when there are several models or queries.
Json json_of(const std::vector<std::vector<Attended>>& answers) {
  Json all = Json::array();
  for (const auto& models : answers) {
    for (const Attended& answer : models) {
      Json json = to_json(answer.result);
      json["query"] = {answer.query.x, answer.query.y};
      json["model"] = answer.model;
      if (!answer.weights.empty()) json["weights"] = answer.weights;
      all.push_back(std::move(json));
    }
  }
  return all.size() == 1 ? all.front() : all;
}

// Weights and queries where there are several, then a line for each map.
void print_shares(const std::vector<std::vector<Attended>>& answers) {
  const bool several = answers.size() * answers.front().size() > 1;
  for (const auto& models : answers) {
    for (const Attended& answer : models) {
      if (several) {
        fmt::print("{} query {},{}\n",
                   shown(answer.weights.empty() ? answer.model : answer.weights), answer.query.x,
                   answer.query.y);
      }
      for (const AttendRow& row : answer.result.rows) {
        fmt::print("{}layer {}.{} head {}  share {}  (layer {})\n", several ? "  " : "", row.stage,
                   row.layer, row.head, share_text(row.share), share_text(row.layer_share));
      }
    }
  }
}

// Shares do not depend on the query: one warning for each map of a model.
void warn_of_idle(const std::vector<Attended>& models) {
  for (const Attended& answer : models) {
    for (const AttendRow& row : answer.result.rows) {
      if (!row.idle()) continue;
      log("layer {}.{} head {} idles: it adds {:.1e} of what its V has, so its map shows next to "
          "nothing",
          row.stage, row.layer, row.head, row.share);
    }
  }
}

void check_picture_file(const std::string& path) {
  if (std::filesystem::path(path).extension() != ".png") {
    fail_usage("--out '{}' must end in .png, the only format written", path);
  }
  check_output(path);
}

void run(const AttendOptions& options) {
  if (options.out.empty() && !options.json) {
    fail_usage("nothing to make; give --out heat.png, --json or both");
  }
  if (!options.out.empty()) check_picture_file(options.out);
  const Image picture = read_upright(options.image);
  const auto answers = ask_all(options, picture);
  if (!options.out.empty()) {
    const Image sheet = attend_sheet(picture, answers, options.tile);
    const std::vector<uint8_t> png = encode_png(sheet);
    write_atomically(options.out, [&](std::ostream& out) {
      out.write(reinterpret_cast<const char*>(png.data()),
                static_cast<std::streamsize>(png.size()));
    });
    log("wrote '{}' {}x{}", options.out, sheet.width, sheet.height);
  }
  warn_of_idle(answers.front());
  if (options.json) return print_json(json_of(answers));
  print_shares(answers);
}

void add_choice_flags(CLI::App* command, AttendOptions& options) {
  command
      ->add_option("--query", options.queries,
                   "The pixel of the upright picture whose patch asks; may be repeated")
      ->required()
      ->allow_extra_args(false)
      ->type_name("X,Y");
  command
      ->add_option("--stage", options.stage,
                   "Stage, from 1, or best: the layer and head that the weights name, else those "
                   "with the largest share (default: 2, or the only one)")
      ->type_name("N|best");
  command
      ->add_option("--layer,--layers", options.layer,
                   "Layer of the stage, from 1, or all (default: the last)")
      ->type_name("N|all");
  command->add_option("--head,--heads", options.head, "Head, from 1, or all (default: 1 and 2)")
      ->type_name("N|all");
}

void add_picture_flags(CLI::App* command, AttendOptions& options) {
  command->add_option("image", options.image, "A picture, or - for standard input")
      ->required()
      ->type_name("IMAGE");
  command
      ->add_option("--size", options.size,
                   "Resize the picture to N x N or HxW for the model (default: the model's own "
                   "size); larger gives finer maps")
      ->type_name("N|HxW");
  command->add_option("--out", options.out, "The heat-map, or a sheet of several (.png)")
      ->type_name("FILE");
  command
      ->add_option("--tile", options.tile,
                   "Longer side of each map, in pixels (default: the picture's own)")
      ->check(CLI::Range(16, kLargestSide).description(""))
      ->type_name("N");
}

}  // namespace

void add_attend(CLI::App& app) {
  auto options = std::make_shared<AttendOptions>();
  CLI::App* command = add_command(
      app, {"attend", "Run", "Show where a patch of a picture looks",
            "soft attend --query 160,120 --size 128 --out heat.png photo.png\n"
            "soft attend --query 160,120 --stage best --json photo.png\n"
            "soft attend --query 160,120 --query 330,140 --layers all --heads all --size 128 "
            "--tile 200 --out sheet.png photo.png"});
  add_choice_flags(command, *options);
  add_picture_flags(command, *options);
  command
      ->add_option("--weights", options->weights,
                   "A .safetensors or .pth file (default: the model in the box); repeated, the "
                   "models stand side by side")
      ->allow_extra_args(false)
      ->type_name("FILE");
  add_box_flag(command, options->model);
  add_model_flag(command, options->model);
  add_engine_flag(command, options->engine);
  add_change_flags(command, options->model);
  add_weights_key_flag(command, options->model);
  add_json_flag(command, options->json);
  command->callback([options] { run(*options); });
}

}  // namespace soft
