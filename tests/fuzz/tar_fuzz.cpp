// Shards: tar headers of every kind, labels, and what becomes of damage.
#include "data/shard_listing.h"
#include "fuzz/fuzz.h"

using namespace soft;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::attempt([&] {
    const ShardListing listing = list_shard(fuzz::path_of(data, size));
    for (int64_t i = 0; i < listing.size(); ++i) {
      fuzz::require(listing.offsets[i] >= 0 && listing.sizes[i] >= 0 &&
                        listing.offsets[i] + listing.sizes[i] <= static_cast<int64_t>(size),
                    "a picture lies inside its shard");
      fuzz::require(listing.labels[i] >= 0 && listing.labels[i] < kMostClasses,
                    "a label is a class");
    }
    for (const std::string& complaint : listing.complaints) {
      fuzz::require(complaint.find('\n') == std::string::npos, "a complaint is one line");
    }
    const auto again = unpack_shard(pack(listing));
    fuzz::require(again && again->labels == listing.labels, "an index keeps a listing");
  });
  return 0;
}
