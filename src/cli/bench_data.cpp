// `soft bench data`: how fast training batches come from data sets, side by side, with files in
// memory or on disk alone.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>

#include "base/error.h"
#include "base/parallel.h"
#include "base/seconds.h"
#include "cli/bench.h"
#include "cli/command.h"
#include "data/loader.h"

namespace soft {
namespace {

struct BenchDataOptions {
  std::vector<std::string> data{"shapes"};
  int64_t batch = 64;
  int64_t batches = 16;
  int size = 224;
  bool cold = false;
  bool files = false;
  BenchOptions bench;
};

using Clock = std::chrono::steady_clock;

// One of the sets, and how long each run took.
struct Course {
  Course(const std::string& spec, const BenchDataOptions& options)
      : loader(open(spec, options), loading(options)) {
    if (options.files && !loader.dataset().read) fail_usage("--files: '{}' has no files", spec);
  }

  Dataset open(const std::string& spec, const BenchDataOptions& options) {
    DataRequest request;
    request.spec = spec;
    request.size = options.size;
    const auto start = Clock::now();
    Dataset dataset = open_dataset(request);
    open_seconds = seconds_since(start);
    return dataset;
  }

  // Reading, decoding, cutting and mirroring; what else a recipe does is the same for all sets.
  static LoaderOptions loading(const BenchDataOptions& options) {
    LoaderOptions loading;
    loading.training = true;
    loading.batch = options.batch;
    loading.preprocessing.size = options.size;
    loading.preprocessing.short_side = options.size * 10 / 9;
    loading.augmentation.operations = 0;
    loading.augmentation.mix_probability = 0;
    loading.augmentation.erasing = 0;
    loading.workers = threads();
    return loading;
  }

  int64_t batches(int64_t wanted) const { return std::min(wanted, loader.batches()); }

  void run(int64_t epoch, const BenchDataOptions& options) {
    const auto start = Clock::now();
    options.files ? read_files(epoch, batches(options.batches))
                  : make_batches(epoch, batches(options.batches));
    timing.seconds.push_back(seconds_since(start));
    loader.start(epoch, loader.batches());  // the workers stop reading ahead
  }

  void make_batches(int64_t epoch, int64_t count) {
    loader.start(epoch);
    for (int64_t i = 0; i < count; ++i) loader.next();
  }

  // In the order of the epoch, by one thread.
  void read_files(int64_t epoch, int64_t count) const {
    const Dataset& dataset = loader.dataset();
    const auto order = loader.order_of(epoch);
    for (int64_t i = 0; i < count * loader.options().batch; ++i) dataset.read(order[i]);
  }

  double open_seconds = 0;
  Loader loader;
  Timing timing;
};

// The system forgets every file that it holds in memory, names included.
void forget_files() {
  std::ofstream switch_file("/proc/sys/vm/drop_caches");
  switch_file << "3\n" << std::flush;
  if (!switch_file)
    fail("--cold needs the right to write /proc/sys/vm/drop_caches: run it as root");
}

void run(const BenchDataOptions& options) {
  std::vector<std::unique_ptr<Course>> courses;
  for (const std::string& spec : options.data) {
    courses.push_back(std::make_unique<Course>(spec, options));
  }
  const int repeat = std::max(1, options.bench.repeat == 0 ? 3 : options.bench.repeat);
  for (int turn = 0; turn < repeat; ++turn) {
    for (const auto& course : courses) {
      if (options.cold) {
        forget_files();
      } else {
        course->run(turn, options);  // the same pictures as the timed run
        course->timing.seconds.pop_back();
      }
      course->run(turn, options);
    }
  }
  Json rows = Json::array();
  double first = 0;
  for (size_t i = 0; i < courses.size(); ++i) {
    const Course& course = *courses[i];
    const auto pictures = static_cast<double>(course.batches(options.batches) * options.batch);
    const double rate = pictures / course.timing.median();
    if (i == 0) first = rate;
    rows.push_back({{"data", options.data[i]},
                    {"files", options.cold ? "cold" : "warm"},
                    {"open_s", course.open_seconds},
                    {"pictures", pictures},
                    {"images_per_s", rate},
                    {"best_per_s", pictures / course.timing.best()},
                    {"ratio", rate / first}});
  }
  report(rows, options.bench);
}

}  // namespace

void add_bench_data(CLI::App& bench) {
  auto options = std::make_shared<BenchDataOptions>();
  CLI::App* command =
      add_command(bench, {"data", "Commands", "Pictures per second from data sets, side by side",
                          "soft bench data --data shapes --size 32 --batches 2 --repeat 1"});
  command
      ->add_option("--data", options->data,
                   "Sets in turns, e.g. folder:DIR tar:DIR; ratios are to the first")
      ->type_name("SPEC...");
  command->add_option("--batch", options->batch, "Pictures in a batch (default: 64)")
      ->check(CLI::Range(1, 4096).description(""))
      ->type_name("N");
  command->add_option("--batches", options->batches, "Batches in a run (default: 16)")
      ->check(CLI::Range(1, 1'000'000).description(""))
      ->type_name("N");
  command->add_option("--size", options->size, "Side of the pictures (default: 224)")
      ->check(CLI::Range(8, 4096).description(""))
      ->type_name("N");
  command->add_flag("--cold", options->cold,
                    "Before each run the system forgets all files (needs root)");
  command->add_flag("--files", options->files, "Read files alone, on one thread; decode nothing");
  add_bench_flags(command, options->bench);
  command->callback([options] { run(*options); });
}

}  // namespace soft
