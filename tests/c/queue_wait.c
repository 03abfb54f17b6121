/* Threads that wait for a queue, without a loop and without a descriptor; and what a compiler knows of the interface. */
#define _POSIX_C_SOURCE 200809L
#include "fixture.h"

#include <pthread.h>
#include <time.h>

static const trunkline_str none = {NULL, 0};

/* What a thread that waits is given, and what it found. */
typedef struct {
    trunkline_queue *queue;
    uint64_t timeout_ms;
    trunkline_status status;
    long taken;
} waiter;

static void *wait_once(void *data)
{
    waiter *mine = data;
    mine->status = trunkline_queue_wait(mine->queue, mine->timeout_ms, NULL);
    return NULL;
}

/* Takes items one by one until the queue is closed. */
static void *wait_on(void *data)
{
    waiter *mine = data;
    trunkline_item item;
    while ((mine->status = trunkline_queue_wait(mine->queue, mine->timeout_ms, NULL)) == TRUNKLINE_STATUS_OK) {
        size_t count = 0;
        if (trunkline_queue_drain(mine->queue, &item, 1, &count, NULL) != TRUNKLINE_STATUS_OK || count == 0)
            continue;
        CHECK(item.status == TRUNKLINE_STATUS_OK);
        trunkline_item_clear(&item);
        mine->taken++;
    }
    return NULL;
}

static void call(const scene *s, trunkline_lease lease, trunkline_queue *queue, const char *tool, const char *arguments)
{
    OK(trunkline_lease_call_tool_enqueue(s->pool, lease, text_of(tool), text_of(arguments), NULL, queue, 1, NULL, &err));
}

/* SPEC 16.1, 16.2 */
static void a_wait_ends_with_an_item_or_with_its_time(void)
{
    scene s = open_scene("", "");
    trunkline_queue *queue = NULL;
    trunkline_item item;
    size_t count = 0;
    OK(trunkline_queue_new(&queue, &err));
    FAILS(TRUNKLINE_STATUS_TIMEOUT, trunkline_queue_wait(queue, 0, &err));
    long long before = now_ms();
    FAILS(TRUNKLINE_STATUS_TIMEOUT, trunkline_queue_wait(queue, 50, &err));
    CHECK(now_ms() - before >= 50);
    OK(trunkline_session_acquire_enqueue(s.pool, s.session, TRUNKLINE_LITERAL("s"), none, none, queue, 7, NULL, &err));
    OK(trunkline_queue_wait(queue, TRUNKLINE_DEFAULT, &err));
    OK(trunkline_queue_wait(queue, 0, &err));
    OK(trunkline_queue_drain(queue, &item, 1, &count, &err));
    CHECK(count == 1 && item.tag == 7 && item.handle);
    FAILS(TRUNKLINE_STATUS_TIMEOUT, trunkline_queue_wait(queue, 0, &err));
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT, trunkline_queue_wait(NULL, 0, &err));
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT, trunkline_queue_close(NULL, &err));
    close_scene(&s);
    trunkline_queue_free(queue);
}

static long cpu_ms(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (long)used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

/* SPEC 16.2: who waits computes nothing. */
static void a_wait_costs_nothing(void)
{
    trunkline_queue *queue = NULL;
    OK(trunkline_queue_new(&queue, &err));
    long before = cpu_ms();
    FAILS(TRUNKLINE_STATUS_TIMEOUT, trunkline_queue_wait(queue, 600, &err));
    CHECK(cpu_ms() - before < 150);
    trunkline_queue_free(queue);
}

/* SPEC 16.2 */
static void several_threads_share_the_items_of_a_queue(void)
{
    enum { THREADS = 4, CALLS = 400 };
    scene s = open_scene("", "");
    trunkline_lease lease = acquire(&s);
    trunkline_queue *queue = NULL;
    pthread_t threads[THREADS];
    waiter waiters[THREADS];
    OK(trunkline_queue_new(&queue, &err));
    for (int at = 0; at < THREADS; at++) {
        waiters[at] = (waiter){queue, at % 2 ? TRUNKLINE_DEFAULT : 600000, TRUNKLINE_STATUS_OK, 0};
        CHECK(pthread_create(&threads[at], NULL, wait_on, &waiters[at]) == 0);
    }
    for (int number = 0; number < CALLS; number++)
        call(&s, lease, queue, "echo", "{\"message\":\"x\"}");
    /* The last comes by itself, while all of them wait. */
    UNTIL(trunkline_queue_wait(queue, 0, NULL) == TRUNKLINE_STATUS_TIMEOUT);
    call(&s, lease, queue, "echo", "{\"message\":\"last\"}");
    close_scene(&s);
    UNTIL(trunkline_queue_wait(queue, 0, NULL) == TRUNKLINE_STATUS_TIMEOUT);
    OK(trunkline_queue_close(queue, &err));
    long taken = 0;
    for (int at = 0; at < THREADS; at++) {
        CHECK(pthread_join(threads[at], NULL) == 0);
        CHECK(waiters[at].status == TRUNKLINE_STATUS_CLOSED);
        taken += waiters[at].taken;
    }
    CHECK(taken == CALLS + 1);
    trunkline_queue_free(queue);
}

/* SPEC 16.2: a close is heard by those who wait, and refuses what comes. */
static void a_queue_is_closed_while_threads_wait(void)
{
    scene s = open_scene("{\"drain_delay_ms\":50}", "");
    trunkline_queue *queue = NULL;
    trunkline_item item;
    size_t count = 0;
    trunkline_subscription subscription = 0;
    pthread_t threads[2];
    waiter waiters[2];
    OK(trunkline_queue_new(&queue, &err));
    OK(trunkline_pool_subscribe_queue(s.pool, TRUNKLINE_MASK(TRUNKLINE_EVENT_LOG), queue, 1, &subscription, NULL, &err));
    for (int at = 0; at < 2; at++) {
        waiters[at] = (waiter){queue, at ? TRUNKLINE_DEFAULT : 600000, TRUNKLINE_STATUS_OK, 0};
        CHECK(pthread_create(&threads[at], NULL, wait_once, &waiters[at]) == 0);
    }
    pause_ms(50);
    OK(trunkline_queue_close(queue, &err));
    for (int at = 0; at < 2; at++) {
        CHECK(pthread_join(threads[at], NULL) == 0);
        CHECK(waiters[at].status == TRUNKLINE_STATUS_CLOSED);
    }
    OK(trunkline_queue_close(queue, &err));
    FAILS(TRUNKLINE_STATUS_CLOSED, trunkline_queue_wait(queue, 0, &err));
    FAILS(TRUNKLINE_STATUS_CLOSED, trunkline_queue_drain(queue, &item, 1, &count, &err));
    FAILS(TRUNKLINE_STATUS_CLOSED,
          trunkline_session_acquire_enqueue(s.pool, s.session, TRUNKLINE_LITERAL("s"), none, none, queue, 1, NULL, &err));
    FAILS(TRUNKLINE_STATUS_CLOSED,
          trunkline_pool_subscribe_queue(s.pool, TRUNKLINE_EVERY_EVENT, queue, 1, &subscription, NULL, &err));
    close_scene(&s);
    trunkline_queue_free(queue);
}

static void wait_inside(void *data, trunkline_item *item)
{
    (void)item;
    waiter *mine = data;
    mine->status = trunkline_queue_wait(mine->queue, 600000, NULL);
    trunkline_queue_close(mine->queue, NULL);
}

/* SPEC 16.1 */
static void a_callback_does_not_wait(void)
{
    scene s = open_scene("", "");
    trunkline_queue *queue = NULL;
    OK(trunkline_queue_new(&queue, &err));
    waiter mine = {queue, 0, TRUNKLINE_STATUS_OK, 0};
    OK(trunkline_pool_approvals_start(s.pool, wait_inside, &mine, NULL, NULL, &err));
    FAILS(TRUNKLINE_STATUS_CLOSED, trunkline_queue_wait(queue, TRUNKLINE_DEFAULT, &err));
    CHECK(mine.status == TRUNKLINE_STATUS_WRONG_THREAD);
    close_scene(&s);
    trunkline_queue_free(queue);
}

#define TEXT_OF(macro) TEXT_OF_VALUE(macro)
#define TEXT_OF_VALUE(value) #value

/* SPEC 5.12, 16.1 */
static void versions_and_statuses_have_names(void)
{
    CHECK(strcmp(TRUNKLINE_VERSION, trunkline_version()) == 0);
    CHECK(strcmp(TRUNKLINE_VERSION, TEXT_OF(TRUNKLINE_VERSION_MAJOR) "." TEXT_OF(TRUNKLINE_VERSION_MINOR) "." TEXT_OF(
                                        TRUNKLINE_VERSION_PATCH)) == 0);
    CHECK(TRUNKLINE_ABI_VERSION == trunkline_abi_version());
    CHECK(strcmp(trunkline_status_name(TRUNKLINE_STATUS_OK), "ok") == 0);
    CHECK(strcmp(trunkline_status_name(TRUNKLINE_STATUS_UNSTABLE), "unstable") == 0);
    CHECK(strcmp(trunkline_status_name(-1), "unknown") == 0);
    for (trunkline_status status = 1; strcmp(trunkline_status_name(status), "unknown") != 0; status++)
        CHECK(status < 1000);
}

int main(int argc, char **argv)
{
    begin_program(argc, argv);
    RUN(a_wait_ends_with_an_item_or_with_its_time);
    RUN(a_wait_costs_nothing);
    RUN(several_threads_share_the_items_of_a_queue);
    RUN(a_queue_is_closed_while_threads_wait);
    RUN(a_callback_does_not_wait);
    RUN(versions_and_statuses_have_names);
    return 0;
}
