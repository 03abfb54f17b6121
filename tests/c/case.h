/*
 * One behaviour case at work: its pool, and what its steps made. Everything that takes time ends in one queue, which the steps drain.
 */
#ifndef CASE_H
#define CASE_H

#include "fixture.h"
#include "remote.h"
#include "scripted.h"

enum { NAMED_MAX = 64, STEP_SECONDS = 90 };

typedef struct {
    char name[64];
    uint64_t handle;
    /* Given up by the case; the library calls its number a bad handle, other languages say `closed`. */
    bool given_up;
} named;

/* How a verb ended: a value, or an error, or neither. `raw` is its text as the server sent it. */
typedef struct {
    json *value;
    json *error;
    char *raw;
} outcome;

typedef struct {
    char name[64];
    char verb[32];
    uint64_t op;
    bool ended;
    outcome outcome;
    uint64_t lease;
} operation;

/*
 * The events of one subscriber, and the queue that they come out of. A session's begins with what the pool's, the first of all, has of it after
 * the event `before` and up to the event `last`. `taken` has for each type the number of the last one that a step took.
 */
typedef struct {
    char name[64];
    trunkline_queue *queue;
    json *events;
    json *taken;
    double before;
    double last;
} record;

typedef struct {
    const json *the_case;
    trunkline_pool *pool;
    trunkline_queue *queue;
    /* The events of watchers; nothing drains it but a step that waits for one. */
    trunkline_queue *unread;
    char log[64];
    char folder[64];
    json *saved;
    remote remotes[REMOTES_MAX];
    size_t remote_count;
    named leases[NAMED_MAX];
    size_t lease_count;
    named sessions[NAMED_MAX];
    size_t session_count;
    operation operations[NAMED_MAX];
    size_t operation_count;
    record records[NAMED_MAX];
    size_t record_count;
    desk desks[DESKS_MAX];
    size_t desk_count;
    /* Why the case fails; empty as long as it does not. */
    char problem[1024];
} run;

/* How a verb is carried out. */
typedef struct {
    const char *name;
    outcome (*call)(run *run, const json *arguments);
} verb;

void fail(run *run, const char *format, ...);

/* Makes the pool and what belongs to it; ends it and looks for what is left. */
void set_up(run *run, const json *the_case);
void tear_down(run *run);
/* A pool with the options and the servers of the case; ends it with all that was begun in it. */
void open_pool(run *run);
void close_pool(run *run);

/* Carries one step out; whether it held. */
bool run_step(run *run, const json *step);
/* Carries a verb out, and waits for its end. */
outcome run_verb(run *run, const char *verb, const json *arguments);
/* Starts a verb; the operation, or NULL with the outcome of a start that failed. */
operation *start_verb(run *run, const char *verb, const json *arguments, outcome *refused);
bool can_start(const char *verb);
/* Waits for the end of an operation; a lease gets a value of its own. */
outcome wait_operation(run *run, operation *operation);
/* The verbs about operations that were started. */
outcome cancel(run *run, const json *arguments);
outcome finish(run *run, const json *arguments);

/* Takes out of a queue what is there; waits for something when `wait` says so. False after 30 s without anything. */
bool pump(run *run, trunkline_queue *queue, bool wait);
/* A record of the events that come out of the queue with this tag. */
uint64_t add_record(run *run, const char *name, trunkline_queue *queue);
record *find_record(run *run, const char *name);
named *find_named(named *all, size_t count, const char *name);

/* A copy in which variables have their values, and `testserver` objects are servers. */
json *resolved(const run *run, const json *value);
/* The same of a step's arguments; an argument that is no array stands for the array with that one element. */
json *arguments_of(const run *run, const json *step_arguments);

/* A desk for the handlers in these options, which it takes out; NULL without any. */
desk *take_handlers(run *run, const char *name, json *options, uint64_t *offered);
desk *find_desk(run *run, const char *name);

/* The handle of the session, or of the lease, that the first argument names. */
uint64_t session_of(run *run, const json *arguments);
uint64_t lease_of(run *run, const json *arguments);
/* The handle of the session of that name. */
uint64_t session_named(run *run, const char *name);
/* The text of an argument that may be left out, for the caller to free. */
char *written(const json *arguments, size_t index);

outcome success(json *value);
outcome outcome_of(trunkline_status status, trunkline_buf *buf, trunkline_error *err);
void free_outcome(outcome *outcome);
/* What was given up is a bad handle in C, where other languages have an object that says `closed`. */
void say_closed(json *error);

#endif
