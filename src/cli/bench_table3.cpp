// `soft bench table3`: the paper's Table 3 and Figure 1a. SOFT's rows and their counterparts, with
// what the paper printed and what can be counted and measured here.
#include <memory>
#include <optional>

#include "base/error.h"
#include "cli/command.h"
#include "cli/frame.h"
#include "study/table3.h"

namespace soft {
namespace {

struct BenchTable3Options {
  FrameOptions frame;
  std::vector<std::string> models;  // empty: all rows
};

Json number_or_none(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

void add_published(Json& row, const Table3Row& published) {
  row["multi_scale"] = published.multi_scale;
  row["paper_mparams"] = number_or_none(published.mparams);
  row["paper_gmacs"] = number_or_none(published.gmacs);
  row["paper_top1"] = published.top1;
  row["note"] = published.note;
}

std::vector<Table3Row> chosen_rows(const std::vector<std::string>& models) {
  if (models.empty()) return table3();
  std::vector<Table3Row> rows;
  for (const std::string& model : models) {
    find_model(model);  // a mistyped name deserves its own error
    const auto found = find_table3(model);
    if (!found) fail_usage("'{}' is not a row of the paper's Table 3 or Figure 1a", model);
    rows.push_back(*found);
  }
  return rows;
}

void run(const BenchTable3Options& options) {
  const std::vector<Table3Row> published = chosen_rows(options.models);
  std::vector<Variant> variants;
  for (const Table3Row& row : published) {
    variants.push_back(
        {{{"group", row.group}, {"model", row.model}}, row.model, find_model(row.model)});
  }
  Json rows = frame_rows(variants, options.frame);
  for (size_t i = 0; i < published.size(); ++i) add_published(rows[i], published[i]);
  report(rows, options.frame.bench);
  plot(figure_1a(rows), options.frame.bench);
}

}  // namespace

void add_bench_table3(CLI::App& bench) {
  auto options = std::make_shared<BenchTable3Options>();
  options->frame.batch = 1;
  CLI::App* command = add_command(
      bench,
      {"table3", "Commands", "SOFT among its counterparts (Table 3, Figure 1a)",
       "soft bench table3 --counts --plot figure1a.svg\n"
       "soft bench table3 --models soft-tiny,resnet-18 --batch 1 --repeat 1 --csv table3.csv"});
  command->add_option("--models", options->models, "These rows alone")
      ->delimiter(',')
      ->type_name("NAME[,NAME...]");
  command->add_option("--batch", options->frame.batch, "Pictures at a time (default: 1)")
      ->check(CLI::Range(1, 4096).description(""))
      ->type_name("B");
  command->add_flag("--counts", options->frame.counts_only,
                    "Parameters and MACs alone; runs nothing");
  add_bench_flags(command, options->frame.bench);
  add_plot_flag(command, options->frame.bench);
  command->callback([options] { run(*options); });
}

}  // namespace soft
