// Processes that train one model together. A rank is one of `world` of them; everything here is
// called by all ranks in the same order.
#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace soft {

class Group {
 public:
  virtual ~Group() = default;
  virtual int rank() const = 0;
  virtual int world() const = 0;
  bool first() const { return rank() == 0; }

  // Adds up a tensor over all ranks, in place. Every rank gets the same bits. The result is there
  // when `finish` has returned; until then the tensor must not be touched.
  using Finish = std::function<void()>;
  virtual Finish start_sum(torch::Tensor tensor) = 0;
  void sum(const torch::Tensor& tensor) { start_sum(tensor)(); }

  // The same beside a running start_sum, in an order of its own: for what happens while gradients
  // are exchanged.
  virtual void sum_aside(torch::Tensor tensor) = 0;

  // Rank 0's content for all.
  virtual void broadcast(const std::vector<torch::Tensor>& tensors) = 0;
  virtual std::string broadcast(const std::string& text) = 0;

  // Every rank's text, in the order of the ranks. Waits for slow ones as long as they live.
  virtual std::vector<std::string> gather(const std::string& text) = 0;

  virtual void barrier() = 0;

  // Tells the others why this rank leaves; nothing may be called after it.
  virtual void end(const std::string& why) = 0;
};

// A group of one: nothing is exchanged.
class Alone : public Group {
 public:
  int rank() const override { return 0; }
  int world() const override { return 1; }
  Finish start_sum(torch::Tensor) override {
    return [] {};
  }
  void sum_aside(torch::Tensor) override {}
  void broadcast(const std::vector<torch::Tensor>&) override {}
  std::string broadcast(const std::string& text) override { return text; }
  std::vector<std::string> gather(const std::string& text) override { return {text}; }
  void barrier() override {}
  void end(const std::string&) override {}
};

}  // namespace soft
