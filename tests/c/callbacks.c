/* Callbacks that re-enter, block, unsubscribe, close and free; and what is destroyed when. */
#define _POSIX_C_SOURCE 200809L
#include "counter.h"

#include <pthread.h>

static const trunkline_str none = {NULL, 0};

/* One host's state, shared by the callbacks of one test. */
typedef struct {
    scene scene;
    uint64_t lease;
    uint64_t subscription;
    uint64_t other;
    counter calls;
    counter destroyed;
    counter gate;
    counter entered;
    trunkline_status seen;
} host;

static host new_host(void)
{
    host h;
    memset(&h, 0, sizeof h);
    counter zero = COUNTER;
    h.calls = h.destroyed = h.gate = h.entered = zero;
    h.scene = open_scene("", "");
    h.lease = acquire(&h.scene);
    return h;
}

static void note_destroy(void *user_data)
{
    host *h = user_data;
    count_up(&h->destroyed);
}

static void start_pid(host *h, trunkline_done_fn done)
{
    OK(trunkline_lease_call_tool_start(h->scene.pool, h->lease, TRUNKLINE_LITERAL("pid"), none, NULL, done, h,
                                       note_destroy, NULL, &err));
}

/* A log message of the server is one event. */
static void fire_event(host *h)
{
    trunkline_buf *buf = NULL;
    trunkline_str log = TRUNKLINE_LITERAL("log"), arguments = TRUNKLINE_LITERAL("{\"level\":\"info\",\"text\":\"hello\"}");
    OK(trunkline_lease_call_tool(h->scene.pool, h->lease, log, arguments, NULL, &buf, &err));
    trunkline_buf_free(buf);
}

static void subscribe(host *h, trunkline_event_fn callback, uint64_t *out)
{
    OK(trunkline_pool_subscribe(h->scene.pool, TRUNKLINE_MASK(TRUNKLINE_EVENT_LOG), callback, h, note_destroy, out,
                                NULL, &err));
}

static void call_again(void *user_data, trunkline_item *item)
{
    host *h = user_data;
    CHECK(item->status == TRUNKLINE_STATUS_OK && item->buf && !item->error);
    count_up(&h->calls);
    if (count_of(&h->calls) < 20)
        start_pid(h, call_again);
}

/* I-18, SPEC 16.2 */
static void a_callback_may_start_operations(void)
{
    host h = new_host();
    start_pid(&h, call_again);
    wait_count(&h.destroyed, 20);
    CHECK(count_of(&h.calls) == 20);
    close_scene(&h.scene);
}

static void try_to_block(void *user_data, trunkline_item *item)
{
    host *h = user_data;
    trunkline_buf *buf = NULL;
    (void)item;
    FAILS(TRUNKLINE_STATUS_WRONG_THREAD,
          trunkline_lease_call_tool(h->scene.pool, h->lease, TRUNKLINE_LITERAL("pid"), none, NULL, &buf, &err));
    FAILS(TRUNKLINE_STATUS_WRONG_THREAD, trunkline_pool_close(h->scene.pool, 1000, &err));
    OK(trunkline_pool_status(h->scene.pool, &buf, &err));
    trunkline_buf_free(buf);
    count_up(&h->calls);
}

/* I-18 */
static void a_blocking_function_is_refused_inside_a_callback(void)
{
    host h = new_host();
    start_pid(&h, try_to_block);
    wait_count(&h.destroyed, 1);
    CHECK(count_of(&h.calls) == 1);
    close_scene(&h.scene);
}

static void wait_at_gate(void *user_data, uint32_t event, trunkline_str json)
{
    host *h = user_data;
    CHECK(event == TRUNKLINE_EVENT_LOG && text_has(json, "\"type\":\"log\""));
    count_up(&h->entered);
    wait_count(&h->gate, 1);
}

static void count_event(void *user_data, uint32_t event, trunkline_str json)
{
    host *h = user_data;
    (void)event;
    (void)json;
    count_up(&h->calls);
}

/* I-18, SPEC 16.2: a slow subscriber delays only itself. */
static void a_callback_that_blocks_holds_up_only_itself(void)
{
    host h = new_host();
    subscribe(&h, wait_at_gate, &h.subscription);
    subscribe(&h, count_event, &h.other);
    fire_event(&h);
    wait_count(&h.entered, 1);
    fire_event(&h);
    wait_count(&h.calls, 2);
    CHECK(count_of(&h.entered) == 1);
    count_up(&h.gate);
    wait_count(&h.entered, 2);
    close_scene(&h.scene);
    CHECK(count_of(&h.destroyed) == 2);
}

/* The calls of each kind that are made beside a callback that blocks. */
enum { OTHERS = 20 };

static void count_end(void *user_data, trunkline_item *item)
{
    host *h = user_data;
    CHECK(item->status == TRUNKLINE_STATUS_OK);
    count_up(&h->calls);
}

/* Calls that are waited for, and calls whose end a callback hears of. */
static void others_are_answered(host *h)
{
    for (int i = 0; i < OTHERS; i++) {
        start_pid(h, count_end);
        fire_event(h);
    }
    wait_count(&h->destroyed, OTHERS);
    CHECK(count_of(&h->calls) == OTHERS);
}

static void wait_at_end(void *user_data, trunkline_item *item)
{
    host *h = user_data;
    CHECK(item->status == TRUNKLINE_STATUS_OK);
    count_up(&h->entered);
    wait_count(&h->gate, 1);
}

/* I-18, SPEC 16.2 */
static void a_callback_of_an_end_that_blocks_holds_up_no_other(void)
{
    host h = new_host();
    start_pid(&h, wait_at_end);
    wait_count(&h.entered, 1);
    others_are_answered(&h);
    count_up(&h.gate);
    wait_count(&h.destroyed, OTHERS + 1);
    close_scene(&h.scene);
}

static void wait_at_request(void *user_data, uint32_t news, uint64_t request, trunkline_str json)
{
    host *h = user_data;
    (void)json;
    if (news != TRUNKLINE_REQUEST_EVENT_ASKED)
        return;
    count_up(&h->entered);
    wait_count(&h->gate, 1);
    OK(trunkline_request_answer(h->scene.pool, request, TRUNKLINE_LITERAL("{\"action\":\"decline\"}"), &err));
}

/* I-18, SPEC 15.1, 16.2 */
static void a_handler_that_blocks_holds_up_no_other(void)
{
    host h = new_host();
    uint64_t session, lease;
    trunkline_str ask = TRUNKLINE_LITERAL("{\"method\":\"elicitation/create\",\"params\":{\"message\":\"?\"}}");
    OK(trunkline_session_open_with_handlers(h.scene.pool, TRUNKLINE_LITERAL("{\"id\":\"b\",\"servers\":[]}"),
                                            TRUNKLINE_MASK(TRUNKLINE_HANDLER_ELICITATION), wait_at_request, &h, NULL, &session, &err));
    OK(trunkline_session_acquire(h.scene.pool, session, TRUNKLINE_LITERAL("s"), none, none, &lease, &err));
    OK(trunkline_lease_call_tool_start(h.scene.pool, lease, TRUNKLINE_LITERAL("ask"), ask, NULL, count_end, &h, note_destroy, NULL,
                                       &err));
    wait_count(&h.entered, 1);
    others_are_answered(&h);
    count_up(&h.gate);
    wait_count(&h.destroyed, OTHERS + 1);
    close_scene(&h.scene);
}

static void *open_gate_later(void *user_data)
{
    host *h = user_data;
    pause_ms(100);
    count_up(&h->gate);
    return NULL;
}

static void *close_as_well(void *user_data)
{
    host *h = user_data;
    OK(trunkline_subscription_close(h->scene.pool, h->subscription, &err));
    CHECK(count_of(&h->gate) == 1 && count_of(&h->destroyed) == 1);
    return NULL;
}

/* I-16 */
static void unsubscribing_waits_for_the_callback_that_runs(void)
{
    host h = new_host();
    pthread_t thread, other;
    subscribe(&h, wait_at_gate, &h.subscription);
    fire_event(&h);
    wait_count(&h.entered, 1);
    CHECK(pthread_create(&thread, NULL, open_gate_later, &h) == 0);
    CHECK(pthread_create(&other, NULL, close_as_well, &h) == 0);
    OK(trunkline_subscription_close(h.scene.pool, h.subscription, &err));
    CHECK(count_of(&h.gate) == 1 && count_of(&h.destroyed) == 1);
    fire_event(&h);
    pthread_join(thread, NULL);
    pthread_join(other, NULL);
    OK(trunkline_subscription_close(h.scene.pool, h.subscription, &err));
    close_scene(&h.scene);
    CHECK(count_of(&h.entered) == 1 && count_of(&h.destroyed) == 1);
}

static void close_self(void *user_data, uint32_t event, trunkline_str json)
{
    host *h = user_data;
    (void)event;
    (void)json;
    wait_count(&h->gate, 1);
    count_up(&h->calls);
    OK(trunkline_subscription_close(h->scene.pool, h->subscription, &err));
}

/* I-16 */
static void a_callback_may_unsubscribe_itself_and_is_the_last(void)
{
    host h = new_host();
    subscribe(&h, close_self, &h.subscription);
    fire_event(&h);
    fire_event(&h);
    count_up(&h.gate);
    wait_count(&h.destroyed, 1);
    fire_event(&h);
    close_scene(&h.scene);
    CHECK(count_of(&h.calls) == 1 && count_of(&h.destroyed) == 1);
}

static void close_other(void *user_data, uint32_t event, trunkline_str json)
{
    host *h = user_data;
    (void)event;
    (void)json;
    count_up(&h->entered);
    wait_count(&h->entered, 2);
    OK(trunkline_subscription_close(h->scene.pool, h->other, &err));
}

static void close_first(void *user_data, uint32_t event, trunkline_str json)
{
    host *h = user_data;
    (void)event;
    (void)json;
    count_up(&h->entered);
    wait_count(&h->entered, 2);
    OK(trunkline_subscription_close(h->scene.pool, h->subscription, &err));
}

/* I-18: two callbacks that wait for one another's end would be a deadlock. */
static void two_callbacks_may_unsubscribe_one_another(void)
{
    host h = new_host();
    subscribe(&h, close_other, &h.subscription);
    subscribe(&h, close_first, &h.other);
    fire_event(&h);
    wait_count(&h.destroyed, 2);
    close_scene(&h.scene);
}

static void free_pool(void *user_data, trunkline_item *item)
{
    host *h = user_data;
    CHECK(item->status == TRUNKLINE_STATUS_OK);
    trunkline_pool_free(h->scene.pool);
}

/* I-19 */
static void a_callback_may_free_the_pool(void)
{
    host h = new_host();
    start_pid(&h, free_pool);
    wait_count(&h.destroyed, 1);
    end_scene(&h.scene);
}

static void note_status(void *user_data, trunkline_item *item)
{
    host *h = user_data;
    CHECK(item->error && trunkline_error_code(item->error) == item->status);
    h->seen = item->status;
    count_up(&h->calls);
}

/* I-17, I-19: what is under way when the pool is freed ends once, with a status. */
static void freeing_the_pool_ends_what_is_under_way(void)
{
    host h = new_host();
    for (int i = 0; i < 5; i++)
        OK(trunkline_lease_call_tool_start(h.scene.pool, h.lease, TRUNKLINE_LITERAL("sleep"),
                                           TRUNKLINE_LITERAL("{\"ms\":60000}"), NULL, note_status, &h, note_destroy, NULL,
                                           &err));
    trunkline_pool_free(h.scene.pool);
    wait_count(&h.destroyed, 5);
    CHECK(count_of(&h.calls) == 5 && h.seen == TRUNKLINE_STATUS_CLOSED);
    end_scene(&h.scene);
}

typedef struct {
    counter entered, destroyed;
    trunkline_logs *logs;
} told;

static void note_end_of_logs(void *user_data)
{
    told *t = user_data;
    count_up(&t->destroyed);
}

static void end_at_once(void *user_data, trunkline_str records)
{
    (void)records;
    told *t = user_data;
    trunkline_logs_free(t->logs);
    count_up(&t->entered);
}

/* SPEC 16.2 */
static void a_callback_of_logs_may_end_them_and_is_the_last(void)
{
    counter zero = COUNTER;
    told t = {zero, zero, NULL};
    OK(trunkline_logs_new(TRUNKLINE_LITERAL("debug"), end_at_once, &t, note_end_of_logs, &t.logs, &err));
    host h = new_host();
    wait_count(&t.destroyed, 1);
    CHECK(count_of(&t.entered) == 1);
    close_scene(&h.scene);
}

static pthread_key_t ending;

/* The last round of a thread's destructors in which something of the library's language may run. */
enum { LAST_ROUND = 3 };

static void unsubscribe_in_the_last_round(void *user_data)
{
    host *h = user_data;
    count_up(&h->entered);
    if (count_of(&h->entered) < LAST_ROUND) {
        CHECK(pthread_setspecific(ending, h) == 0);
        return;
    }
    OK(trunkline_subscription_close(h->scene.pool, h->subscription, &err));
    CHECK(count_of(&h->destroyed) == 2);
}

static void *end_with_a_subscription(void *user_data)
{
    host *h = user_data;
    uint64_t other;
    subscribe(h, count_event, &h->subscription);
    subscribe(h, count_event, &other);
    OK(trunkline_subscription_close(h->scene.pool, other, &err));
    CHECK(pthread_setspecific(ending, h) == 0);
    return NULL;
}

/* SPEC 16.2, I-16, I-19: what the library's language keeps for a thread is gone by then. */
static void a_thread_may_unsubscribe_while_it_ends(void)
{
    host h = new_host();
    pthread_t thread;
    CHECK(pthread_key_create(&ending, unsubscribe_in_the_last_round) == 0);
    CHECK(pthread_create(&thread, NULL, end_with_a_subscription, &h) == 0);
    pthread_join(thread, NULL);
    CHECK(count_of(&h.entered) == LAST_ROUND);
    pthread_key_delete(ending);
    close_scene(&h.scene);
}

int main(int argc, char **argv)
{
    begin_program(argc, argv);
    RUN(a_callback_may_start_operations);
    RUN(a_blocking_function_is_refused_inside_a_callback);
    RUN(a_callback_that_blocks_holds_up_only_itself);
    RUN(a_callback_of_an_end_that_blocks_holds_up_no_other);
    RUN(a_handler_that_blocks_holds_up_no_other);
    RUN(unsubscribing_waits_for_the_callback_that_runs);
    RUN(a_callback_may_unsubscribe_itself_and_is_the_last);
    RUN(two_callbacks_may_unsubscribe_one_another);
    RUN(a_callback_may_free_the_pool);
    RUN(freeing_the_pool_ends_what_is_under_way);
    RUN(a_callback_of_logs_may_end_them_and_is_the_last);
    RUN(a_thread_may_unsubscribe_while_it_ends);
    score("callbacks/c", tests_run);
    return 0;
}
