/*
 * What the test programs share: checks that end the program, a pool with the reference server, waiting, and the search for processes
 * that are left.
 *
 * A program is a row of tests, run by RUN in main. A check that fails prints its place and ends the program with 1.
 */
#ifndef FIXTURE_H
#define FIXTURE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "trunkline.h"

#define CHECK(holds) ((holds) ? (void)0 : fail_check(__FILE__, __LINE__, #holds, NULL))

/* Calls a function of the library whose last argument is `&err`, and wants success. */
#define OK(call)                                              \
    do {                                                      \
        trunkline_error *err = NULL;                          \
        if ((call) != TRUNKLINE_STATUS_OK || err)             \
            fail_check(__FILE__, __LINE__, #call, err);       \
    } while (0)

/* The same, and wants that failure, with an error object that has the same code and a message. */
#define FAILS(status, call)                                   \
    do {                                                      \
        trunkline_error *err = NULL;                          \
        trunkline_status got = (call);                        \
        check_failure(__FILE__, __LINE__, #call, (status), got, err); \
        trunkline_error_free(err);                            \
    } while (0)

#define RUN(test)                  \
    do {                           \
        if (is_wanted(#test)) {    \
            test();                \
            printf("ok %s\n", #test); \
            fflush(stdout);        \
            tests_run++;           \
        }                          \
    } while (0)

/* How many tests of this program were run. */
extern long tests_run;

/* Where a check that fails says so: the errors of the process, wherever they are sent meanwhile. */
extern int failures;

void fail_check(const char *file, int line, const char *what, const trunkline_error *err);
void check_failure(const char *file, int line, const char *what, trunkline_status wanted, trunkline_status got,
                   const trunkline_error *err);

/* Ends the program, with SIGALRM, should it hang: after PROGRAM_SECONDS of the environment, or 300 s. An argument names the one test to run. */
void begin_program(int argc, char **argv);
bool is_wanted(const char *test);

/* A number of the environment. */
long number_from(const char *name, long otherwise);

trunkline_str text_of(const char *text);
bool text_is(trunkline_str text, const char *other);
bool text_has(trunkline_str text, const char *part);

/* The parsed JSON of a buffer, which is freed. */
json *take_json(trunkline_buf *buf);
/* Whether the text of a result's first block is this; frees the buffer. */
bool take_text(trunkline_buf *buf, const char *text);

/* A pool with one server `s`, the reference server with these flags (JSON, as `"--tools", "3"`), and a session `a` that wants
 * nothing by itself. */
typedef struct {
    trunkline_pool *pool;
    uint64_t session;
    char log[64];
} scene;

scene open_scene(const char *pool_options, const char *flags);
/* The rest of a scene whose pool is there. */
void furnish_scene(scene *scene, const char *flags);
uint64_t acquire(const scene *scene);
/* Closes and frees the pool, and checks that no process is left. */
void close_scene(scene *scene);
/* Checks that no process of the scene's log is left, and removes the log; for pools that were ended in another way. */
void end_scene(scene *scene);

/* The reference server, configured to write to a log. For the caller to free. */
char *server_config(const char *flags, const char *log);
/* A new empty folder among the temporary files, whose name is put into `path`. */
void make_folder(char path[64]);
/* A new empty file there. */
void make_log(char path[64]);
/* How many of the log's processes run. */
int processes_of(const char *log);
int starts_of(const char *log);

/* Waits until a condition holds, looking 100 times a second, at most 30 s. */
#define UNTIL(holds)                                                          \
    do {                                                                      \
        int looks = 3000;                                                     \
        while (!(holds)) {                                                    \
            if (looks-- == 0)                                                 \
                fail_check(__FILE__, __LINE__, "in time: " #holds, NULL);     \
            pause_ms(10);                                                     \
        }                                                                     \
    } while (0)

/* Writes down for the scoreboard that a promise was put to the test so many times, and kept. */
void score(const char *row, long times);

void pause_ms(int milliseconds);
/* Milliseconds on a clock that only goes forward. */
long long now_ms(void);

#endif
