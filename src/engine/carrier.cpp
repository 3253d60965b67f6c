#include "engine/carrier.h"

#include "engine/lane.h"
#include "engine/walk.h"

namespace soft {

size_t carrier_bytes(const Network& network, Grid image, int team) {
  return network.parts.empty() ? Lane::bytes_for(network, image, team)
                               : Walk::bytes_for(network, image, team);
}

std::unique_ptr<Carrier> make_carrier(const std::shared_ptr<const Network>& network, Grid image,
                                      int team) {
  if (network->parts.empty()) return std::make_unique<Lane>(network, image, team);
  return std::make_unique<Walk>(network, image, team);
}

}  // namespace soft
