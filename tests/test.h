/* Tests in C: TEST(claim) { .. } is one, which may read `state`; RUN_TESTS makes the program that
 * runs those of its file, in the order of their lines. */
#ifndef FSDPC_TESTS_TEST_H
#define FSDPC_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MOST_TESTS = 64 };
static struct CMUnitTest all_tests[MOST_TESTS];
static int line_of_test[MOST_TESTS];
static size_t n_tests;

/* Before main, in whatever order the compiler has. */
static inline void add_test(int line, struct CMUnitTest test) {
    size_t at = n_tests++;
    if (at == MOST_TESTS) __builtin_trap();
    for (; at && line_of_test[at - 1] > line; at--) {
        line_of_test[at] = line_of_test[at - 1];
        all_tests[at] = all_tests[at - 1];
    }
    line_of_test[at] = line;
    all_tests[at] = test;
}

/* set_up, tear_down: around this test; NULL or int f(void **state), 0 when all is well. */
#define TEST_WITH(name, set_up, tear_down)                                                         \
    static void name(void **state);                                                                \
    __attribute__((constructor)) static void add_##name(void) {                                    \
        add_test(__LINE__, (struct CMUnitTest){#name, name, set_up, tear_down, NULL});             \
    }                                                                                              \
    static void name(__attribute__((unused)) void **state)
#define TEST(name) TEST_WITH(name, NULL, NULL)

static inline int run_all(CMFixtureFunction set_up, CMFixtureFunction tear_down) {
    return _cmocka_run_group_tests("tests", all_tests, n_tests, set_up, tear_down);
}
/* set_up, tear_down: around all of them. */
#define RUN_TESTS(set_up, tear_down)                                                               \
    int main(void) { return run_all(set_up, tear_down); }

#endif
