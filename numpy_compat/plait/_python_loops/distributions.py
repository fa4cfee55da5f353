"""What methods of random.Random make of its numbers, in Python: compiled where a loop calls those. `g` is the generator."""

import math

NORMAL = 4 * math.exp(-0.5) / math.sqrt(2.0)  # of Kinderman's and Monahan's ratios


def uniform(g, a, b):
    return a + (b - a) * g.random()


def normalvariate(g, mu, sigma):
    while True:
        u = g.random()
        v = 1.0 - g.random()
        z = NORMAL * (u - 0.5) / v
        if z * z / 4.0 <= -math.log(v):
            break
    return mu + z * sigma


def expovariate(g, rate):
    return -math.log(1.0 - g.random()) / rate


FUNCTIONS = (uniform, normalvariate, expovariate)
