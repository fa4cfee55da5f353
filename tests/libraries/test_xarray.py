import pytest
from table import compare, lines, table

pytest.importorskip("xarray")

SETUP = """
import xarray as xr
a = np.array([3.0, 1.0, 2.0, 5.0])
i = np.array([2, 0, 1])
X = np.arange(12.0).reshape(4, 3)
da = xr.DataArray(X, dims=("x", "y"), coords={"x": np.arange(4.0), "y": np.array([10, 20, 30])})
ds = xr.Dataset({"u": da, "v": ("x", a)})
"""
CALLS = lines("""
xr.DataArray(a, dims="t")
xr.DataArray(a, dims="t").values
da
ds
da.interp(x=np.array([0.5, 1.5]))
da.interp(x=np.linspace(0.0, 3.0, 5), y=15)
da.sel(x=np.array([0, 2]))
da.sel(x=np.array([0.4, 1.6]), method="nearest")
da.isel(y=i)
da[a > 2]
da[X > 3]  # raises
da.where(X > 3)
da + X
X * da
xr.dot(da, xr.DataArray(a, dims="x"))
np.asarray(da).sum()
da.mean("x")
da.reduce(np.sum, "x")
xr.apply_ufunc(np.sqrt, da)
np.sqrt(da)
xr.where(da > 3, X, 0)
xr.concat([da, da], "z")
da.groupby("y").map(lambda g: g + g.mean())
da.groupby_bins("x", np.array([0.0, 1.5, 3.0])).mean()
da.rolling(x=2).mean()
da.coarsen(x=2).mean()
da.cumsum("x")
da.quantile(np.array([0.25, 0.5]), "x")
da.polyfit("x", 1).polyfit_coefficients
da.assign_coords(x=a).sortby("x")
da.stack(z=("x", "y"))
da.pad(x=1)
da.dot(da)
da.isin(a)
ds.mean()
ds.to_dataframe()
ds.assign(w=("x", a * 2))
da.to_series()
""") + ["da[0] = a[:3]\nda", "da.values[0] = 9\nda", "da.loc[{'y': 20}] = a\nda"]


@table(CALLS, {})
def test_xarray(call):
    compare(call, SETUP)
