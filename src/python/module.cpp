// The Python module `soft`, on the public face alone. Python's lock is released while the library
// works.
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include "python/convert.h"

namespace soft::python {
namespace {

using namespace py::literals;

using Names = std::vector<std::pair<std::string, double>>;  // with probabilities

// ask(input) while other threads of Python run.
template <class Ask>
auto without_lock(const Given& given, const Ask& ask) {
  const py::gil_scoped_release others_go_on;
  return ask(given.input);
}

Names names_of(const std::vector<Guess>& guesses) {
  Names names;
  for (const Guess& guess : guesses) names.emplace_back(guess.name, guess.p);
  return names;
}

py::object classify(const Model& model, const py::object& picture, int top) {
  const Given given = input_of(picture);
  const auto answers =
      without_lock(given, [&](const Input& input) { return model.classify(input, top); });
  if (is_one_picture(picture)) return py::cast(names_of(answers.front()));
  py::list all;
  for (const auto& guesses : answers) all.append(names_of(guesses));
  return all;
}

py::array logits(const Model& model, const py::object& pictures) {
  const Given given = input_of(pictures);
  return array_of(without_lock(given, [&](const Input& input) { return model.logits(input); }));
}

py::array embed(const Model& model, const py::object& pictures) {
  const Given given = input_of(pictures);
  return array_of(without_lock(given, [&](const Input& input) { return model.embed(input); }));
}

py::list features(const Model& model, const py::object& pictures) {
  const Given given = input_of(pictures);
  auto maps = without_lock(given, [&](const Input& input) { return model.features(input); });
  py::list arrays;
  for (Tensor& map : maps) arrays.append(array_of(std::move(map)));
  return arrays;
}

py::array attend(const Model& model, const py::object& object, const Query& query) {
  if (query.head < 1) throw Error(Fault::kUsage, "head counts from 1; one map is given at a time");
  const Picture picture = picture_of(object);
  std::vector<AttentionMap> maps;
  {
    const py::gil_scoped_release others_go_on;
    maps = model.attend(picture, query);
  }
  return array_of(std::move(maps.front().map));
}

// None, a side, or (height, width).
std::pair<int64_t, int64_t> size_of(const py::object& size) {
  if (size.is_none()) return {0, 0};
  if (py::isinstance<py::int_>(size)) return {size.cast<int64_t>(), size.cast<int64_t>()};
  try {
    return size.cast<std::pair<int64_t, int64_t>>();
  } catch (const py::cast_error&) {
    throw Error(Fault::kUsage, "size is a number of pixels, or (height, width)");
  }
}

py::dict info(const std::string& name, const py::object& size, const py::kwargs& settings) {
  const Settings list = settings_of(settings);
  const auto [height, width] = size_of(size);
  return dict_of(card(name, list), cost(name, list, height, width));
}

Model load(const std::string& path, OpenOptions options, const py::kwargs& settings) {
  options.settings = settings_of(settings);
  const py::gil_scoped_release others_go_on;
  return Model::open(path, options);
}

// Kept for good: the library may speak until the very end, when Python is no more.
void hand_log_to(const py::object& sink) {
  if (sink.is_none()) return log_to(nullptr);
  const auto* kept = new py::object(sink);
  log_to([kept](const std::string& line) {
    if (Py_IsInitialized() == 0) return;
    const py::gil_scoped_acquire lock;
    (*kept)(line);
  });
}

void define_model(py::module_& module) {
  py::class_<Model>(module, "Model", "A model that answers; may be asked from several threads.")
      .def(
          "classify", &classify, "picture"_a, "top"_a = 5,
          "The `top` most probable classes: [(name, p), ...]; a list of such for several pictures.")
      .def("logits", &logits, "pictures"_a, "Float32 [N, classes].")
      .def("embed", &embed, "pictures"_a, "What the classifier reads: float32 [N, C].")
      .def("features", &features, "pictures"_a, "Maps after each stage: float32 [N, C, H, W] each.")
      .def(
          "attend",
          [](const Model& model, const py::object& picture, int x, int y, int stage, int layer,
             int head, const py::object& size) {
            const auto [height, width] = size_of(size);
            return attend(model, picture, {x, y, stage, layer, head, height, width});
          },
          "picture"_a, "x"_a, "y"_a, "stage"_a = 0, "layer"_a = 0, "head"_a = 1,
          "size"_a = py::none(),
          "Where the patch under pixel (x, y) looks: float32 [h, w]. Stages, layers and heads "
          "count from 1; 0: the second stage, the last layer.")
      .def_property_readonly("name", [](const Model& model) { return model.card().name; })
      .def_property_readonly("engine", &Model::engine, "'native', 'torch' or 'torch-plain'")
      .def_property_readonly("image_size",
                             [](const Model& model) { return model.card().image_size; })
      .def_property_readonly("class_names",
                             [](const Model& model) { return model.card().class_names; })
      .def_property_readonly(
          "info", [](const Model& model) { return dict_of(model.card(), model.cost()); },
          "As soft.info gives it, of this model.")
      .def("__repr__", [](const Model& model) {
        return "<soft.Model " + model.card().name + " on the " + model.engine() + " engine>";
      });
}

}  // namespace

PYBIND11_MODULE(_soft, module) {
  module.doc() = "Softmax-free vision transformers with linear complexity.";
  static PyObject* const error = PyErr_NewExceptionWithDoc(
      "soft.Error", "What is wrong, which value, and what to do, in one line.", nullptr, nullptr);
  module.attr("Error") = py::handle(error);
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& known) {
      PyErr_SetString(error, known.what());
    }
  });
  module.attr("__version__") = version();
  module.def("models", &models, "The names of the table of models.");
  module.def("info", &info, "name"_a, "size"_a = py::none(),
             "What a model of the table is and costs: a dict. Further keywords are settings, e.g. "
             "landmarks=36.");
  module.def(
      "load",
      [](const py::object& path, const std::string& engine, const std::string& model,
         const std::string& weights_key, int size, int threads, uint64_t seed,
         const py::kwargs& settings) {
        const std::string text = py::bytes(py::module_::import("os").attr("fsencode")(path));
        return load(text, {engine, model, weights_key, {}, size, threads, seed}, settings);
      },
      "path"_a = "", py::kw_only(), "engine"_a = "", "model"_a = "", "weights_key"_a = "",
      "size"_a = 0, "threads"_a = 0, "seed"_a = 0,
      "Opens a weights file (.safetensors or .pth); without one, the model in the box; or a row of "
      "the table by its name, with random weights. Further keywords are settings.");
  module.def("log_to", &hand_log_to, "sink"_a,
             "Calls sink(line) with what the library has to say; None: to stderr again.");
  define_model(module);
}

}  // namespace soft::python
