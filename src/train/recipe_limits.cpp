// Which recipes cannot work.
#include <cmath>

#include "base/error.h"
#include "train/recipe.h"

namespace soft {
namespace {

void check_at_least_one(std::string_view key, int64_t value) {
  if (value < 1) fail_usage("{}={} must be at least 1", key, value);
}

// This and the others also refuse what is no number.
void check_share(std::string_view key, double value) {
  if (!(value > 0 && value <= 1)) fail_usage("{}={} must lie in (0, 1]", key, value);
}

void check_positive(std::string_view key, double value) {
  if (!(value > 0 && std::isfinite(value))) fail_usage("{}={} must be positive", key, value);
}

void check_not_negative(std::string_view key, double value) {
  if (!(value >= 0 && std::isfinite(value))) fail_usage("{}={} must not be negative", key, value);
}

void check_below_one(std::string_view key, double value) {
  if (!(value >= 0 && value < 1)) fail_usage("{}={} must lie in [0, 1)", key, value);
}

}  // namespace

void validate(const Recipe& recipe) {
  check_at_least_one("epochs", recipe.epochs);
  check_at_least_one("batch", recipe.batch);
  check_at_least_one("shuffle", recipe.shuffle);
  check_at_least_one("accumulate", recipe.accumulate);
  if (recipe.bucket_mb < 1 || recipe.bucket_mb > 1024) {
    fail_usage("bucket_mb={} must lie in 1 to 1024", recipe.bucket_mb);
  }
  check_positive("lr_base", recipe.lr_base);
  check_positive("eps", recipe.eps);
  check_not_negative("lr", recipe.lr);
  check_not_negative("min_lr", recipe.min_lr);
  check_not_negative("warmup_lr", recipe.warmup_lr);
  check_not_negative("warmup_epochs", recipe.warmup_epochs);
  check_not_negative("weight_decay", recipe.weight_decay);
  check_not_negative("clip", recipe.clip);
  check_share("layer_decay", recipe.layer_decay);
  check_below_one("beta1", recipe.beta1);
  check_below_one("beta2", recipe.beta2);
  check_below_one("drop_path", recipe.drop_path);
  check_below_one("ema_decay", recipe.ema_decay);
  check_share("eval_crop", recipe.eval_crop);
  validate(recipe.augmentation);
}

}  // namespace soft
