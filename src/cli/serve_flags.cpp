#include "cli/serve_flags.h"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "base/parallel.h"
#include "cli/command.h"

namespace soft {
namespace {

class Flags {
  using Texts = std::vector<std::string>;

 public:
  Flags(CLI::App* command, std::shared_ptr<ServeFlags> options)
      : command_(command), options_(std::move(options)) {}

  void group(const char* name) { group_ = name; }

  void number(const char* flag, int& value, std::pair<int, int> range, const char* unit,
              const char* what) {
    add(command_->add_option(flag, value, what)
            ->check(CLI::Range(range.first, range.second).description(""))
            ->type_name(unit),
        [&value, range] {  // not in range: chosen elsewhere
          return value < range.first ? Texts() : one(fmt::format("{}", value));
        });
  }
  void seconds(const char* flag, double& value, const char* what) {
    fraction(flag, value, 0.1, "S", what, 86'400);
  }
  void fraction(const char* flag, double& value, double least, const char* unit, const char* what,
                double most = 1000) {
    add(command_->add_option(flag, value, what)
            ->check(finite_number())
            ->check(CLI::Range(least, most).description(""))
            ->type_name(unit),
        [&value] { return one(fmt::format("{}", value)); });
  }
  CLI::Option* text(const char* flag, std::string& value, const char* unit, const char* what) {
    return add(command_->add_option(flag, value, what)->type_name(unit),
               [&value] { return value.empty() ? Texts() : one(value); });
  }
  CLI::Option* list(const char* flag, Texts& values, const char* unit, const char* what) {
    return add(command_->add_option(flag, values, what)
                   ->allow_extra_args(false)
                   ->delimiter(',')
                   ->type_name(unit),
               [&values] { return values; });
  }
  void threads() {
    add(
        command_->get_option("--threads"), [] { return one(fmt::format("{}", soft::threads())); },
        false);
  }
  // One that was added elsewhere.
  template <class Value>
  void known(const char* flag, Value& value) {
    add(
        command_->get_option(flag), [&value] { return texts_of(value); }, false);
  }

 private:
  static Texts one(std::string text) { return {std::move(text)}; }
  static Texts texts_of(const Texts& values) { return values; }
  static Texts texts_of(const std::string& value) { return value.empty() ? Texts() : one(value); }

  CLI::Option* add(CLI::Option* option, std::function<Texts()> values, bool grouped = true) {
    if (grouped) option->group(group_);
    options_->settings.push_back({option, std::move(values)});
    return option;
  }

  CLI::App* command_;
  std::shared_ptr<ServeFlags> options_;
  const char* group_ = "Options";
};

void add_model_flags(CLI::App* command, Flags& flags, ServeFlags& options) {
  add_weights_flag(command, options.model);
  add_model_flag(command, options.model);
  add_change_flags(command, options.model);
  add_weights_key_flag(command, options.model);
  add_engine_flag(command, options.engine);
  flags.known("--weights", options.model.weights);
  flags.known("--box", options.model.box);
  flags.known("--model", options.model.model);
  flags.known("--attention", options.model.attention);
  flags.known("--set", options.model.settings);
  flags.known("--weights-key", options.model.weights_key);
  flags.known("--engine", options.engine);
  flags.threads();
}

void add_address_flags(Flags& flags, ServeFlags& options) {
  flags.text("--host", options.address.host, "IP",
             "Address to listen on: 127.0.0.1, ::1, localhost for both, 0.0.0.0 for all "
             "interfaces (default: 127.0.0.1, this machine alone)");
  flags.number("--port", options.address.port, {0, 65535}, "N",
               "Port to listen on, 0 for any that is free (default: 8080)");
  flags.list("--allow-host", options.allow_host, "NAME",
             "A host name that requests may be meant for, beside this machine's own; * for any");
  flags.list("--allow-origin", options.allow_origin, "URL",
             "A web site whose pages may ask, as https://example.org; * for any");
  flags.list("--endpoints", options.endpoints, "NAMES",
             "Those that exist, of classify,embed,attend,model,metrics,page (default: all)");
}

void add_crew_flags(Flags& flags, ServeFlags& options) {
  flags.group("Work");
  flags.number("--workers", options.workers, {1, 256}, "N",
               "Threads that run the model, each with its share of --threads (default: as many as "
               "--threads)");
  flags.number("--attend-workers", options.attend_workers, {1, 256}, "N",
               "Further threads for attention alone, so that it never holds up classify "
               "(default: 1)");
  flags.number("--readers", options.readers, {1, 256}, "N",
               "Threads that decode pictures (default: as many as --workers)");
  flags.number("--max-batch", options.max_batch, {1, 64}, "N",
               "Pictures that a worker takes at once, 1 for no batches (default: 8)");
  flags.fraction("--max-wait-ms", options.max_wait_ms, 0, "MS",
                 "How long a picture waits for others to share its batch (default: 1)");
  flags.number("--max-queue", options.max_queue, {1, 100'000}, "N",
               "Pictures that may wait before further ones are refused (default: 100)");
}

void add_limit_flags(Flags& flags, ServeFlags& options) {
  flags.group("Limits");
  flags.number("--max-pictures", options.max_pictures, {1, 1000}, "N",
               "In a request, or texts (default: 32)");
  flags.number("--max-megapixels", options.max_megapixels, {1, 2000}, "N",
               "Of a picture, in millions (default: 64)");
  flags.number("--max-side", options.max_side, {1, 1'000'000}, "N",
               "Pixels of a picture's side (default: 65535)");
  flags.number("--max-scans", options.max_scans, {1, 1000}, "N", "Of a JPEG (default: 50)");
  flags.number("--max-decode-work", options.max_decode_work, {1, 100'000}, "N",
               "Million pixels to go over: a picture's times its scans or passes (default: 500)");
  flags.number("--max-header-kb", options.max_header_kb, {1, 16}, "KIB",
               "Headers of a request (default: 8)");
  flags.number("--max-body-mb", options.max_body_mb, {1, 1024}, "MIB",
               "Body of a request (default: 20)");
  flags.number("--max-bodies-mb", options.max_bodies_mb, {1, 1'000'000}, "MIB",
               "Bodies of all requests together (default: 512)");
  flags.number("--max-connections", options.max_connections, {1, 100'000}, "N",
               "Open at once; then the idlest is closed (default: 512)");
  flags.seconds("--header-seconds", options.header_seconds, "For headers to arrive (default: 5)");
  flags.seconds("--body-seconds", options.body_seconds, "For a body to arrive (default: 10)");
  flags.seconds("--answer-seconds", options.answer_seconds,
                "From a request's last byte to its answer (default: 20)");
  flags.seconds("--write-seconds", options.write_seconds,
                "For a client to take its answer (default: 30)");
  flags.seconds("--idle-seconds", options.idle_seconds,
                "Between two requests of a connection (default: 60)");
  flags.seconds("--drain-seconds", options.drain_seconds,
                "From the signal to the end, at most (default: 30)");
}

void add_log_flags(Flags& flags, ServeFlags& options) {
  flags.group("Logs");
  flags.text("--access-log", options.access_log, "FILE",
             "A line for each request; - for stderr (default: none)");
  flags.text("--error-log", options.error_log, "FILE", "What goes wrong (default: stderr)");
  flags.text("--log-format", options.log_format, "NAME", "text, or json (default: text)")
      ->check(CLI::IsMember({"text", "json"}).description(""));
}

}  // namespace

void add_serve_flags(CLI::App* command, const std::shared_ptr<ServeFlags>& options) {
  Flags flags(command, options);
  add_model_flags(command, flags, *options);
  add_address_flags(flags, *options);
  command
      ->add_option("--config", options->config,
                   "An INI file with these flags as NAME=VALUE; SOFT_SERVE_NAME in the environment "
                   "goes before it, flags before both")
      ->type_name("FILE");
  command->add_flag("--print-config", options->print_config,
                    "Print such a file with what would be in force, and end");
  add_crew_flags(flags, *options);
  add_limit_flags(flags, *options);
  add_log_flags(flags, *options);
}

}  // namespace soft
