// LibTorch spreads each question over all cores: a second one at the same time would gain nothing.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace soft {

template <class Question>
auto one_at_a_time(const std::shared_ptr<std::mutex>& mutex, Question question) {
  return [mutex, question = std::move(question)](const auto&... asked) {
    const std::lock_guard<std::mutex> lock(*mutex);
    return question(asked...);
  };
}

}  // namespace soft
