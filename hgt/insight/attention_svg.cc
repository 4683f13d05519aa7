// The attention tree as a picture: a column of boxes per step, and bands as wide as shares or
// means.
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
constexpr double kFullBand = 160;  // the height of a band of attention 1
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

// A branch, or all that are not shown of one, with its place.
struct Box {
  std::string label;       // "venue 31.2 % via publishes"
  std::string title = {};  // "paper <- venue: 31.2 %"
  std::string path;        // "paper <- venue"
  double band = 0;         // the height of the band that leads to it
  bool rest = false;       // stands for several branches that are not shown
  uint32_t column = 0;
  double middle = 0;  // y
  double height = 0;
  std::vector<Box> children = {};
};

// What all bands to the children take of their parent's edge.
double bands_of(const Box& box) {
  double sum = 0;
  for (const Box& child : box.children) sum += child.band;
  return sum;
}

class Boxes {
 public:
  explicit Boxes(AttentionForm form) : form_(form) {}

  Box root(const ShownBranch& root) const {
    Box box{.label = root.type, .title = root.type, .path = root.type};
    // Means have no whole that the root could stand for.
    if (form_ == AttentionForm::shares) {
      box.title += ": " + attention_text(form_, root.attention);
      box.band = kFullBand * root.attention;
    }
    add_children(root, box);
    return box;
  }

 private:
  void add_children(const ShownBranch& branch, Box& box) const {
    for (const ShownBranch& child : branch.children) {
      const std::string number = attention_text(form_, child.attention);
      Box below{.label = fmt::format("{} {} via {}", child.type, number, child.relation),
                .path = box.path + " <- " + child.type,
                .band = kFullBand * child.attention,
                .column = box.column + 1};
      below.title = below.path + ": " + number;
      add_children(child, below);
      box.children.push_back(std::move(below));
    }
    if (branch.left_out > 0) box.children.push_back(rest(branch, box));
  }

  Box rest(const ShownBranch& branch, const Box& above) const {
    const std::string number = attention_text(form_, branch.others);
    return {.label = fmt::format("{} {}", others_words(form_, branch), number),
            .title = above.path + " <- others: " + number,
            .path = above.path + " <- others",
            .band = kFullBand * branch.others,
            .rest = true,
            .column = above.column + 1};
  }

  AttentionForm form_;
};

// Children below one another from `top` on, their parent beside their middle. Returns where the
// next box may begin.
double place(Box& box, double top) {
  box.height = std::max({kBoxHeight, box.band, bands_of(box)});
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
    // Bands leave their parent below one another, around its middle.
    double from = box.middle - bands_of(box) / 2;
    for (const Box& child : box.children) {
      draw_band(child, from);
      from += child.band;
      draw(child);
    }
  }

  void draw_box(const Box& box) {
    const double left = edges_[box.column];
    boxes_ += fmt::format(
        "<g class=\"attention-{}\"><title>{}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" "
        "width=\"{:.1f}\" height=\"{:.1f}\" rx=\"4\"/><text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>"
        "</g>\n",
        box.rest ? "others" : "box", xml_escaped(box.title), left, box.middle - box.height / 2,
        widths_[box.column], box.height, left + kPadding, box.middle + kFontSize / 3,
        xml_escaped(box.label));
  }

  // From the right edge of the column before to the left edge of the child.
  void draw_band(const Box& child, double start) {
    const double thick = child.band;
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
  Box root = Boxes(tree.form).root(tree.root);
  const double height = place(root, kMargin) - kRowGap + kMargin;
  const Picture picture(root);
  const std::string type = xml_escaped(tree.root.type);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"attention\" role=\"img\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "style=\"max-width:100%;height:auto\">\n"
      "<title>Meta relation attention of {2}</title>\n"
      "<desc>{3}, over {4} {5}, {6} {7}. Bands are as wide as {8}.</desc>\n"
      "<style>{9}</style>\n{10}</svg>\n",
      picture.width(), height, type,
      tree.form == AttentionForm::shares
          ? fmt::format("Where the attention that reaches {} comes from", type)
          : "The mean attention of the edges of each meta relation",
      tree.layers, tree.layers == 1 ? "layer" : "layers", tree.examples,
      tree.examples == 1 ? "example" : "examples", to_string(tree.form), kStyle,
      picture.elements());
}

}  // namespace hgt
