"""Images."""
import numpy

from . import normal, program

np = numpy


@program(lambda rng: (rng.integers(0, 256, (900, 900)).astype("u1"),))
def histogram_equalisation(image):
    cdf = np.cumsum(np.bincount(image.ravel(), minlength=256))
    low = cdf[cdf > 0].min()
    table = np.clip((cdf - low) * 255.0 / (image.size - low), 0, 255).astype(np.uint8)
    return table[image]


@program(lambda rng: (rng.random((300, 300)), rng.random((5, 5))))
def convolution_by_shifts(image, kernel):
    out = np.zeros((296, 296))
    for i in range(5):
        for j in range(5):
            out += kernel[i, j] * image[i:i + 296, j:j + 296]
    return out


@program(normal(400, 400))
def image_gradients(image):
    gx, gy = np.zeros_like(image), np.zeros_like(image)
    gx[:, 1:-1] = (image[:, 2:] - image[:, :-2]) / 2
    gy[1:-1, :] = (image[2:, :] - image[:-2, :]) / 2
    return np.sqrt(gx**2 + gy**2), np.arctan2(gy, gx)


@program(lambda rng: (rng.random((500, 500)),))
def sobel_edges(image):
    gx = image[:-2, 2:] + 2 * image[1:-1, 2:] + image[2:, 2:] - image[:-2, :-2] - 2 * image[1:-1, :-2] - image[2:, :-2]
    gy = image[2:, :-2] + 2 * image[2:, 1:-1] + image[2:, 2:] - image[:-2, :-2] - 2 * image[:-2, 1:-1] - image[:-2, 2:]
    edges = np.hypot(gx, gy)
    return edges > 2 * edges.mean()


@program(lambda rng: (rng.random((200, 200, 3)),))
def bilinear_resize(image):
    h, w = 300, 260
    y, x = np.linspace(0, 199, h), np.linspace(0, 199, w)
    y0, x0 = np.minimum(y.astype(int), 198), np.minimum(x.astype(int), 198)
    fy, fx = (y - y0)[:, None, None], (x - x0)[None, :, None]
    top = image[y0][:, x0] * (1 - fx) + image[y0][:, x0 + 1] * fx
    bottom = image[y0 + 1][:, x0] * (1 - fx) + image[y0 + 1][:, x0 + 1] * fx
    return top * (1 - fy) + bottom * fy


@program(lambda rng: (rng.integers(0, 256, (400, 400)).astype("u1"),))
def otsu_threshold(image):
    h = np.bincount(image.ravel(), minlength=256) / image.size
    weight, mean = np.cumsum(h), np.cumsum(h * np.arange(256))
    with np.errstate(divide="ignore", invalid="ignore"):
        between = (mean[-1] * weight - mean)**2 / (weight * (1 - weight))
    return image > np.nanargmax(between)


@program(normal(500, 500))
def box_blur_by_integral(image):
    s = np.zeros((501, 501))
    s[1:, 1:] = np.cumsum(np.cumsum(image, axis=0), axis=1)
    return (s[9:, 9:] - s[:-9, 9:] - s[9:, :-9] + s[:-9, :-9]) / 81


@program(lambda rng: (rng.integers(0, 256, (256, 256)).astype("u1"),))
def median_filter(image):
    stack = np.stack([image[i:i + 254, j:j + 254] for i in range(3) for j in range(3)])
    return np.median(stack, axis=0)


@program(lambda rng: (rng.random((300, 300)) < 0.3,))
def opening(mask):
    def spread(m, f):
        out = m.copy()
        for dy, dx in ((0, 1), (0, -1), (1, 0), (-1, 0)):
            out = f(out, np.roll(m, (dy, dx), (0, 1)))
        return out

    for _ in range(5):
        mask = spread(spread(mask, np.logical_or), np.logical_and)
    return mask


@program(lambda rng: (rng.random((40, 40)),))
def dithering_of_scalars(image):
    a = image.copy()
    for y in range(a.shape[0] - 1):
        for x in range(1, a.shape[1] - 1):
            old = a[y, x]
            new = 1.0 if old > 0.5 else 0.0
            a[y, x] = new
            e = old - new
            a[y, x + 1] += e * 7 / 16
            a[y + 1, x - 1] += e * 3 / 16
            a[y + 1, x] += e * 5 / 16
            a[y + 1, x + 1] += e / 16
    return a


@program(lambda rng: (rng.integers(0, 256, (600, 800, 3)).astype("u1"),), "middling")
def grey_and_gamma(image):
    grey = 0.299 * image[:, :, 0] + 0.587 * image[:, :, 1] + 0.114 * image[:, :, 2]
    low, high = np.percentile(grey, (2, 98))
    return (255 * np.clip((grey - low) / (high - low), 0, 1)**0.8).astype(np.uint8)


@program(lambda rng: (rng.random((256, 256)),))
def cosine_transform_by_blocks(image):
    k = np.arange(8)
    c = np.cos((2 * k[None, :] + 1) * k[:, None] * np.pi / 16) * np.where(k == 0, np.sqrt(1 / 8), 0.5)[:, None]
    blocks = image.reshape(32, 8, 32, 8).swapaxes(1, 2)
    t = c @ blocks @ c.T
    t = np.where(np.abs(t) > 0.1, t, 0)
    return (c.T @ t @ c).swapaxes(1, 2).reshape(256, 256)
