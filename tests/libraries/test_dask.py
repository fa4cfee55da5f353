import pytest
from table import compare, lines, table

pytest.importorskip("dask.array")

SETUP = """
import dask
import dask.array as da
dask.config.set(scheduler="synchronous")
a = np.array([3.0, 1.0, 2.0, 5.0])
X = np.arange(12.0).reshape(4, 3)
D = da.from_array(X, chunks=2)
"""
CALLS = lines("""
D.compute()
D.sum().compute()
D.mean(axis=0).compute()
D.std().compute()
(D + X).compute()
(X * D).compute()
(D @ np.ones(3)).compute()
(np.ones(4) @ D).compute()
da.asarray(X).sum().compute()
da.from_array(a, chunks=2)[a > 2].compute()
D[np.array([0, 2])].compute()
D[:, np.array([True, False, True])].compute()
da.where(D > 3, X, 0).compute()
da.stack([X, D]).compute()
da.concatenate([X, D]).compute()
D.map_blocks(np.sqrt).compute()
D.map_blocks(lambda b: np.asarray(b) * 2).compute()
da.map_overlap(lambda b: b * 2, D, depth=1).compute()
da.histogram(D, bins=np.array([0.0, 5.0, 12.0]))[0].compute()
da.percentile(D.ravel(), np.array([50.0])).compute()
da.linalg.norm(D).compute()
da.linalg.svd(D.rechunk((2, 3)))[1].compute()
da.tensordot(D, X.T, axes=1).compute()
da.apply_along_axis(np.sum, 0, D).compute()
da.digitize(D, np.array([1.0, 5.0])).compute()
da.isin(D, a).compute()
da.argmax(D, axis=1).compute()
np.sin(D).compute()
np.sum(D).compute()
dask.delayed(np.sum)(X).compute()
dask.compute(X, D.sum())
dask.base.tokenize(a) == dask.base.tokenize(a.copy())
da.reductions.cumsum(D, axis=0).compute()
da.einsum("ij,kj->ik", D, X).compute()
""") + ["out = np.zeros((4, 3))\nD.store(out)\nout"]



@table(CALLS, {})
def test_dask(call):
    compare(call, SETUP)
