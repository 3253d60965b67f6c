#include "study/curve.h"

#include <sstream>
#include <vector>

#include "plot/chart.h"

namespace soft {
namespace {

struct Epoch {
  double number = 0, train_loss = 0, val_loss = 0, top1 = 0, top5 = 0;
};

std::vector<Epoch> epochs_of(const std::string& log) {
  std::vector<Epoch> epochs;
  std::istringstream lines(log);
  std::string line;
  std::getline(lines, line);  // names of the columns
  while (std::getline(lines, line)) {
    std::istringstream in(line);
    Epoch epoch;
    char comma = 0;
    in >> epoch.number >> comma >> epoch.train_loss >> comma >> epoch.val_loss >> comma >>
        epoch.top1 >> comma >> epoch.top5;
    if (in) epochs.push_back(epoch);
  }
  return epochs;
}

Series series(const std::string& name, const std::vector<Epoch>& epochs, double Epoch::*column) {
  Series made{name, {}, false};
  for (const Epoch& epoch : epochs) made.points.push_back({epoch.number, epoch.*column});
  return made;
}

}  // namespace

Drawing curve_of(const std::string& log) {
  const std::vector<Epoch> epochs = epochs_of(log);
  LineChart losses{"Loss", {"epoch", false, {}, {}}, {"loss", false, {}, {}}, {}, true};
  losses.series = {series("training", epochs, &Epoch::train_loss),
                   series("validation", epochs, &Epoch::val_loss)};
  LineChart accuracy{"Accuracy", {"epoch", false, {}, {}}, {"per cent", false, {}, {}}, {}, true};
  accuracy.series = {series("top-1", epochs, &Epoch::top1), series("top-5", epochs, &Epoch::top5)};
  return stacked(draw(losses), draw(accuracy));
}

}  // namespace soft
