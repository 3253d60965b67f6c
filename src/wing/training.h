// What a training run is asked for and what it reports.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "rank/place.h"
#include "wing/health.h"

namespace soft {

struct TrainRequest {
  std::string data;                   // data spec, e.g. "cifar10"
  std::string model;                  // a row of the table
  std::string attention;              // replaces the model's own; empty keeps it
  std::vector<std::string> settings;  // key=value, of the model's spec or of the recipe
  std::string recipe;                 // a preset, or a stored recipe.json; empty: by the data
  std::optional<int> epochs;
  std::optional<int64_t> batch;
  std::optional<double> lr;
  std::optional<uint64_t> seed;
  std::optional<int64_t> limit_train, limit_val;  // at most so many pictures
  std::optional<double> val_fraction;             // of the training pictures, for validation
  std::optional<bool> strict;                     // folders: every file is a picture
  std::optional<std::string> init;                // weights to start from
  std::optional<bool> freeze;                     // train the head alone (linear probing)

  std::string out;            // folder of the run
  bool resume = false;        // continue the run in `out`
  bool restart = false;       // begin anew in `out`; what is there is moved aside
  bool allow_change = false;  // resume although the request differs from what is stored
  bool dry_run = false;
  int threads = 0;
  int workers = 1;          // threads that prepare batches
  double save_minutes = 5;  // between states inside an epoch
  int64_t save_steps = 0;   // or every so many steps; 0: by time alone

  RankPlace place;            // among the ranks that train together
  double group_timeout = 60;  // seconds after which a rank that is not heard of is lost
  std::string stored_recipe;  // text of recipe.json where rank 0 has read it for all
};

struct EpochRow {
  int64_t epoch = 0;  // counted from 1
  double train_loss = 0, val_loss = 0;
  double top1 = 0, top5 = 0;  // per cent
  double top1_weights = 0;    // of the weights themselves;
  double top1_ema = -1;       // of their average; -1: there is none. top1 is that of what is saved
  double lr = 0;              // at the end of the epoch
  double images_per_second = 0;
  double seconds = 0;
  std::vector<LayerHealth> health;  // of what is saved, over a few validation pictures
};

// One key of --set.
struct SettingRow {
  std::string owner;  // "model" or "recipe"
  std::string key, value;
  std::string values;  // what may be written
  std::string meaning;
};

struct StepReport {
  int64_t epoch = 0, epochs = 0;   // epoch counted from 1
  int64_t batch = 0, batches = 0;  // of the epoch
  double loss = 0;                 // mean of the epoch so far
  double lr = 0;
  double images_per_second = 0;
  double seconds_left = 0;  // of the whole run
  int world = 1;            // ranks; pictures per second are those of all
  double waiting = 0;       // share of the time in which this rank waited for others
};

// The trainer never prints: it tells these, all optional.
struct TrainEvents {
  std::function<void(const Json& plan)> plan;  // model, data, schedule and cost, before the start
  std::function<void(const StepReport&)> step;
  std::function<void(const EpochRow&)> epoch;
  std::function<void(const std::string&)> notice;
  std::function<bool()> should_stop;  // asked after every step; true: save and leave
  // Another rank is lost; the line names it. Told from another thread, in the middle of anything:
  // the process should end.
  std::function<void(const std::string&)> lost;
};

struct TrainOutcome {
  Json plan;                   // model, data, schedule and cost
  std::vector<EpochRow> rows;  // finished epochs, earlier ones of a resumed run included
  bool interrupted = false;
};

inline Json to_json(const EpochRow& row) {
  Json json{{"epoch", row.epoch},
            {"train_loss", row.train_loss},
            {"val_loss", row.val_loss},
            {"top1", row.top1},
            {"top5", row.top5},
            {"lr", row.lr},
            {"images_per_second", row.images_per_second},
            {"seconds", row.seconds},
            {"top1_weights", row.top1_weights},
            {"top1_ema", nullptr}};
  if (row.top1_ema >= 0) json["top1_ema"] = row.top1_ema;
  json["health"] = Json::array();
  for (const LayerHealth& layer : row.health) json["health"].push_back(to_json(layer));
  return json;
}

}  // namespace soft
