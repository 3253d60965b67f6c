// What `soft serve` is told: by flags, the environment or an INI file.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/model_options.h"
#include "cli/settings.h"
#include "serve/serve.h"

namespace soft {

struct ServeFlags {
  ModelOptions model;
  std::string engine;
  Address address;
  int workers = 0;  // 0: one for each thread
  int readers = 0;  // 0: as many as workers
  int attend_workers = 1;
  int max_batch = 8;
  double max_wait_ms = 1;
  int max_queue = 100;
  // Pictures
  int max_pictures = 32;
  int max_megapixels = 64;
  int max_side = 65'535;
  int max_scans = 50;
  int max_decode_work = 500;  // million pixels to go over
  // Connections
  int max_header_kb = 8;
  int max_body_mb = 20;
  int max_bodies_mb = 512;
  int max_connections = 512;
  double header_seconds = 5, body_seconds = 10, answer_seconds = 20, write_seconds = 30;
  double idle_seconds = 60, drain_seconds = 30;
  std::vector<std::string> endpoints;
  std::vector<std::string> allow_host, allow_origin;
  std::string access_log, error_log, log_format = "text";

  std::string config;
  bool print_config = false;
  std::vector<FlagSetting> settings;
};

// Gives `command` the flags, each with its place in the settings.
void add_serve_flags(CLI::App* command, const std::shared_ptr<ServeFlags>& options);

}  // namespace soft
