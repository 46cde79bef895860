/* --self-test: processes that check this machine, and what they printed. */
#ifndef FSDPC_SELF_TEST_H
#define FSDPC_SELF_TEST_H

#include "util.h"

enum { JOB_WORDS = 16, JOB_VARIABLES = 2 };

/* A command whose output goes to a file. */
typedef struct Job {
    const char *argv[JOB_WORDS];
    const char *variable[JOB_VARIABLES][2]; /* of the environment: name, value */
    char *out;                              /* path */
    pid_t pid;
    int64_t begun_ms;
    int status; /* of waitpid */
    bool done, late;
} Job;

/* self_test_jobs.c */
/* Runs them in the folder, in this order, several at a time, each for at most `seconds`; calls
 * ended(context) whenever one of them is done. */
void jobs_run(Job *job, size_t n, const char *folder, int seconds, void (*ended)(void *context),
              void *context);
bool job_succeeded(const Job *j);
/* What it printed; NUL-terminated, to be freed. */
char *job_output(const Job *j);
/* How it ended, for people. */
void job_end_text(const Job *j, char *out, size_t size);

#endif
