"""k-means as one writes it in NumPy. Nothing here knows of Plait."""
import numpy as np


def assign(X, means):
    """The index of the nearest mean for every point: X (N, D) and means (K, D) to (N,)."""
    return np.argmin(np.linalg.norm(X - means[:, None], axis=2), axis=0)


def update(X, labels, means):
    """The mean of each group; a group without points keeps its old mean."""
    K, D = means.shape
    count = np.bincount(labels, minlength=K)[:, None]
    total = np.stack([np.bincount(labels, weights=X[:, d], minlength=K) for d in range(D)], axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), means)


def fit(X, means, rounds, progress=lambda i, moved: None):
    """Lloyd's algorithm: means (K, D) and labels (N,) after at most `rounds` rounds."""
    for i in range(rounds):
        labels = assign(X, means)
        new = update(X, labels, means)
        moved = float(np.max(np.abs(new - means)))
        means = new
        progress(i, moved)
        if moved == 0:
            break
    return means, assign(X, means)
