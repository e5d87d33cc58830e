#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Vectors for results/stats_scipy_test.c, from SciPy: an implementation independent of ours.

    python3 ci/stats-scipy.py [SEED] > results/testdata/stats-scipy.json

The committed file is of seed 1, made with SciPy 1.10.1 (Debian 12, python3-scipy). What SciPy
offers is taken from it: descriptive statistics, the exact and asymptotic Mann-Whitney test,
permutation_test over every split where there are ties. The Hodges-Lehmann shift is NumPy's median
of all differences; its interval is made by asking mannwhitneyu in each gap between two neighbouring
differences whether the shift is rejected there.
"""
import bisect
import itertools
import json
import math
import random
import sys
from fractions import Fraction

import numpy as np
from scipy import stats


def best95(values, best):
    count = math.floor(len(values) * 95 / 100) or len(values)
    ranked = sorted(values, reverse=best == "higher")
    return ranked[:count]


def summary(values, best):
    v = np.array(values)
    out = {
        "min": v.min(), "max": v.max(), "mean": v.mean(), "median": np.median(v),
        "stddev": stats.tstd(v) if len(v) > 1 else None,
        "best95": stats.tmean(best95(values, best)),
    }
    if len(v) > 1 and v.mean() != 0:
        out["coeffvar"] = 100 * stats.variation(v, ddof=1) * np.sign(v.mean())
    if (v > 0).all():
        out["hmean"] = stats.hmean(v)
        out["best95_hmean"] = stats.hmean(best95(values, best))
        if len(v) > 1:
            # Delta method: the population deviation of the reciprocals, times hmean squared; in
            # fractions, since the reciprocals of like values differ in the last digits only.
            inverse = [1 / Fraction(x) for x in values]
            centre = sum(inverse) / len(inverse)
            variance = sum((x - centre) ** 2 for x in inverse) / len(inverse)
            out["hstddev"] = math.sqrt(variance / centre ** 4)
    return {k: None if x is None else float(x) for k, x in out.items()}


def tied(base, head):
    return len(set(base) | set(head)) < len(base) + len(head)


def permutation_p(base, head):
    def u(a, b):
        a, b = np.array(a), np.array(b)
        d = b[:, None] - a[None, :]
        return (d > 0).sum() + (d == 0).sum() / 2
    r = stats.permutation_test((base, head), u, permutation_type="independent",
                               n_resamples=np.inf, alternative="two-sided")
    return float(r.pvalue)


def rank(base, head):
    d = np.subtract.outer(np.array(head), np.array(base))
    out = {"u": float(stats.mannwhitneyu(head, base).statistic), "delta": float(np.sign(d).mean())}
    if not tied(base, head) and len(base) * len(head) <= 10000:
        out["exact"] = float(stats.mannwhitneyu(head, base, method="exact").pvalue)
    elif math.comb(len(base) + len(head), len(base)) <= 10000:
        out["exact"] = permutation_p(base, head)
    else:
        out["normal"] = float(stats.mannwhitneyu(head, base, method="asymptotic").pvalue)
    return out


def interval(base, head, level, method):
    """Closed hull of the shifts not rejected; None when even infinite ones are not."""
    d = np.unique(np.subtract.outer(np.array(head), np.array(base)).ravel())
    gaps = [d[0] - 1] + [(a + b) / 2 for a, b in zip(d, d[1:])] + [d[-1] + 1]

    def kept(i):
        p = stats.mannwhitneyu(np.array(head) - gaps[i], base, method=method).pvalue
        return p > (1 - level) * (1 + 1e-9)

    if kept(0):
        return None
    # Kept ones lie together, around the middle.
    middle = len(gaps) // 2
    assert kept(middle)
    low = bisect.bisect_left(range(middle), True, key=kept)
    high = bisect.bisect_left(range(len(gaps) - middle), True, key=lambda i: not kept(middle + i))
    return [float(d[low - 1]), float(d[middle + high - 1])]


def shift(base, head):
    d = np.subtract.outer(np.array(head), np.array(base))
    out = {"estimate": float(np.median(d))}
    # Only data without ties make the interval the plain inversion of the test.
    if not tied(base, head):
        method = "exact" if d.size <= 10000 else "asymptotic"
        out["method"] = "exact" if method == "exact" else "normal"
        out["ci90"] = interval(base, head, 0.90, method)
        out["ci95"] = interval(base, head, 0.95, method)
        out["ci99"] = interval(base, head, 0.99, method)
    return out


def vector(name, base, head, best):
    base, head = [float(x) for x in base], [float(x) for x in head]
    return {"name": name, "better": best, "base": base, "head": head,
            "base_summary": summary(base, best), "head_summary": summary(head, best),
            "rank": rank(base, head), "shift": shift(base, head)}


def holm(p):
    """By the definition: reject in order while p_(k) <= alpha / (n - k); the least such alpha."""
    out = [0.0] * len(p)
    order = sorted(range(len(p)), key=lambda i: p[i])
    for k, i in enumerate(order):
        out[i] = min(1.0, max(p[order[j]] * (len(p) - j) for j in range(k + 1)))
    return out


def vectors(seed):
    rng = random.Random(seed)
    sizes = [(1, 1), (1, 6), (2, 2), (3, 3), (4, 3), (5, 5), (6, 9), (9, 6), (10, 10), (12, 14)]
    for (n, m), best in itertools.product(sizes, ("lower", "higher")):
        yield vector(f"real {n} {m} {best}", [rng.lognormvariate(2, 1) for _ in range(n)],
                     [rng.lognormvariate(2.5, 1) for _ in range(m)], best)
    for n, m in ((2, 3), (4, 4), (5, 5), (6, 5), (3, 12), (7, 7)):
        yield vector(f"tied {n} {m}", [rng.randrange(4) for _ in range(n)],
                     [rng.randrange(1, 6) for _ in range(m)], "lower")
    yield vector("negative", [rng.gauss(-5, 3) for _ in range(7)],
                 [rng.gauss(-6, 3) for _ in range(8)], "higher")
    yield vector("stalls, mostly none", [0, 0, 0, 0, 0, 3], [0, 0, 86, 1544, 2, 900], "lower")
    yield vector("equal", [7] * 5, [7] * 5, "lower")
    yield vector("zero", [0] * 5, [0] * 5, "lower")
    yield vector("large offset", [1e9 + rng.random() for _ in range(8)],
                 [1e9 + rng.random() for _ in range(8)], "lower")
    yield vector("40 and 30", [rng.lognormvariate(0, 1) for _ in range(40)],
                 [rng.lognormvariate(0.4, 1) for _ in range(30)], "lower")
    yield vector("100 and 100", [round(rng.gauss(0, 1), 6) for _ in range(100)],
                 [round(rng.gauss(0.3, 1), 6) for _ in range(100)], "higher")
    yield vector("beyond exact", [round(rng.gauss(50, 9), 9) for _ in range(210)],
                 [round(rng.gauss(51, 9), 9) for _ in range(220)], "higher")
    yield vector("beyond exact, tied", [round(rng.gauss(50, 9)) for _ in range(210)],
                 [round(rng.gauss(51, 9)) for _ in range(220)], "higher")


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    rng = random.Random(seed)
    lists = [[0.01, 0.04, 0.03, 0.005]] + [[rng.random() ** 3 for _ in range(n)]
                                           for n in (1, 2, 7, 20)]
    doc = {"seed": seed, "vectors": list(vectors(seed)),
           "holm": [{"p": p, "adjusted": holm(p)} for p in lists]}
    text = json.dumps(doc, allow_nan=False)
    # One vector a line, so that a change can be read.
    for start in ('{"name"', '{"p"', '"holm"'):
        text = text.replace(start, "\n" + start)
    print(text)


if __name__ == "__main__":
    main()
