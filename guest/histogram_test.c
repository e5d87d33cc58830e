// SPDX-License-Identifier: GPL-2.0-only
#include "guest/histogram.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static uint64_t random_state;

static uint64_t random_u64(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static void check_value(uint64_t v)
{
	unsigned int i = histogram_index(v);
	uint64_t low, high;

	assert_true(i < HISTOGRAM_BUCKETS);
	histogram_bounds(i, &low, &high);
	assert_true(low <= v && v <= high);
	/* No wider than a sixteenth of its lower edge: that is the promised error. */
	assert_true(high - low <= low / 16);
	assert_int_equal(histogram_index(low), i);
	assert_int_equal(histogram_index(high), i);
}

/* Buckets meet without gap or overlap, from 0 to the largest value. */
static void test_buckets_cover_everything(void **state)
{
	uint64_t next = 0;

	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		uint64_t low, high;

		histogram_bounds(i, &low, &high);
		assert_true(low == next && high >= low);
		assert_int_equal(histogram_index(low), i);
		assert_int_equal(histogram_index(high), i);
		next = high + 1;
	}
	assert_true(next == 0); /* behind 2^64 - 1 */
}

static void test_index_and_bounds(void **state)
{
	check_value(0);
	check_value(UINT64_MAX);
	for (int bit = 0; bit < 64; bit++) {
		check_value(1ULL << bit);
		check_value((1ULL << bit) - 1);
		check_value((1ULL << bit) + 1);
		check_value((1ULL << bit) | (1ULL << bit) >> 1);
	}
	random_state = 7;
	for (int i = 0; i < 200000; i++)
		check_value(random_u64() >> random_u64() % 64);
	/* Worked out by hand: 1000 = 62.5 * 16, so 4 + 6 binary digits; its bucket is 992..1023. */
	for (uint64_t v = 992; v < 1024; v++)
		assert_int_equal(histogram_index(v), histogram_index(1000));
	assert_int_not_equal(histogram_index(991), histogram_index(1000));
	assert_int_not_equal(histogram_index(1024), histogram_index(1000));
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Nearest rank: the value at ceil(n * q), counted from 1. */
static uint64_t exact_quantile(const uint64_t *sorted, size_t n, uint64_t per_million)
{
	size_t rank = (size_t)((n * per_million + 999999) / 1000000);

	return sorted[(rank ? rank : 1) - 1];
}

static void test_quantiles(void **state)
{
	static const uint64_t q[] = { 0, 1, 10000, 250000, 500000, 900000, 990000, 999000, 999999, 1000000 };
	static uint64_t v[20000];

	for (int round = 0; round < 20; round++) {
		static struct histogram h;
		size_t n = 1 + (size_t)round * 997 % 20000;

		memset(&h, 0, sizeof(h));
		random_state = (uint64_t)round;
		for (size_t i = 0; i < n; i++) {
			v[i] = round % 2 ? random_u64() >> random_u64() % 64 : 1000 + random_u64() % 5000;
			histogram_add(&h, v[i]);
		}
		qsort(v, n, sizeof(v[0]), by_value);
		assert_int_equal(h.n, n);
		assert_true(h.max == v[n - 1]);
		for (size_t i = 0; i < sizeof(q) / sizeof(q[0]); i++) {
			uint64_t exact = exact_quantile(v, n, q[i]), got = histogram_quantile(&h, q[i]);

			assert_true(got >= exact && got - exact <= exact / 16);
			assert_true(got <= h.max);
		}
		assert_true(histogram_quantile(&h, 1000000) == v[n - 1]);
		assert_true(histogram_quantile(&h, 2000000) == v[n - 1]);
	}
}

static void test_quantiles_of_few(void **state)
{
	static struct histogram h;

	memset(&h, 0, sizeof(h));
	assert_int_equal(histogram_quantile(&h, 500000), 0);
	histogram_add(&h, 5);
	assert_int_equal(histogram_quantile(&h, 0), 5);
	assert_int_equal(histogram_quantile(&h, 1000000), 5);
	for (uint64_t i = 1; i <= 9; i++) /* 5 1 2 ... 9: below 16 every value has its own bucket */
		histogram_add(&h, i);
	assert_int_equal(histogram_quantile(&h, 500000), 5); /* 1 2 3 4 5 5 6 7 8 9: the fifth */
	assert_int_equal(histogram_quantile(&h, 500001), 5); /* the sixth */
	assert_int_equal(histogram_quantile(&h, 600001), 6); /* the seventh */
	/* Counts at which n * per_million would not fit in 64 bits. */
	memset(&h, 0, sizeof(h));
	h.n = 1ULL << 60;
	h.count[3] = 1ULL << 59;
	h.count[9] = 1ULL << 59;
	h.max = 9;
	assert_int_equal(histogram_quantile(&h, 500000), 3);
	assert_int_equal(histogram_quantile(&h, 500001), 9);
}

static void test_json(void **state)
{
	static struct histogram h;
	char out[200];

	memset(&h, 0, sizeof(h));
	assert_int_equal(histogram_json(&h, out, sizeof(out)), 2);
	assert_string_equal(out, "[]");
	histogram_add(&h, 3);
	histogram_add(&h, 3);
	histogram_add(&h, 1000);
	assert_int_equal(histogram_json(&h, out, sizeof(out)), strlen("[[3,3,2],[992,1023,1]]"));
	assert_string_equal(out, "[[3,3,2],[992,1023,1]]");
}

/* Whatever the room: closed, NUL-terminated, the length right, and not a byte written behind. */
static void test_json_room(void **state)
{
	static struct histogram h;
	char *all = malloc(100000);
	size_t whole;

	memset(&h, 0, sizeof(h));
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		h.count[i] = UINT64_MAX;
	whole = histogram_json(&h, all, 100000);
	assert_int_equal(whole, strlen(all));
	assert_int_equal(all[whole - 1], ']');
	for (size_t room = 0; room < 1000; room++) {
		char *out = malloc(room ? room : 1);
		size_t n = histogram_json(&h, out, room);

		if (room < 3) {
			assert_int_equal(n, 0);
		} else {
			assert_true(n < room);
			assert_int_equal(strlen(out), n);
			assert_int_equal(out[n - 1], ']');
			assert_memory_equal(out, all, n - 1); /* a prefix of the whole */
			assert_true(n == 2 || out[n - 2] == ']');
		}
		free(out);
	}
	free(all);
}

static void test_metrics(void **state)
{
	static struct histogram h;
	char out[200] = "x";
	size_t n;

	memset(&h, 0, sizeof(h));
	assert_int_equal(histogram_metrics(&h, "alloc", out, sizeof(out)), 0);
	assert_string_equal(out, "x");
	for (uint64_t i = 1; i <= 9; i++)
		histogram_add(&h, i);
	histogram_add(&h, 1000);
	n = histogram_metrics(&h, "alloc", out, sizeof(out));
	assert_int_equal(n, strlen(out));
	assert_string_equal(out, ",\"alloc_median\":5,\"alloc_p99\":1000,\"alloc_max\":1000");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buckets_cover_everything),
		cmocka_unit_test(test_index_and_bounds),
		cmocka_unit_test(test_quantiles),
		cmocka_unit_test(test_quantiles_of_few),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_json_room),
		cmocka_unit_test(test_metrics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
