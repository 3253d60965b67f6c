// Predictions as CSV.
#include <ostream>

#include "base/error.h"
#include "base/file.h"
#include "metric/csv.h"
#include "metric/evaluate.h"

namespace soft {

void write_predictions(const std::string& path, const Dataset& dataset,
                       const std::vector<Prediction>& predictions) {
  write_atomically(path, [&](std::ostream& out) {
    out << "image,class,name,predicted,predicted_name,p\n";
    for (const Prediction& p : predictions) {
      const bool answered = p.answer >= 0;
      out << fmt::format("{},{},{},{},{},{:.6g}\n", csv_field(dataset.describe(p.index)), p.label,
                         csv_field(dataset.classes[p.label]), p.answer,
                         answered ? csv_field(dataset.classes[p.answer]) : "", p.probability);
    }
  });
}

}  // namespace soft
