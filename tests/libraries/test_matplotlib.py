import pytest
from table import compare, lines, table

pytest.importorskip("matplotlib").use("agg")

SETUP = """
import matplotlib.pyplot as plt
from matplotlib import cm, colors, path, transforms
x = np.linspace(0.0, 6.0, 40)
y = np.sin(x)
Z = np.outer(y, y)
rgb = (np.abs(np.stack([Z, Z.T, Z * Z], axis=-1)) * 255).astype(np.uint8)
plt.close("all")
fig, ax = plt.subplots(figsize=(2, 2), dpi=50)
def drawn(*_):
    fig.canvas.draw()
    return numpy.array(fig.canvas.buffer_rgba())
import numpy
"""
CALLS = lines("""
drawn(ax.plot(x, y))
drawn(ax.plot(x, Z))
drawn(ax.plot(y))
drawn(ax.scatter(x, y, c=y, s=np.abs(y) * 20))
drawn(ax.bar(np.arange(5), y[:5], yerr=np.abs(y[:5])))
drawn(ax.errorbar(x, y, yerr=y.std()))
drawn(ax.hist(y, bins=np.linspace(-1.0, 1.0, 9)))
ax.hist(y, bins=5)[:2]
drawn(ax.hist2d(x, y))
drawn(ax.imshow(Z, vmin=Z.min(), vmax=Z.max()))
drawn(ax.imshow(rgb))
drawn(ax.contourf(x, x, Z, levels=np.linspace(-1.0, 1.0, 5)))
drawn(ax.pcolormesh(x, x, Z))
drawn(ax.fill_between(x, y, where=y > 0))
drawn(ax.quiver(x[:5], y[:5], y[:5], x[:5]))
drawn(ax.contour(x, x, Z))
drawn(ax.boxplot([y, x]))
drawn(ax.violinplot(Z[:, :3]))
drawn(ax.stem(x, y))
drawn(ax.step(x, y))
drawn(ax.set_xticks(np.arange(3)))
drawn(ax.set_xlim(x.min(), x.max()), ax.axhline(y.mean()))
drawn(ax.add_patch(plt.Polygon(np.array([[0.0, 0.0], [0.5, 1.0], [1.0, 0.0]]))))
drawn(ax.tricontourf(x, y, y))
ax.plot(x, y)[0].get_ydata() * 1
cm.viridis(np.abs(y))
colors.Normalize()(y)
colors.to_rgba(np.array([0.1, 0.2, 0.3]))
path.Path(np.eye(2)).contains_points(np.array([[0.2, 0.2]]))
transforms.Affine2D(np.eye(3)).transform(np.eye(2))
plt.colorbar(ax.imshow(Z)).vmin
""")


@table(CALLS, {})
def test_matplotlib(call):
    compare(call, SETUP)
