#include "hgt/run/halving.h"

#include <algorithm>
#include <cmath>

namespace hgt {

namespace {

using Members = std::vector<uint64_t>;

// Those of a bracket that go on after a rung, in their order. Requires scores of all.
Members promoted(const Members& members, uint64_t rung, const RungScores& scores) {
  Members best;
  for (const uint64_t trial : members) {
    if (scores.at({trial, rung})) best.push_back(trial);
  }
  std::stable_sort(best.begin(), best.end(), [&](uint64_t a, uint64_t b) {
    return *scores.at({a, rung}) > *scores.at({b, rung});
  });
  const uint64_t places = (members.size() + Halving::kFactor - 1) / Halving::kFactor;
  if (best.size() > places) best.resize(places);
  std::sort(best.begin(), best.end());
  return best;
}

// A bracket's lowest rung that not all of its members have been scored on.
struct OpenRung {
  RungOfTrial next;  // of the members, the first without a score
  Members members;
};

std::optional<OpenRung> open_rung(const Halving& halving, uint64_t first,
                                  const RungScores& scores) {
  Members members;
  for (uint64_t i = 0; i < halving.trials; ++i) members.push_back(first + i);
  for (uint64_t rung = 0; rung < halving.rungs; ++rung) {
    for (const uint64_t trial : members) {
      const RungOfTrial job{trial, rung};
      if (!scores.contains(job)) return OpenRung{job, members};
    }
    members = promoted(members, rung, scores);
  }
  return std::nullopt;
}

std::optional<OpenRung> open_rung(const Halving& halving, const RungScores& scores) {
  for (uint64_t first = 0;; first += halving.trials) {
    const std::optional<OpenRung> open = open_rung(halving, first, scores);
    if (open || !halving.endless) return open;
  }
}

}  // namespace

std::optional<RungOfTrial> next_job(const Halving& halving, const RungScores& scores) {
  const std::optional<OpenRung> open = open_rung(halving, scores);
  if (!open) return std::nullopt;
  return open->next;
}

std::vector<uint64_t> retired(const Halving& halving, const RungScores& scores) {
  const std::optional<OpenRung> open = open_rung(halving, scores);
  const Members still = open ? open->members : Members{};
  Members trials;
  for (const auto& [job, score] : scores) {
    const bool competes = std::binary_search(still.begin(), still.end(), job.trial);
    if (job.rung == 0 && !competes) trials.push_back(job.trial);
  }
  return trials;
}

std::optional<RungOfTrial> leader(const RungScores& scores) {
  std::optional<RungOfTrial> best;
  for (const auto& [job, score] : scores) {
    if (!score) continue;
    const bool higher = !best || job.rung > best->rung;
    if (higher || (job.rung == best->rung && *score > *scores.at(*best))) best = job;
  }
  return best;
}

double share_of_rung(const Halving& halving, uint64_t rung) {
  return std::pow(static_cast<double>(Halving::kFactor),
                  -static_cast<double>(halving.rungs - 1 - rung));
}

uint64_t end_of_rung(const Halving& halving, uint64_t rung, uint64_t steps, uint64_t every) {
  if (rung + 1 >= halving.rungs) return steps;
  const double exact = share_of_rung(halving, rung) * static_cast<double>(steps);
  const auto validations = static_cast<uint64_t>(std::round(exact / static_cast<double>(every)));
  return std::min(steps, std::max<uint64_t>(1, validations) * every);
}

uint64_t validation_interval(const Halving& halving, uint64_t steps, uint64_t asked) {
  const double first = share_of_rung(halving, 0) * static_cast<double>(steps);
  return std::min(asked, std::max<uint64_t>(1, static_cast<uint64_t>(first)));
}

uint64_t draws_of_rung(const Halving& halving, uint64_t rung) {
  constexpr double kRounding = 1e-9;
  const double exact = share_of_rung(halving, rung) * static_cast<double>(halving.draws);
  return static_cast<uint64_t>(std::ceil(exact - kRounding));
}

double work_of_draw(const Halving& halving, uint64_t rung, uint64_t draw) {
  const bool begun = rung > 0 && draw < draws_of_rung(halving, rung - 1);
  return share_of_rung(halving, rung) - (begun ? share_of_rung(halving, rung - 1) : 0);
}

double work_of_bracket(const Halving& halving) {
  double work = 0;
  uint64_t members = halving.trials;
  for (uint64_t rung = 0; rung < halving.rungs; ++rung) {
    for (uint64_t draw = 0; draw < draws_of_rung(halving, rung); ++draw) {
      work += static_cast<double>(members) * work_of_draw(halving, rung, draw);
    }
    members = (members + Halving::kFactor - 1) / Halving::kFactor;
  }
  return work;
}

}  // namespace hgt
