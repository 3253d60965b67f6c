// The front door: one file per command. A command parses into a plain options struct, calls the
// rooms and prints.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's
class App;
}

namespace soft {

int run_command_line(int argc, const char* const* argv);

// Each adds its subcommand; the callback it registers does the work and throws soft::Error on
// failure.
void add_models(CLI::App& app);
void add_info(CLI::App& app);
void add_doctor(CLI::App& app);
void add_forward(CLI::App& app);
void add_convert(CLI::App& app);
void add_onnx_export(CLI::App& app);
void add_quantize(CLI::App& app);
void add_data(CLI::App& app);
void add_train(CLI::App& app);
void add_launch(CLI::App& app);
void add_eval(CLI::App& app);
void add_classify(CLI::App& app);
void add_embed(CLI::App& app);
void add_attend(CLI::App& app);
void add_health(CLI::App& app);
void add_serve(CLI::App& app);
void add_lra(CLI::App& app);
void add_bench(CLI::App& app);
void add_generate(CLI::App& app);

}  // namespace soft
