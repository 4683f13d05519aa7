// The attention tree as a picture: a column of boxes per step, and bands as wide as shares.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "hgt/insight/attention_rendering.h"

namespace hgt {

namespace {

// In the units of the viewBox. Letters are of one width, so labels fit into their boxes.
constexpr double kLetter = 7.3;
constexpr double kFontSize = 12;
constexpr double kPadding = 8;  // in a box, left and right of its label
constexpr double kBoxHeight = 22;
constexpr double kRowGap = 6;      // between boxes
constexpr double kBandWidth = 90;  // between columns
constexpr double kFullBand = 160;  // the height of a band of share 1
constexpr double kMargin = 10;

std::string xml_escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '&':
        escaped += "&amp;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += byte < 0x20U ? ' ' : c;  // XML has no other control characters
    }
  }
  return escaped;
}

std::string percentage(double share) { return fmt::format("{:.1f} %", 100 * share); }

// A branch, or all that are not shown of one, with its place.
struct Box {
  std::string label;  // "venue 31.2 % via publishes"
  std::string path;   // "paper <- venue"
  double share = 0;
  bool rest = false;  // stands for several branches that are not shown
  uint32_t column = 0;
  double middle = 0;  // y
  double height = 0;
  std::vector<Box> children = {};
};

Box rest_box(const ShownBranch& parent, const Box& above) {
  return {.label = fmt::format("{} {}", parent.others_words(), percentage(parent.others)),
          .path = above.path + " <- others",
          .share = parent.others,
          .rest = true,
          .column = above.column + 1};
}

Box box_of(const ShownBranch& branch, const std::string& path, uint32_t column) {
  Box box{.label = branch.relation.empty() ? branch.type
                                           : fmt::format("{} {} via {}", branch.type,
                                                         percentage(branch.share), branch.relation),
          .path = path,
          .share = branch.share,
          .column = column};
  for (const ShownBranch& child : branch.children) {
    box.children.push_back(box_of(child, path + " <- " + child.type, column + 1));
  }
  if (branch.left_out > 0) box.children.push_back(rest_box(branch, box));
  return box;
}

// Children below one another from `top` on, their parent beside their middle. Returns where the
// next box may begin.
double place(Box& box, double top) {
  box.height = std::max(kBoxHeight, kFullBand * box.share);
  double below = top;
  for (Box& child : box.children) below = place(child, below);
  const double bottom = std::max(below, top + box.height + kRowGap);
  // Children that are lower than their parent stand in its middle.
  const double shift = (bottom - below) / 2;
  if (shift > 0 && !box.children.empty()) {
    double from = top + shift;
    for (Box& child : box.children) from = place(child, from);
  }
  box.middle = (top + bottom - kRowGap) / 2;
  return bottom;
}

size_t letters_in(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
  }));
}

// [columns] the width of the widest label.
void measure(const Box& box, std::vector<double>& widths) {
  if (box.column >= widths.size()) widths.resize(box.column + size_t{1}, 0);
  const double width = kLetter * static_cast<double>(letters_in(box.label)) + 2 * kPadding;
  widths[box.column] = std::max(widths[box.column], width);
  for (const Box& child : box.children) measure(child, widths);
}

// [columns + 1] the left edges of columns; then where one more would be.
std::vector<double> left_edges(const std::vector<double>& widths) {
  std::vector<double> edges = {kMargin};
  for (const double width : widths) edges.push_back(edges.back() + width + kBandWidth);
  return edges;
}

class Picture {
 public:
  explicit Picture(const Box& root) {
    measure(root, widths_);
    edges_ = left_edges(widths_);
    draw(root);
  }
  double width() const { return edges_.back() - kBandWidth + kMargin; }
  std::string elements() const { return bands_ + boxes_; }

 private:
  void draw(const Box& box) {
    draw_box(box);
    // Bands leave their parent below one another, in as much of its edge as its share is high.
    double from = box.middle - kFullBand * box.share / 2;
    for (const Box& child : box.children) {
      const double thick = kFullBand * child.share;
      draw_band(child, from, thick);
      from += thick;
      draw(child);
    }
  }

  void draw_box(const Box& box) {
    const double left = edges_[box.column];
    boxes_ += fmt::format(
        "<g class=\"attention-{}\"><title>{}: {}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" "
        "width=\"{:.1f}\" height=\"{:.1f}\" rx=\"4\"/><text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>"
        "</g>\n",
        box.rest ? "others" : "box", xml_escaped(box.path), percentage(box.share), left,
        box.middle - box.height / 2, widths_[box.column], box.height, left + kPadding,
        box.middle + kFontSize / 3, xml_escaped(box.label));
  }

  // From the right edge of the column before to the left edge of the child.
  void draw_band(const Box& child, double start, double thick) {
    const double right = edges_[child.column];
    const double left = right - kBandWidth;
    const double bend = (left + right) / 2;
    const double end = child.middle - thick / 2;
    bands_ += fmt::format(
        "<path class=\"attention-link\" d=\"M{0:.1f} {1:.2f}C{2:.1f} {1:.2f} {2:.1f} {3:.2f} "
        "{4:.1f} {3:.2f}V{5:.2f}C{2:.1f} {5:.2f} {2:.1f} {6:.2f} {0:.1f} {6:.2f}Z\"/>\n",
        left, start, bend, end, right, end + thick, start + thick);
  }

  std::vector<double> widths_;
  std::vector<double> edges_;
  std::string bands_;
  std::string boxes_;
};

// A declaration with a variable follows a plain one for readers that know no variables.
constexpr const char* kStyle =
    ".attention text{font:12px ui-monospace,'DejaVu Sans Mono',monospace;fill:#14263d;"
    "fill:var(--attention-ink,#14263d)}"
    ".attention-box rect{fill:#cfe0f5;fill:var(--attention-box,#cfe0f5)}"
    ".attention-others rect{fill:#e3e5e8;fill:var(--attention-others,#e3e5e8)}"
    ".attention rect{stroke:currentColor;stroke-opacity:.35}"
    ".attention-link{fill:#4f8ac9;fill:var(--attention-link,#4f8ac9);fill-opacity:.5;"
    "stroke:#4f8ac9;stroke:var(--attention-link,#4f8ac9);stroke-opacity:.5;stroke-width:.5}";

}  // namespace

std::string to_svg(const ShownTree& tree) {
  Box root = box_of(tree.root, tree.root.type, 0);
  const double height = place(root, kMargin) - kRowGap + kMargin;
  const Picture picture(root);
  const std::string type = xml_escaped(tree.root.type);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"attention\" role=\"img\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "style=\"max-width:100%;height:auto\">\n"
      "<title>Meta relation attention of {2}</title>\n"
      "<desc>Where the attention that reaches {2} comes from, over {3} {4}, mean of {5} {6}. Bands "
      "are as wide as shares.</desc>\n"
      "<style>{7}</style>\n{8}</svg>\n",
      picture.width(), height, type, tree.layers, tree.layers == 1 ? "layer" : "layers",
      tree.examples, tree.examples == 1 ? "example" : "examples", kStyle, picture.elements());
}

}  // namespace hgt
