// Run files: recipe.json of a training run, on pictures or on sequences. An input is the text of
// the file.
#include "fuzz/fuzz.h"
#include "train/run_file.h"
#include "train/sequence_run.h"

using namespace soft;

namespace {

void read_as_run(const std::string& text) {
  const RunFile run = parse_run_file(text, "input");
  const RunFile again = parse_run_file(to_json(run).dump(), "input");
  fuzz::require(differences(run, again).empty(), "a run file that is read is written the same");
  validate(run.recipe);
}

void read_as_sequence_run(const std::string& text) {
  const SequenceRun run = parse_sequence_run(text, "input");
  fuzz::require(run.batch > 0 && run.eval_every > 0 && run.cycle.steps > 0,
                "what is divided by is not zero");
  const Json written = to_json(run);
  fuzz::require(to_json(parse_sequence_run(written.dump(), "input")) == written,
                "a run that is read is written the same");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  fuzz::attempt([&] { read_as_run(text); });
  fuzz::attempt([&] { read_as_sequence_run(text); });
  return 0;
}
