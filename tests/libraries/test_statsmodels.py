import pytest
from table import compare, lines, table

pytest.importorskip("statsmodels")

SETUP = """
import pandas as pd
import statsmodels.api as sm
import statsmodels.formula.api as smf
from statsmodels.stats import diagnostic, stattools, weightstats
from statsmodels.tsa import seasonal, stattools as tsa
rng = np.random.default_rng(0)
x = rng.standard_normal((80, 2))
X = sm.add_constant(x)
y = x @ np.array([1.0, -2.0]) + 0.1 * rng.standard_normal(80)
c = (y > 0.3 * rng.standard_normal(80)).astype(float)
w = np.abs(x[:, 0]) + 0.1
df = pd.DataFrame({"y": y, "u": x[:, 0], "v": x[:, 1]})
"""
CALLS = lines("""
sm.add_constant(x)[:3]
sm.OLS(y, X).fit().params
sm.OLS(y, X).fit().conf_int()
sm.OLS(y, X).fit().predict(X[:3])
sm.OLS(y, X).fit().get_robustcov_results().bse
sm.OLS(y, X).fit().f_test(np.eye(3)).fvalue
str(sm.OLS(y, X).fit().summary().tables[1])
sm.WLS(y, X, weights=w).fit().params
sm.GLS(y, X, sigma=w).fit().params
sm.GLM(c, X, family=sm.families.Binomial()).fit().params
sm.Logit(c, X).fit(disp=0).params
sm.Poisson(c, X).fit(disp=0).params
sm.RLM(y, X).fit().params
sm.QuantReg(y, X).fit(q=0.5).params
smf.ols("y ~ u + v", df).fit().params
smf.ols("y ~ np.exp(u)", df).fit().params
sm.nonparametric.lowess(y, x[:, 0])[:3]
sm.nonparametric.KDEUnivariate(y).fit().density[:3]
sm.tsa.ARIMA(y, order=(1, 0, 0)).fit().params
tsa.acf(y, nlags=4)
tsa.adfuller(y)[0]
seasonal.seasonal_decompose(y, period=4).trend[4:8]
stattools.durbin_watson(y)
stattools.jarque_bera(y)
diagnostic.het_breuschpagan(y, X)
weightstats.ttest_ind(y, y + w)
weightstats.DescrStatsW(y, weights=w).std
sm.stats.multipletests(np.array([0.01, 0.04, 0.5]))[1]
sm.distributions.ECDF(y)(np.array([0.0, 1.0]))
""")


@table(CALLS, {})
def test_statsmodels(call):
    compare(call, SETUP)
