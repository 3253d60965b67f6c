// Run files: recipe.json of a training run. An input is the text of the file.
#include "fuzz/fuzz.h"
#include "train/run_file.h"

using namespace soft;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::attempt([&] {
    const RunFile run = read_run_file(fuzz::path_of(data, size));
    const std::string text = to_json(run).dump();
    const RunFile again =
        read_run_file(fuzz::path_of(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
    fuzz::require(differences(run, again).empty(), "a run file that is read is written the same");
    validate(run.recipe);
  });
  return 0;
}
