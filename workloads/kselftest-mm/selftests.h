/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_SELFTESTS_H
#define MMRIG_SELFTESTS_H
/*
 * The mm selftests on the toolbox disk, as the host puts them there (harness/build/selftests.h), and
 * what the guest tells of them.
 *
 * Of each test one member of the run's result, "selftest.NAME":
 *
 *	{"verdict":"pass","exit":0,"seconds":1.5,"plan":17,"results":17,"why":"..."}
 *
 * and of its sub-tests as many "selftest.NAME.K" (K from 0) as their number takes:
 *
 *	[[1,"pass","name","context","reason"],...]
 *
 * ktap.h has what these are. Verdicts of a test are those of ktap.h, by its exit status (0 pass, 1 fail,
 * 2 xfail, 3 xpass, 4 skip) and its sub-tests, or one of the below. results/selftest.h reads it all.
 */
#define SELFTESTS_DIR "/selftests"
#define SELFTESTS_LIST SELFTESTS_DIR "/list" /* lines: every test of the source */
#define SELFTESTS_NOT_BUILT SELFTESTS_DIR "/not-built" /* lines: "NAME REASON" */

#define SELFTEST_TIMEOUT "timeout"	/* it was ended at its limit */
#define SELFTEST_CRASH "crash"		/* a signal ended it, or the OOM killer */
#define SELFTEST_BROKEN "broken"	/* fewer results than its plan has, though its status is good */
#define SELFTEST_NOT_BUILT "not built"	/* the host could not */

/* "all" in a list of tests: each that the source has. */
#define SELFTESTS_ALL "all"
#define SELFTESTS_NAME_MAX 64
#define SELFTESTS_MAX 100

#endif
