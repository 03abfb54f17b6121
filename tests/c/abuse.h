/*
 * What abuse.c and abuse_arguments.c share: a host that throws dice, and what it holds.
 *
 * Each argument of each function is chosen by one of these, by its type and, where that says too little, by its name; abuse.awk writes the
 * calls.
 */
#ifndef ABUSE_H
#define ABUSE_H

#include "fixture.h"

/* What a handle is of. */
typedef enum { SESSION, LEASE, SUBSCRIPTION, OPERATION, CONNECTION, REQUEST, KINDS } kind;

#define ITEMS 8

/* A thread that calls, or a callback that does. What it owns nobody else uses, so that it may end it at any time. */
typedef struct {
    uint64_t dice;
    long calls;
    /* The function that is being called, whether its texts are right so far, and whether it succeeded. */
    const char *function;
    bool is_right, is_ok;
    trunkline_pool *pool;
    trunkline_queue *queue;
    trunkline_logs *logs;
    trunkline_buf *buf;
    trunkline_error *error;
    trunkline_item items[ITEMS];
    /* Where the function puts what it gives; `wants_error` is whether it may put an error there. */
    trunkline_pool *out_pool;
    trunkline_queue *out_queue;
    trunkline_logs *out_logs;
    trunkline_buf *out_buf;
    trunkline_error *out_error;
    bool wants_error;
    uint64_t out_handle, out_call;
    size_t out_count;
    /* What its arguments point to. */
    trunkline_call_options *options;
    char made[80];
    char *garbage;
} host;

/* Pools that are there as long as the program, and a queue that all threads use. Of the pools the first two are whole to the end; the
 * others are drained, closed and emptied, by one thread while another calls. */
#define SCENES 5
#define WHOLE 2
extern scene scenes[SCENES];
extern trunkline_queue *queue;
/* What was handed over with a function that is to give it back, and what came back. */
extern long handed_over, given_back;
extern long answered;

unsigned roll(host *h, unsigned sides);
long add(long *count, long number);
bool is_function(const host *h, const char *start);
/* Keeps a handle for any thread to use, and ends what it takes the place of. */
void remember(kind of, uint64_t handle);
/* One call, made by a callback. */
void call_inside(void);

/* What is right for some texts is known once there are servers and a file. */
void prepare_texts(void);
void remove_texts(void);

trunkline_str choose_text(host *h, const char *parameter);
uint64_t choose_number(host *h, const char *parameter);
trunkline_pool *choose_pool_p(host *h);
trunkline_queue *choose_queue_p(host *h);
const trunkline_queue *choose_const_queue_p(host *h);
trunkline_logs *choose_logs_p(host *h);
trunkline_buf *choose_buf_p(host *h);
const trunkline_buf *choose_const_buf_p(host *h);
trunkline_error *choose_error_p(host *h);
const trunkline_error *choose_const_error_p(host *h);
trunkline_item *choose_item_p(host *h);
const trunkline_call_options *choose_const_call_options_p(host *h);
trunkline_pool **choose_pool_p_p(host *h);
trunkline_queue **choose_queue_p_p(host *h);
trunkline_logs **choose_logs_p_p(host *h);
trunkline_buf **choose_buf_p_p(host *h);
trunkline_error **choose_error_p_p(host *h);
uint64_t *choose_uint64_t_p(host *h);
size_t *choose_size_t_p(host *h);
void *choose_void_p(host *h);
trunkline_destroy_fn choose_destroy_fn(host *h);
trunkline_done_fn choose_done_fn(host *h);
trunkline_event_fn choose_event_fn(host *h);
trunkline_log_fn choose_log_fn(host *h);
trunkline_ask_fn choose_ask_fn(host *h);
trunkline_host_receive_fn choose_host_receive_fn(host *h);
trunkline_host_closed_fn choose_host_closed_fn(host *h);

#endif
