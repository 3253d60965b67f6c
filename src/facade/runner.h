// A model ready to answer: what the command line, the server, the library's public face and Python
// ask. Which engine runs it is decided here, once, for all of them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "facade/choice.h"

namespace soft {

enum class Engine {
  kNative,      // oneDNN and our own kernels, without LibTorch
  kTorch,       // LibTorch around our attention kernels
  kTorchPlain,  // LibTorch alone: every attention as its tensor expression
};

const std::vector<std::string_view>& engine_names();
std::string_view name_of(Engine engine);

// `asked` is what --engine says. When it says nothing the native engine is taken; a model it cannot
// run goes to LibTorch, with a line that says so.
Engine choose_engine(const std::string& asked, const ModelSpec& spec);

// May be asked from any number of threads at once: on the native engine each caller has a workspace
// of its own meanwhile, LibTorch answers one after another. Copies share weights and workspaces.
class Runner {
 public:
  Runner(const LoadedModel& model, Engine engine, const WorkspaceOptions& workspaces = {});

  // The same weights with workspaces of its own, for callers who ask for other sizes.
  Runner apart() const;

  const Card& card() const { return *card_; }
  const ModelSpec& spec() const { return card_->spec; }
  Engine engine() const { return engine_; }
  size_t weight_bytes() const;  // that the engine holds

  std::vector<float> logits(const ImageBatch& images) const { return answers_->logits(images); }
  std::vector<float> vectors(const ImageBatch& images) const { return answers_->vectors(images); }
  std::vector<Array> features(const ImageBatch& images) const { return answers_->features(images); }
  const Answers& answers() const { return *answers_; }

 private:
  std::shared_ptr<const Card> card_;
  Engine engine_;
  WorkspaceOptions workspaces_;
  std::shared_ptr<const Packed> packed_;  // of the native engine
  std::shared_ptr<const Answers> answers_;
};

// "class 7" where the weights do not name their classes.
std::string class_name(const Card& card, int64_t index);

// The model that the options name, with the engine that was asked for ("": by itself); without
// weights one in the box.
Runner open_runner(ModelOptions options, const std::string& engine,
                   const WorkspaceOptions& workspaces = {});

}  // namespace soft
