// Indexes of folders and shards: an input is the file without its sum, which is put right so that
// what is behind it is reached.
#include <zlib.h>

#include "data/folder_listing.h"
#include "data/packed.h"
#include "data/shard_listing.h"
#include "fuzz/fuzz.h"

using namespace soft;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fuzz::MemoryFolder folder({kIndexName});
  PackedWriter sum;
  sum.number(crc32_z(0, data, size));
  const std::string bytes(data, data + size);
  const std::string file = bytes + sum.take();
  folder.put(0, reinterpret_cast<const uint8_t*>(file.data()), file.size());
  fuzz::attempt([&] {
    const IndexFile index(folder.path(), "");
    for (const char* name : {"", "a"}) {
      const auto* content = index.find(name);
      if (content != nullptr) unpack_shard(*content);
    }
    unpack_shard(bytes);
    for (const std::string& name : unpack_class(bytes, "x").value_or(ClassListing{}).names) {
      fuzz::require(name[0] != '/' && name.find("../") != 0, "names stay inside the folder");
    }
  });
  return 0;
}
