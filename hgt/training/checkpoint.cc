#include "hgt/training/checkpoint.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "hgt/disk/json_text.h"
#include "hgt/error.h"
#include "hgt/model/model_file.h"

namespace hgt {

namespace {

constexpr const char* kCheckpointFormat = "hgt checkpoint 1";
constexpr const char* kModelFormat = "hgt model 1";

std::string to_json(const TrainState& state) {
  nlohmann::ordered_json json = {{"step", state.step},
                                 {"best_step", state.best_step},
                                 {"threshold", state.threshold},
                                 {"without_progress", state.without_progress},
                                 {"stopped_early", state.stopped_early},
                                 {"validation_due", state.validation_due},
                                 {"loss_sum", state.loss_sum},
                                 {"loss_count", state.loss_count},
                                 {"seconds", state.seconds},
                                 {"batch_seconds", state.batch_seconds}};
  if (state.best_step > 0) json["best_loss"] = state.best_loss;  // JSON knows no infinity
  return json.dump();
}

TrainState state_from_json(const std::string& text, const std::string& where) {
  try {
    const auto json = parse_json(text);
    TrainState state;
    json.at("step").get_to(state.step);
    json.at("best_step").get_to(state.best_step);
    state.threshold = json.value("threshold", 0.0F);
    json.at("without_progress").get_to(state.without_progress);
    json.at("stopped_early").get_to(state.stopped_early);
    json.at("validation_due").get_to(state.validation_due);
    json.at("loss_sum").get_to(state.loss_sum);
    json.at("loss_count").get_to(state.loss_count);
    json.at("seconds").get_to(state.seconds);
    state.batch_seconds = json.value("batch_seconds", 0.0);
    if (state.best_step > 0) json.at("best_loss").get_to(state.best_loss);
    return state;
  } catch (const nlohmann::json::exception& error) {
    throw Error(fmt::format("{}: cannot read the state of the run: {}", where, error.what()));
  }
}

void check_identity(const TensorFile& file, const std::string& where, const std::string& identity) {
  if (metadata_entry(file, where, "identity") == identity) return;
  throw Error(fmt::format(
      "{}: it belongs to a run with other options or on another graph; choose another folder",
      where));
}

TensorFile open_for(const Path& path, const char* format, const std::string& identity) {
  TensorFile file = TensorFile::open(path);
  const std::string where = path.string();
  const std::string found = metadata_entry(file, where, "format");
  if (found != format) {
    throw Error(fmt::format("{}: its format is '{}', but this version of hgt reads '{}'", where,
                            found, format));
  }
  check_identity(file, where, identity);
  return file;
}

void read_parameters(const TensorFile& file, const std::string& where, TaskModelImpl& model) {
  const torch::NoGradGuard no_gradient;
  for (auto& [name, tensor] : named_parameters(model)) {
    at::Tensor into = tensor;
    read_tensor(file, where, name, into);
  }
}

}  // namespace

namespace {

// The state of the optimizer and the averages, by the names of the parameters that they are of.
NamedTensors tensors_of_loop(const Learner& learner) {
  const NamedTensors parameters = named_parameters(learner.model);
  NamedTensors tensors;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const std::string& name = parameters[i].first;
    tensors.emplace_back("first_moment." + name, learner.optimizer.first_moments()[i]);
    tensors.emplace_back("second_moment." + name, learner.optimizer.second_moments()[i]);
    if (learner.average.is_on()) {
      tensors.emplace_back("average." + name, learner.average.values()[i]);
    }
  }
  return tensors;
}

}  // namespace

void save_checkpoint(const Path& file, const Learner& learner, const TrainState& state,
                     const std::string& identity) {
  NamedTensors tensors = named_parameters(learner.model);
  for (auto& each : tensors_of_loop(learner)) tensors.push_back(std::move(each));
  save_tensors(file, tensors,
               {{"format", kCheckpointFormat},
                {"identity", identity},
                {"optimizer_steps", std::to_string(learner.optimizer.steps())},
                {"state", to_json(state)}});
}

TrainState load_checkpoint(const Path& path, const Learner& learner, const std::string& identity) {
  const std::string where = path.string();
  const TensorFile file = open_for(path, kCheckpointFormat, identity);
  const TrainState state = state_from_json(metadata_entry(file, where, "state"), where);
  read_parameters(file, where, learner.model);
  for (auto& [name, tensor] : tensors_of_loop(learner)) read_tensor(file, where, name, tensor);
  learner.optimizer.set_steps(std::stoull(metadata_entry(file, where, "optimizer_steps")));
  return state;
}

void save_model(const Path& file, const TaskModelImpl& model, const TrainState& state,
                const std::string& identity) {
  save_tensors(file, named_parameters(model),
               {{"format", kModelFormat}, {"identity", identity}, {"state", to_json(state)}});
}

void load_model(const Path& path, TaskModelImpl& model, const std::string& identity) {
  const TensorFile file = open_for(path, kModelFormat, identity);
  read_parameters(file, path.string(), model);
}

TrainState load_state(const Path& path, const std::string& identity) {
  const TensorFile file = TensorFile::open(path);
  check_identity(file, path.string(), identity);
  return state_from_json(metadata_entry(file, path.string(), "state"), path.string());
}

}  // namespace hgt
