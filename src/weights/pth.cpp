// Checkpoints as torch.save writes them: a zip archive with one pickle, data.pkl, that describes
// the tensors, and one entry data/KEY for each storage behind them.
#include <fmt/ranges.h>

#include "base/log.h"
#include "weights/pickle.h"
#include "weights/read.h"
#include "weights/torch_tensor.h"
#include "weights/zip.h"

namespace soft {
namespace {

using Kind = PickleValue::Kind;
constexpr std::string_view kPickleName = "data.pkl";

// "folder/" of the archive: torch puts everything into one, named after the file.
std::string root_of(const ZipEntries& entries) {
  for (const auto& [name, content] : entries) {
    const size_t slash = name.find('/');
    if (name.substr(slash + 1) == kPickleName) return name.substr(0, slash + 1);
  }
  fail("a zip archive without data.pkl; torch.save did not make it");
}

void check_byte_order(const ZipEntries& entries, const std::string& root) {
  const auto found = entries.find(root + "byteorder");
  if (found != entries.end() && found->second.text() != "little") {
    fail("its numbers are big-endian; save it again on a little-endian machine");
  }
}

bool holds_tensors(const PickleValue& value) {
  if (value.kind != Kind::kDict) return false;
  for (size_t i = 1; i < value.items.size(); i += 2) {
    if (is_tensor(*value.items[i])) return true;
  }
  return false;
}

// The dictionaries of tensors in a checkpoint; a bare state_dict is one without a name.
using Dictionaries = std::map<std::string_view, const PickleValue*>;

Dictionaries find_dictionaries(const PickleValue& root) {
  if (root.kind != Kind::kDict) fail("the checkpoint is not a dictionary; save a state_dict");
  if (holds_tensors(root)) return {{"", &root}};
  Dictionaries found;
  std::map<const PickleValue*, bool>
      known;  // a value may stand under many names; it is walked once
  for (size_t i = 0; i + 1 < root.items.size(); i += 2) {
    const bool named = root.items[i]->kind == Kind::kText && !root.items[i]->text.empty();
    if (!named) continue;
    const PickleValue* value = root.items[i + 1];
    const auto [verdict, fresh] = known.try_emplace(value, false);
    if (fresh) verdict->second = holds_tensors(*value);
    if (verdict->second) found.emplace(root.items[i]->text, value);
  }
  if (found.empty()) fail("the checkpoint holds no dictionary of tensors");
  return found;
}

std::string names_text(const Dictionaries& dictionaries) {
  std::vector<std::string> names;
  for (const auto& [name, value] : dictionaries) names.push_back(printable(name));
  return fmt::format("{}", fmt::join(names, ", "));
}

// Averaged weights first: published accuracies were measured with them.
std::string_view preferred(const Dictionaries& dictionaries) {
  for (std::string_view name : {"state_dict_ema", "model_ema", "state_dict", "model"}) {
    if (dictionaries.count(name) != 0) return name;
  }
  return dictionaries.begin()->first;
}

std::string_view choose(const Dictionaries& dictionaries, const std::string& key,
                        const std::string& path) {
  if (key.empty()) {
    const std::string_view chosen = preferred(dictionaries);
    if (dictionaries.size() > 1) {
      log("'{}' holds {}; taking {} (--weights-key takes another)", path, names_text(dictionaries),
          printable(chosen));
    }
    return chosen;
  }
  const auto found = dictionaries.find(key);
  if (found == dictionaries.end()) {
    const bool bare = dictionaries.count("") != 0;
    fail_usage("no weights under the key '{}'; there {}", key,
               bare ? "is one state_dict without a key" : "are: " + names_text(dictionaries));
  }
  return found->first;
}

// What the views point into.
struct Checkpoint {
  FileBytes file;
  Buffers copies;
};

}  // namespace

Weights read_pth(FileBytes file, const std::string& key) {
  const auto checkpoint = std::make_shared<Checkpoint>(Checkpoint{std::move(file), {}});
  const Bytes all = bytes_of(checkpoint->file);
  const ZipEntries entries = read_zip(all);
  const std::string root = root_of(entries);
  check_byte_order(entries, root);
  const Pickle pickle = read_pickle(entries.at(root + std::string(kPickleName)));
  const Dictionaries dictionaries = find_dictionaries(*pickle.root);

  Weights weights;
  const std::string_view name = choose(dictionaries, key, checkpoint->file.path);
  weights.source_key = name;
  TorchStorages storages(entries, root, checkpoint->copies, all.size);
  const PickleValue& chosen = *dictionaries.at(name);
  for (size_t i = 0; i + 1 < chosen.items.size(); i += 2) {
    const PickleValue& value = *chosen.items[i + 1];
    if (is_tensor(value)) add_tensor(weights, chosen.items[i]->text, storages.view(value));
  }
  weights.storage = checkpoint;
  return weights;
}

}  // namespace soft
