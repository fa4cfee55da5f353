import pytest
from table import compare, lines, table

pytest.importorskip("scipy")

SETUP = """
from scipy import cluster, fft, integrate, interpolate, io, linalg, ndimage, optimize, signal, sparse, spatial, special, stats
import scipy.sparse.linalg
rng = np.random.default_rng(0)
t = np.linspace(0.0, 1.0, 50)
v = np.sin(6.0 * t)
A = rng.standard_normal((5, 5))
S = A @ A.T + 5 * np.eye(5)
b = np.arange(5.0)
P = rng.random((30, 2))
"""
CALLS = lines("""
optimize.minimize(lambda x: ((x - b) ** 2).sum(), np.zeros(5)).fun < 1e-9
optimize.minimize(lambda x: np.dot(S @ x, x) / 2 - b @ x, np.zeros(5), jac=lambda x: S @ x - b, method="BFGS").x
optimize.curve_fit(lambda x, p, q: p * np.exp(-q * x), t, 2 * np.exp(-t), p0=np.array([1.0, 0.5]))[0]
optimize.least_squares(lambda p: p[0] * t + p[1] - v, np.zeros(2)).x
optimize.root(lambda x: S @ x - b, np.zeros(5)).x
optimize.brentq(lambda x: np.cos(x) - x, 0.0, 1.0)
optimize.linprog(b, A_ub=-np.eye(5), b_ub=-np.ones(5)).x
optimize.linear_sum_assignment(A)
integrate.solve_ivp(lambda s, x: -x * np.array([1.0, 2.0]), (0.0, 1.0), np.ones(2), t_eval=t[:5]).y
integrate.odeint(lambda x, s: -x, np.ones(2), t)
integrate.quad(lambda x: np.exp(-x), 0.0, 1.0)[0]
integrate.simpson(v, x=t)
integrate.cumulative_trapezoid(v, t)
interpolate.interp1d(t, v)(np.array([0.1, 0.2]))
interpolate.CubicSpline(t, v)(np.array([0.1, 0.2]))
interpolate.RegularGridInterpolator((b, b), A)(np.array([[0.5, 1.5]]))
interpolate.griddata(P, P[:, 0], np.array([[0.5, 0.5]]))
interpolate.splev(t[:3], interpolate.splrep(t, v))
signal.filtfilt(*signal.butter(3, 0.2), v)
signal.convolve(v, np.ones(3), mode="same")
signal.welch(v, nperseg=16)[1]
signal.find_peaks(v)[0]
signal.savgol_filter(v, 5, 2)
fft.rfft(v)
fft.dctn(A)
linalg.solve(S, b)
linalg.eigh(S)[0]
linalg.svd(A)[1]
linalg.lu_solve(linalg.lu_factor(S), b)
linalg.cho_solve(linalg.cho_factor(S), b)
linalg.expm(A)
linalg.norm(A)
linalg.solve_triangular(S, b, lower=True)
linalg.block_diag(S, b)
sparse.csr_array(A).toarray()
sparse.csr_array(S) @ b
b @ sparse.csr_array(S)
sparse.coo_array((b, (np.arange(5), np.arange(5)[::-1]))).toarray()
sparse.diags_array(b).toarray()
sparse.csr_array(S)[np.array([0, 2])].toarray()
sparse.csr_array(S)[b > 2].toarray()
sparse.linalg.spsolve(sparse.csc_array(S), b)
sparse.linalg.cg(S, b)[0]
sparse.linalg.eigsh(S, 2, v0=np.ones(5))[0]
sparse.linalg.LinearOperator((5, 5), matvec=lambda x: S @ x) @ b
spatial.cKDTree(P).query(P[:3], 2)
spatial.distance.cdist(P[:3], P[:4])
spatial.ConvexHull(P).vertices
spatial.Delaunay(P).find_simplex(np.array([[0.5, 0.5]]))
spatial.transform.Rotation.from_rotvec(b[:3]).apply(np.eye(3))
stats.norm.pdf(t, loc=v)[:3]
stats.norm(loc=b.mean(), scale=b.std()).cdf(1.0)
stats.ttest_ind(v, t)
stats.linregress(t, v).slope
stats.gaussian_kde(v)(np.array([0.0]))
stats.pearsonr(t, v)[0]
stats.zscore(v)
stats.describe(v).variance
stats.binned_statistic(t, v, bins=np.array([0.0, 0.5, 1.0])).statistic
ndimage.gaussian_filter(A, 1.0)
ndimage.label(A > 0)
ndimage.map_coordinates(A, np.array([[0.5, 1.5], [1.0, 2.0]]))
ndimage.generic_filter(A, np.sum, 3)
special.erf(v)
special.logsumexp(A, axis=0)
special.softmax(A, axis=1)
cluster.vq.kmeans2(P, P[:3], minit="matrix")[1]
cluster.hierarchy.linkage(P[:6])
""")


@table(CALLS, {})
def test_scipy(call):
    compare(call, SETUP)
