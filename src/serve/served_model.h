// The model that a server answers with: one of pictures, or one of texts.
#pragma once

#include <optional>
#include <string>

#include "facade/runner.h"
#include "facade/sequence_runner.h"
#include "image/transform.h"

namespace soft {

struct ServedModel {
  explicit ServedModel(const Runner& model);
  explicit ServedModel(const SequenceRunner& model);  // a usage error when it reads no single text

  bool reads_texts() const { return texts.has_value(); }
  const std::string& name() const;
  int64_t classes() const;
  std::string class_name(int64_t index) const;

  // ---- Pictures
  const ModelSpec& spec() const { return runner->spec(); }
  std::optional<Runner> runner;
  std::optional<Runner> attending;  // with workspaces of its own: sizes are many and large
  Preprocessing preprocessing;

  // ---- Texts
  std::optional<SequenceRunner> texts;
};

}  // namespace soft
