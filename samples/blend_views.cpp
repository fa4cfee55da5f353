// Views alias: two images are blended, darkened at the border and mirrored in place, with the
// slices one would write in NumPy.
#include <iostream>
#include <plait/io.hpp>
#include <plait/plait.hpp>

using plait::all;
using plait::range;
using plait::view;
using plait::placeholders::_;

int main() {
  const int height = 6, width = 8;
  auto x = plait::linspace<float>(0, 1, width);
  auto y = plait::linspace<float>(0, 1, height);

  plait::array<float> image = plait::zeros<float>({height, width});
  image += x;
  image += view(y, all(), plait::newaxis());

  // A window is a view: what is written to it shows in the image.
  auto window = view(image, range(1, -1), range(1, -1));
  window = 0.75 * window + 0.25;
  view(image, 0) *= 0.5;
  view(image, -1) *= 0.5;

  // The right half becomes the mirror image of the left.
  view(image, all(), range(width / 2, _)) = plait::flip(view(image, all(), range(0, width / 2)), 1);

  // Overlapping operands behave as if copied first, as in NumPy.
  view(image, range(1, _)) += view(image, range(0, -1));

  std::cout << image << "\n";
  std::cout << "brightest column: " << plait::argmax(plait::sum(image, {0})).item() << "\n";
  return plait::may_share_memory(window, image) ? 0 : 1;
}
