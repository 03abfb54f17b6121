/* Threads that wait: again and again, when their thread reads the answers itself, and what others do to them meanwhile. */
#define _POSIX_C_SOURCE 200809L
#include "fixture.h"

#include <pthread.h>

/* Calls enough, one after another, for the waiting thread to read for itself. */
#define MANY 64

/* Longer than any of these calls takes; shorter than a program may hang. */
#define LONG_MS 90000

typedef struct {
    const scene *scene;
    uint64_t lease;
    const char *tool;
    const char *arguments;
    trunkline_status status;
} call;

static void echo_many(const scene *s, uint64_t lease)
{
    char arguments[64], text[32];
    for (int i = 0; i < MANY; i++) {
        trunkline_buf *buf = NULL;
        snprintf(text, sizeof text, "<%d>", i);
        snprintf(arguments, sizeof arguments, "{\"message\":\"%s\"}", text);
        OK(trunkline_lease_call_tool(s->pool, lease, TRUNKLINE_LITERAL("echo"), text_of(arguments), NULL, &buf, &err));
        CHECK(take_text(buf, text));
    }
}

static void *wait_for_many(void *user_data)
{
    call *c = user_data;
    echo_many(c->scene, c->lease);
    return NULL;
}

static void *wait_for_one(void *user_data)
{
    call *c = user_data;
    trunkline_buf *buf = NULL;
    trunkline_call_options options = TRUNKLINE_CALL_OPTIONS_INIT;
    options.timeout_ms = LONG_MS;
    c->status = trunkline_lease_call_tool(c->scene->pool, c->lease, text_of(c->tool), text_of(c->arguments), &options, &buf, NULL);
    trunkline_buf_free(buf);
    return NULL;
}

/* SPEC 5.1 */
static void each_thread_gets_its_own_answers(void)
{
    scene s = open_scene("", "");
    call c = {&s, acquire(&s), NULL, NULL, TRUNKLINE_STATUS_OK};
    pthread_t threads[3];
    echo_many(&s, c.lease);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, wait_for_many, &c) == 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    close_scene(&s);
}

/* SPEC 5.1: what is started beside the calls that are waited for ends while nobody waits. */
static void a_queue_is_served_between_calls_that_are_waited_for(void)
{
    scene s = open_scene("", "");
    uint64_t lease = acquire(&s);
    trunkline_queue *queue = NULL;
    OK(trunkline_queue_new(&queue, &err));
    for (int round = 0; round < 20; round++) {
        trunkline_item item;
        size_t count = 0;
        echo_many(&s, lease);
        OK(trunkline_lease_call_tool_enqueue(s.pool, lease, TRUNKLINE_LITERAL("echo"), TRUNKLINE_LITERAL("{\"message\":\"m\"}"),
                                             NULL, queue, 1, NULL, &err));
        UNTIL(trunkline_queue_drain(queue, &item, 1, &count, NULL) == TRUNKLINE_STATUS_OK && count == 1);
        CHECK(item.tag == 1 && item.status == TRUNKLINE_STATUS_OK);
        trunkline_item_clear(&item);
    }
    close_scene(&s);
    trunkline_queue_free(queue);
}

/* SPEC 5.6 */
static void a_crash_ends_the_call_that_is_waited_for(void)
{
    for (int round = 0; round < 5; round++) {
        scene s = open_scene("", "");
        call c = {&s, acquire(&s), "crash", "{\"code\":3}", TRUNKLINE_STATUS_OK};
        echo_many(&s, c.lease);
        wait_for_one(&c);
        CHECK(c.status == TRUNKLINE_STATUS_CALL_INTERRUPTED);
        close_scene(&s);
    }
}

/* SPEC 5.4 */
static void a_deadline_ends_the_call_that_is_waited_for(void)
{
    scene s = open_scene("", "");
    uint64_t lease = acquire(&s);
    trunkline_call_options options;
    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    options.timeout_ms = 5;
    for (int round = 0; round < 5; round++) {
        trunkline_buf *buf = NULL;
        echo_many(&s, lease);
        FAILS(TRUNKLINE_STATUS_TIMEOUT, trunkline_lease_call_tool(s.pool, lease, TRUNKLINE_LITERAL("sleep"),
                                                                  TRUNKLINE_LITERAL("{\"ms\":60000}"), &options, &buf, &err));
    }
    echo_many(&s, lease);
    close_scene(&s);
}

/* SPEC 5.5, I-17 */
static void a_close_ends_the_call_that_another_thread_waits_for(void)
{
    for (int round = 0; round < 10; round++) {
        scene s = open_scene("", "");
        call c = {&s, acquire(&s), "sleep", "{\"ms\":60000}", TRUNKLINE_STATUS_OK};
        pthread_t thread;
        echo_many(&s, c.lease);
        CHECK(pthread_create(&thread, NULL, wait_for_one, &c) == 0);
        pause_ms(round);
        OK(trunkline_session_close(s.pool, s.session, 0, &err));
        pthread_join(thread, NULL);
        CHECK(c.status != TRUNKLINE_STATUS_OK);
        close_scene(&s);
    }
}

static pthread_key_t ending;

static void echo_at_the_end(void *user_data)
{
    call *c = user_data;
    wait_for_one(c);
}

static void *end_with_a_call(void *user_data)
{
    call *c = user_data;
    echo_many(c->scene, c->lease);
    CHECK(pthread_setspecific(ending, c) == 0);
    return NULL;
}

/* SPEC 16.4, I-19: what the library keeps for a thread is gone by then. */
static void a_thread_may_call_while_it_ends(void)
{
    scene s = open_scene("", "");
    call c = {&s, acquire(&s), "echo", "{\"message\":\"last\"}", TRUNKLINE_STATUS_INTERNAL};
    pthread_t thread;
    CHECK(pthread_key_create(&ending, echo_at_the_end) == 0);
    CHECK(pthread_create(&thread, NULL, end_with_a_call, &c) == 0);
    pthread_join(thread, NULL);
    CHECK(c.status == TRUNKLINE_STATUS_OK);
    pthread_key_delete(ending);
    close_scene(&s);
}

int main(int argc, char **argv)
{
    begin_program(argc, argv);
    RUN(each_thread_gets_its_own_answers);
    RUN(a_queue_is_served_between_calls_that_are_waited_for);
    RUN(a_crash_ends_the_call_that_is_waited_for);
    RUN(a_deadline_ends_the_call_that_is_waited_for);
    RUN(a_close_ends_the_call_that_another_thread_waits_for);
    RUN(a_thread_may_call_while_it_ends);
    return 0;
}
