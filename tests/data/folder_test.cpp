#include "data/index_file.h"
#include "data/packed.h"
#include "data/source.h"
#include "data/toy.h"

namespace soft {
namespace {

using test::error_of;
using test::solid;
using test::write_png;

class Folder : public testing::Test {
 protected:
  void add(const std::string& file, uint8_t red = 0) {
    write_png(folder_.path(file), solid(3, 2, red, 0, 0));
  }
  Dataset open(Split split, bool strict = false) {
    return open_folder(folder_.path(), {split, strict});
  }
  std::string error(Split split) {
    return error_of([&] { open(split); });
  }
  test::TemporaryFolder folder_;
};

TEST_F(Folder, ClassesAreInNaturalOrderAndFilesInTheOrderOfTheirNames) {
  add("train/class10/x.png", 1);
  add("train/class9/b.png", 2);
  add("train/class9/a.png", 3);
  add("train/class9/deeper/c.png", 4);
  const Dataset dataset = open(Split::kTrain);
  EXPECT_THAT(dataset.classes, testing::ElementsAre("class9", "class10"));
  EXPECT_THAT(dataset.labels, testing::ElementsAre(0, 0, 0, 1));
  std::vector<int> reds;
  for (int64_t i = 0; i < 4; ++i) reds.push_back(dataset.load(i).rgb[0]);
  EXPECT_THAT(reds, testing::ElementsAre(3, 2, 4, 1));
  EXPECT_THAT(dataset.describe(3), testing::EndsWith("train/class10/x.png"));
  EXPECT_EQ(dataset.native_size, 0);
}

TEST_F(Folder, WhatAFileIsShowsWhenItIsRead) {
  add("train/a/one");
  test::write_file(folder_.path("train/a/notes.png"), "not a picture");
  const Dataset dataset = open(Split::kTrain);
  ASSERT_EQ(dataset.size(), 2);
  EXPECT_EQ(dataset.load(1).width, 3);
  EXPECT_THAT(error_of([&] { dataset.load(0); }), testing::HasSubstr("notes.png"));
}

TEST_F(Folder, StrayFilesAreSkippedWithOneLineThatCountsThem) {
  add("train/a/1.png");
  add("train/b/1.png");
  test::write_file(folder_.path("train/a/LICENCES.md"), "text");
  test::write_file(folder_.path("train/a/.DS_Store"), std::string("\0\0\0\1Bud1", 8));
  test::write_file(folder_.path("train/b/Thumbs.db"), "\xd0\xcf");
  test::write_file(folder_.path("train/b/broken.jpg"), "no picture");
  testing::internal::CaptureStderr();
  const Dataset dataset = open(Split::kTrain);
  const std::string err = testing::internal::GetCapturedStderr();
  EXPECT_EQ(dataset.size(), 3) << "a broken .jpg stays, and is an error when it is read";
  EXPECT_THAT(dataset.labels, testing::ElementsAre(0, 1, 1));
  EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
  EXPECT_THAT(err, testing::HasSubstr("3 files skipped"));
  EXPECT_EQ(open(Split::kTrain, true).size(), 6) << "strict: every regular file";
}

TEST_F(Folder, AClassOfStrayFilesAloneHasNoPictures) {
  test::write_png(folder_.path("train/a/1.png"), solid(3, 2, 0, 0, 0));
  std::filesystem::create_directories(folder_.path("train/b"));
  test::write_file(folder_.path("train/b/notes.md"), "text");
  EXPECT_THAT(error(Split::kTrain), testing::HasSubstr("b' has no pictures"));
  EXPECT_THAT(error(Split::kTrain), testing::HasSubstr("notes.md"));
}

TEST_F(Folder, ALinkToItselfIsNamed) {
  add("train/a/1.png");
  std::filesystem::create_symlink("loop.png", folder_.path("train/a/loop.png"));
  EXPECT_THAT(error(Split::kTrain), testing::HasSubstr("train/a/loop.png': Too many levels"));
}

TEST_F(Folder, EvaluationAloneNeedsNoTrainingFolder) {
  add("val/b/1.png");
  add("val/a/1.png");
  EXPECT_THAT(open(Split::kValidation).classes, testing::ElementsAre("a", "b"));
  EXPECT_THAT(error(Split::kTrain), testing::HasSubstr("train'; pictures belong in"));
}

TEST_F(Folder, ValidationTakesItsClassesFromTraining) {
  add("train/a/1.png");
  add("train/b/1.png");
  add("val/b/1.png");
  const Dataset dataset = open(Split::kValidation);
  EXPECT_THAT(dataset.classes, testing::ElementsAre("a", "b"));
  EXPECT_THAT(dataset.labels, testing::ElementsAre(1));
}

TEST_F(Folder, AClassOnlyInValidationIsAnError) {
  add("train/a/1.png");
  add("val/stranger/1.png");
  for (Split split : {Split::kTrain, Split::kValidation}) {
    EXPECT_THAT(error(split), testing::HasSubstr("class 'stranger' is in"));
  }
}

TEST_F(Folder, EmptyClassesAndEmptyFoldersAreErrors) {
  std::filesystem::create_directories(folder_.path("train"));
  EXPECT_THAT(error(Split::kTrain), testing::HasSubstr("no class folders"));
  add("train/full/1.png");
  std::filesystem::create_directories(folder_.path("train/hollow"));
  EXPECT_THAT(error(Split::kTrain), testing::HasSubstr("hollow' has no pictures"));
  std::filesystem::create_directories(folder_.path("val/full"));
  EXPECT_THAT(error(Split::kValidation), testing::HasSubstr("no pictures in"));
}

TEST_F(Folder, AFolderThatLoopsIntoItselfIsAnErrorNotAHang) {
  add("train/a/1.png");
  std::filesystem::create_directory_symlink(folder_.path("train/a"), folder_.path("train/a/loop"));
  EXPECT_THAT(error(Split::kTrain), testing::HasSubstr("/train/a/loop' is a link to a folder"));
}

TEST_F(Folder, ALinkToAnotherFolderIsFollowed) {
  add("train/a/1.png");
  add("elsewhere/2.png");
  std::filesystem::create_directory_symlink(folder_.path("elsewhere"),
                                            folder_.path("train/a/more"));
  EXPECT_EQ(open(Split::kTrain).size(), 2);
}

TEST_F(Folder, ClassFoldersMayStandInTheFolderItself) {
  add("cats/1.png");
  add("dogs/1.png");
  EXPECT_THAT(open(Split::kTrain).classes, testing::ElementsAre("cats", "dogs"));
  EXPECT_FALSE(has_validation(folder_.path()));
  add("train/cats/1.png");
  EXPECT_THAT(open(Split::kTrain).classes, testing::ElementsAre("cats"));
}

TEST_F(Folder, ReadableNamesComeFromTheListOfClasses) {
  add("train/n01/1.png");
  add("train/n02/1.png");
  test::write_file(folder_.path("classes.txt"), "n02 great white shark, man-eater\nn99 whale\n\n");
  EXPECT_THAT(open(Split::kTrain).classes,
              testing::ElementsAre("n01", "great white shark, man-eater"));
}

// Folders whose listing is kept however few files there are.
class KeptListing : public Folder {
 protected:
  KeptListing() {
    for (const char* place : {"train/a/", "train/a/deep/", "train/b/"}) {
      std::filesystem::create_directories(folder_.path(place));
      for (int i = 0; i < 20; ++i) touch(fmt::format("{}{}.png", place, i));
    }
    touch("train/b/notes.md");
    settle();
  }
  Dataset open(bool strict = false) {
    FolderOptions options{Split::kTrain, strict};
    options.worth_keeping = 1;
    return open_folder(folder_.path(), options);
  }
  void touch(const std::string& file) { test::write_file(folder_.path(file), ""); }
  void settle() {
    for (const char* place : {"train/a", "train/a/deep", "train/b"}) {
      test::make_old(folder_.path(place));
    }
  }
  std::string index() const { return folder_.path(".soft-index"); }
};

TEST_F(KeptListing, IsReadInsteadOfWalkingAgain) {
  const Dataset walked = open();
  ASSERT_TRUE(std::filesystem::exists(index()));
  const std::string kept = test::read_file(index());
  // A file that vanishes without its folder's time shows that nobody looked.
  const auto time = std::filesystem::last_write_time(folder_.path("train/b"));
  std::filesystem::remove(folder_.path("train/b/7.png"));
  std::filesystem::last_write_time(folder_.path("train/b"), time);
  const Dataset indexed = open();
  EXPECT_EQ(test::read_file(index()), kept);
  ASSERT_EQ(indexed.size(), 60);
  EXPECT_EQ(indexed.labels, walked.labels);
  for (int64_t i = 0; i < indexed.size(); ++i) {
    ASSERT_EQ(indexed.describe(i), walked.describe(i));
  }
  EXPECT_EQ(open(true).size(), 60) << "strict looks, and takes notes.md";
}

TEST_F(KeptListing, NoticesAddedAndRemovedFilesAtAnyDepth) {
  EXPECT_EQ(open().size(), 60);
  touch("train/a/deep/new.png");
  EXPECT_EQ(open().size(), 61);
  settle();
  EXPECT_EQ(open().size(), 61);
  std::filesystem::remove(folder_.path("train/b/7.png"));
  EXPECT_EQ(open().size(), 60);
  std::filesystem::remove_all(folder_.path("train/a/deep"));
  EXPECT_EQ(open().size(), 39);
  add("train/c/1.png");
  EXPECT_THAT(open().classes, testing::ElementsAre("a", "b", "c"));
}

TEST_F(KeptListing, ThatLeadsOutOfTheFolderIsNotBelieved) {
  IndexFile forged(folder_.path(), "");
  PackedWriter listing;
  listing.number(1);
  listing.text("x/../../../secret.png");
  listing.number(0);
  listing.text("");
  forged.put("train/a", {"train/a"}, IndexFile::kSettled, listing.take());
  forged.save();
  EXPECT_EQ(open().size(), 60);
}

TEST_F(Folder, AFewFilesLeaveNoIndexBehind) {
  add("train/a/1.png");
  test::make_old(folder_.path("train/a"));
  open(Split::kTrain);
  EXPECT_FALSE(std::filesystem::exists(folder_.path(".soft-index")));
}

}  // namespace
}  // namespace soft
