#include "data/name_list.h"

#include "support/support.h"

namespace soft {
namespace {

TEST(NameList, KeepsEveryNameAcrossItsBlocks) {
  NameList names;
  const auto name = [](int i) {
    return i % 7 == 0 ? std::string() : std::string(i % 50, 'a') + std::to_string(i);
  };
  for (int i = 0; i < 5000; ++i) names.add(name(i));
  ASSERT_EQ(names.size(), 5000);
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(names[i], name(i)) << i;
}

}  // namespace
}  // namespace soft
