#include "cli/data_options.h"

#include "spec/names.h"

namespace soft {

Split split_of(const std::string& name) {
  return parse_name("split", name, {"train", "val"}) == 0 ? Split::kTrain : Split::kValidation;
}

void add_strict_flag(CLI::App* command, bool& strict) {
  command->add_flag("--strict", strict,
                    "Take every file of a folder for a picture, also one that does not look like "
                    "one");
}

void add_own_size_flag(CLI::App* command, int& size) {
  command
      ->add_option("--size", size,
                   "Give pictures to the model at N x N pixels (default: the model's own size)")
      ->check(CLI::Range(kSmallestSide, kLargestSide).description(""))
      ->type_name("N");
}

void check_own_size(const Card& card, int size) {
  if (size > 0) check_image(card.spec, {size, size}, Fault::kUsage);
}

}  // namespace soft
