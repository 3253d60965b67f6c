#include "image/picture_file.h"

#include <filesystem>

#include "support/support.h"

namespace soft {
namespace {

TEST(PictureFile, AnEndingOfAPictureIsEnoughWhateverItHolds) {
  for (const char* name : {"a.jpg", "b.JPEG", "dir.x/c.PnG", "d.webp", "e.gif", "f.tiff"}) {
    EXPECT_TRUE(has_picture_ending(name)) << name;
  }
  for (const char* name : {"LICENCE", "notes.md", "jpg", "a.jpg.txt", "dir.png/x", ""}) {
    EXPECT_FALSE(has_picture_ending(name)) << name;
  }
  EXPECT_TRUE(is_picture_file("/no/such/file.jpg"));
}

TEST(PictureFile, OtherwiseTheFirstBytesDecide) {
  const test::TemporaryFolder folder;
  const auto takes = [&](const std::string& name, const std::string& bytes) {
    test::write_file(folder.path(name), bytes);
    return is_picture_file(folder.path(name));
  };
  EXPECT_TRUE(takes("jpeg", "\xff\xd8\xff\xe0"));
  EXPECT_TRUE(takes("photo.bin", "\x89PNG\r\n\x1a\n"));
  EXPECT_TRUE(takes("gif", "GIF89a"));
  EXPECT_FALSE(takes(".DS_Store", std::string("\0\0\0\1Bud1", 8)));
  EXPECT_FALSE(takes("Thumbs.db", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"));
  EXPECT_FALSE(takes("LICENCES.md", "# Licences"));
  EXPECT_FALSE(takes("boxes.xml", "<?xml version='1.0'?>"));
  EXPECT_FALSE(takes("paper.pdf", "%PDF-1.5"));
  EXPECT_FALSE(takes(".gitkeep", ""));
}

TEST(PictureFile, WhatCannotBeOpenedIsLeftToItsReader) {
  const test::TemporaryFolder folder;
  std::filesystem::create_symlink("loop", folder.path("loop"));
  EXPECT_TRUE(is_picture_file(folder.path("loop")));
}

TEST(Skipped, OneLineCountsThemAndNamesTheFirst) {
  Skipped skipped;
  EXPECT_EQ(skipped.notice("pets"), "");
  skipped.add("pets/b.md");
  EXPECT_EQ(skipped.notice("pets"),
            "'pets': 1 file skipped that is no picture ('pets/b.md'); --strict takes every file");
  skipped.add("pets/a.md");
  EXPECT_EQ(skipped.notice("pets"),
            "'pets': 2 files skipped that are no pictures (the first: 'pets/a.md'); --strict takes "
            "every file");
}

}  // namespace
}  // namespace soft
