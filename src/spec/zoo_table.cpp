// The rows of Table 3 and Figure 1a beside SOFT's own: each a family and its numbers.
#include "spec/zoo_table.h"

namespace soft {
namespace {

ZooRow residual(std::string name, std::string family, std::vector<int> depths,
                std::vector<Numbers> more) {
  ZooRow row{std::move(name),
             std::move(family),
             {{"stem", {64}}, {"planes", {64, 128, 256, 512}}, {"depths", std::move(depths)}}};
  row.numbers.insert(row.numbers.end(), more.begin(), more.end());
  return row;
}

ZooRow regnet(std::string name, std::vector<int> widths, std::vector<int> depths, int group_width) {
  return {std::move(name),
          "regnet",
          {{"stem", {32}},
           {"widths", std::move(widths)},
           {"depths", std::move(depths)},
           {"group_width", {group_width}}}};
}

ZooRow san(std::string name, bool pairwise) {
  return {std::move(name),
          "san",
          {{"stem", {64}},
           {"widths", {64, 256, 512, 1024, 2048}},
           {"depths", {2, 1, 2, 4, 1}},
           {"kernels", {3, 7, 7, 7, 7}},
           {"pairwise", {pairwise ? 1 : 0}}}};
}

// `old_scale`: timm's first ViT-Small, whose scores are divided by the root of all channels.
ZooRow vit(std::string name, std::string family, std::vector<Numbers> numbers, bool conditional,
           bool old_scale) {
  numbers.push_back({"patch", {16}});
  numbers.push_back({"conditional", {conditional ? 1 : 0}});
  numbers.push_back({"old_scale", {old_scale ? 1 : 0}});
  return {std::move(name), std::move(family), std::move(numbers)};
}

ZooRow t2t(std::string name, int dim, int depth, int heads) {
  return {std::move(name),
          "t2t",
          {{"token_dim", {64}},
           {"dim", {dim}},
           {"depth", {depth}},
           {"heads", {heads}},
           {"mlp_ratio", {3}}}};
}

ZooRow pvt(std::string name, std::vector<int> depths) {
  return {std::move(name),
          "pvt",
          {{"patch", {4}},
           {"dims", {64, 128, 320, 512}},
           {"heads", {1, 2, 5, 8}},
           {"mlp_ratios", {8, 8, 4, 4}},
           {"depths", std::move(depths)},
           {"reductions", {8, 4, 2, 1}}}};
}

ZooRow twins(std::string name, std::vector<int> dims, std::vector<int> heads,
             std::vector<int> depths) {
  return {std::move(name),
          "twins",
          {{"patch", {4}},
           {"dims", std::move(dims)},
           {"heads", std::move(heads)},
           {"mlp_ratio", {4}},
           {"depths", std::move(depths)},
           {"windows", {7, 7, 7, 7}},
           {"reductions", {8, 4, 2, 1}}}};
}

}  // namespace

const std::vector<ZooRow>& zoo_table() {
  static const std::vector<ZooRow> kTable{
      residual("resnet-18", "resnet", {2, 2, 2, 2}, {{"bottleneck", {0}}}),
      residual("resnet-50", "resnet", {3, 4, 6, 3}, {{"bottleneck", {1}}}),
      residual("resnet-101", "resnet", {3, 4, 23, 3}, {{"bottleneck", {1}}}),
      residual("resnet-152", "resnet", {3, 8, 36, 3}, {{"bottleneck", {1}}}),
      regnet("regnety-1.6gf", {48, 120, 336, 888}, {2, 6, 17, 2}, 24),
      regnet("regnety-4gf", {128, 192, 512, 1088}, {2, 6, 12, 2}, 64),
      regnet("regnety-8gf", {168, 448, 896, 2016}, {2, 4, 10, 1}, 56),
      regnet("regnety-16gf", {224, 448, 1232, 3024}, {2, 4, 11, 1}, 112),
      san("san10", false),
      san("san10-pairwise", true),
      residual("lambda-resnet-50", "lambda", {3, 4, 6, 3},
               {{"keys", {16}}, {"heads", {4}}, {"intra_depth", {4}}, {"scope", {7}}}),
      residual("botnet-s1-110", "botnet", {3, 4, 23, 6},
               {{"heads", {4}}, {"bot_se", {0}}, {"trained", {224, 224}}}),
      vit("vit-small-16", "vit-old",
          {{"dim", {768}}, {"depth", {8}}, {"heads", {8}}, {"mlp_ratio", {3}}}, false, true),
      vit("deit-small", "deit",
          {{"dim", {384}}, {"depth", {12}}, {"heads", {6}}, {"mlp_ratio", {4}}}, false, false),
      vit("cpvt-small", "cpvt",
          {{"dim", {384}}, {"depth", {12}}, {"heads", {6}}, {"mlp_ratio", {4}}}, true, false),
      t2t("t2t-vit-t-14", 384, 14, 6),
      t2t("t2t-vit-t-24", 512, 24, 8),
      {"cait-s36",
       "cait",
       {{"patch", {16}},
        {"dim", {384}},
        {"depth", {36}},
        {"class_depth", {2}},
        {"heads", {8}},
        {"mlp_ratio", {4}},
        {"trained", {224, 224}}}},
      pvt("pvt-tiny", {2, 2, 2, 2}),
      pvt("pvt-small", {3, 4, 6, 3}),
      pvt("pvt-medium", {3, 4, 18, 3}),
      pvt("pvt-large", {3, 8, 27, 3}),
      twins("twins-svt-s", {64, 128, 256, 512}, {2, 4, 8, 16}, {2, 2, 10, 4}),
      twins("twins-svt-l", {128, 256, 512, 1024}, {4, 8, 16, 32}, {2, 2, 18, 2}),
      {"coat-lite-mini",
       "coat",
       {{"patch", {4}},
        {"dims", {64, 128, 320, 512}},
        {"heads", {8}},
        {"mlp_ratios", {8, 8, 4, 4}},
        {"depths", {2, 2, 2, 2}}}},
      {"swin-b",
       "swin",
       {{"patch", {4}},
        {"dim", {128}},
        {"depths", {2, 2, 18, 2}},
        {"heads", {4, 8, 16, 32}},
        {"window", {7}},
        {"mlp_ratio", {4}},
        {"trained", {224, 224}}}},
  };
  return kTable;
}

}  // namespace soft
