import pytest
from dispatching import outcomes
from table import compare, lines, table

pytest.importorskip("sklearn")

SETUP = """
import sklearn
from sklearn import cluster, compose, decomposition, ensemble, gaussian_process, impute, inspection, linear_model, metrics, mixture
from sklearn import model_selection, neighbors, pipeline, preprocessing, svm, tree
rng = np.random.default_rng(0)
X = rng.standard_normal((60, 4))
y = (X[:, 0] > 0).astype(int)
z = X @ np.array([1.0, 2.0, 0.0, -1.0])
w = np.abs(X[:, 1])
"""
CALLS = lines("""
linear_model.LinearRegression().fit(X, z).coef_
linear_model.Ridge().fit(X, z, sample_weight=w).predict(X[:5])
linear_model.LogisticRegression().fit(X, y).predict_proba(X[:5])
linear_model.RidgeCV(alphas=np.logspace(-2, 2, 5)).fit(X, z).alpha_
linear_model.LassoCV(alphas=np.logspace(-2, 0, 3)).fit(X, z).alpha_
cluster.KMeans(3, n_init=1, random_state=0).fit(X).cluster_centers_
cluster.KMeans(3, init=X[:3], n_init=1).fit(X).labels_
cluster.DBSCAN(1.0).fit_predict(X)
decomposition.PCA(2).fit_transform(X)
ensemble.RandomForestClassifier(5, random_state=0).fit(X, y).predict(X)
tree.DecisionTreeRegressor(random_state=0).fit(X, z).feature_importances_
svm.SVC(C=np.float64(2.0)).fit(X, y).dual_coef_
neighbors.KNeighborsClassifier().fit(X, y).predict(X[:10])
neighbors.NearestNeighbors(n_neighbors=2).fit(X).kneighbors(X[:3])
mixture.GaussianMixture(2, means_init=X[:2], random_state=0).fit(X).means_
gaussian_process.GaussianProcessRegressor().fit(X[:10], z[:10]).predict(X[10:12])
preprocessing.StandardScaler().fit_transform(X)
preprocessing.PolynomialFeatures().fit_transform(X[:3])
preprocessing.OneHotEncoder().fit_transform(y[:, None]).toarray()
preprocessing.LabelEncoder().fit_transform(np.array(["b", "a", "b"]))
preprocessing.FunctionTransformer(np.log1p).fit_transform(w[:, None])
impute.SimpleImputer().fit_transform(np.where(X > 2, np.nan, X))
pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.Ridge()).fit(X, z).predict(X[:3])
compose.ColumnTransformer([("s", preprocessing.StandardScaler(), [0, 1])]).fit_transform(X)
model_selection.GridSearchCV(linear_model.LogisticRegression(), {"C": np.logspace(-1, 1, 3)}).fit(X, y).best_params_
model_selection.GridSearchCV(linear_model.Ridge(), {"alpha": np.array([0.1, 1.0])}).fit(X, z).cv_results_["mean_test_score"]
model_selection.RandomizedSearchCV(linear_model.Ridge(), {"alpha": np.logspace(-1, 1, 9)}, n_iter=3, random_state=0).fit(X, z).best_params_
list(model_selection.ParameterGrid({"C": np.array([1.0, 2.0])}))
model_selection.validation_curve(linear_model.Ridge(), X, z, param_name="alpha", param_range=np.logspace(-1, 1, 3))[1]
model_selection.learning_curve(linear_model.Ridge(), X, z, train_sizes=np.linspace(0.3, 1.0, 3))[0]
model_selection.train_test_split(X, y, random_state=0, stratify=y)
model_selection.cross_val_score(linear_model.LogisticRegression(), X, y)
[a.tolist() for a, b in model_selection.KFold(3).split(X)]
metrics.accuracy_score(y, y[::-1])
metrics.confusion_matrix(y, y[::-1])
metrics.roc_auc_score(y, X[:, 0])
metrics.classification_report(y, y[::-1])
metrics.r2_score(z, z + 1)
metrics.mean_squared_error(z, z + w)
metrics.pairwise_distances(X[:4], metric="cosine")
metrics.pairwise.rbf_kernel(X[:4], gamma=X.var())
metrics.silhouette_score(X, y)
inspection.permutation_importance(linear_model.Ridge().fit(X, z), X, z, n_repeats=2, random_state=0).importances_mean
sklearn.utils.resample(X, random_state=0)
sklearn.utils.check_array(X)
sklearn.base.clone(linear_model.RidgeCV(alphas=np.logspace(-2, 2, 5))).fit(X, z).alpha_
linear_model.Ridge(alpha=X.var()).fit(X, z).coef_
""")


@table(CALLS, {})
def test_sklearn(call):
    compare(call, SETUP)


# What scikit-learn dispatches by the array API standard: as with NumPy's arrays, and Plait's come back.
DISPATCHED = lines("""
linear_model.LogisticRegression(solver="lbfgs").fit(X, y).predict_proba(X[:5])
linear_model.LogisticRegression(solver="lbfgs").fit(X, y).predict(X[:5])
linear_model.LogisticRegression(solver="lbfgs").fit(X, y).coef_
linear_model.Ridge(solver="svd").fit(X, z).coef_
linear_model.Ridge(solver="svd").fit(X, z, sample_weight=w).predict(X[:5])
linear_model.RidgeCV(alphas=[0.1,1.0]).fit(X, z).coef_
linear_model.RidgeClassifier(solver="svd").fit(X, y).predict(X)
linear_model.RidgeClassifierCV().fit(X, y).predict(X)
linear_model.LinearRegression().fit(X, z).coef_
naive_bayes.GaussianNB().fit(X, y).predict_proba(X[:5])
decomposition.PCA(2, svd_solver="full").fit_transform(X)
decomposition.PCA(2, svd_solver="covariance_eigh").fit_transform(X)
decomposition.PCA(2, svd_solver="randomized", power_iteration_normalizer="QR", random_state=0).fit(X).explained_variance_
decomposition.PCA(2).fit(X).inverse_transform(X[:3,:2])
discriminant_analysis.LinearDiscriminantAnalysis(solver="svd").fit(X, y).predict(X)
discriminant_analysis.LinearDiscriminantAnalysis(solver="svd").fit(X, y).coef_
mixture.GaussianMixture(2, init_params="random", random_state=0).fit(X).means_
mixture.GaussianMixture(2, init_params="random_from_data", random_state=0, covariance_type="diag").fit(X).predict(X)
preprocessing.StandardScaler().fit_transform(X)
preprocessing.StandardScaler().fit(X, sample_weight=w).mean_
preprocessing.MinMaxScaler().fit_transform(X)
preprocessing.MaxAbsScaler().fit_transform(X)
preprocessing.Normalizer().fit_transform(X)
preprocessing.Binarizer(threshold=0.5).fit_transform(X)
preprocessing.KernelCenterer().fit_transform(X @ X.T)
preprocessing.LabelEncoder().fit_transform(y)
preprocessing.LabelBinarizer().fit_transform(y)
preprocessing.PolynomialFeatures(2).fit_transform(X)
preprocessing.QuantileTransformer(n_quantiles=5).fit_transform(X)
preprocessing.FunctionTransformer().fit_transform(X)
kernel_approximation.Nystroem(n_components=5, random_state=0).fit_transform(X)
pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.Ridge(solver="svd")).fit(X, z).predict(X[:3])
model_selection.cross_val_score(linear_model.LogisticRegression(), X, y)
model_selection.cross_val_score(linear_model.Ridge(solver="svd"), X, z)
model_selection.cross_val_predict(linear_model.LinearRegression(), X, z)
model_selection.GridSearchCV(linear_model.Ridge(solver="svd"), {"alpha": [0.1, 1.0]}).fit(X, z).best_params_
model_selection.train_test_split(X, y, random_state=0)
metrics.accuracy_score(y, y[::-1])
metrics.zero_one_loss(y, y[::-1])
metrics.balanced_accuracy_score(y, y[::-1])
metrics.cohen_kappa_score(y, y[::-1])
metrics.confusion_matrix(y, y[::-1])
metrics.multilabel_confusion_matrix(y, y[::-1])
metrics.f1_score(y, y[::-1])
metrics.fbeta_score(y, y[::-1], beta=2.0)
metrics.precision_score(y, y[::-1])
metrics.recall_score(y, y[::-1])
metrics.jaccard_score(y, y[::-1])
metrics.hamming_loss(y, y[::-1])
metrics.log_loss(y, P)
metrics.brier_score_loss(y, P)
metrics.roc_curve(y, P)[0]
metrics.roc_auc_score(y, P)
metrics.precision_recall_curve(y, P)[0]
metrics.average_precision_score(y, P)
metrics.det_curve(y, P)[0]
metrics.auc(unit[:5], z[:5])
metrics.d2_brier_score(y, P)
metrics.d2_log_loss_score(y, P)
metrics.hinge_loss(y, P)
metrics.ndcg_score(y[None,:], P[None,:])
metrics.dcg_score(y[None,:], P[None,:])
metrics.matthews_corrcoef(y, y[::-1])
metrics.class_likelihood_ratios(y, y[::-1])
metrics.calinski_harabasz_score(X, y)
metrics.davies_bouldin_score(X, y)
metrics.r2_score(z, z + 1)
metrics.mean_squared_error(z, z + w)
metrics.root_mean_squared_error(z, z + w)
metrics.mean_absolute_error(z, z + w)
metrics.median_absolute_error(z, z + w)
metrics.max_error(z, z + w)
metrics.mean_absolute_percentage_error(z, z + w)
metrics.mean_squared_log_error(w, w + 1)
metrics.root_mean_squared_log_error(w, w + 1)
metrics.mean_gamma_deviance(w, w + 1)
metrics.mean_poisson_deviance(w, w + 1)
metrics.mean_tweedie_deviance(w, w + 1)
metrics.mean_pinball_loss(z, z + w)
metrics.explained_variance_score(z, z + w)
metrics.d2_tweedie_score(w, w + 1)
metrics.d2_absolute_error_score(z, z + w)
metrics.d2_pinball_score(z, z + w)
metrics.pairwise.additive_chi2_kernel(w[:4,None], w[:3,None])
metrics.pairwise.chi2_kernel(w[:4,None], w[:3,None])
metrics.pairwise.cosine_similarity(X[:4])
metrics.pairwise.cosine_distances(X[:4])
metrics.pairwise.pairwise_distances(X[:4], metric="euclidean")
metrics.pairwise.euclidean_distances(X[:4])
metrics.pairwise.linear_kernel(X[:4])
metrics.pairwise.laplacian_kernel(X[:4])
metrics.pairwise.manhattan_distances(X[:4])
metrics.pairwise.paired_cosine_distances(X[:4], X[4:8])
metrics.pairwise.paired_euclidean_distances(X[:4], X[4:8])
metrics.pairwise.polynomial_kernel(X[:4])
metrics.pairwise.rbf_kernel(X[:4], gamma=0.5)
metrics.pairwise.sigmoid_kernel(X[:4])
""")
DISPATCH = SETUP + """
from sklearn import discriminant_analysis, kernel_approximation, naive_bayes
sklearn.set_config(array_api_dispatch=True)
P, unit = 1 / (1 + np.exp(-X[:, 0])), np.linspace(0, 1, 60)
"""
NUMPYS = set(lines("""
model_selection.cross_val_score(linear_model.LogisticRegression(), X, y)
model_selection.cross_val_score(linear_model.Ridge(solver="svd"), X, z)
"""))  # lists of Python's numbers, which scikit-learn makes an array of


@pytest.fixture(scope="module")
def dispatched():
    return outcomes(DISPATCHED, DISPATCH)


@pytest.mark.parametrize("call", DISPATCHED)
def test_dispatched_by_the_array_api(dispatched, call):
    assert dispatched[call] == ("NumPy's" if call in NUMPYS else "")
