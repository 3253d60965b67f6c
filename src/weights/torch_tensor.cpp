// The recipe: _rebuild_tensor_v2(storage, offset, shape, strides, …), the storage being a reference
// ('storage', torch.FloatStorage, key, device, number of elements). Offsets and strides count
// elements.
#include "weights/torch_tensor.h"

#include <algorithm>

#include "base/error.h"
#include "base/npy.h"
#include "weights/read.h"

namespace soft {
namespace {

using Kind = PickleValue::Kind;
using Items = std::vector<const PickleValue*>;

// The arguments of a recorded call to torch._utils.NAME, or nullptr when it is something else.
const Items* arguments_of(const PickleValue& value, std::string_view name) {
  if (value.kind != Kind::kCall || !value.items[0]->is_global("torch._utils", name)) return nullptr;
  const PickleValue& arguments = *value.items[1];
  return arguments.kind == Kind::kSequence ? &arguments.items : nullptr;
}

int64_t integer_of(const PickleValue& value) {
  if (value.kind != Kind::kInteger) fail("a tensor's recipe has no number where one is needed");
  return value.integer;
}

std::vector<int64_t> integers_of(const PickleValue& value) {
  if (value.kind != Kind::kSequence) fail("a tensor's recipe has no shape where one is needed");
  std::vector<int64_t> numbers;
  for (const PickleValue* item : value.items) numbers.push_back(integer_of(*item));
  return numbers;
}

DType storage_type(const PickleValue& type) {
  const std::pair<std::string_view, DType> known[] = {
      {"FloatStorage", DType::kF32},     {"HalfStorage", DType::kF16},
      {"BFloat16Storage", DType::kBF16}, {"DoubleStorage", DType::kF64},
      {"LongStorage", DType::kI64},      {"IntStorage", DType::kI32},
      {"ByteStorage", DType::kU8}};
  for (const auto& [name, dtype] : known) {
    if (type.is_global("torch", name)) return dtype;
  }
  fail("a tensor is stored as '{}'; float, half, bfloat16 and double are read",
       printable(type.text));
}

bool is_row_major(const std::vector<int64_t>& shape, const std::vector<int64_t>& strides) {
  int64_t expected = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    if (shape[axis] != 1 && strides[axis] != expected) return false;
    expected *= shape[axis];
  }
  return true;
}

// Every element must lie inside its storage.
void check_inside(const std::vector<int64_t>& shape, const std::vector<int64_t>& strides,
                  int64_t offset, int64_t available) {
  int64_t last = offset;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    int64_t reach = 0;
    const bool overflows = __builtin_mul_overflow(shape[axis] - 1, strides[axis], &reach) ||
                           __builtin_add_overflow(last, reach, &last);
    if (strides[axis] < 0 || overflows) fail("a tensor has impossible strides");
  }
  if (offset < 0 || last >= available) {
    fail("a tensor of shape {} reaches beyond the {} elements of its storage", shape_text(shape),
         available);
  }
}

}  // namespace

bool is_tensor(const PickleValue& value) {
  return arguments_of(value, "_rebuild_tensor_v2") != nullptr ||
         arguments_of(value, "_rebuild_parameter") != nullptr;
}

TorchStorages::Storage TorchStorages::find(const PickleValue& reference) const {
  const bool known = reference.kind == Kind::kReference &&
                     reference.items[0]->kind == Kind::kSequence &&
                     reference.items[0]->items.size() == 5;
  if (!known) fail("a tensor refers to something that is not a storage");
  const Items& id = reference.items[0]->items;  // {"storage", type, key, device, elements}
  const DType type = storage_type(*id[1]);
  const auto found = entries_.find(root_ + "data/" + std::string(id[2]->text));
  if (found == entries_.end()) {
    fail("storage '{}' is not in the archive", printable(id[2]->text));
  }
  if (found->second.size != checked_bytes({integer_of(*id[4])}, type)) {
    fail("storage '{}' has {} bytes, not those of {} {} values", printable(id[2]->text),
         found->second.size, id[4]->integer, name_of(type));
  }
  return {type, found->second};
}

TensorView TorchStorages::view(const PickleValue& tensor) {
  if (const Items* parameter = arguments_of(tensor, "_rebuild_parameter")) {
    const bool wraps_tensor =
        !parameter->empty() && arguments_of(*parameter->front(), "_rebuild_tensor_v2") != nullptr;
    if (!wraps_tensor) fail("a parameter holds no tensor");
    return view(*parameter->front());
  }
  const Items& recipe = *arguments_of(tensor, "_rebuild_tensor_v2");
  if (recipe.size() < 4) fail("a tensor's recipe is too short");
  const Storage storage = find(*recipe[0]);
  const int64_t offset = integer_of(*recipe[1]);
  const std::vector<int64_t> strides = integers_of(*recipe[3]);
  TensorView view{storage.type, integers_of(*recipe[2]), storage.bytes.data};
  if (strides.size() != view.shape.size()) fail("a tensor has {} strides", strides.size());
  if (checked_bytes(view.shape, view.type) == 0) return view;
  const auto item = static_cast<int64_t>(size_of(view.type));
  check_inside(view.shape, strides, offset, static_cast<int64_t>(storage.bytes.size) / item);
  view.data += offset * item;
  if (!is_row_major(view.shape, strides)) view.data = copy(view, strides);
  return view;
}

const uint8_t* TorchStorages::copy(const TensorView& target, const std::vector<int64_t>& strides) {
  if (target.bytes() > copy_budget_) fail("its tensors repeat more values than the file holds");
  copy_budget_ -= target.bytes();
  const size_t item = size_of(target.type);
  std::vector<uint8_t>& buffer = copies_.emplace_back(target.bytes());
  std::vector<int64_t> index(target.shape.size());
  for (size_t at = 0; at < buffer.size(); at += item) {
    int64_t source = 0;
    for (size_t axis = 0; axis < index.size(); ++axis) source += index[axis] * strides[axis];
    std::memcpy(&buffer[at], target.data + source * static_cast<int64_t>(item), item);
    for (size_t axis = index.size(); axis-- > 0;) {  // count up, the last axis fastest
      if (++index[axis] < target.shape[axis]) break;
      index[axis] = 0;
    }
  }
  return buffer.data();
}

}  // namespace soft
