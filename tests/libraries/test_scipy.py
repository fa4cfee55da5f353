import pytest
from dispatching import outcomes
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


# What SciPy dispatches by the array API standard: as with NumPy's arrays, and Plait's come back.
DISPATCHED = lines("""
stats.pearsonr(t, v)
stats.pearsonr(t, v).confidence_interval()
stats.spearmanr(t, v) 
stats.ttest_1samp(v, 0.5)
stats.ttest_1samp(A, 0.5, axis=1)
stats.ttest_ind(t, v)
stats.ttest_rel(t, v)
stats.ttest_ind_from_stats(two, half, 20, half, half, 20)
stats.zscore(v)
stats.zmap(v, t)
stats.gzscore(C)
stats.gmean(C)
stats.hmean(C, axis=0)
stats.pmean(C, 2)
stats.skew(v)
stats.kurtosis(v)
stats.moment(v, 3)
stats.kstat(v)
stats.kstatvar(v)
stats.variation(v)
stats.skewtest(v)
stats.kurtosistest(v)
stats.normaltest(v)
stats.jarque_bera(v)
stats.describe(v)
stats.sem(v)
stats.tmean(v)
stats.tvar(v)
stats.tstd(v)
stats.tsem(v)
stats.tmin(v)
stats.tmax(v)
stats.iqr(v)
stats.quantile(v, np.array([0.1,0.5]))
stats.chisquare(counts, counts * 0 + 10.5)
stats.power_divergence(counts)
stats.bartlett(t, v)
stats.levene(t, v)
stats.fligner(t, v)
stats.f_oneway(t, v)
stats.mannwhitneyu(t, u)
stats.wilcoxon(v - u)
stats.kruskal(t, v)
stats.friedmanchisquare(t, v, u)
stats.brunnermunzel(t, u)
stats.ks_1samp(u, special.ndtr)
stats.cramervonmises(u, special.ndtr)
stats.cramervonmises_2samp(t, u)
stats.linregress(t, v)
stats.theilslopes(t, v)
stats.siegelslopes(t, v)
stats.entropy(C)
stats.differential_entropy(v)
stats.combine_pvalues(u)
stats.false_discovery_control(u)
stats.rankdata(v)
stats.trim_mean(v, 0.1)
stats.lmoment(v)
stats.mode(i)
stats.expectile(v)
stats.circmean(v)
stats.circvar(v)
stats.circstd(v)
stats.directional_stats(A).mean_direction
stats.bootstrap((v,), lambda x, axis: x.mean(axis), n_resamples=9, rng=0, vectorized=True).standard_error
stats.permutation_test((t, v), lambda x, y, axis: x.mean(axis)-y.mean(axis), n_resamples=9, rng=0, vectorized=True).pvalue
stats.monte_carlo_test(v, lambda size: np.random.default_rng(0).random(size), lambda x, axis: x.mean(axis), n_resamples=9, vectorized=True).pvalue
stats.boxcox_llf(half, C)
stats.yeojohnson_llf(half, v)
stats.gstd(C)
stats.sigmaclip(v)
stats.chatterjeexi(t, v)
stats.ansari(t,u)
stats.mood(t,u)
stats.epps_singleton_2samp(t,u)
special.erf(v)
special.erfc(v)
special.expit(v)
special.logit(u)
special.ndtr(v)
special.ndtri(u)
special.log_ndtr(v)
special.gammaln(C)
special.gammainc(C, C)
special.betainc(C, C, C/9)
special.betaln(C, C)
special.digamma(C)
special.zeta(C+1.5, C)
special.i0(v)
special.i1e(v)
special.entr(u)
special.rel_entr(u, u+1)
special.kl_div(u, u+1)
special.xlogy(u, u)
special.xlog1py(u, u)
special.logsumexp(A, axis=0)
special.logsumexp(A)
special.softmax(A, axis=1)
special.log_softmax(A, axis=1)
special.chdtr(C, C)
special.stdtrit(C+1, u[:25].reshape(5, 5))
fft.fft(v)
fft.rfft(v)
fft.irfft(v)
fft.fft2(A)
fft.fftn(A)
fft.hfft(v)
fft.fftshift(v)
fft.dct(v)
fft.dctn(A)
fft.dst(v)
fft.fht(C[0,:], 0.1, 0.5)
signal.convolve(v, u, mode="same")
signal.fftconvolve(v, u)
signal.oaconvolve(v, u)
signal.correlate(v, u)
signal.hilbert(v)
signal.detrend(v)
signal.resample(v, 20)
signal.lfilter(np.array([1.0,0.5]), np.array([1.0]), v)
signal.filtfilt(np.array([0.5,0.5]), np.array([1.0]), v)
signal.firwin(5, 0.3)
signal.freqz(np.array([1.0,0.5]))
signal.medfilt(v, 3)
signal.wiener(v, 3)
signal.savgol_filter(v, 5, 2)
signal.unit_impulse(5)
signal.sosfilt(np.asarray(signal.butter(2, 0.2, output="sos")), v)
signal.welch(v, nperseg=16)
signal.periodogram(v)
signal.decimate(v, 2)
signal.get_window("hann", 8)
ndimage.gaussian_filter(A, 1.0)
ndimage.sobel(A)
ndimage.label(A > 0)
ndimage.sum_labels(A)
ndimage.center_of_mass(C)
ndimage.zoom(A, 2)
ndimage.median_filter(A, 3)
ndimage.distance_transform_edt(A > 0)
optimize.rosen(v)
optimize.rosen_der(v)
optimize.rosen_hess(v)
elementwise.find_root(lambda x: x**3-2, (half, two)).x
elementwise.find_minimum(lambda x: (x-1)**2, (half, np.asarray(0.9), two)).x
elementwise.bracket_root(lambda x: x-2, half).bracket
integrate.trapezoid(v, t)
integrate.simpson(v, x=t)
integrate.cumulative_trapezoid(v, t)
integrate.cumulative_simpson(v, x=t)
integrate.qmc_quad(lambda x: x.sum(0), [0,0],[1,1], n_estimates=2, n_points=8).integral*0
integrate.tanhsinh(lambda x: x**2, half, two).integral
integrate.nsum(lambda k: 1/k**2, two, np.asarray(8.0)).sum
integrate.cubature(lambda x: x[:,0], np.zeros(1), np.ones(1)).estimate
differentiate.derivative(lambda x: x**3, half).df
differentiate.jacobian(lambda x: x**2, v[:3]).df
cluster.vq.whiten(A)
cluster.vq.vq(A, A[:2])
cluster.vq.kmeans(A, A[:2])
cluster.hierarchy.linkage(A)
cluster.hierarchy.fcluster(cluster.hierarchy.linkage(A), 1.0)
cluster.hierarchy.cophenet(cluster.hierarchy.linkage(A))
cluster.hierarchy.is_monotonic(cluster.hierarchy.linkage(A))
constants.convert_temperature(t, "C", "K")
constants.lambda2nu(t+1)
interpolate.BSpline(np.arange(6.0), np.array([1.0,2.0,0.0]), 2)(np.array([2.5]))
interpolate.AAA(t, v)(half)
interpolate.barycentric_interpolate(t[:4], v[:4], half)
spatial.transform.Rotation.from_rotvec(A[0,:3]).as_matrix()
spatial.transform.Rotation.from_rotvec(A[:,:3]).apply(A[:,:3])
spatial.transform.Rotation.from_quat(A[:, :4]).magnitude()
spatial.distance.cdist(A, A)
linalg.det(S)
linalg.inv(S)
linalg.solve(S, S)
linalg.svd(S)[1]
linalg.eigh(S)[0]
linalg.expm(S)
linalg.lu(S)
linalg.qr(S)
linalg.cholesky(S)
linalg.pinv(S)
linalg.norm(S)
linalg.logm(S)
linalg.block_diag(S,S)
linalg.toeplitz(v[:4])
""")
DISPATCH = SETUP + """
import numpy
from scipy import constants, differentiate
from scipy.optimize import elementwise
i, u, C = np.arange(50), rng.random(50), np.abs(A) + 0.1
half, two = np.asarray(0.5), np.asarray(2.0)
counts = np.array([10.0, 12.0, 9.0, 11.0])
t, v, A, S, b, P, i, u, C = (np.asarray(x) for x in (t, v, A, S, b, P, i, u, C))
"""
# Compiled code, or functions that do not dispatch: NumPy's arrays come back.
NUMPYS = {c for c in DISPATCHED if c.startswith("linalg.") and c not in ("linalg.det(S)", "linalg.norm(S)", "linalg.block_diag(S,S)")} | set(lines("""
signal.firwin(5, 0.3)
signal.unit_impulse(5)
signal.welch(v, nperseg=16)
signal.periodogram(v)
signal.decimate(v, 2)
signal.get_window("hann", 8)
interpolate.AAA(t, v)(half)
interpolate.barycentric_interpolate(t[:4], v[:4], half)
spatial.distance.cdist(A, A)
"""))


@pytest.fixture(scope="module")
def dispatched():
    return outcomes(DISPATCHED, DISPATCH)


@pytest.mark.parametrize("call", DISPATCHED)
def test_dispatched_by_the_array_api(dispatched, call):
    assert dispatched[call] == ("NumPy's" if call in NUMPYS else "")
