// What a server answers with: one model of texts, or models of pictures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "facade/runner.h"
#include "facade/sequence_runner.h"
#include "image/transform.h"

namespace soft {

struct ServedModel {
  explicit ServedModel(const Runner& model, std::string box = "", std::string about = "");
  explicit ServedModel(const SequenceRunner& model);  // a usage error when it reads no single text

  bool reads_texts() const { return texts.has_value(); }
  const std::string& name() const;
  int64_t classes() const;
  std::string class_name(int64_t index) const;

  std::string box, about;  // its name and what it answers, where it comes from the box

  // ---- Pictures
  const ModelSpec& spec() const { return runner->spec(); }
  std::optional<Runner> runner;
  std::optional<Runner> attending;  // with workspaces of its own: sizes are many and large
  Preprocessing preprocessing;
  int64_t embedding = 0;  // channels that the classifier reads

  // ---- Texts
  std::optional<SequenceRunner> texts;
};

// At least one. The first answers whoever names none; several are of the box, each with a name, and
// read pictures.
using ServedModels = std::vector<ServedModel>;

}  // namespace soft
