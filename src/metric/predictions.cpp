// Predictions as CSV (RFC 4180): fields with commas, quotes or line breaks are quoted.
#include <ostream>

#include "base/error.h"
#include "base/file.h"
#include "metric/evaluate.h"

namespace soft {
namespace {

std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

void write_predictions(const std::string& path, const Dataset& dataset,
                       const std::vector<Prediction>& predictions) {
  write_atomically(path, [&](std::ostream& out) {
    out << "image,class,name,predicted,predicted_name,p\n";
    for (const Prediction& p : predictions) {
      const bool answered = p.answer >= 0;
      out << fmt::format("{},{},{},{},{},{:.6g}\n", field(dataset.describe(p.index)), p.label,
                         field(dataset.classes[p.label]), p.answer,
                         answered ? field(dataset.classes[p.answer]) : "", p.probability);
    }
  });
}

}  // namespace soft
