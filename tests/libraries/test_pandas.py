import pytest
from table import compare, lines, table

pd = pytest.importorskip("pandas")

SETUP = """
import pandas as pd
a = np.array([3.0, 1.0, 2.0])
i = np.array([2, 0, 1])
m = np.array([True, False, True])
X = np.arange(12.0).reshape(4, 3)
s = pd.Series([10.0, 20.0, 30.0], index=list("xyz"))
df = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4, 5, 6]})
big = np.arange(100_000.0)
"""
CALLS = lines("""
s.iloc[m]
s.index[m]
s[m]
s.loc[m]
df[m]
df.loc[m, "a"]
pd.date_range("2020", periods=3)[m]
s.iloc[i]
s.take(i)
df.iloc[i, 0]
df.reindex(i)
df.groupby(a).sum()
df.groupby(i)["a"].mean()
pd.unique(i)
pd.factorize(i)
pd.cut(a, 3)
pd.cut(a, np.array([0.0, 1.5, 4.0]))
pd.qcut(a, 2)
pd.crosstab(i, i)
pd.get_dummies(i)
pd.isna(a)
pd.to_numeric(a)
pd.to_datetime(i)
pd.Categorical(i)
pd.Index(i).get_indexer(i)
pd.MultiIndex.from_arrays([i, i])
pd.IntervalIndex.from_breaks(np.sort(a))
pd.arrays.NumpyExtensionArray(a)
df + a[:2]
s + a
a + s
s * i
a @ s
X.T @ pd.DataFrame(X)
pd.DataFrame(X).T @ np.ones(4)
s.clip(a - 1, a + 1)
s.where(m)
s.mask(m, a)
s.isin(a)
df.isin(a)
df.assign(c=a)
df.apply(lambda c: here(c.values) @ a)
df.agg(np.sum)
df.pivot_table(index="a", values="b", aggfunc=np.mean)
pd.Series(a)
pd.Series(a).values
pd.Series(a, index=i)
pd.Series(np.array(["a", "b"]))
pd.Series(a).rolling(2).mean()
pd.Series(a).interpolate()
pd.Series(a).quantile(np.array([0.1, 0.5]))
pd.Series(a).searchsorted(np.array([1.5]))
pd.Series(a).describe()
pd.Series(a).value_counts()
pd.Series(X[:, 0]).rank()
pd.DataFrame(X, columns=list("abc")).groupby("a").sum()
pd.DataFrame(X).corr()
pd.DataFrame(X).to_csv()
pd.DataFrame({"u": a, "v": i}).sort_values("u")
pd.DataFrame({"u": a, "v": i}).merge(df, left_on="u", right_on="a")
pd.concat([pd.Series(a), s])
pd.DataFrame([{"m": big.mean(), "s": big.std()}])
pd.DataFrame([{"m": big.mean()}]).dtypes
pd.Series([big.sum(), big.max()])
""") + [
    'df["c"] = a\ndf',
    'df.loc[m, "a"] = a[:2]\ndf',
    "s[m] = 0.0\ns",
    "s += a\ns",
    "x = pd.Series(a, copy=False)\na[0] = 7\nx",
    "x = pd.Series(a)\na[0] = 7\nx",
]  # fmt: skip
KNOWN = {
    "pd.arrays.NumpyExtensionArray(a)": "its compiled constructor takes the C type only",
}


@table(CALLS, KNOWN)
def test_pandas(call):
    compare(call, SETUP)
