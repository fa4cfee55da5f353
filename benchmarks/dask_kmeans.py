"""K-means of points in a file by Dask's tasks on one worker process: Plait's chunks beside NumPy's and one Plait process.

    python benchmarks/dask_kmeans.py                            # 200 million points, twice the memory that the worker may use
    python benchmarks/dask_kmeans.py --points 4e6 --rounds 3    # all of it in seconds
    python benchmarks/dask_kmeans.py --impl plait,process       # leaves out NumPy's chunks, which take minutes

The program is the same for all: read a chunk of the file, assign each point to the nearest mean, sum the points of each. `process` and
`numpy-process` are the loop over the same chunks without Dask; `memory` is one Plait process that holds all points, which no worker with
that limit can. A round is one step of the algorithm by each in turn. Printed: the machine, seconds of the first and the median round,
their spread, and the speed against one Plait process.
"""

import argparse
import os
import pathlib
import statistics
import tempfile
import time

import numpy

import plait

WRITTEN = 1_000_000  # points at a time


def read(np, path, begin, end, dims):
    x = np.empty((end - begin, dims), numpy.float32)
    with open(path, "rb", buffering=0) as file:
        file.seek(begin * dims * x.itemsize)
        file.readinto(x)
    return x


def step(np, X, means):
    """The sums of the points nearest to each mean, and how many there are."""
    labels = np.argmin(np.linalg.norm(X - means[:, None], axis=2), axis=0)
    sums = np.zeros_like(means)
    np.add.at(sums, labels, X)
    return np.concatenate([sums, np.bincount(labels, minlength=len(means))[:, None]], axis=1).astype("f8")[None]


def sums_of_chunk(X, np, means):
    return step(np, X, np.asarray(means))


def moved(sums):
    sums = numpy.asarray(sums)
    return (sums[..., :-1] / numpy.maximum(sums[..., -1:], 1)).astype("f4")


def by_dask(np, path, bounds, dims):
    import dask.array as da
    from dask import delayed

    load = delayed(read, pure=True)
    chunks = [da.from_delayed(load(np, path, b, e, dims), (e - b, dims), meta=np.empty((0, dims), "f4")) for b, e in bounds]
    points = da.concatenate(chunks)

    def once(means):
        sums = points.map_blocks(sums_of_chunk, np=np, means=means, chunks=((1,) * len(bounds), (len(means),), (dims + 1,)),
                                 new_axis=2, meta=np.empty((0, 0, 0), "f8")).sum(axis=0)
        return moved((plait.dask.fuse(sums) if np is plait else sums).compute())

    return once


def by_loop(np, path, bounds, dims):
    def once(means):
        total = 0
        for begin, end in bounds:
            total = total + numpy.asarray(step(np, read(np, path, begin, end, dims), np.asarray(means)))[0]
        return moved(total)

    return once


def in_memory(path, bounds, dims):
    X = read(plait, path, 0, bounds[-1][1], dims)
    return lambda means: moved(step(plait, X, plait.asarray(means))[0])


def write(path, points, dims, clusters):
    rng = numpy.random.default_rng(0)
    centres = rng.normal(scale=4, size=(clusters, dims)).astype("f4")
    with open(path, "wb") as file:
        for begin in range(0, points, WRITTEN):
            n = min(WRITTEN, points - begin)
            file.write(centres[rng.integers(0, clusters, n)] + rng.standard_normal((n, dims), "f4"))
    return centres + rng.normal(scale=0.5, size=centres.shape).astype("f4")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=lambda s: int(float(s)), default=200_000_000)
    parser.add_argument("--chunk", type=lambda s: int(float(s)), default=10_000_000, help="points a task")
    parser.add_argument("--numpy-chunk", type=lambda s: int(float(s)), default=1_000_000, help="the same of NumPy, whose distances need eight times the memory")
    parser.add_argument("--dims", type=int, default=2)
    parser.add_argument("--clusters", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--impl", default="plait,numpy,process,memory")
    parser.add_argument("--folder", default=None, help="where the file of points is written (a temporary one)")
    given = parser.parse_args()

    import distributed

    import plait.dask  # noqa: F401

    plait.set_num_threads(given.threads)
    size = given.points * given.dims * 4
    limit = max(size // 2, 800_000_000)
    bounds, numpys = ([(b, min(b + n, given.points)) for b in range(0, given.points, n)] for n in (given.chunk, given.numpy_chunk))
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        path = str(pathlib.Path(folder) / "points")
        means = write(path, given.points, given.dims, given.clusters)
        cluster = distributed.LocalCluster(n_workers=1, threads_per_worker=given.threads, memory_limit=limit, dashboard_address=None,
                                           env={"PLAIT_NUM_THREADS": str(given.threads), "PLAIT_POOL_LIMIT": str(limit // 8)})
        with cluster, distributed.Client(cluster):
            make = {"plait": lambda: by_dask(plait, path, bounds, given.dims), "numpy": lambda: by_dask(numpy, path, numpys, given.dims),
                    "process": lambda: by_loop(plait, path, bounds, given.dims), "numpy-process": lambda: by_loop(numpy, path, numpys, given.dims),
                    "memory": lambda: in_memory(path, bounds, given.dims)}
            programs = {name: make[name]() for name in given.impl.split(",")}
            seconds, found = {name: [] for name in programs}, {}
            for i in range(given.rounds):
                for name, once in programs.items():
                    if name == "numpy" and len(seconds[name]) == 2:
                        continue  # takes minutes, and does not change
                    began = time.perf_counter()
                    found[name] = once(means)
                    seconds[name].append(time.perf_counter() - began)
            reference = next(iter(found.values()))
            print(f"{given.points:,} points x {given.dims} float32, K = {given.clusters}, {size / 1e9:.2f} GB, worker's limit {limit / 1e9:.2f} GB, "
                  f"{len(bounds)} chunks ({len(numpys)} of NumPy), {given.threads} threads, load {os.getloadavg()[0]:.1f}")
            base = statistics.median(seconds["process"][1:] or seconds["process"]) if "process" in seconds else None
            for name, s in seconds.items():
                steady = s[1:] or s
                ratio = "" if base is None else f"{base / statistics.median(steady):8.2f} of one Plait process"
                print(f"{name:14} first {s[0]:8.3f} s  median {statistics.median(steady):8.3f} s  {min(steady):.3f} to {max(steady):.3f}{ratio}")
            assert all(numpy.allclose(f, reference, rtol=1e-3, atol=1e-3) for f in found.values()), found


if __name__ == "__main__":
    import dask_kmeans  # functions of a module that the worker can import are sent by name

    dask_kmeans.main()
