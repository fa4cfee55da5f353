import pytest
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
